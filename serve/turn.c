/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns: how the clients of a server share its time. A client that has
 * sent something is active, and gets a turn of limited time, in which its
 * packets and requests are processed. What is left waits for its next turn.
 * While there is more to do than a round has time for, the client that has used
 * the least time is next, so that a client with few requests waits for one turn
 * of another client at most.
 */
#include "base/clock.h"
#include "serve/server.h"

/*
 * Maximum time that all turns together take between two checks for events and
 * signals.
 */
enum { ROUND_NS = 4000000 };

void ibsa__peer_activate(struct server_peer *peer)
{
	struct server *server = peer->control.server;

	if (peer->is_gone || !list_is_empty(&peer->active))
		return;
	/* A client that was inactive gets no credit for this time. */
	if (peer->spent_ns < server->spent_ns)
		peer->spent_ns = server->spent_ns;
	list_append(&server->active, &peer->active);
}

bool ibsa__peer_turn(struct server_peer *peer, uint64_t *out_end_ns)
{
	if (peer->is_ending)
		return false;
	peer_limit_turn(peer, clock_now_ns());
	*out_end_ns = peer->until_ns;
	return true;
}

/* Whether the client has requests that are not to wait. */
static bool may_answer(const struct server_peer *peer)
{
	return peer->has_control && !peer->held_until_ns &&
	       !peer_awaits_packets(peer);
}

static bool peer_is_busy(const struct server_peer *peer)
{
	return peer->has_output || peer->is_ending || peer_has_work(peer) ||
	       may_answer(peer) || ibsa__peer_has_packets(peer);
}

/* Return: the active client with work that has used the least time, or NULL. */
static struct server_peer *peer_next(const struct server *server)
{
	struct server_peer *found = NULL;
	struct server_peer *peer;

	LIST_EACH(peer, &server->active, active) {
		if ((!found || peer->spent_ns < found->spent_ns) &&
		    peer_is_busy(peer))
			found = peer;
	}
	return found;
}

/*
 * Return: the next active client with work in the order of the list, which is
 * rotated; or NULL. If there are many clients, this client is found faster than
 * the client that has used the least time.
 */
static struct server_peer *peer_in_order(struct server *server)
{
	const struct list *first = server->active.next;

	while (!list_is_empty(&server->active)) {
		struct server_peer *peer = list_object(
			server->active.next, struct server_peer, active);

		list_remove(&peer->active);
		list_append(&server->active, &peer->active);
		if (peer_is_busy(peer))
			return peer;
		if (server->active.next == first)
			break;
	}
	return NULL;
}

/*
 * Whether packets must be processed first: the client has sent them before its
 * next request, or before it closed the connection.
 */
static bool packets_come_first(const struct server_peer *peer)
{
	return peer->bytes_ahead && ibsa__peer_has_packets(peer);
}

static void peer_serve(struct server_peer *peer)
{
	ibsa__peer_serve(peer);
	if (peer->is_gone || packets_come_first(peer))
		return;
	if (peer->is_ending)
		ibsa__peer_disconnect(peer, NULL);
	else if (may_answer(peer))
		ibsa__peer_answer(peer);
}

/*
 * Give a client a turn. @now_ns: the time at which the turn begins; or 0 if no
 * other client is active, because the time is not needed then. Return: the time
 * at the end of the turn; 0 if @now_ns is 0.
 */
static uint64_t peer_turn(struct server_peer *peer, uint64_t now_ns)
{
	struct server *server = peer->control.server;
	uint64_t end_ns;

	if (server->spent_ns < peer->spent_ns)
		server->spent_ns = peer->spent_ns;
	peer->until_ns = now_ns ? now_ns + TURN_NS : 0;
	peer_serve(peer);
	ibsa__peer_count_memory(peer);
	if (!now_ns)
		return 0;
	end_ns = clock_now_ns();
	peer->spent_ns += end_ns - now_ns;
	return end_ns;
}

/*
 * If no bytes have arrived from the client, announce that it must wake the
 * server. Return: whether bytes have arrived, or the client has answered the
 * announcement.
 */
static bool bytes_settle(struct server_peer *peer)
{
	struct ring_end *in = &peer->rings.in;

	if (!ibsa__ring_is_empty(in))
		return true;
	if (ibsa__ring_is_idle(in))
		return false;
	ibsa__ring_idle_begin(in);
	return !ibsa__ring_is_empty(in) && ibsa__ring_idle_end(in);
}

void ibsa__peers_serve_active(struct server *server)
{
	bool is_timed = server->active.next != server->active.prev;
	struct server_peer *peer, *next;
	uint64_t start_ns = 0;
	uint64_t now_ns = 0;

	while ((peer = server->is_overloaded ? peer_next(server)
					     : peer_in_order(server))) {
		if (is_timed && !start_ns)
			start_ns = now_ns = clock_now_ns();
		now_ns = peer_turn(peer, now_ns);
		if (now_ns - start_ns >= ROUND_NS) {
			server->is_overloaded = true;
			return;
		}
		/* While only one client is active, its turn needs no clock. */
		is_timed = true;
	}
	server->is_overloaded = false;
	LIST_EACH_SAFE(peer, next, &server->active, active) {
		if (!peer->rings.memory || peer->held_until_ns ||
		    !bytes_settle(peer))
			list_remove(&peer->active);
	}
}
