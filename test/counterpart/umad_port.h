/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port for programs that are linked with libibumad and interrupt its calls,
 * and a time limit for such programs.
 */
#ifndef UMAD_PORT_H
#define UMAD_PORT_H

#include <stdbool.h>

#include <infiniband/umad.h>

enum { PORT_MAD_BYTES = 256, PORT_HEADER_BYTES = 64, PORT_CLASS = 0x0a };

/* A header and a MAD. */
union port_packet {
	struct ib_user_mad head;
	uint8_t bytes[PORT_HEADER_BYTES + PORT_MAD_BYTES];
};

struct port {
	/*
	 * Device name of the port; NULL: the port is a socket that receives
	 * what it sends.
	 */
	const char *device;
	int portid;
	int agent;
	int lid; /* Destination LID of requests, if there is no GID. */
	bool has_gid;
	ib_mad_addr_t to;
};

/*
 * @device: a device's name, or "socket" for a socket that is connected to
 *          itself, which the calls take as they take any file
 * @to:     the LID or GID of a port that does not answer, so that requests
 *          come back after their timeout
 * Ends the program if the port cannot be opened.
 */
void port_open(struct port *port, const char *device, const char *to);

/* Send a request with a timeout of a millisecond, and a new transaction ID. */
int port_send(const struct port *port);

/* Return: as umad_recv(). */
int port_recv(const struct port *port, int timeout_ms);

/* Receive until there is nothing. */
void port_drain(const struct port *port);

/*
 * Register and unregister an agent of another class. Return: whether both
 * succeeded; false for a socket, which has no agents.
 */
bool port_agent(const struct port *port);

/*
 * Run @body in a child process. Return: the status that @body returned; -1: it
 * had to be killed after @limit_s seconds; or minus the signal that ended it,
 * minus 1000.
 */
int run_limited(int (*body)(void *arg), void *arg, int limit_s);

/* Wait for a child. As run_limited(). */
int child_wait(int pid, int limit_s);

#endif
