/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of ibsad: one server, the ports of one device, umad files. */
#ifndef IBSAD_DAEMON_H
#define IBSAD_DAEMON_H

#include <pthread.h>

#include "base/list.h"
#include "ibsad/owned.h"
#include "ibsad/policy.h"
#include "ibsad/port.h"
#include "serve/serve.h"

/* Lines of the log of which there is at most one a second. */
struct log_limit {
	uint64_t count;	  /* since the last line */
	uint64_t line_ns; /* time of the last line; 0: none */
};

/*
 * @poll_fd:   epoll set of the server, the signals and the clients' umad files
 * @signal_fd: the signals that end the process
 * @queued:    bytes of memory in the queues of all clients
 */
struct daemon {
	pthread_mutex_t lock; /* of the server; there is only one thread */
	struct server *server;
	struct ibsad_ports ports;
	struct owned owned;
	bool performance;
	int poll_fd;
	int signal_fd;
	size_t queued;
	struct log_limit refusals;
	struct log_limit notes;
};

/* The operations of the server (owner.c). */
extern const struct serve_ops ibsad_serve_ops;

static inline struct policy policy_of(const struct daemon *daemon,
				      uint32_t port)
{
	return (struct policy){
		.performance = daemon->performance,
		.sm_lid = daemon->ports.at[port].state.port.sm_lid,
	};
}

/*
 * Umad files of clients (file.c): struct serve_ops.open, and the operations of
 * the files. ibsad_file_readable() is called when a file, the data of its entry
 * in @poll_fd, may have packets.
 */
extern const struct serve_file_ops ibsad_file_ops;
int ibsad_file_open(void *owner, const struct serve_port *port,
		    struct server_peer *client, struct umad_file **out);
void ibsad_file_readable(void *file);

/*
 * Wait for a descriptor in the main loop, with @data in its entry: a client file,
 * or the address of a member of the daemon: @owned, @server or @signal_fd.
 * Return: 0 or -errno.
 */
int ibsad_poll_add(struct daemon *daemon, int fd, void *data) IBSA_MUST_USE;

/*
 * Write a line to the log, standard error; ibsad_log_note() at most one a second,
 * of the server.
 */
void ibsad_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

void ibsad_log_note(const char *text, void *daemon);

/*
 * Note that something of a user was refused: at most one line a second, which
 * has the number of those without a line. @mad: the MAD, or NULL.
 */
void ibsad_log_refusal(struct daemon *daemon, uid_t user, const char *reason,
		       const uint8_t *mad);

#endif
