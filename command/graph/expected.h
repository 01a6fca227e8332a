/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ports of channel adapters that the topology file of --expect has, and
 * why the SA does not show one of them.
 */
#ifndef COMMAND_EXPECTED_H
#define COMMAND_EXPECTED_H

#include <ibsa/reach.h>
#include <ibsa/topology.h>

#include "names/nodes.h"

/**
 * struct expected - ports that the fabric should have
 * @topology: of the file; NULL: --expect is not given
 * @ports:    its @count ports of channel adapters; port_guid is 0 if the file
 *            does not have it
 * @explained: number of ports for which queries were sent to explain them
 */
struct expected {
	struct ibsa_topology *topology;
	struct ibsa_node *ports;
	size_t count;
	size_t explained;
};

/*
 * Read the file @path of --expect; NULL: it is not given, and no port is
 * expected. The command itself then tells that a name is absent. Return: the
 * exit status; a failure is printed. The caller frees @out in any case.
 */
int expected_read(struct cli *cli, const char *path, struct expected *out);
void expected_free(struct expected *expected);

/*
 * Select the expected ports of a host's name that are not among @nodes.
 * Return: the exit status; a failure is printed. The caller frees @out in any
 * case.
 */
int expected_absent(const struct expected *expected, const struct nodes *nodes,
		    const char *name, struct node_ports *out);

/* Whether the SA shows a port, which is expected. */
bool expected_is_shown(const struct nodes *nodes, const struct ibsa_node *port);

/*
 * Explain why the SA does not show an expected port: where it should be, and
 * the state of the other end of its cable, which is queried.
 */
void expected_explain(struct cli *cli, struct expected *expected,
		      const struct nodes *nodes, const struct ibsa_node *port,
		      struct ibsa_reason *out);

/* Receives why a port is absent, as a sentence. */
typedef void (*absence_fn)(const char *detail, void *arg);

/*
 * Tell for each port of a host's name that the SA does not show where it should
 * be. @report: NULL: messages are printed. Return: the number of these ports; 0
 * also after a failure, which is printed.
 */
size_t expected_tell(struct cli *cli, struct expected *expected,
		     const char *name, absence_fn report, void *arg);

#endif
