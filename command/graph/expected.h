/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ports of channel adapters in the topology file of --expect, and the
 * reason why the SA does not show one of them.
 */
#ifndef COMMAND_EXPECTED_H
#define COMMAND_EXPECTED_H

#include <ibsa/reach.h>
#include <ibsa/topology.h>

#include "names/nodes.h"

/**
 * struct expected - ports that the fabric should have
 * @topology: topology of the file; NULL: --expect is not given
 * @ports:    the @count ports of its channel adapters; port_guid is 0 if the
 *            file does not contain it
 * @explained: number of ports about which expected_explain() has sent queries
 * @islands:  of each island of the topology: whether the SA shows a node of
 *            it; NULL: not yet known
 */
struct expected {
	struct ibsa_topology *topology;
	struct ibsa_node *ports;
	size_t count;
	size_t explained;
	bool *islands;
};

/*
 * Read the file @path of --expect. If it is NULL, no port is expected. If it is
 * not, nodes_find() prints no message for a name that no node has: the command
 * prints where the node is expected. Return: the exit status; a failure is
 * printed. The caller frees @out in any case.
 */
int expected_read(struct cli *cli, const char *path, struct expected *out);
void expected_free(struct expected *expected);

/*
 * Select the expected ports that the name of a host stands for, or if it is
 * NULL, all of them, except those that are among @nodes. If no cable connects
 * some of these ports with one of @nodes, they are in another subnet, and not
 * selected if the others are in this one. Return: the exit status; a failure is
 * printed. The caller frees @out in any case.
 */
int expected_absent(struct expected *expected, const struct nodes *nodes,
		    const char *name, struct node_ports *out);

/*
 * Explain why the SA does not show an expected port: write to which port it
 * should be connected, and the state of that port, which is queried.
 */
void expected_explain(struct cli *cli, struct expected *expected,
		      const struct nodes *nodes, const struct ibsa_node *port,
		      struct ibsa_reason *out);

/* Receives why a port is absent, as a sentence. */
typedef void (*absence_fn)(const char *detail, void *arg);

/*
 * For each expected port that the name of a host stands for, and that the SA
 * does not show, call @report with the reason; if @report is NULL, print the
 * reason. Return: the number of these ports; 0 also after a failure, which is
 * printed.
 */
size_t expected_tell(struct cli *cli, struct expected *expected,
		     const char *name, absence_fn report, void *arg);

#endif
