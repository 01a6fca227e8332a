/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits the memory that the clients of a server use together. Each client has
 * limits of its own, but the sum of these is more than a machine has.
 */
#include "serve/server.h"

static size_t work_memory(const struct server_peer *peer)
{
	const struct serve_file_ops *ops = peer_file_ops(peer);

	return peer->file && ops->work_memory ? ops->work_memory(peer->file)
					      : 0;
}

static size_t buffers_memory(const struct server_peer *peer)
{
	return peer->request_bytes.room + peer->part.room + peer->pending.room +
	       work_memory(peer);
}

void ibsa__peer_count_memory(struct server_peer *peer)
{
	struct server *server = peer->control.server;
	const size_t memory = peer->is_gone ? 0 : buffers_memory(peer);

	/* The user of a client that is gone may be gone, too. */
	if (memory == peer->memory)
		return;
	server->memory += memory - peer->memory;
	peer->user->used[SERVE_BYTES] += memory - peer->memory;
	peer->memory = memory;
	if (!peer->is_gone && !ibsa__user_take(peer->user, SERVE_BYTES, 0))
		ibsa__peer_disconnect(peer, "its user has used its quota of "
					    "memory");
}

static bool is_exceeded(const struct server *server)
{
	const size_t most = (size_t)server->options.memory_mb << 20;

	return server->memory > most || server->queues > most - server->memory;
}

/* Return: the client that uses most memory, or NULL. The caller holds the lock. */
static struct server_peer *peer_heaviest(struct server *server)
{
	struct server_peer *found = NULL;
	struct server_peer *peer;
	size_t most = 0;

	LIST_EACH(peer, &server->peers, link) {
		const size_t memory =
			peer->memory +
			(peer->file ? peer_file_ops(peer)->queued(peer->file)
				    : 0);

		if (memory <= most)
			continue;
		found = peer;
		most = memory;
	}
	return found;
}

void ibsa__server_limit_memory(struct server *server)
{
	while (is_exceeded(server)) {
		struct server_peer *peer;

		pthread_mutex_lock(server->options.lock);
		peer = peer_heaviest(server);
		pthread_mutex_unlock(server->options.lock);
		if (!peer)
			return;
		ibsa__peer_disconnect(peer, "it uses the largest part of the "
					    "memory for clients, which is "
					    "exhausted");
		pthread_mutex_lock(server->options.lock);
		server->queues =
			server->options.ops->memory(server->options.owner);
		pthread_mutex_unlock(server->options.lock);
	}
}
