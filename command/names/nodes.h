/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds nodes by name and ports by GUID. */
#ifndef COMMAND_NODES_H
#define COMMAND_NODES_H

#include <ibsa/reach.h>

#include "output/cli.h"

/* The end ports of NodeRecords of the SA. */
struct nodes {
	struct ibsa_node *all; /* sorted by port GUID */
	const struct ibsa_node **by_name;
	size_t count;
};

/*
 * Query the NodeRecords of all nodes. Return: the exit status, CLI_SILENT if
 * they lack this port; a failure is printed. The caller frees @out in any case.
 */
int nodes_read(struct cli *cli, struct nodes *out);
/*
 * Query the NodeRecords that match, which may lack this port; otherwise as
 * nodes_read().
 */
int nodes_query(struct cli *cli, const struct ibsa_node *match, uint64_t mask,
		struct nodes *out);
void nodes_free(struct nodes *nodes);

/* The ports to which a node's name refers. */
struct node_ports {
	/* sorted by the name of the device, then by port number */
	struct ibsa_node *all;
	size_t count;
};

/*
 * Find the ports that @name stands for by the rule of ibsa_host_select(). The
 * ports are searched among @nodes; if @nodes is NULL, among all nodes of the
 * SA, and then names of --node-name-map have precedence over descriptions. A
 * message of failure begins with @where, such as "line 3: ".
 *
 * Return: the exit status; CLI_NO if there is no such node. A failure is
 * printed. The caller frees @out in any case.
 */
int nodes_find(struct cli *cli, const struct nodes *nodes, const char *where,
	       const char *name, struct node_ports *out);

/* Print that the SA shows no node with the name. */
void name_absent_explain(const struct cli *cli, const char *where,
			 const char *name);

/*
 * Check that @name is not ambiguous: all its ports are ports of channel
 * adapters, which belong to one host, or all are ports of one node. Return: the
 * exit status; a failure is printed, after @where.
 */
int node_ports_check(const struct node_ports *ports, const char *where,
		     const char *name);

/*
 * Return: whether the SA shows all nodes to the client: whether its port is a
 * full member of the default partition. The SM makes each port at least a
 * limited member of this partition.
 */
bool nodes_are_shown(struct ibsa_client *client);

void node_ports_free(struct node_ports *ports);

/* Return: the port with this GUID, or NULL. */
const struct ibsa_node *nodes_at(const struct nodes *nodes, uint64_t port_guid);

#endif
