/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests beside a fabric server, which runs in a thread of the program. */
#ifndef SERVER_RIG_H
#define SERVER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/fabric_server.h>
#include <ibsa/ibsa.h>

struct server_rig;

/* Two hosts, "left" (LID 1, with the SA) and "right" (LID 2). */
extern const char server_pair[];

/* Serve a fabric, which the server takes over, at a socket in a folder of its
 * own; or the fabric of that text. */
struct server_rig *server_start_on(struct ibsa_fabric *fabric);
struct server_rig *server_start(const char *text);
struct server_rig *
server_start_with(const char *text,
		  const struct ibsa_fabric_server_options *limits);
void server_stop(struct server_rig *server);

/* End the server, or let there be one again; the fabric stays. */
void server_end(struct server_rig *server);
void server_restart(struct server_rig *server);
void server_wake(struct server_rig *server);

/* Let the server be the test's own for a while: nobody serves meanwhile. */
struct ibsa_fabric_server *server_pause(struct server_rig *server);
void server_resume(struct server_rig *server);

const char *server_path(const struct server_rig *server);
const char *server_address(const struct server_rig *server); /* "unix:PATH" */
struct ibsa_fabric *server_fabric(const struct server_rig *server);

/* A command to the fabric, which succeeds. */
void server_command(const struct server_rig *server, const char *line);

/* Whether a client was sent away so, waiting for a while; forgets it. */
bool server_has_noted(struct server_rig *server, const char *part);

/* A client at that node. */
struct ibsa_client *server_client(const struct server_rig *server,
				  const char *node);

/* A raw connection; greeted at a node if it is not NULL. */
int server_connect(const struct server_rig *server, const char *node);

#endif
