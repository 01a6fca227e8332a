/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes the levels of switches (distance from the adapters) and the islands
 * (connected parts) of a topology, each by a breadth-first search.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "topology/state.h"

/*
 * Whether the node is a channel adapter inside a switch, for collective
 * operations. Every switch may contain such an adapter, so a level cannot be
 * the distance from it. The description of such an adapter is "Mellanox
 * Technologies Aggregation Node".
 */
static bool is_aggregation_node(const struct ibsa_topology *topology,
				const struct graph_node *node)
{
	return strstr(topology->names + node->name, "Aggregation Node");
}

/*
 * Assign the next level to the switches next to the node @from that have no
 * level yet, and add them to the queue. Return: the new end of the queue.
 */
static uint32_t level_spread(struct ibsa_topology *topology, uint32_t from,
			     uint32_t *queue, uint32_t queued)
{
	const uint32_t level = topology->nodes[from].level + 1;

	for (uint32_t i = topology->nodes[from].first_port;
	     i < node_ports_end(topology, from); i++) {
		const uint32_t far = topology->ports[i].far;
		struct graph_node *node;

		if (far == TOPOLOGY_NONE)
			continue;
		node = &topology->nodes[topology->ports[far].node];
		if (node->type != IBSA_NODE_SWITCH || node->level)
			continue;
		node->level = level;
		queue[queued++] = topology->ports[far].node;
	}
	return queued;
}

static void levels_find(struct ibsa_topology *topology, uint32_t *queue)
{
	uint32_t queued = 0;

	for (uint32_t i = 0; i < topology->node_count; i++) {
		const struct graph_node *node = &topology->nodes[i];

		if (node->type == IBSA_NODE_CA &&
		    !is_aggregation_node(topology, node))
			queued = level_spread(topology, i, queue, queued);
	}
	for (uint32_t i = 0; i < queued; i++)
		queued = level_spread(topology, queue[i], queue, queued);
	for (uint32_t i = 0; i < topology->node_count; i++) {
		struct graph_node *node = &topology->nodes[i];

		if (node->type == IBSA_NODE_SWITCH && !node->level)
			node->level = 1;
		if (node->level > topology->info.levels)
			topology->info.levels = node->level;
	}
}

/*
 * Mark all nodes that are connected with @start as belonging to the island
 * @island.
 */
static void island_mark(struct ibsa_topology *topology, uint32_t start,
			uint32_t island, uint32_t *queue)
{
	uint32_t queued = 1;

	queue[0] = start;
	topology->nodes[start].island = island;
	for (uint32_t i = 0; i < queued; i++) {
		for (uint32_t port = topology->nodes[queue[i]].first_port;
		     port < node_ports_end(topology, queue[i]); port++) {
			const uint32_t far = topology->ports[port].far;
			struct graph_node *node;

			if (far == TOPOLOGY_NONE)
				continue;
			node = &topology->nodes[topology->ports[far].node];
			if (node->island != TOPOLOGY_NONE)
				continue;
			node->island = island;
			queue[queued++] = topology->ports[far].node;
		}
	}
}

static void islands_find(struct ibsa_topology *topology, uint32_t *queue)
{
	uint32_t island = 0;

	for (uint32_t i = 0; i < topology->node_count; i++)
		topology->nodes[i].island = TOPOLOGY_NONE;
	for (uint32_t i = 0; i < topology->node_count; i++) {
		if (topology->nodes[i].island == TOPOLOGY_NONE)
			island_mark(topology, i, island++, queue);
	}
	topology->info.islands = island;
}

int ibsa__topology_levels(struct ibsa_topology *topology)
{
	uint32_t *queue = ibsa__calloc((size_t)topology->node_count + 1,
				       sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	levels_find(topology, queue);
	islands_find(topology, queue);
	ibsa__free(queue);
	return 0;
}
