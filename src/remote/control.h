/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connection of a transport, read without waiting: events, each with the
 * state of the port, and the answer to the one request that may be in flight.
 */
#ifndef REMOTE_CONTROL_H
#define REMOTE_CONTROL_H

#include <stddef.h>

#include <ibsa/transport.h>

#include "remote/protocol.h"

enum { CONTROL_IDLE = REMOTE_TYPES }; /* no request is in flight */

/*
 * @state: the state of the port as the server last sent it, as a struct
 * remote_state with its tables; its length has been checked.
 */
struct remote_control {
	uint8_t *bytes; /* received bytes, which end with an incomplete frame */
	size_t room;
	size_t used;
	uint8_t *state;
	size_t state_len;
	bool has_event;	 /* a state has arrived that was not reported yet */
	uint32_t asked;	 /* type of the request in flight, or CONTROL_IDLE */
	int answer_err;	 /* of the last answer */
	uint32_t answer; /* to REMOTE_REGISTER: the agent's number */
	/*
	 * Descriptor from the answer to REMOTE_ATTACH, which the caller takes;
	 * -1: none; -EMFILE: the process had too many descriptors to receive
	 * it.
	 */
	int fd;
	struct remote_hello hello; /* the answer to REMOTE_HELLO */
	struct ibsa_error refusal; /* text of the last refusal, unchecked */
};

void ibsa__control_init(struct remote_control *control);

/* Discard all received bytes, for a new connection. The memory is kept. */
void ibsa__control_reset(struct remote_control *control);
void ibsa__control_free(struct remote_control *control);

/*
 * Set @state from the body of a frame. Return: 0; -EPROTO its length is wrong;
 * -ENOMEM.
 */
int ibsa__control_state_set(struct remote_control *control, const void *body,
			    size_t len) IBSA_MUST_USE;

/*
 * Send a request without waiting. No other request may be in flight. Return: 0;
 * -EAGAIN the socket's buffer is full; -ENODEV the connection failed.
 */
int ibsa__control_request(struct remote_control *control, int fd, uint32_t type,
			  const void *body, size_t len) IBSA_MUST_USE;

/*
 * Read and handle what has arrived, up to a limit. Return: 0; -ENODEV the
 * server closed the connection or sent an invalid frame.
 */
int ibsa__control_read(struct remote_control *control, int fd) IBSA_MUST_USE;

/* The port's state for a transport. @reregisters is the server's own count. */
void ibsa__control_port(const struct remote_control *control,
			struct ibsa_port_state *out);

/*
 * Get an entry of a table. Return: as the gid and pkey operations of a
 * transport.
 */
int ibsa__control_gid(const struct remote_control *control, uint32_t index,
		      struct ibsa_gid_entry *out) IBSA_MUST_USE;
int ibsa__control_pkey(const struct remote_control *control, uint32_t index,
		       uint16_t *out) IBSA_MUST_USE;

#endif
