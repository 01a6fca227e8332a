/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The levels of a fabric's switches: their distance from the adapters. */
#include <errno.h>
#include <stdlib.h>

#include <ibsa/sa.h>

#include "fabric_shape.h"

bool shape_cable(const struct shape *shape, size_t node, unsigned int port,
		 struct ibsa_fabric_end *out)
{
	return ibsa_fabric_end_at(shape->fabric, node, port, out) == 0 &&
	       out->has_cable;
}

/*
 * Give the neighbours of @from that have no level the next level. Return: the
 * new end of @queue.
 */
static size_t level_spread(struct shape *shape, size_t from, size_t *queue,
			   size_t queued)
{
	const struct shape_node *node = &shape->nodes[from];
	struct ibsa_fabric_end end;

	for (unsigned int port = 1; port <= node->is.port_count; port++) {
		struct shape_node *far;

		if (!shape_cable(shape, from, port, &end))
			continue;
		far = &shape->nodes[end.far_node];
		if (far->is.type != IBSA_NODE_SWITCH || far->level)
			continue;
		far->level = node->level + 1;
		shape->levels = far->level;
		queue[queued++] = end.far_node;
	}
	return queued;
}

static void find_levels(struct shape *shape, size_t *queue)
{
	size_t queued = 0;

	for (size_t i = 0; i < shape->count; i++)
		if (shape->nodes[i].is.type == IBSA_NODE_CA)
			queued = level_spread(shape, i, queue, queued);
	for (size_t i = 0; i < queued; i++)
		queued = level_spread(shape, queue[i], queue, queued);
}

int shape_read(struct ibsa_fabric *fabric, struct shape *out)
{
	struct ibsa_fabric_info info;
	size_t *queue;

	ibsa_fabric_info_get(fabric, &info);
	*out = (struct shape){ .fabric = fabric };
	out->nodes = calloc(info.nodes + 1, sizeof(*out->nodes));
	queue = calloc(info.nodes + 1, sizeof(*queue));
	if (!out->nodes || !queue) {
		free(queue);
		return -ENOMEM;
	}
	while (out->count < info.nodes &&
	       ibsa_fabric_node_at(fabric, out->count,
				   &out->nodes[out->count].is) == 0)
		out->count++;
	find_levels(out, queue);
	free(queue);
	return 0;
}

void shape_free(struct shape *shape)
{
	free(shape->nodes);
	shape->nodes = NULL;
}
