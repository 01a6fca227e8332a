/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of ibsad: its server, the ports of its device, clients' files. */
#ifndef IBSAD_DAEMON_H
#define IBSAD_DAEMON_H

#include <pthread.h>

#include "base/list.h"
#include "ibsad/cache.h"
#include "ibsad/owned.h"
#include "ibsad/policy.h"
#include "ibsad/port.h"
#include "ibsad/reports.h"
#include "serve/serve.h"

struct settings;

/* A kind of lines in the log, limited to one line a second. */
struct log_limit {
	uint64_t count;	  /* since the last line */
	uint64_t line_ns; /* time of the last line; 0: none */
};

/*
 * @poll_fd:   epoll set of the signals and the umad files, for which the server
 *             waits
 * @signal_fd: the signals that end the process
 * @queued:    bytes of memory in the queues of all clients
 * @clients:   the clients of the SA for ibsad's own requests, by port number;
 *             NULL until the first such request
 * @reports:   by port number; entry 0 of both arrays is not used
 * @fabric:    the option fabric of @clients
 * @seats:     the last number that was given to a client of the server
 */
struct daemon {
	pthread_mutex_t lock; /* of the server; there is only one thread */
	struct server *server;
	struct ibsad_ports ports;
	struct owned owned;
	struct ibsa_client *clients[IBSAD_PORTS + 1];
	bool has_input; /* one of the clients may have received something */
	const char *fabric;
	struct ibsad_reports reports[IBSAD_PORTS + 1];
	struct ibsad_cache *caches; /* by port number, as @clients */
	uint32_t seats;
	bool performance;
	bool guid_info;
	struct policy_groups groups;
	const struct settings *settings; /* of the command line */
	bool owns_socket;		 /* its file is not systemd's */
	int poll_fd;
	int signal_fd;
	bool is_ending; /* a signal has come */
	size_t queued;
	uint64_t refused; /* what the policy or a quota did not permit */
	struct log_limit refusals;
	struct log_limit notes;
};

/* The operations of the server (owner.c). */
extern const struct serve_ops ibsad_serve_ops;

/* serve_ops.input (main.c): handle what has arrived at @poll_fd. */
void ibsad_input(void *owner);

static inline struct policy policy_of(const struct daemon *daemon,
				      uint32_t port)
{
	return (struct policy){
		.performance = daemon->performance,
		.guid_info = daemon->guid_info,
		.groups = &daemon->groups,
		.sm_lid = daemon->ports.at[port].state.port.sm_lid,
	};
}

/*
 * Called when the state of a port that clients read has changed. While ibsad
 * ends, this happens after the server is closed, too, because services are
 * being deleted.
 */
static inline void daemon_changed(struct daemon *daemon)
{
	if (daemon->server)
		ibsa__server_changed(daemon->server);
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
 * Get the client of the SA for ibsad's own requests at a port (clients.c); the
 * first call opens it. Return: 0 or -errno. The callbacks of the client are
 * called from ibsad_clients_dispatch(), without the lock.
 */
int ibsad_client_get(struct daemon *daemon, uint32_t port,
		     struct ibsa_client **out) IBSA_MUST_USE;

/* Whether MADs have arrived that the client of the port has not received. */
bool ibsad_client_has_input(const struct daemon *daemon, uint32_t port);

int ibsad_clients_timeout_ms(const struct daemon *daemon);
void ibsad_clients_dispatch(struct daemon *daemon);

/*
 * Wait until services that are being deleted are deleted, at most @ms
 * milliseconds, and close the clients. Call this after all umad files of
 * clients are closed.
 */
void ibsad_clients_close(struct daemon *daemon, int ms);

/*
 * Wait for a descriptor in the main loop, with @data in its entry: a client file,
 * the address of a member of the daemon, @clients or @signal_fd, or one of the
 * @caches.
 * Return: 0 or -errno.
 */
int ibsad_poll_add(struct daemon *daemon, int fd, void *data) IBSA_MUST_USE;

/*
 * ibsad_log() writes a line to the log, which is standard error.
 * ibsad_log_note() writes a note of the server, at most one a second.
 */
void ibsad_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

void ibsad_log_note(const char *text, void *daemon);

/*
 * Log that a request of a user was refused. At most one line a second is
 * written, with the number of refusals for which none was written. @mad: the
 * refused MAD, or NULL.
 */
void ibsad_log_refusal(struct daemon *daemon, uid_t user, const char *reason,
		       const uint8_t *mad);

#endif
