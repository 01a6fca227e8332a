/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of ibsa topology. */
#ifndef COMMAND_TOPOLOGY_TOPOLOGY_H
#define COMMAND_TOPOLOGY_TOPOLOGY_H

#include "graph/topology.h"

/*
 * Read the topology from the SA, or from the file of the argument, with
 * --device and --node-name-map. Return: the exit status; a failure is printed.
 * The caller frees @out in any case.
 */
int topology_view_read(struct cli *cli, struct topology_view *out);

/*
 * Return: the value of --device if it has wildcards, otherwise NULL. Such a
 * value does not name the device to send from, but selects which adapters are
 * shown.
 */
const char *topology_device_pattern(const struct cli *cli);

/*
 * Write the topology in the format of ibnetdiscover. Return: the exit status.
 */
int topology_net(struct cli *cli, const struct topology_view *view);

/*
 * Write topology.conf or topology.yaml of Slurm. Return: the exit status;
 * CLI_NO, after a message, if a node has a name that Slurm does not accept or
 * is on several leaf switches, or if links may be missing.
 */
int topology_slurm(struct cli *cli, const struct topology_view *view);

/*
 * Write a drawing, as the format dot or svg. @each: draw a box for every node,
 * however many there are. Return: the exit status; a failure is printed.
 */
int draw(struct cli *cli, bool each, const struct topology_view *view);

/*
 * Return: the node that represents the set of @node. @parents: for each node,
 * one of its set; this shortens the way to the one that is its own parent.
 */
static inline size_t set_root(size_t *parents, size_t node)
{
	while (parents[node] != node) {
		parents[node] = parents[parents[node]];
		node = parents[node];
	}
	return node;
}

#endif
