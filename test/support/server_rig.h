/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server in a thread of the test program. If IBSA_TEST_TCP is in the
 * environment, its clients use TCP.
 */
#ifndef SERVER_RIG_H
#define SERVER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/server.h>
#include <ibsa/ibsa.h>

struct server_rig;

/* Topology of two hosts, "left" (LID 1, with the SA) and "right" (LID 2). */
extern const char server_pair[];

/*
 * Start a server for a fabric, which it takes over, or for the fabric of a
 * text. Its socket is in a directory of its own.
 */
struct server_rig *server_start_on(struct ibsa_fabric *fabric);
struct server_rig *server_start(const char *text);
struct server_rig *
server_start_with(const char *text,
		  const struct ibsa_fabric_server_options *limits);
void server_stop(struct server_rig *server);

/* Close the server, or open it again; its fabric continues to exist. */
void server_end(struct server_rig *server);
void server_restart(struct server_rig *server);
void server_wake(struct server_rig *server);

/* Pause the server's thread, so that the test can call the server itself. */
struct ibsa_fabric_server *server_pause(struct server_rig *server);
void server_resume(struct server_rig *server);

const char *server_path(const struct server_rig *server);
/* "unix:PATH"; or "tcp:127.0.0.1:PORT,token=FILE", for all commands. */
const char *server_address(const struct server_rig *server);
/* Whether the clients of servers use TCP. */
bool server_is_over_tcp(void);
struct ibsa_fabric *server_fabric(const struct server_rig *server);

/* Open a server over TCP, and close it. Return: 0, or the error. */
int server_try(const char *listen, const char *token, struct ibsa_error *error);

/* Run a command, which must succeed. */
void server_command(const struct server_rig *server, const char *line);

/*
 * Wait until the last note of the server contains @part, and remove this note.
 * Return: false: no such note came within 10 s.
 */
bool server_has_noted(struct server_rig *server, const char *part);

unsigned int server_note_count(struct server_rig *server);

/* A client at that node. */
struct ibsa_client *server_client(const struct server_rig *server,
				  const char *node);

/* Open a transport at a node of the server, without a client. */
struct ibsa_transport *server_transport(const struct server_rig *server,
					const char *node);

/*
 * Connect to the server without a client; if @node is not NULL, also send a
 * hello for this node.
 */
int server_connect(const struct server_rig *server, const char *node);
int server_connect_unix(const struct server_rig *server, const char *node);

struct remote_file;

/* Open the umad file of @node. Return: as ibsa__remote_file_open(). */
int server_file_open(const struct server_rig *server, const char *node,
		     struct remote_file *out);

/* Register an agent for replies of the SA. Return: its number. */
uint32_t server_agent_register(struct remote_file *file);

/* Send bytes to the server as a part of the packets of a umad file. */
void server_send_bytes(struct remote_file *file, const void *bytes, size_t len);

#endif
