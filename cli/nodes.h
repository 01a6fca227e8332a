/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes by their names, and ports by their GUIDs. */
#ifndef CLI_NODES_H
#define CLI_NODES_H

#include <ibsa/host.h>

#include "cli.h"

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

/* The ports that a name means. */
struct node_ports {
	struct ibsa_node *all; /* by device, then by number */
	size_t count;
};

/*
 * The ports that @name means by the rule of ibsa_host_select(): of those in
 * @nodes, or if that is NULL, of all that the SA tells of. @where, such as
 * "line 3: ", begins a sentence that says what went wrong.
 *
 * Return: the exit status; what went wrong has been said, and that there is no
 * such node is CLI_NO. To be freed in any case.
 */
int nodes_find(struct cli *cli, const struct nodes *nodes, const char *where,
	       const char *name, struct node_ports *out);
void node_ports_free(struct node_ports *ports);

/* The port with this GUID, or NULL. */
const struct ibsa_node *nodes_at(const struct nodes *nodes, uint64_t port_guid);

#endif
