/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients over TCP. A connection is a stranger until its hello has a valid
 * token, or its first frame has the ticket of a client's data socket. Strangers
 * have no slot. Their number is limited: one more ends the oldest stranger of
 * which the server has read all bytes, so that a client which sends its hello at
 * once is served, however many connections other programs hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/stat.h"
#include "serve/tcp.h"

enum { BACKLOG = 1024, STRANGERS_MAX = SERVER_STRANGER_FILES };

/* A token as a text, with a newline. */
struct token_text {
	char bytes[2 * REMOTE_TOKEN_BYTES + 1];
};

static int token_random(struct token_text *out)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t token[REMOTE_TOKEN_BYTES];

	if (getrandom(token, sizeof(token), 0) != sizeof(token))
		return -EIO;
	for (size_t i = 0; i < sizeof(token); i++) {
		out->bytes[2 * i] = digits[token[i] >> 4];
		out->bytes[2 * i + 1] = digits[token[i] & 15];
	}
	out->bytes[2 * sizeof(token)] = '\n';
	return 0;
}

static int token_write(int fd, const struct token_text *text)
{
	const ssize_t done = write(fd, text->bytes, sizeof(text->bytes));
	int err = 0;

	if (done != sizeof(text->bytes))
		err = done < 0 ? -errno : -EIO;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/*
 * Create a file with a random token. The file appears as a whole: another server
 * may start at the same time, or this one may be killed. Return: 0; -EEXIST
 * another process has created it; or another -errno.
 */
static int token_create(const char *path)
{
	struct token_text text;
	char name[PATH_MAX];
	int err = token_random(&text);
	int fd;

	if (err)
		return err;
	if (snprintf(name, sizeof(name), "%s.XXXXXX", path) >=
	    (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = token_write(fd, &text);
	if (!err && link(name, path))
		err = -errno;
	unlink(name);
	return err;
}

/* Read the token in the file at @path, which is created if it does not exist. */
static int token_have(const char *path, struct ibsa_error *error,
		      struct tcp_token *out)
{
	large_stat found;
	int err = ibsa__stat(path, O_NOFOLLOW, &found) == -ENOENT
			  ? token_create(path)
			  : 0;

	if (err && err != -EEXIST)
		return ibsa__fail(error, err, "cannot create the token %s: %s",
				  path, ibsa__errno_text(-err).bytes);
	return ibsa__token_read(path, TOKEN_OWN, error, out);
}

static int tokens_read(struct server *server, struct ibsa_error *error)
{
	const struct server_options *options = &server->options;
	int err;

	if (!options->token)
		return ibsa__fail(error, -EINVAL,
				  "cannot listen at %s: clients need a token; "
				  "name a file for it with --token",
				  options->tcp);
	err = token_have(options->token, error, &server->token);
	if (err || !options->control_token)
		return err;
	server->has_control_token = true;
	err = token_have(options->control_token, error, &server->control_token);
	if (!err && ibsa__secret_equals(server->token.bytes,
					server->control_token.bytes,
					sizeof(server->token.bytes)))
		err = ibsa__fail(error, -EINVAL,
				 "%s and %s have the same token: make another "
				 "one for commands that change something",
				 options->token, options->control_token);
	return err;
}

/* Listen at the name, and note the port, which the kernel may have chosen. */
static int socket_listen(struct server *server, const union tcp_name *name)
{
	const int on = 1;
	union tcp_name bound;
	socklen_t len = sizeof(bound);
	const int fd = ibsa__tcp_socket(name);

	if (fd < 0)
		return fd;
	server->tcp.fd = fd;
	/* The connections of an earlier server may not have ended yet. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, &name->any, tcp_name_len(name)) || listen(fd, BACKLOG) ||
	    getsockname(fd, &bound.any, &len))
		return -errno;
	server->tcp_port = ntohs(bound.in.sin_port);
	return ibsa__server_watch(&server->tcp, EPOLLIN);
}

static int listen_failed(const char *text, int err, struct ibsa_error *error)
{
	switch (err) {
	case -EADDRINUSE:
		return ibsa__fail(error, err,
				  "cannot listen at %s: the port is in use; "
				  "choose another, or 0 for any",
				  text);
	case -EADDRNOTAVAIL:
		return ibsa__fail(error, err,
				  "cannot listen at %s: this is not an "
				  "address of this machine; ip address lists "
				  "those",
				  text);
	case -EACCES:
		return ibsa__fail(error, err,
				  "cannot listen at %s: only root may use "
				  "this port; choose one above 1023",
				  text);
	default:
		return ibsa__fail(error, err, "cannot listen at %s: %s", text,
				  ibsa__errno_text(-err).bytes);
	}
}

int ibsa__server_listen_tcp(struct server *server, struct ibsa_error *error)
{
	const char *text = server->options.tcp;
	union tcp_name name;
	int err;

	if (!text && (server->options.token || server->options.control_token))
		return ibsa__fail(error, -EINVAL,
				  "a token is for clients over TCP: name an "
				  "address to listen at, such as tcp:127.0.0.1:"
				  "0");
	if (!text)
		return 0;
	if (strncmp(text, REMOTE_PREFIX_TCP, strlen(REMOTE_PREFIX_TCP)) != 0 ||
	    ibsa__tcp_name_parse(text + strlen(REMOTE_PREFIX_TCP),
				 strlen(text) - strlen(REMOTE_PREFIX_TCP),
				 &name))
		return ibsa__fail(error, -EINVAL,
				  "'%.64s' is not an address to listen at: "
				  "write tcp:PORT or tcp:HOST:PORT, with an "
				  "address such as 127.0.0.1 or [::1] as HOST",
				  text);
	err = tokens_read(server, error);
	if (err)
		return err;
	server->tcp.handle = ibsa__server_accept;
	err = socket_listen(server, &name);
	return err ? listen_failed(text, err, error) : 0;
}

bool ibsa__strangers_have_room(struct server *server)
{
	struct server_peer *peer;

	if (server->stranger_count < STRANGERS_MAX)
		return true;
	LIST_EACH(peer, &server->strangers, stranger) {
		if (peer->has_control)
			continue;
		ibsa__stranger_refuse(peer);
		return true;
	}
	return false;
}

void ibsa__stranger_add(struct server_peer *peer)
{
	struct server *server = peer->control.server;

	list_append(&server->strangers, &peer->stranger);
	server->stranger_count++;
}

void ibsa__stranger_remove(struct server_peer *peer)
{
	list_remove(&peer->stranger);
	peer->control.server->stranger_count--;
}

int ibsa__stranger_admit(struct server_peer *peer,
			 const uint8_t token[REMOTE_TOKEN_BYTES],
			 struct ibsa_error *error)
{
	const struct server *server = peer->control.server;
	const bool may_use = ibsa__secret_equals(token, server->token.bytes,
						 REMOTE_TOKEN_BYTES);
	const bool may_change = ibsa__secret_equals(
		token, server->control_token.bytes, REMOTE_TOKEN_BYTES);

	peer->may_change = server->has_control_token && may_change;
	if (!may_use && !peer->may_change)
		return ibsa__fail(error, -EACCES,
				  "the %s does not accept the token: give the "
				  "file of its --token, or a copy of it",
				  server->options.title);
	return ibsa__stranger_take_slot(peer, error);
}

int ibsa__peer_ticket_put(struct server_peer *peer, uint8_t *out)
{
	if (getrandom(peer->ticket, sizeof(peer->ticket), 0) !=
	    sizeof(peer->ticket))
		return -EIO;
	peer->has_ticket = true;
	memcpy(out, peer->ticket, sizeof(peer->ticket));
	return 0;
}

static struct server_peer *ticket_find(const struct server *server,
				       const uint8_t *ticket)
{
	struct server_peer *found = NULL;
	struct server_peer *peer;

	LIST_EACH(peer, &server->peers, link) {
		if (peer->has_ticket &&
		    ibsa__secret_equals(peer->ticket, ticket,
					REMOTE_TICKET_BYTES))
			found = peer;
	}
	return found;
}

int ibsa__stranger_join(struct server_peer *stranger, const uint8_t *ticket,
			const uint8_t *rest, size_t len)
{
	struct server *server = stranger->control.server;
	struct server_peer *peer = ticket_find(server, ticket);
	int err;

	if (!peer)
		return -EPROTO;
	peer->has_ticket = false;
	ibsa__source_unwatch(&stranger->control);
	peer->data.fd = stranger->control.fd;
	stranger->control.fd = -1;
	ibsa__source_set_deadline(&peer->data, false);
	err = ibsa__server_watch(&peer->data, EPOLLIN);
	if (err || !ibsa__peer_data_begin(peer, rest, len))
		ibsa__peer_disconnect(peer, "out of memory for its data "
					    "socket");
	ibsa__peer_disconnect(stranger, NULL);
	return 0;
}

bool ibsa__peer_await_data_end(struct server_peer *peer)
{
	if (!peer->is_tcp || (peer->data.fd < 0 && !peer->has_ticket))
		return false;
	peer->has_ended = true;
	peer->is_watching = false;
	ibsa__source_unwatch(&peer->control);
	ibsa__source_set_deadline(&peer->control, true);
	ibsa__peer_issm_clear(peer);
	return true;
}

bool ibsa__peer_is_early(struct server_peer *peer,
			 const struct remote_head *head)
{
	if (!peer->is_tcp || !peer->file)
		return false;
	peer->is_early = true;
	peer->packets_before = (uint32_t)head->err;
	if (peer_awaits_packets(peer)) {
		ibsa__source_unwatch(&peer->control);
		ibsa__source_set_deadline(&peer->control, true);
		return true;
	}
	peer->is_early = false;
	return false;
}

bool ibsa__peer_resume(struct server_peer *peer)
{
	if (!peer->is_early)
		return true;
	peer->is_early = false;
	if (!ibsa__server_watch(&peer->control, EPOLLIN))
		return true;
	ibsa__peer_disconnect(peer, "out of memory for its requests");
	return false;
}
