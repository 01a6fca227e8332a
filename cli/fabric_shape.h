/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The levels of a fabric's switches: their distance from the adapters. */
#ifndef CLI_FABRIC_SHAPE_H
#define CLI_FABRIC_SHAPE_H

#include <ibsa/sim.h>

/*
 * @level: for a switch, number of cables to the nearest adapter; 0: there is no
 * path to an adapter
 */
struct shape_node {
	struct ibsa_fabric_node is;
	size_t level;
};

struct shape {
	struct ibsa_fabric *fabric;
	struct shape_node *nodes;
	size_t count;
	size_t levels; /* highest level */
};

/* Return: 0 or -ENOMEM. The caller frees @out in any case. */
int shape_read(struct ibsa_fabric *fabric, struct shape *out);
void shape_free(struct shape *shape);

/* Get a port of a node. Return: whether it has a cable. */
bool shape_cable(const struct shape *shape, size_t node, unsigned int port,
		 struct ibsa_fabric_end *out);

#endif
