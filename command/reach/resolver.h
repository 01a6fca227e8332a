/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts the targets of ibsa reach to GIDs. */
#ifndef COMMAND_REACH_RESOLVER_H
#define COMMAND_REACH_RESOLVER_H

#include "graph/expected.h"
#include "graph/rails.h"
#include "reach/reach.h"

/* State for converting targets to GIDs. */
struct target_resolver {
	struct cli *cli;
	struct ibsa_gid own;
	bool is_opa; /* the link layer of this machine's port is Omni-Path */
	struct nodes nodes;
	bool has_nodes;
	struct expected expected;
	struct rails rails; /* read if a host has several ports */
	bool has_rails;
};

/* Copy the node's name. Return: the exit status; a failure is printed. */
int reach_node_set(struct reach_target *target, const struct ibsa_node *node);

/*
 * Append a further port for the name of target @index. Return: the new target;
 * NULL if memory is short, which is reported.
 */
struct reach_target *reach_further_add(struct reach_targets *targets,
				       size_t index);

/*
 * Return: the beginning of a message about a target: "line 3: " for a line of
 * standard input, "" for an argument.
 */
const char *reach_where(const struct reach_target *target, char out[32]);

/*
 * Find the ports that the name of target @index stands for, and that the SA
 * does not show: ports in the topology of --expect; without --expect, rails
 * that hosts like this one have. Each is added as a further port of the target.
 * @status: the exit status of the search among the ports that the SA shows.
 * Return: the exit status; @status if no port was added.
 */
int reach_absent_find(struct target_resolver *resolver,
		      struct reach_targets *targets, size_t index, int status);

/*
 * Add a target for each port in the topology of --expect that the SA does not
 * show, except those of other subnets.
 */
int reach_absent_take(struct target_resolver *resolver,
		      struct reach_targets *targets);

#endif
