/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the tree of a multicast group by the switches' forwarding tables. The
 * list of branches is also the queue of the switches that are still to be
 * followed.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>
#include <ibsa/topology.h>

#include "base/alloc.h"
#include "base/array.h"
#include "topology/state.h"

enum { BLOCK_LIDS = 32, POSITION_PORTS = 16, POSITIONS = 16 };

/* A tree that is being made. */
struct tree_builder {
	const struct ibsa_topology *topology;
	const void *tables; /* records, one at every @stride bytes */
	size_t stride;
	size_t count;
	uint32_t entry; /* of the group, from 0 */
	size_t nodes;
	bool *is_reached;
	struct ibsa_trace_tree *tree;
	size_t room;
	int err;
};

static void branch_add(struct tree_builder *builder,
		       const struct ibsa_trace_branch *branch)
{
	struct ibsa_trace_tree *tree = builder->tree;

	if (ARRAY_GROW(tree->all, builder->room, tree->count + 1))
		builder->err = -ENOMEM;
	else
		tree->all[tree->count++] = *branch;
}

/*
 * Read a switch's multicast forwarding entry: a bit for each port, in @masks of
 * 16 ports each. The tables are the caller's, of an older or a newer header:
 * only members that the first release had are used. Return: false: the entry
 * has no port.
 */
static bool entry_find(const struct tree_builder *builder, size_t node,
		       uint16_t masks[POSITIONS])
{
	const char *at = builder->tables;
	struct ibsa_topology_port port;
	uint16_t any = 0;

	memset(masks, 0, POSITIONS * sizeof(*masks));
	if (!node_is_switch(builder->topology, node) ||
	    ibsa_topology_port_at(builder->topology, node, 0, &port) != 0)
		return false;
	for (size_t i = 0; i < builder->count; i++, at += builder->stride) {
		const struct ibsa_mft *table = (const void *)at;

		if (table->lid != port.lid ||
		    table->block_num != builder->entry / BLOCK_LIDS ||
		    table->position >= POSITIONS)
			continue;
		masks[table->position] |=
			table->port_mask[builder->entry % BLOCK_LIDS];
		any |= masks[table->position];
	}
	return any;
}

/* Follow the link of a port. */
static void port_follow(struct tree_builder *builder, size_t node,
			unsigned int number, unsigned int depth)
{
	struct ibsa_trace_branch branch = {
		.depth = depth,
		.end = IBSA_TRACE_REACHED,
		.node = node,
		.port = number,
	};
	struct ibsa_topology_port port = { .number = 0 };

	if (ibsa_topology_port_at(builder->topology, node, number, &port) !=
		    0 ||
	    !port.has_link) {
		branch.end = ibsa__trace_no_link(&port);
	} else {
		branch.far_node = port.far_node;
		branch.far_port = port.far_port;
		if (node_is_switch(builder->topology, port.far_node)) {
			if (builder->is_reached[port.far_node])
				branch.end = IBSA_TRACE_LOOP;
			builder->is_reached[port.far_node] = true;
		}
	}
	branch_add(builder, &branch);
}

/*
 * Follow all ports in a switch's forwarding entry except @arrival, through
 * which the packet came. Bit 0 is the switch's own port, which may be a member
 * of the group.
 */
static void switch_follow(struct tree_builder *builder, size_t node,
			  unsigned int arrival, unsigned int depth)
{
	const struct ibsa_trace_branch hole = {
		.depth = depth,
		.end = IBSA_TRACE_NO_ENTRY,
		.node = node,
	};
	uint16_t masks[POSITIONS];
	bool has_other;

	entry_find(builder, node, masks);
	has_other = masks[0] & 1;
	for (unsigned int i = 1; i < POSITIONS * POSITION_PORTS; i++) {
		if (i == arrival ||
		    !(masks[i / POSITION_PORTS] >> i % POSITION_PORTS & 1))
			continue;
		has_other = true;
		port_follow(builder, node, i, depth);
	}
	if (!has_other)
		branch_add(builder, &hole);
}

static void queue_follow(struct tree_builder *builder)
{
	for (size_t i = 0; i < builder->tree->count && !builder->err; i++) {
		const struct ibsa_trace_branch branch = builder->tree->all[i];

		if (branch.end == IBSA_TRACE_REACHED &&
		    node_is_switch(builder->topology, branch.far_node))
			switch_follow(builder, branch.far_node, branch.far_port,
				      branch.depth + 1);
	}
}

/*
 * Set *@out to the first node with a forwarding entry for the group. Return:
 * false: there is none.
 */
static bool start_find(const struct tree_builder *builder, size_t *out)
{
	uint16_t masks[POSITIONS];

	for (size_t i = 0; i < builder->nodes; i++) {
		if (entry_find(builder, i, masks)) {
			*out = i;
			return true;
		}
	}
	return false;
}

static void islands_add(struct tree_builder *builder)
{
	uint16_t masks[POSITIONS];

	for (size_t i = 0; i < builder->nodes && !builder->err; i++) {
		const struct ibsa_trace_branch branch = {
			.end = IBSA_TRACE_ISLAND,
			.node = i,
		};

		if (!builder->is_reached[i] && entry_find(builder, i, masks))
			branch_add(builder, &branch);
	}
}

static int tree_grow(struct tree_builder *builder, uint32_t slid)
{
	unsigned int port = 0;
	size_t node;

	if (slid ? ibsa_topology_lid_find(builder->topology, slid, &node,
					  &port) != 0
		 : !start_find(builder, &node))
		return slid ? -ENOENT : 0;
	if (node_is_switch(builder->topology, node)) {
		builder->is_reached[node] = true;
		switch_follow(builder, node, 0, 1);
	} else {
		port_follow(builder, node, port, 1);
	}
	queue_follow(builder);
	islands_add(builder);
	return builder->err;
}

int ibsa_topology_trace_group_sized(const struct ibsa_topology *topology,
				    uint32_t slid, uint32_t mlid,
				    const struct ibsa_mft *tables, size_t size,
				    size_t count, struct ibsa_trace_tree **out)
{
	struct tree_builder builder = {
		.topology = topology,
		.tables = tables,
		.stride = size,
		.count = count,
		.entry = mlid - IBSA_LID_MULTICAST_MIN,
		.nodes = topology->node_count,
	};
	int err = -ENOMEM;

	if (mlid < IBSA_LID_MULTICAST_MIN)
		return -EINVAL;
	builder.is_reached = ibsa__calloc(builder.nodes + 1, sizeof(bool));
	builder.tree = ibsa__calloc(1, sizeof(*builder.tree));
	if (builder.tree)
		builder.tree->stride = sizeof(builder.tree->all[0]);
	if (builder.is_reached && builder.tree)
		err = tree_grow(&builder, slid);
	ibsa__free(builder.is_reached);
	if (err)
		ibsa_trace_tree_free(builder.tree);
	else
		*out = builder.tree;
	return err;
}

void ibsa_trace_tree_free(struct ibsa_trace_tree *tree)
{
	if (tree)
		ibsa__free(tree->all);
	ibsa__free(tree);
}
