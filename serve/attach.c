/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens and closes a client's umad file, its data socket and its rings. */
#include <errno.h>
#include <sys/epoll.h>

#include "serve/server.h"

void ibsa__peer_ready(struct server_peer *peer)
{
	struct server *server = peer->control.server;

	if (list_is_empty(&peer->ready))
		list_append(&server->ready, &peer->ready);
	if (server->is_serving)
		return;
	server->is_serving = true;
	ibsa__server_wake(server);
}

void ibsa__peer_end(struct server_peer *peer)
{
	peer->is_ending = true;
	ibsa__peer_activate(peer);
	ibsa__peer_ready(peer);
}

static void peer_sources_init(struct server_peer *peer, int data_fd)
{
	struct server_source source = {
		.handle = ibsa__peer_data_event,
		.server = peer->control.server,
		.fd = data_fd,
		.deadline_ns = UINT64_MAX,
	};

	peer->data = source;
	source.fd = -1;
	peer->bell = source;
}

/*
 * Create rings for the client, if both the client and the server can use them.
 * Without rings, packets pass through the data socket.
 */
static void rings_offer(struct server_peer *peer, struct server_fds *out)
{
	if (!peer->has_rings ||
	    ibsa__peer_rings_open(peer, &out->fd[REMOTE_FD_MEMORY]))
		return;
	peer->data.handle = ibsa__peer_data_end;
	out->fd[REMOTE_FD_BELL] = peer->bell.fd;
}

static int peer_sources_watch(struct server_peer *peer)
{
	int err = ibsa__server_watch(&peer->data, EPOLLIN);

	if (!err && peer->rings.memory)
		err = ibsa__server_watch(&peer->bell, EPOLLIN | EPOLLET);
	return err;
}

/*
 * Create the data socket, and offer rings. Over TCP, the client connects the
 * data socket, until a deadline.
 */
static int data_socket_make(struct server_peer *peer, struct server_fds *out)
{
	int fds[2];

	if (peer->is_tcp) {
		peer_sources_init(peer, -1);
		ibsa__source_set_deadline(&peer->data, true);
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		       fds))
		return -errno;
	peer_sources_init(peer, fds[0]);
	out->fd[REMOTE_FD_DATA] = fds[1];
	rings_offer(peer, out);
	return 0;
}

int ibsa__peer_attach(struct server_peer *peer, struct server_fds *out)
{
	struct server *server = peer->control.server;
	int err = data_socket_make(peer, out);

	if (err)
		return err;
	pthread_mutex_lock(server->options.lock);
	err = server->options.ops->open(server->options.owner, &peer->port,
					peer, &peer->file);
	pthread_mutex_unlock(server->options.lock);
	if (!err && !peer->is_tcp)
		err = peer_sources_watch(peer);
	if (err)
		ibsa__peer_detach(peer);
	return err;
}

void ibsa__peer_detach(struct server_peer *peer)
{
	pthread_mutex_t *lock = peer->control.server->options.lock;

	pthread_mutex_lock(lock);
	if (peer->file)
		peer->file->ops->close(peer->file);
	list_remove(&peer->ready);
	pthread_mutex_unlock(lock);
	peer->file = NULL;
	ibsa__source_close(&peer->data);
	ibsa__peer_rings_close(peer);
	peer->data.deadline_ns = UINT64_MAX;
	peer->head_sent = 0;
	peer->packets = 0;
	peer->bytes_ahead = 0;
	peer->has_data = false;
	peer->has_ticket = false;
	ibsa__bytes_free(&peer->part);
	ibsa__bytes_free(&peer->pending);
}
