/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connection of a transport, read without waiting: events, each with the
 * state of the port, and the answer to the one question that may be asked.
 */
#ifndef REMOTE_CONTROL_H
#define REMOTE_CONTROL_H

#include <stddef.h>

#include <ibsa/transport.h>

#include "remote/protocol.h"

enum { CONTROL_IDLE = REMOTE_TYPES }; /* no question is asked */

/* @state: the port's, as the server has last sent it; a struct remote_state and
 * its tables, checked. */
struct remote_control {
	uint8_t *bytes; /* that came, a frame not all of which is here */
	size_t room;
	size_t used;
	uint8_t *state;
	size_t state_len;
	bool has_event;	 /* a state came that was not reported yet */
	uint32_t asked;	 /* type of the question, or CONTROL_IDLE */
	int answer_err;	 /* of the last question */
	uint32_t answer; /* to REMOTE_REGISTER: the agent */
	int fd; /* with the answer to REMOTE_ATTACH, the caller's to take; -1:
		 * none; -EMFILE: there was no room for it */
	struct remote_hello hello; /* the answer to REMOTE_HELLO */
	struct ibsa_error refusal; /* the sentence of an error, as it came */
};

void ibsa__control_init(struct remote_control *control);

/* Forget what came; for a new connection. The memory stays. */
void ibsa__control_reset(struct remote_control *control);
void ibsa__control_free(struct remote_control *control);

/* Take a state from a frame's body. Return: 0; -EPROTO; -ENOMEM. */
int ibsa__control_state_set(struct remote_control *control, const void *body,
			    size_t len) IBSA_MUST_USE;

/*
 * Send a question without waiting, while none is asked. Return: 0; -EAGAIN the
 * server does not read; -ENODEV.
 */
int ibsa__control_request(struct remote_control *control, int fd, uint32_t type,
			  const void *body, size_t len) IBSA_MUST_USE;

/* Read what has come, or some of it if it is much. Return: 0; -ENODEV the server has gone, or sends what is
 * no frame. */
int ibsa__control_read(struct remote_control *control, int fd) IBSA_MUST_USE;

/* The state as a transport tells it, but for what it counts itself. */
void ibsa__control_port(const struct remote_control *control,
			struct ibsa_port_state *out);

/* An entry of a table. Return: as the transport's gid and pkey. */
int ibsa__control_gid(const struct remote_control *control, uint32_t index,
		      struct ibsa_gid_entry *out) IBSA_MUST_USE;
int ibsa__control_pkey(const struct remote_control *control, uint32_t index,
		       uint16_t *out) IBSA_MUST_USE;

#endif
