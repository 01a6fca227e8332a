/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport's connection to a server, read without waiting. The
 * server sends events, each with the state of the port, and the answer to the
 * one request that may be in flight.
 */
#ifndef REMOTE_CONTROL_H
#define REMOTE_CONTROL_H

#include <stddef.h>

#include <ibsa/transport.h>

#include "remote/connection.h"

enum { CONTROL_IDLE = REMOTE_TYPES }; /* no request is in flight */

/*
 * The received data of a connection. @state: the port's state as the server
 * last sent it, a struct remote_state with its tables; its length has been
 * checked.
 */
struct remote_control {
	/*
	 * Received bytes that are not handled yet: the beginning of an
	 * incomplete frame.
	 */
	uint8_t *bytes;
	size_t room;
	size_t used;
	/* In the new connection, REMOTE_WATCH is sent after REMOTE_ATTACH. */
	bool watches;
	/* At least one byte was received on the connection. */
	bool has_answer;
	uint8_t *state;
	size_t state_len;
	/*
	 * A state of the port has arrived that was not reported to the
	 * transport's user yet.
	 */
	bool has_event;
	/*
	 * Over TCP, the number of packets that were sent through the data
	 * socket of this connection; otherwise 0.
	 */
	uint32_t packets;
	/* Type of the request in flight to the server, or CONTROL_IDLE. */
	uint32_t asked;
	int answer_err; /* of the last answer */
	/* The number of the agent in the answer to REMOTE_REGISTER. */
	uint32_t answer;
	/*
	 * The answer to REMOTE_ATTACH: its descriptors, until the caller takes
	 * them, and its body; 0 if the body is empty.
	 */
	struct remote_fds fds;
	uint32_t ring_bytes;
	uint8_t ticket[REMOTE_TICKET_BYTES]; /* over TCP */
	struct remote_address *address; /* set by the answer to REMOTE_HELLO */
	/*
	 * Text of the server's last refusal, whose characters were not checked.
	 */
	struct ibsa_error refusal;
};

void ibsa__control_init(struct remote_control *control);

/*
 * Discard all received bytes, for a new connection. The buffer's memory stays
 * allocated.
 */
void ibsa__control_reset(struct remote_control *control);
void ibsa__control_free(struct remote_control *control);

/*
 * Send all requests of a new connection in one message, without waiting: hello,
 * REMOTE_ATTACH and, if @watches is set, REMOTE_WATCH. The answers set @address as
 * ibsa__remote_connect() does. If a request is refused, the answers to the
 * requests after it are not handled. If the send fails, the socket is shut
 * down: the server may have sent a reason before.
 */
void ibsa__control_open(struct remote_control *control, int fd,
			struct remote_address *address, bool watches);

/*
 * Send a request to the server without waiting. No other request may be in
 * flight. Return: 0; -EAGAIN the socket's buffer is full; -ENODEV the
 * connection failed.
 */
int ibsa__control_request(struct remote_control *control, int fd, uint32_t type,
			  const void *body, size_t len) IBSA_MUST_USE;

/*
 * Read and handle the frames that have arrived, up to a limit. Return: 0;
 * -ENODEV the server closed the connection or sent an invalid frame.
 */
int ibsa__control_read(struct remote_control *control, int fd) IBSA_MUST_USE;

/*
 * Convert the last state that the server sent to @out. The member reregisters
 * of the state is the server's own count.
 */
void ibsa__control_port(const struct remote_control *control,
			struct ibsa_port_state *out);

/*
 * Get an entry of the GID or P_Key table that the server last sent. Return: as
 * the gid and pkey operations of a transport.
 */
int ibsa__control_gid(const struct remote_control *control, uint32_t index,
		      struct ibsa_gid_entry *out) IBSA_MUST_USE;
int ibsa__control_pkey(const struct remote_control *control, uint32_t index,
		       uint16_t *out) IBSA_MUST_USE;

#endif
