/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests beside a fabric server, which runs in a thread of the program. */
#ifndef SERVED_RIG_H
#define SERVED_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/fabric_server.h>
#include <ibsa/ibsa.h>

struct served;

/* Two hosts, "left" (LID 1, with the SA) and "right" (LID 2). */
extern const char served_pair[];

/* Serve a fabric, which the server takes over, at a socket in a folder of its
 * own; or the fabric of that text. */
struct served *served_start_on(struct ibsa_fabric *fabric);
struct served *served_start(const char *text);
struct served *
served_start_with(const char *text,
		  const struct ibsa_fabric_server_options *limits);
void served_stop(struct served *served);

/* End the server, or let there be one again; the fabric stays. */
void served_end(struct served *served);
void served_again(struct served *served);
void served_wake(struct served *served);

/* Let the server be the test's own for a while: nobody serves meanwhile. */
struct ibsa_fabric_server *served_pause(struct served *served);
void served_resume(struct served *served);

const char *served_path(const struct served *served);
const char *served_name(const struct served *served); /* "unix:PATH" */
struct ibsa_fabric *served_fabric(const struct served *served);

/* A command to the fabric, which succeeds. */
void served_order(const struct served *served, const char *line);

/* Whether a client was sent away so, waiting for a while; forgets it. */
bool served_noted(struct served *served, const char *part);

/* A client at that node. */
struct ibsa_client *served_client(const struct served *served,
				  const char *node);

/* A raw connection; greeted at a node if it is not NULL. */
int served_connect(const struct served *served, const char *node);

#endif
