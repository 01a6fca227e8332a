/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The shape of a fabric: which switches are how far from the adapters. */
#ifndef CLI_FABRIC_SHAPE_H
#define CLI_FABRIC_SHAPE_H

#include <ibsa/sim.h>

/*
 * @level: of a switch: cables to the nearest adapter; 0: none leads to one
 */
struct shape_node {
	struct ibsa_fabric_node is;
	size_t level;
};

struct shape {
	struct ibsa_fabric *fabric;
	struct shape_node *nodes;
	size_t count;
	size_t levels; /* the highest */
};

/* Return: 0 or -ENOMEM; to be freed in any case. */
int shape_read(struct ibsa_fabric *fabric, struct shape *out);
void shape_free(struct shape *shape);

/* The port of a node, if it has a cable. */
bool shape_cable(const struct shape *shape, size_t node, unsigned int port,
		 struct ibsa_fabric_end *out);

#endif
