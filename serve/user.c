/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The users of a server, and their quotas. A person may have many processes and
 * many users, so a user has a limit of its own and a share of the limit of all
 * users.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "serve/server.h"

/* The part of all connections that only root can have. */
enum { ROOT_PART = 8 };

/* Return: the limit of a quota for one user now; UINT32_MAX: none. */
static uint32_t quota_limit(const struct server *server, enum serve_quota quota)
{
	const struct serve_limits *limits = &server->options.quotas[quota];
	const uint32_t users = server->user_count ? server->user_count : 1;
	const uint32_t share = limits->all / users ? limits->all / users : 1;
	const uint32_t one = limits->one ? limits->one : UINT32_MAX;

	return limits->all && share < one ? share : one;
}

void ibsa__server_quotas_set(struct server *server,
			     const struct serve_limits quotas[SERVE_QUOTAS])
{
	memcpy(server->options.quotas, quotas, sizeof(server->options.quotas));
}

static bool is_root(const struct serve_user *user)
{
	return !user->id;
}

bool ibsa__user_take(struct serve_user *user, enum serve_quota quota,
		     uint32_t count)
{
	if (!is_root(user) &&
	    user->used[quota] + count > quota_limit(user->server, quota))
		return false;
	user->used[quota] += count;
	return true;
}

void ibsa__user_give(struct serve_user *user, enum serve_quota quota,
		     uint32_t count)
{
	user->used[quota] -= count;
}

struct serve_user *ibsa__peer_user(const struct server_peer *peer)
{
	return peer->user;
}

uid_t ibsa__user_id(const struct serve_user *user)
{
	return user->id;
}

static struct serve_user *user_find(const struct server *server, uid_t id)
{
	struct serve_user *user;

	LIST_EACH(user, &server->users, link) {
		if (user->id == id)
			return user;
	}
	return NULL;
}

bool ibsa__server_has_user(const struct server *server, uid_t id)
{
	return user_find(server, id);
}

static struct serve_user *user_new(struct server *server, uid_t id)
{
	struct serve_user *user = ibsa__calloc(1, sizeof(*user));

	if (!user)
		return NULL;
	user->server = server;
	user->id = id;
	list_append(&server->users, &user->link);
	server->user_count += !is_root(user);
	return user;
}

static void user_free(struct serve_user *user)
{
	user->server->user_count -= !is_root(user);
	list_remove(&user->link);
	ibsa__free(user);
}

/*
 * Whether all users but root have the connections that root leaves to them. While
 * users come, each takes its share of the total, and they may exceed it.
 */
static bool is_full(const struct server *server)
{
	const uint32_t most = server->options.connections;
	const struct serve_user *user;
	uint32_t count = 0;

	if (!server->options.quotas[SERVE_CONNECTIONS].all)
		return false;
	LIST_EACH(user, &server->users, link)
		count += is_root(user) ? 0 : user->used[SERVE_CONNECTIONS];
	return count >= most - most / ROOT_PART;
}

struct serve_user *ibsa__user_enter(struct server *server, uid_t id,
				    bool *out_is_short)
{
	struct serve_user *user = user_find(server, id);

	*out_is_short = false;
	if (id && is_full(server))
		return NULL;
	if (!user)
		user = user_new(server, id);
	*out_is_short = !user;
	if (!user || ibsa__user_take(user, SERVE_CONNECTIONS, 1))
		return user;
	return NULL;
}

void ibsa__user_leave(struct serve_user *user)
{
	const struct server_options *options = &user->server->options;

	ibsa__user_give(user, SERVE_CONNECTIONS, 1);
	if (user->used[SERVE_CONNECTIONS])
		return;
	if (options->ops->leave) {
		pthread_mutex_lock(options->lock);
		options->ops->leave(options->owner, user->id);
		pthread_mutex_unlock(options->lock);
	}
	user_free(user);
}

/*
 * Clients that wait continue at a multiple of this time, all at once: each
 * expiry of the server's timer costs time for all clients.
 */
enum { HOLD_NS = 10000000 };

/*
 * The quota of requests is a rate: each request moves @spent_ns on by the time
 * that it takes at this rate. The limit is a second ahead of now.
 */
bool ibsa__peer_charge(struct server_peer *peer, uint64_t cost)
{
	struct serve_user *user = peer->user;
	const uint32_t rate = quota_limit(user->server, SERVE_REQUESTS);
	uint64_t now_ns;

	if (rate == UINT32_MAX || is_root(user))
		return true;
	now_ns = clock_now_ns();
	if (user->spent_ns < now_ns)
		user->spent_ns = now_ns;
	if (user->spent_ns - now_ns >= NS_PER_S) {
		peer->held_until_ns =
			((user->spent_ns - NS_PER_S) / HOLD_NS + 1) * HOLD_NS;
		ibsa__server_alarm(user->server, peer->held_until_ns);
		return false;
	}
	if (cost > SERVE_TRIES_MAX)
		cost = SERVE_TRIES_MAX;
	user->spent_ns += cost * NS_PER_S / rate;
	return true;
}

void ibsa__peer_release(struct server_peer *peer, uint64_t now_ns)
{
	if (!peer->held_until_ns || peer->is_gone)
		return;
	if (peer->held_until_ns > now_ns) {
		ibsa__server_alarm(peer->control.server, peer->held_until_ns);
		return;
	}
	peer->held_until_ns = 0;
	ibsa__peer_activate(peer);
}
