/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions about the client's own port: whether records contain it, and its
 * GID for "self" in an argument.
 */
#ifndef COMMAND_OWN_PORT_H
#define COMMAND_OWN_PORT_H

#include <ibsa/topology.h>

#include "output/cli.h"

/*
 * Every SA shows a port its own node. Therefore, if the records of a fabric do
 * not include this port, they are incomplete, and no conclusion can be drawn
 * from them. If --sa names an SA, which may be that of another fabric, the
 * records need not include this port: one record is enough.
 *
 * own_port_in_nodes() checks @count NodeRecords, own_port_in_topology() a
 * topology; @client has queried them. Return: whether they meet this condition;
 * if not, or if the port cannot be read, @why has the reason, which is not
 * printed.
 */
bool own_port_in_nodes(const struct cli *cli, struct ibsa_client *client,
		       const struct ibsa_node *nodes, size_t count,
		       struct ibsa_error *why);
bool own_port_in_topology(const struct cli *cli, struct ibsa_client *client,
			  const struct ibsa_topology *topology,
			  struct ibsa_error *why);

enum { ARGUMENT_ROOM = 128 }; /* for a name and a GID */

/*
 * If @text is "field=self" and the field is a GID, or an end of a
 * MultiPathRecord, set @out to a text in @room with the GID of this port, else
 * to @text. Return: the exit status.
 */
int self_replace(struct cli *cli, const struct ibsa_record *record,
		 const char *text, char room[ARGUMENT_ROOM], const char **out);

#endif
