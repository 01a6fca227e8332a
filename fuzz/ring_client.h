/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client that exchanges packets with a fabric server through rings in shared
 * memory, for a harness that runs the server between the client's steps.
 */
#ifndef FUZZ_RING_CLIENT_H
#define FUZZ_RING_CLIENT_H

#include <stdlib.h>
#include <sys/types.h>

#include <ibsa/server.h>

#include "remote/data.h"

enum { RING_METHOD_SEND = 3 };

struct ring_client {
	struct ibsa_fabric_server *server;
	int control;
	int memory_fd;
	struct remote_data data;
	uint32_t agent;
};

static inline void must(bool condition)
{
	if (!condition)
		abort();
}

/* Run the server a few times, without waiting. */
void ring_serve(struct ibsa_fabric_server *server);

/*
 * Send a request and receive its answer. Return: the number of bytes in
 * @answer; -1: the server has closed the connection, or refuses the request.
 */
ssize_t ring_client_request(const struct ring_client *client, uint32_t type,
			    const void *body, size_t len, void *answer,
			    struct remote_fds *fds);

/*
 * Get rings, and an agent for the SA's replies or for the method Send of a
 * class. Return: false: the server has closed the connection.
 */
bool ring_client_attach(struct ring_client *client);
bool ring_client_register(struct ring_client *client, uint8_t class);

/* Connect to the server at @path as @node, get rings and an agent. */
void ring_client_open(struct ring_client *client,
		      struct ibsa_fabric_server *server, const char *path,
		      const char *node, uint8_t class);

/* Close the data socket, the eventfd and the memory. */
void ring_client_unmap(struct ring_client *client);
void ring_client_close(struct ring_client *client);

#endif
