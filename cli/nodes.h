/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes by their names, and ports by their GUIDs. */
#ifndef CLI_NODES_H
#define CLI_NODES_H

#include "cli.h"

/*
 * The lowest port of the one node whose description is @name; else of the
 * one whose description, or first word of it, is @name in any case. @where,
 * such as "line 3: ", begins a sentence that says what went wrong.
 *
 * Return: the exit status; what went wrong has been said.
 */
int nodes_find(struct cli *cli, const char *where, const char *name,
	       struct ibsa_node *out);

/* All end ports that the SA knows. */
struct nodes {
	struct ibsa_node *all; /* by port GUID */
	const struct ibsa_node **by_name;
	size_t count;
};

/* Ask for all of them. Return: the exit status; what went wrong has been
 * said. To be freed in any case. */
int nodes_read(struct cli *cli, struct nodes *out);
void nodes_free(struct nodes *nodes);

/* As nodes_find(), without asking. */
int nodes_find_in(struct cli *cli, const struct nodes *nodes, const char *where,
		  const char *name, struct ibsa_node *out);

/* The port with this GUID, or NULL. */
const struct ibsa_node *nodes_at(const struct nodes *nodes, uint64_t port_guid);

#endif
