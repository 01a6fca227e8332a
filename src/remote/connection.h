/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A connection to a fabric server: asked by one thread at a time. */
#ifndef REMOTE_CONNECTION_H
#define REMOTE_CONNECTION_H

#include <pthread.h>
#include <sys/types.h>

#include <ibsa/types.h>

#include "remote/protocol.h"

/* Where a server is, and which of its ports is meant. */
struct remote_address {
	char path[108]; /* as sockaddr_un has it */
	char node[REMOTE_NODE_MAX + 1];
	unsigned int port;
	unsigned int patience_ms; /* for each answer; 0, or above: 10 s */
};

struct remote_connection {
	pthread_mutex_t lock;
	int fd; /* -1: the server has gone */
	unsigned int patience_ms;
	uint64_t start_ns; /* when connecting began */
	uint64_t end_ns;   /* of the exchange under way, whatever comes */
	bool is_late;	   /* the last one came to that end */
};

/* The path behind "unix:", or NULL: @fabric names no server. */
const char *ibsa__remote_path(const char *fabric);

/*
 * The place that @fabric ("unix:PATH") and @node mean; @node NULL, or
 * REMOTE_DEVICE: @process_node, which is IBSA_NODE as NAME or NAME/PORT, or
 * NULL. @port 0: the port in @process_node, or any.
 * Return: 0; -EINVAL @fabric is no server's, or @node too long; -ENAMETOOLONG.
 */
int ibsa__remote_address_find(const char *fabric, const char *node,
			      const char *process_node, unsigned int port,
			      struct ibsa_error *error,
			      struct remote_address *out) IBSA_MUST_USE;

/*
 * Connect and say hello. @place gets the name and number of the port that it
 * is. Return: 0; -ENODEV no server there, or no such node; -ENXIO the node has
 * no such port; -EACCES not permitted; -EUSERS it takes no more connections;
 * -EPROTO what is there is no server of this version; -ETIMEDOUT it does not
 * answer; or the system's error.
 */
int ibsa__remote_connect(struct remote_connection *connection,
			 struct remote_address *address,
			 struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Connect without waiting; the caller says hello, with what is put, and takes
 * the answer. The first returns 0; -EAGAIN the server lets nobody in for now;
 * or as ibsa__remote_connect(). The last returns 0, and @place is as after
 * ibsa__remote_connect(); -EPROTO.
 */
int ibsa__remote_connect_begin(struct remote_connection *connection,
			       const struct remote_address *address)
	IBSA_MUST_USE;
void ibsa__remote_hello_put(const struct remote_address *address,
			    struct remote_hello *out);
int ibsa__remote_hello_take(const struct remote_hello *hello,
			    struct remote_address *address) IBSA_MUST_USE;

void ibsa__remote_disconnect(struct remote_connection *connection);

/* A question, and room for its answer. */
struct remote_request {
	uint32_t type;
	const void *body;
	size_t len;
	void *answer;
	size_t room;
	size_t answered; /* bytes of it */
	int fd;		 /* that came with REMOTE_ATTACH, or -1; the caller's */
};

/*
 * Ask and wait for the answer, for the patience of the place at most, whatever
 * else comes meanwhile. Return: 0; -ENODEV the server has gone, or
 * does not answer, or speaks nonsense: the connection is of no use any more;
 * or the error that it answered, and its sentence in *@error.
 */
int ibsa__remote_request(struct remote_connection *connection,
			 struct remote_request *request,
			 struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Receive some bytes, as recv() does, without waiting. A file that comes along
 * is put into *@out_fd, and -EMFILE if it has no room among this program's.
 */
ssize_t ibsa__remote_recv(int fd, void *data, size_t len, int *out_fd);

/* A server's error and its sentence, made safe to show. Return: @err. */
int ibsa__remote_refusal(int err, const char *text, struct ibsa_error *error);

/* Whether the server has ended the connection; asks nothing. */
bool ibsa__remote_is_gone(struct remote_connection *connection);

#endif
