/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens and closes a client's umad file with its data socket and rings, and
 * connects the file and the SA to the client's turns.
 */
#include <errno.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "serve/server.h"

/*
 * The umad file calls this when it has packets for the client. The fabric is
 * locked.
 */
static void peer_set_ready(void *arg)
{
	struct server_peer *peer = arg;
	struct ibsa_fabric_server *server = peer->control.server;

	if (list_is_empty(&peer->ready))
		list_append(&server->ready, &peer->ready);
	if (server->is_serving)
		return;
	server->is_serving = true;
	ibsa_fabric_server_wake(server);
}

/*
 * Find the client that has sent a request for a table. Return: false: it has
 * gone, or will be disconnected. The fabric is locked.
 */
static bool client_find(void *arg, const uint8_t *mad, struct sa_client **out)
{
	const struct ibsa_fabric_server *server = arg;
	struct server_peer *peer;
	void *sender;

	if (!ibsa__sim_file_sender(&server->fabric->files, mad, peer_set_ready,
				   &sender))
		return false;
	peer = sender;
	if (peer && peer->is_ending)
		return false;
	if (peer)
		peer_limit_turn(peer, clock_now_ns());
	*out = peer ? &peer->tables : NULL;
	return true;
}

void ibsa__server_slice(struct ibsa_fabric_server *server, bool on)
{
	struct sa_slicer *slicer = &server->fabric->sa.slicer;

	pthread_mutex_lock(&server->fabric->lock);
	if (on)
		*slicer = (struct sa_slicer){ client_find, server };
	else if (slicer->arg == server)
		*slicer = (struct sa_slicer){ NULL };
	pthread_mutex_unlock(&server->fabric->lock);
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
 * Without rings, the data socket carries the packets.
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

int ibsa__peer_attach(struct server_peer *peer, struct server_fds *out)
{
	struct ibsa_fabric_server *server = peer->control.server;
	int fds[2];
	int err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		       fds))
		return -errno;
	peer_sources_init(peer, fds[0]);
	out->fd[REMOTE_FD_DATA] = fds[1];
	rings_offer(peer, out);
	pthread_mutex_lock(&peer->control.server->fabric->lock);
	err = ibsa__sim_file_open(&server->fabric->files, peer->port,
				  peer_set_ready, peer, &peer->file);
	pthread_mutex_unlock(&peer->control.server->fabric->lock);
	if (!err)
		err = peer_sources_watch(peer);
	if (err)
		ibsa__peer_detach(peer);
	return err;
}

void ibsa__peer_detach(struct server_peer *peer)
{
	pthread_mutex_lock(&peer->control.server->fabric->lock);
	ibsa__sa_jobs_end(&peer->control.server->fabric->sa, &peer->tables);
	ibsa__sim_file_close(peer->file);
	list_remove(&peer->ready);
	pthread_mutex_unlock(&peer->control.server->fabric->lock);
	peer->file = NULL;
	ibsa__source_close(&peer->data);
	ibsa__peer_rings_close(peer);
	peer->data.deadline_ns = UINT64_MAX;
	peer->head_sent = 0;
	peer->bytes_ahead = 0;
	peer->has_data = false;
	ibsa__bytes_free(&peer->part);
	ibsa__bytes_free(&peer->pending);
}
