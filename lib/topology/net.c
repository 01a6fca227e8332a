/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes and ports of a topology file, and searches for them. */
#include <errno.h>
#include <string.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "base/array.h"
#include "topology/net.h"

/*
 * A chunk of memory for strings, which replaces separate allocations for each
 * node.
 */
struct topo_chunk {
	struct topo_chunk *next;
	size_t used;
	size_t room;
	char bytes[];
};

enum { CHUNK_BYTES = 64 * 1024 };

/* The first GUID to assign to a node, by type of node. */
static const uint64_t first_guid[] = {
	[IBSA_NODE_CA] = 0x100000,
	[IBSA_NODE_SWITCH] = 0x200000,
	[IBSA_NODE_ROUTER] = 0x300000,
};

const char *ibsa__topology_string(struct topology *topo, const char *text,
				  size_t len)
{
	struct topo_chunk *chunk = topo->strings;
	char *at;

	if (!chunk || chunk->room - chunk->used < len + 1) {
		const size_t room = len < CHUNK_BYTES ? CHUNK_BYTES : len + 1;

		chunk = ibsa__calloc(1, sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->room = room;
		chunk->next = topo->strings;
		topo->strings = chunk;
	}
	at = chunk->bytes + chunk->used;
	memcpy(at, text, len);
	at[len] = '\0';
	chunk->used += len + 1;
	return at;
}

/*
 * Return: the hash of a text (FNV-1a, folded, because the map needs
 * differences in the lower bits).
 */
uint64_t ibsa__topology_hash(const char *text, size_t len)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		value = (value ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return value ^ value >> 32;
}

uint32_t ibsa__topology_by_id(const struct topology *topo, const char *id,
			      size_t len)
{
	const uint32_t node = map_find(&topo->ids,
				       ibsa__topology_hash(id, len));

	if (node == SIM_NONE || strncmp(topo->nodes[node].id, id, len) ||
	    topo->nodes[node].id[len])
		return SIM_NONE;
	return node;
}

uint32_t ibsa__topology_find(const struct topology *topo, const char *name)
{
	const uint32_t node = ibsa__topology_by_id(topo, name, strlen(name));

	if (node != SIM_NONE)
		return node;
	for (uint32_t i = 0; i < topo->node_count; i++) {
		if (!strcmp(topo->nodes[i].name, name))
			return i;
	}
	return SIM_NONE;
}

static int reserve_node(struct topology *topo, uint32_t ports)
{
	int err;

	if (topo->node_count == TOPO_NODES_MAX ||
	    topo->port_count + ports > TOPO_PORTS_MAX)
		return -ENOSPC;
	err = ARRAY_GROW(topo->nodes, topo->node_room, topo->node_count + 1);
	if (err)
		return err;
	return ARRAY_GROW(topo->ports, topo->port_room,
			  topo->port_count + ports);
}

int ibsa__topology_add_finding(struct topology *topo,
			       const struct topo_finding *finding)
{
	int err;

	if (topo->finding_count == TOPO_FINDINGS_MAX)
		return 0;
	err = ARRAY_GROW(topo->findings, topo->finding_room,
			 topo->finding_count + 1);
	if (!err)
		topo->findings[topo->finding_count++] = *finding;
	return err;
}

int ibsa__topology_add(struct topology *topo, const struct topo_node *node,
		       uint32_t *out)
{
	const uint64_t key = ibsa__topology_hash(node->id, strlen(node->id));
	const uint32_t index = topo->node_count;
	const uint32_t ports = node->port_count + 1u;
	int err;

	if (map_find(&topo->ids, key) != SIM_NONE)
		return -EEXIST;
	err = reserve_node(topo, ports);
	if (!err)
		err = ibsa__map_put(&topo->ids, key, index);
	if (err)
		return err;
	topo->nodes[index] = *node;
	topo->nodes[index].first_port = topo->port_count;
	topo->nodes[index].switch_index = SIM_NONE;
	if (node->type == IBSA_NODE_SWITCH)
		topo->nodes[index].switch_index = topo->switch_count++;
	for (uint32_t i = 0; i < ports; i++)
		topo->ports[topo->port_count++] = (struct topo_port){
			.node = index,
			.cable = SIM_NONE,
			.peer = SIM_NONE,
			.end = SIM_NONE,
			.number = (uint8_t)i,
		};
	topo->node_count++;
	*out = index;
	return 0;
}

/*
 * Return: the first GUID from *@next on that no node has. Each type of node
 * has its own range of GUIDs, and so its own *@next.
 */
static uint64_t free_guid(const struct topology *topo, uint64_t *next)
{
	while (map_find(&topo->guids, *next) != SIM_NONE)
		(*next)++;
	return *next;
}

static int name_nodes(struct topology *topo, uint32_t out[2])
{
	int err = 0;

	for (uint32_t i = 0; i < topo->node_count && !err; i++) {
		const uint64_t guid = topo->nodes[i].guid;
		const uint32_t other = map_find(&topo->guids, guid);

		if (guid && other != SIM_NONE) {
			out[0] = other;
			out[1] = i;
			return -EEXIST;
		}
		if (guid)
			err = ibsa__map_put(&topo->guids, guid, i);
	}
	return err;
}

static int name_rest(struct topology *topo)
{
	uint64_t next[sizeof(first_guid) / sizeof(first_guid[0])];
	int err = 0;

	memcpy(next, first_guid, sizeof(next));
	for (uint32_t i = 0; i < topo->node_count && !err; i++) {
		struct topo_node *node = &topo->nodes[i];

		if (!node->guid) {
			node->guid = free_guid(topo, &next[node->type]);
			err = ibsa__map_put(&topo->guids, node->guid, i);
			/*
			 * The ports of an adapter get the GUIDs that follow
			 * the adapter's own.
			 */
			next[node->type] += node->port_count + 1u;
		}
		if (!node->image_guid)
			node->image_guid = node->guid;
	}
	return err;
}

static int name_port(struct topology *topo, uint32_t index, uint32_t out[2])
{
	struct topo_port *port = &topo->ports[index];
	const struct topo_node *node = &topo->nodes[port->node];
	const bool is_end = (node->type == IBSA_NODE_SWITCH) == !port->number;
	uint32_t other;

	if (!is_end) {
		port->guid = 0;
		return 0;
	}
	if (!port->guid)
		port->guid = node->guid + port->number;
	other = map_find(&topo->port_guids, port->guid);
	if (other == SIM_NONE)
		return ibsa__map_put(&topo->port_guids, port->guid, index);
	out[0] = topo->ports[other].node;
	out[1] = port->node;
	return -EEXIST;
}

int ibsa__topology_guids(struct topology *topo, uint32_t out[2])
{
	int err = name_nodes(topo, out);

	if (!err)
		err = name_rest(topo);
	for (uint32_t i = 0; i < topo->port_count && !err; i++)
		err = name_port(topo, i, out);
	return err;
}

void ibsa__topology_done(struct topology *topo)
{
	while (topo->strings) {
		struct topo_chunk *chunk = topo->strings;

		topo->strings = chunk->next;
		ibsa__free(chunk);
	}
	ibsa__map_done(&topo->ids);
	ibsa__map_done(&topo->guids);
	ibsa__map_done(&topo->port_guids);
	ibsa__free(topo->nodes);
	ibsa__free(topo->ports);
	ibsa__free(topo->findings);
	*topo = (struct topology){ 0 };
}
