/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that a table of the SA includes the port that queried it. */
#ifndef COMMAND_OWN_PORT_H
#define COMMAND_OWN_PORT_H

#include <ibsa/topology.h>

#include "cli.h"

/*
 * An SA shows each port its own node, so records of a whole fabric without this
 * port are not those of the fabric, and nothing follows from them. The SA that
 * --sa names may be that of another fabric: of its records only one is needed.
 *
 * own_port_in_nodes() checks @count NodeRecords, own_port_in_topology() a
 * topology; @client has queried them. Return: whether they include the port; if
 * not, or if the port cannot be read, @why has the reason, which is not
 * printed.
 */
bool own_port_in_nodes(const struct cli *cli, struct ibsa_client *client,
		       const struct ibsa_node *nodes, size_t count,
		       struct ibsa_error *why);
bool own_port_in_topology(const struct cli *cli, struct ibsa_client *client,
			  const struct ibsa_topology *topology,
			  struct ibsa_error *why);

#endif
