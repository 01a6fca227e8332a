/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Overdue requests. A lost request must not count in the window until its
 * deadline, because other requests wait for room in the window. A slow SA,
 * however, must not receive more requests because of this.
 */
#include "engine/state.h"

/*
 * Whether the SA has been sent the last try of @txn, and has not replied to it
 * in any way.
 */
static bool txn_is_unanswered(const struct ibsa__engine *engine,
			      const struct txn *txn)
{
	return txn->id_tries && !txn->is_refused && !txn->is_lost &&
	       !txn->is_backing_off && txn_is_at_sa(engine, txn);
}

/*
 * Whether the SA has answered a request that was sent after the last try of
 * @txn: this try is then lost. Without such a reply, the SA may be slow or
 * stopped, and the request keeps its place in the window.
 */
static bool try_is_lost(const struct ibsa__engine *engine,
			const struct txn *txn)
{
	return engine->answered_ns > txn->sent_ns;
}

/* Whether no reply has arrived since the last try of @txn. */
static bool sa_is_silent(const struct ibsa__engine *engine,
			 const struct txn *txn)
{
	return engine->replied_ns < txn->sent_ns;
}

/* Return: the most requests in flight at an SA that does not reply. */
static unsigned int silent_limit(const struct ibsa__engine *engine)
{
	return engine->window.max < SILENT_PLACES ? engine->window.max
						  : SILENT_PLACES;
}

unsigned int ibsa__engine_batch(const struct ibsa__engine *engine)
{
	const unsigned int least = silent_limit(engine);

	return engine->window.size > least ? engine->window.size : least;
}

/* Whether @txn may become overdue, or be sent again. */
static bool overdue_has_room(const struct ibsa__engine *engine,
			     const struct txn *txn)
{
	if (!engine->limits_retries_only)
		return engine->overdue / OVERDUE_WINDOWS < silent_limit(engine);
	return engine->overdue /
		       (sa_is_silent(engine, txn) ? 1 : RETRY_WINDOWS) <
	       engine->window.max;
}

/* No reply to the last try of @txn has come in time: cut the window. */
static void loss_note(struct ibsa__engine *engine, struct txn *txn)
{
	const unsigned int size = engine->window.size;

	window_cut(&engine->window, AFTER_LOSS, txn->sent_ns, engine->now_ns);
	txn->cut += size - engine->window.size;
}

static void overdue_begin(struct ibsa__engine *engine, struct txn *txn)
{
	if (txn->overdue)
		ibsa__overdue_end(engine, txn);
	loss_note(engine, txn);
	txn->overdue = OVERDUE;
	engine->overdue++;
}

void ibsa__overdue_end(struct ibsa__engine *engine, struct txn *txn)
{
	if (txn->overdue == OVERDUE)
		engine->overdue--;
	else
		list_remove(&txn->link);
	txn->overdue = NOT_OVERDUE;
}

void ibsa__overdue_watch(struct ibsa__engine *engine, struct txn *txn)
{
	txn->overdue = IN_WINDOW;
	list_append(&engine->in_window, &txn->link);
}

/* Whether @txn is lost, and there is room for one more overdue request. */
static bool txn_may_leave(const struct ibsa__engine *engine,
			  const struct txn *txn)
{
	return overdue_has_room(engine, txn) &&
	       txn_is_unanswered(engine, txn) && try_is_lost(engine, txn);
}

/* Whether the engine may send a probe in the place of @txn; see probe_begin(). */
static bool may_probe(const struct ibsa__engine *engine, const struct txn *txn)
{
	return engine->window.min < engine->window.max && txn->trip->samples &&
	       engine->probed_ns <= engine->replied_ns &&
	       overdue_has_room(engine, txn) && txn_is_unanswered(engine, txn);
}

/* Return: the time from which on a reply to @txn is late. */
static uint64_t late_ns(const struct txn *txn)
{
	return txn->sent_ns + 1000 * txn->trip->limit_us;
}

/*
 * Whether to send a probe: a queued request in the place of @txn, whose reply is
 * late. If all requests in the window are lost, as often happens to a window of
 * one place, no later reply shows this, and the window would stand still for an
 * interval, while other clients take its share of the SA. The SA gets one probe
 * until it replies, so that one that is slow or stopped gets no more than that.
 *
 * Source: RFC 8985, 7 (tail loss probe).
 */
static bool probe_begin(struct ibsa__engine *engine, const struct txn *txn)
{
	if (!may_probe(engine, txn))
		return false;
	engine->probed_ns = engine->now_ns;
	return true;
}

bool ibsa__overdue_leave(struct ibsa__engine *engine)
{
	struct txn *txn = list_object(engine->in_window.next, struct txn, link);

	if (list_is_empty(&engine->in_window))
		return false;
	if (engine->now_ns < late_ns(txn)) {
		if (!engine->probe_timer.armed && may_probe(engine, txn))
			timer_arm(&engine->wheel, &engine->probe_timer,
				  tick_after(late_ns(txn), 0));
		return false;
	}
	if (!txn_may_leave(engine, txn) && !probe_begin(engine, txn))
		return false;
	overdue_begin(engine, txn);
	return true;
}

/*
 * Whether the next try of @txn is sent now, if the window limits retries only.
 * If other overdue requests wait, @txn stays overdue for one try only, and then
 * waits, too.
 */
static bool retry_is_admitted(struct ibsa__engine *engine, struct txn *txn)
{
	const bool is_first = !txn->id_tries || txn->is_refused ||
			      txn->is_lost || !txn_is_at_sa(engine, txn);
	const bool is_alone = list_is_empty(&engine->overdue_waiting);

	if (txn->overdue == OVERDUE && is_alone)
		return true;
	if (txn->overdue)
		ibsa__overdue_end(engine, txn);
	if (is_first)
		return true;
	if (is_alone && overdue_has_room(engine, txn)) {
		overdue_begin(engine, txn);
		return true;
	}
	txn->overdue = OVERDUE_WAITS;
	list_append(&engine->overdue_waiting, &txn->link);
	ibsa__txn_schedule(engine, txn, UINT64_MAX);
	return false;
}

/*
 * Whether @txn is the only request in flight and was sent twice. If it leaves
 * the window, the next request shows whether the SA does not reply at all, or
 * only not to @txn.
 */
static bool window_is_held_up(const struct ibsa__engine *engine,
			      const struct txn *txn)
{
	return engine->window.min < engine->window.max &&
	       engine->in_flight == 1 && txn->id_tries > 1;
}

/*
 * The interval grows with each try, because the SA may be slow. If the last try
 * of @txn is lost, the SA is not: the first tries of a lost request follow at
 * equal intervals.
 */
static void interval_hold(const struct ibsa__engine *engine, struct txn *txn)
{
	enum { TRIES = 4 };

	if (txn->is_measured && txn->id_tries <= TRIES &&
	    try_is_lost(engine, txn))
		txn->interval_ms = txn->last_interval_ms;
}

bool ibsa__overdue_admit(struct ibsa__engine *engine, struct txn *txn)
{
	if (engine->limits_retries_only)
		return retry_is_admitted(engine, txn);
	if (!txn_is_unanswered(engine, txn))
		return true;
	loss_note(engine, txn);
	interval_hold(engine, txn);
	if (txn->overdue != OVERDUE &&
	    (txn_may_leave(engine, txn) || window_is_held_up(engine, txn)))
		overdue_begin(engine, txn);
	return true;
}

static struct txn *overdue_first(const struct ibsa__engine *engine)
{
	return list_object(engine->overdue_waiting.next, struct txn, link);
}

bool ibsa__overdue_can_fill(const struct ibsa__engine *engine)
{
	return !list_is_empty(&engine->overdue_waiting) &&
	       overdue_has_room(engine, overdue_first(engine));
}

void ibsa__overdue_fill(struct ibsa__engine *engine)
{
	while (ibsa__overdue_can_fill(engine)) {
		struct txn *txn = overdue_first(engine);

		overdue_begin(engine, txn);
		ibsa__txn_send_again(engine, txn);
	}
}
