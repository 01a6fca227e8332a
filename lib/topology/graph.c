/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds the graph of a subnet from SA records. Records may contradict each
 * other and name ports that do not exist. Memory and time are linear in the
 * number of records, except for sorting.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "topology/state.h"

static int by_guid(const void *a, const void *b)
{
	const struct node_row *x = a;
	const struct node_row *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	if (x->system_guid != y->system_guid)
		return x->system_guid < y->system_guid ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static void known_set(struct graph_node *node, unsigned int number)
{
	node->known[number / 64] |= UINT64_C(1) << number % 64;
}

/*
 * Whether a NodeRecord is about another port of the node @node. If the node
 * GUIDs are equal but the port is not another one, two nodes have the same
 * GUID.
 */
static bool is_port_of(const struct node_row *row,
		       const struct graph_node *node)
{
	return row->guid == node->guid && row->type == node->type &&
	       row->system_guid == node->system_guid &&
	       row->type != IBSA_NODE_SWITCH && !port_is_known(node, row->port);
}

static struct graph_node node_make(const struct node_row *row)
{
	return (struct graph_node){
		.guid = row->guid,
		.system_guid = row->system_guid,
		.name = row->name,
		.vendor_id = row->vendor_id,
		.device_id = row->device_id,
		.revision = row->revision,
		.type = row->type,
		.port_count = row->port_count,
		.has_enhanced_port0 = row->has_enhanced_port0,
	};
}

/*
 * Create the nodes of the graph. @node_of receives the index of the node of
 * each NodeRecord.
 */
static int nodes_make(struct ibsa_topology *topology, uint32_t *node_of)
{
	const size_t count = topology->node_row_count;
	uint32_t made = 0;

	topology->nodes = ibsa__calloc(count + 1, sizeof(*topology->nodes));
	if (!topology->nodes)
		return -ENOMEM;
	if (count)
		qsort(topology->node_rows, count, sizeof(*topology->node_rows),
		      by_guid);
	for (size_t i = 0; i < count; i++) {
		const struct node_row *row = &topology->node_rows[i];

		if (!made || !is_port_of(row, &topology->nodes[made - 1]))
			topology->nodes[made++] = node_make(row);
		node_of[i] = made - 1;
		known_set(&topology->nodes[made - 1], row->port);
	}
	topology->node_count = made;
	return 0;
}

/*
 * An end of a link as SA records name it, and the node and port number that it
 * stands for.
 */
struct end {
	uint32_t node; /* TOPOLOGY_NONE: there is no NodeRecord */
	uint8_t port;
};

struct ends {
	struct end *all;
	uint32_t count;
};

/*
 * Collect the ends. If several records have the same end, the first determines
 * its node.
 */
static int ends_make(const struct ibsa_topology *topology,
		     const uint32_t *node_of, struct ends *out)
{
	for (size_t i = 0; i < topology->node_row_count; i++) {
		if (topology->node_rows[i].end >= out->count)
			out->count = topology->node_rows[i].end + 1;
	}
	out->all = ibsa__calloc((size_t)out->count + 1, sizeof(*out->all));
	if (!out->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < out->count; i++)
		out->all[i].node = TOPOLOGY_NONE;
	for (size_t i = 0; i < topology->node_row_count; i++) {
		const struct node_row *row = &topology->node_rows[i];
		struct end *end = &out->all[row->end];

		if (row->end && end->node == TOPOLOGY_NONE)
			*end = (struct end){ node_of[i], row->port };
	}
	return 0;
}

/* Return: the node to which a record refers by its end, or NULL. */
static struct graph_node *end_node(const struct ibsa_topology *topology,
				   const struct ends *ends, uint32_t end)
{
	if (end >= ends->count || ends->all[end].node == TOPOLOGY_NONE)
		return NULL;
	return &topology->nodes[ends->all[end].node];
}

/*
 * Mark the ports that records mention as existing, and count the records whose
 * node does not exist.
 */
static void ports_mark(struct ibsa_topology *topology, const struct ends *ends)
{
	for (size_t i = 0; i < topology->port_row_count; i++) {
		const struct port_row *row = &topology->port_rows[i];
		struct graph_node *node = end_node(topology, ends, row->end);

		if (node)
			known_set(node, row->number);
		else
			topology->info.unmatched++;
	}
	for (size_t i = 0; i < topology->link_row_count; i++) {
		const struct link_row *row = &topology->link_rows[i];
		struct graph_node *from = end_node(topology, ends, row->from);
		struct graph_node *to = end_node(topology, ends, row->to);

		if (!from || !to) {
			topology->info.unmatched++;
			continue;
		}
		known_set(from, row->from_port);
		known_set(to, row->to_port);
	}
}

static void node_ports_fill(struct ibsa_topology *topology, uint32_t index,
			    uint32_t *next)
{
	struct graph_node *node = &topology->nodes[index];

	node->first_port = *next;
	for (unsigned int number = 0; number <= UINT8_MAX; number++) {
		if (!port_is_known(node, number))
			continue;
		topology->ports[(*next)++] = (struct graph_port){
			.node = index,
			.far = TOPOLOGY_NONE,
			.number = (uint8_t)number,
		};
	}
}

static int ports_make(struct ibsa_topology *topology)
{
	size_t count = 0;
	uint32_t next = 0;

	for (uint32_t i = 0; i < topology->node_count; i++)
		for (int word = 0; word < 4; word++)
			count += (size_t)__builtin_popcountll(
				topology->nodes[i].known[word]);
	if (count >= TOPOLOGY_NONE)
		return -ENOMEM;
	topology->port_count = (uint32_t)count;
	topology->ports = ibsa__calloc(count + 1, sizeof(*topology->ports));
	if (!topology->ports)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->node_count; i++)
		node_ports_fill(topology, i, &next);
	return 0;
}

static struct graph_port *port_of(const struct ibsa_topology *topology,
				  const struct graph_node *node,
				  unsigned int number)
{
	return &topology->ports[ibsa__topology_port(node, number)];
}

/*
 * Copy the values of NodeRecords, PortInfoRecords and SwitchInfoRecords to the
 * nodes and ports.
 */
static void ports_fill(struct ibsa_topology *topology, const struct ends *ends,
		       const uint32_t *node_of)
{
	for (size_t i = 0; i < topology->node_row_count; i++) {
		const struct node_row *row = &topology->node_rows[i];
		struct graph_port *port = port_of(
			topology, &topology->nodes[node_of[i]], row->port);

		port->guid = row->port_guid;
		port->is.lid = row->lid;
	}
	for (size_t i = 0; i < topology->port_row_count; i++) {
		const struct port_row *row = &topology->port_rows[i];
		const struct graph_node *node = end_node(topology, ends,
							 row->end);
		struct graph_port *port;
		uint32_t lid; /* of the NodeRecord */

		if (!node)
			continue;
		port = port_of(topology, node, row->number);
		lid = port->is.lid;
		port->is = row->is;
		port->has_info = true;
		if (!port->is.lid)
			port->is.lid = lid;
		if (node->type == IBSA_NODE_SWITCH && row->number)
			port->is.lid = 0;
	}
	for (size_t i = 0; i < topology->switch_row_count; i++) {
		const struct switch_row *row = &topology->switch_rows[i];
		struct graph_node *node = end_node(topology, ends, row->end);

		if (node)
			node->has_enhanced_port0 = row->has_enhanced_port0;
		else
			topology->info.unmatched++;
	}
}

/*
 * Find the two ports of a link. Return: false if one of them belongs to a node
 * without a NodeRecord, or both are the same port.
 */
static bool link_ports(const struct ibsa_topology *topology,
		       const struct ends *ends, const struct link_row *row,
		       uint32_t *from, uint32_t *to)
{
	const struct graph_node *a = end_node(topology, ends, row->from);
	const struct graph_node *b = end_node(topology, ends, row->to);

	if (!a || !b)
		return false;
	*from = ibsa__topology_port(a, row->from_port);
	*to = ibsa__topology_port(b, row->to_port);
	return *from != *to;
}

/*
 * Connect the ports of the graph. If records contradict each other, a record
 * that comes from a port itself has priority over a record that comes from
 * another port.
 */
static void links_make(struct ibsa_topology *topology, const struct ends *ends)
{
	struct graph_port *ports = topology->ports;
	uint32_t from;
	uint32_t to;

	for (size_t i = 0; i < topology->link_row_count; i++) {
		if (!link_ports(topology, ends, &topology->link_rows[i], &from,
				&to) ||
		    ports[from].is_claimed)
			continue;
		ports[from].far = to;
		ports[from].is_claimed = true;
	}
	for (uint32_t i = 0; i < topology->port_count; i++) {
		if (!ports[i].is_claimed)
			continue;
		if (ports[ports[i].far].far == TOPOLOGY_NONE)
			ports[ports[i].far].far = i;
		topology->info.links += !ports[ports[i].far].is_claimed ||
					ports[ports[i].far].far != i ||
					i < ports[i].far;
	}
}

/*
 * Find nodes with the same GUID. In the sorted array, they are next to each
 * other.
 */
static int node_twins_find(struct ibsa_topology *topology)
{
	int err = 0;

	for (uint32_t i = 1; i < topology->node_count && !err; i++) {
		const struct graph_node *node = &topology->nodes[i];

		if (node->guid == node[-1].guid)
			err = ibsa__topology_twin_add(topology,
						      IBSA_FINDING_SAME_GUID,
						      node[-1].first_port,
						      node->first_port);
	}
	return err;
}

struct port_guid {
	uint64_t guid;
	uint32_t port;
};

static int by_port_guid(const void *a, const void *b)
{
	const struct port_guid *x = a;
	const struct port_guid *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

/*
 * Find ports with the same GUID, except ports of nodes with the same GUID,
 * which are found by node_twins_find().
 */
static int port_twins_find(struct ibsa_topology *topology)
{
	const struct graph_port *ports = topology->ports;
	struct port_guid *all = ibsa__calloc((size_t)topology->port_count + 1,
					     sizeof(*all));
	size_t count = 0;
	int err = all ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < topology->port_count && !err; i++) {
		if (ports[i].guid)
			all[count++] = (struct port_guid){ ports[i].guid, i };
	}
	if (count)
		qsort(all, count, sizeof(*all), by_port_guid);
	for (size_t i = 1; i < count && !err; i++) {
		const struct graph_port *a = &ports[all[i - 1].port];
		const struct graph_port *b = &ports[all[i].port];

		if (a->guid == b->guid && topology->nodes[a->node].guid !=
						  topology->nodes[b->node].guid)
			err = ibsa__topology_twin_add(topology,
						      IBSA_FINDING_SAME_GUID,
						      all[i - 1].port,
						      all[i].port);
	}
	ibsa__free(all);
	return err;
}

/*
 * Return: the LID after the last LID of a port. A port with LMC n has 2 to the
 * power of n LIDs.
 */
static uint32_t lid_end(const struct graph_port *port)
{
	return (port->is.lid | ((1u << port->is.lmc) - 1)) + 1;
}

static int lids_fill(struct ibsa_topology *topology, uint32_t index)
{
	const struct graph_port *port = &topology->ports[index];
	uint32_t *const lids = topology->ends;
	uint32_t twin = 0;

	for (uint32_t lid = port->is.lid; lid < lid_end(port); lid++) {
		if (!lids[lid])
			lids[lid] = index + 1;
		else
			twin = lids[lid];
	}
	return twin ? ibsa__topology_twin_add(topology, IBSA_FINDING_SAME_LID,
					      twin - 1, index)
		    : 0;
}

/*
 * Make the table that maps a LID to its port. LIDs are below 2^16, except in a
 * topology file.
 */
static int lids_make(struct ibsa_topology *topology)
{
	const struct graph_port *ports = topology->ports;
	int err = 0;

	for (uint32_t i = 0; i < topology->port_count; i++) {
		if (ports[i].is.lid && lid_end(&ports[i]) > topology->end_count)
			topology->end_count = lid_end(&ports[i]);
	}
	topology->ends = ibsa__calloc((size_t)topology->end_count + 1,
				      sizeof(*topology->ends));
	if (!topology->ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->port_count && !err; i++) {
		if (ports[i].is.lid)
			err = lids_fill(topology, i);
	}
	return err;
}

static int graph_make(struct ibsa_topology *topology, uint32_t *node_of,
		      struct ends *ends)
{
	int err = nodes_make(topology, node_of);

	if (!err)
		err = ends_make(topology, node_of, ends);
	if (err)
		return err;
	ports_mark(topology, ends);
	err = ports_make(topology);
	if (err)
		return err;
	ports_fill(topology, ends, node_of);
	links_make(topology, ends);
	err = node_twins_find(topology);
	if (!err)
		err = port_twins_find(topology);
	if (!err)
		err = lids_make(topology);
	return err ? err : ibsa__topology_levels(topology);
}

static void rows_free(struct ibsa_topology *topology)
{
	ibsa__free(topology->node_rows);
	ibsa__free(topology->port_rows);
	ibsa__free(topology->link_rows);
	ibsa__free(topology->switch_rows);
	topology->node_rows = NULL;
	topology->port_rows = NULL;
	topology->link_rows = NULL;
	topology->switch_rows = NULL;
}

static void info_fill(struct ibsa_topology *topology)
{
	struct ibsa_topology_info *info = &topology->info;

	info->nodes = topology->node_count;
	for (uint32_t i = 0; i < topology->node_count; i++) {
		info->adapters += topology->nodes[i].type == IBSA_NODE_CA;
		info->switches += topology->nodes[i].type == IBSA_NODE_SWITCH;
	}
	for (uint32_t i = 0; i < topology->port_count; i++)
		info->hidden += port_is_hidden(&topology->ports[i]);
}

int ibsa_topology_finish(struct ibsa_topology *topology)
{
	struct ends ends = { .count = 0 };
	uint32_t *node_of;
	int err;

	if (topology->is_finished)
		return -EALREADY;
	topology->is_finished = true;
	node_of = ibsa__calloc(topology->node_row_count + 1, sizeof(*node_of));
	err = node_of ? graph_make(topology, node_of, &ends) : -ENOMEM;
	ibsa__free(node_of);
	ibsa__free(ends.all);
	if (err) {
		topology->node_count = 0;
		topology->info = (struct ibsa_topology_info){ 0 };
		return err;
	}
	rows_free(topology);
	info_fill(topology);
	return 0;
}
