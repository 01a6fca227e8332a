/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients over TCP: a stranger is a connection that has sent no valid token yet;
 * a client has a second connection for packets, so that packets and requests may
 * overtake each other.
 */
#ifndef SERVE_TCP_H
#define SERVE_TCP_H

#include "serve/server.h"

/* Listen at the address of the options, if there is one. */
int ibsa__server_listen_tcp(struct server *server,
			    struct ibsa_error *error) IBSA_MUST_USE;

/* End a stranger if there are too many. Return: false: accept none now. */
bool ibsa__strangers_have_room(struct server *server);

void ibsa__stranger_add(struct server_peer *peer);
void ibsa__stranger_remove(struct server_peer *peer);

/*
 * Make a stranger a client. Return: 0; -EACCES its token is not valid; -EUSERS
 * there are too many clients.
 */
int ibsa__stranger_admit(struct server_peer *peer,
			 const uint8_t token[REMOTE_TOKEN_BYTES],
			 struct ibsa_error *error) IBSA_MUST_USE;

/* Count a stranger as a client (accept.c). Return: 0; -EUSERS. */
int ibsa__stranger_take_slot(struct server_peer *peer,
			     struct ibsa_error *error) IBSA_MUST_USE;

/* End a stranger, and report that it has sent no valid token (accept.c). */
void ibsa__stranger_refuse(struct server_peer *peer);

/*
 * Make a stranger's connection the data socket of the client with the ticket; the
 * @len bytes at @rest have arrived already. Return: 0, and the stranger is gone;
 * -EPROTO no client has this ticket.
 */
int ibsa__stranger_join(struct server_peer *stranger, const uint8_t *ticket,
			const uint8_t *rest, size_t len) IBSA_MUST_USE;

/* Write the ticket of the client's next data socket. Return: 0; -EIO. */
int ibsa__peer_ticket_put(struct server_peer *peer, uint8_t *out) IBSA_MUST_USE;

/*
 * The client has closed its connection. Packets that it has sent before may
 * arrive later: the client stays until its data socket ends, too, or until a
 * deadline. Return: false: there are no such packets.
 */
bool ibsa__peer_await_data_end(struct server_peer *peer);

/*
 * Whether packets that the client has sent before a request have not arrived.
 * Then, no request is read until they have, or until a deadline.
 */
bool ibsa__peer_is_early(struct server_peer *peer,
			 const struct remote_head *head);

/* Read requests again. Return: false: the client was disconnected. */
bool ibsa__peer_resume(struct server_peer *peer);

#endif
