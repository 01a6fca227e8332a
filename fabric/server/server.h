/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server: a server whose umad files are those of a fabric. @owner of
 * the functions here is the struct ibsa_fabric_server; the devices and ports of
 * the server are the nodes and ports of the fabric's topology.
 */
#ifndef FABRIC_SERVER_SERVER_H
#define FABRIC_SERVER_SERVER_H

#include <ibsa/server.h>

#include "serve/serve.h"
#include "fabric/fabric/seat.h"

struct ibsa_fabric_server {
	struct ibsa_fabric *fabric;
	struct server *server;
};

/* The operations of a fabric server (server_ops.c). */
extern const struct serve_ops ibsa__fabric_serve_ops;

/* Return: the end port of a node with this port number, or NO_INDEX. */
uint32_t ibsa__node_end_port(const struct ibsa_fabric *fabric, uint32_t node,
			     unsigned int number);

static inline struct fabric_seat seat_of(const struct serve_port *at)
{
	return (struct fabric_seat){ at->device, (enum seat_kind)at->seat };
}

/*
 * Umad files (server_umad.c): struct serve_ops.open, and the operations of the
 * files. ibsa__fabric_serve_slices() lets the SA build the tables of the clients
 * of all servers of a fabric in their turns.
 */
extern const struct serve_file_ops ibsa__fabric_serve_file_ops;
int ibsa__fabric_serve_open(void *owner, const struct serve_port *port,
			    struct server_peer *client, struct umad_file **out);
void ibsa__fabric_serve_slices(struct ibsa_fabric *fabric);

/*
 * Device files (server_files.c): struct serve_ops.read, list and find_mad.
 */
int ibsa__fabric_serve_read(void *owner, const struct serve_port *at,
			    const char *path, char *out, size_t room,
			    size_t *used);
int ibsa__fabric_serve_list(void *owner, const struct serve_port *at,
			    const char *path, char *out, size_t room,
			    size_t *used);
int ibsa__fabric_serve_find_mad(void *owner, const struct serve_port *at,
				uint32_t number, struct serve_port *out);

/*
 * Write a part of what /sys has about the adapters of a host (server_tree.c).
 * @args: number of the first adapter, and the host.
 */
int ibsa__fabric_tree(struct ibsa_fabric *fabric, const char *args, char *out,
		      size_t room, struct ibsa_error *error);

/*
 * Count errors at a port (server_errors.c). @args: NODE/PORT, the name of a
 * counter, and +N or +N/s.
 */
int ibsa__fabric_errors(struct ibsa_fabric *fabric, const char *args,
			struct ibsa_error *error) IBSA_MUST_USE;

/* struct serve_ops.changes (server_command.c) */
bool ibsa__fabric_command_changes(const char *line);

enum { NODE_MAX_CHARS = 256 };

/*
 * Split NODE/PORT at the last slash (server_command.c). Return: 0 or -EINVAL.
 */
int ibsa__port_name_split(const char *text, char node[NODE_MAX_CHARS],
			  unsigned int *port,
			  struct ibsa_error *error) IBSA_MUST_USE;

/* Explain why a change of the port or node @what failed. Return: @err. */
int ibsa__change_failed(const char *what, int err, struct ibsa_error *error);

#endif
