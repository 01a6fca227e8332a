/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes and ports of a topology file, and searches for them. */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/array.h"
#include "topology/net.h"

/*
 * A chunk of memory for strings, which replaces separate allocations for each
 * node.
 */
struct net_chunk {
	struct net_chunk *next;
	size_t used;
	size_t room;
	char bytes[];
};

enum { CHUNK_BYTES = 64 * 1024 };

/*
 * The first GUID to assign to a node, by type of node: those of ibsim, which has
 * none for routers.
 */
static const uint64_t first_guid[] = {
	[IBSA_NODE_CA] = 0x100000,
	[IBSA_NODE_SWITCH] = 0x200000,
	[IBSA_NODE_ROUTER] = 0x300000,
};

const char *ibsa__net_string(struct net *net, const char *text, size_t len)
{
	struct net_chunk *chunk = net->strings;
	char *at;

	if (!chunk || chunk->room - chunk->used < len + 1) {
		const size_t room = len < CHUNK_BYTES ? CHUNK_BYTES : len + 1;

		chunk = ibsa__calloc(1, sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->room = room;
		chunk->next = net->strings;
		net->strings = chunk;
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
uint64_t ibsa__net_hash(const char *text, size_t len)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		value = (value ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return value ^ value >> 32;
}

uint32_t ibsa__net_node_by_id(const struct net *net, const char *id, size_t len)
{
	const uint32_t node = map_find(&net->ids, ibsa__net_hash(id, len));

	if (node == NET_NONE || strncmp(net->nodes[node].id, id, len) ||
	    net->nodes[node].id[len])
		return NET_NONE;
	return node;
}

uint32_t ibsa__net_node_find(const struct net *net, const char *name)
{
	const uint32_t node = ibsa__net_node_by_id(net, name, strlen(name));

	if (node != NET_NONE)
		return node;
	for (uint32_t i = 0; i < net->node_count; i++) {
		if (!strcmp(net->nodes[i].name, name))
			return i;
	}
	return NET_NONE;
}

static int reserve_node(struct net *net, uint32_t ports)
{
	int err;

	if (net->node_count == NET_NODES_MAX ||
	    net->port_count + ports > NET_PORTS_MAX)
		return -ENOSPC;
	err = ARRAY_GROW(net->nodes, net->node_room, net->node_count + 1);
	if (err)
		return err;
	return ARRAY_GROW(net->ports, net->port_room, net->port_count + ports);
}

int ibsa__net_finding_add(struct net *net, const struct net_finding *finding)
{
	int err;

	if (net->finding_count == NET_FINDINGS_MAX)
		return 0;
	err = ARRAY_GROW(net->findings, net->finding_room,
			 net->finding_count + 1);
	if (!err)
		net->findings[net->finding_count++] = *finding;
	return err;
}

int ibsa__net_node_add(struct net *net, const struct net_node *node,
		       uint32_t *out)
{
	const uint64_t key = ibsa__net_hash(node->id, strlen(node->id));
	const uint32_t index = net->node_count;
	const uint32_t ports = node->port_count + 1u;
	int err;

	if (map_find(&net->ids, key) != NET_NONE)
		return -EEXIST;
	err = reserve_node(net, ports);
	if (!err)
		err = ibsa__map_put(&net->ids, key, index);
	if (err)
		return err;
	net->nodes[index] = *node;
	net->nodes[index].first_port = net->port_count;
	for (uint32_t i = 0; i < ports; i++)
		net->ports[net->port_count++] = (struct net_port){
			.node = index,
			.cable = NET_NONE,
			.number = (uint8_t)i,
		};
	net->node_count++;
	*out = index;
	return 0;
}

/*
 * Return: the first GUID from *@next on that no node has. Each type of node
 * has its own range of GUIDs, and so its own *@next.
 */
static uint64_t free_guid(const struct map *guids, uint64_t *next)
{
	while (map_find(guids, *next) != NET_NONE)
		(*next)++;
	return *next;
}

static int name_nodes(struct net *net, struct map *guids, uint32_t out[2])
{
	int err = 0;

	for (uint32_t i = 0; i < net->node_count && !err; i++) {
		const uint64_t guid = net->nodes[i].guid;
		const uint32_t other = map_find(guids, guid);

		if (guid && other != NET_NONE) {
			out[0] = other;
			out[1] = i;
			return -EEXIST;
		}
		if (guid)
			err = ibsa__map_put(guids, guid, i);
	}
	return err;
}

static int name_rest(struct net *net, struct map *guids)
{
	uint64_t next[sizeof(first_guid) / sizeof(first_guid[0])];
	int err = 0;

	memcpy(next, first_guid, sizeof(next));
	for (uint32_t i = 0; i < net->node_count && !err; i++) {
		struct net_node *node = &net->nodes[i];

		if (!node->guid) {
			node->guid = free_guid(guids, &next[node->type]);
			err = ibsa__map_put(guids, node->guid, i);
			/*
			 * The ports of an adapter get the GUIDs that follow
			 * the adapter's own. A switch has one GUID, as with
			 * ibsim.
			 */
			next[node->type] += 1;
			if (node->type != IBSA_NODE_SWITCH)
				next[node->type] += node->port_count;
		}
		if (!node->image_guid)
			node->image_guid = node->guid;
	}
	return err;
}

static int name_port(struct net *net, struct map *guids, uint32_t index,
		     uint32_t out[2])
{
	struct net_port *port = &net->ports[index];
	const struct net_node *node = &net->nodes[port->node];
	const bool is_end = (node->type == IBSA_NODE_SWITCH) == !port->number;
	uint32_t other;

	if (!is_end) {
		port->guid = 0;
		return 0;
	}
	if (!port->guid)
		port->guid = node->guid + port->number;
	other = map_find(guids, port->guid);
	if (other == NET_NONE)
		return ibsa__map_put(guids, port->guid, index);
	out[0] = net->ports[other].node;
	out[1] = port->node;
	return -EEXIST;
}

int ibsa__net_guids_assign(struct net *net, uint32_t out[2])
{
	struct map nodes = { 0 };
	struct map ports = { 0 };
	int err = name_nodes(net, &nodes, out);

	if (!err)
		err = name_rest(net, &nodes);
	for (uint32_t i = 0; i < net->port_count && !err; i++)
		err = name_port(net, &ports, i, out);
	ibsa__map_done(&nodes);
	ibsa__map_done(&ports);
	return err;
}

void ibsa__net_done(struct net *net)
{
	while (net->strings) {
		struct net_chunk *chunk = net->strings;

		net->strings = chunk->next;
		ibsa__free(chunk);
	}
	ibsa__map_done(&net->ids);
	ibsa__free(net->nodes);
	ibsa__free(net->ports);
	ibsa__free(net->findings);
	*net = (struct net){ 0 };
}
