/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of a request to the SA after its first try: retries, the window, its
 * end and that of its queries.
 */
#include <errno.h>

#include "engine/answer.h"
#include "engine/state.h"

enum {
	/*
	 * Maximum number of requests in flight that are sent again per ms,
	 * after the SM has moved or the transport has lost them.
	 */
	MOVED_PER_MS = 64,
	/*
	 * The kernel may report the end of a request's timeout up to this many
	 * milliseconds late.
	 */
	LATE_MS = 250,
	/*
	 * Period in ms. In each period, at most as many abandoned requests as
	 * the window's size leave the window before the transport's timeout for
	 * them ends.
	 */
	PACE_MS = 16,
	/* Longest time in ms until a full transport is tried again. */
	ROOM_MAX_MS = 64,
	/* Longest pause in ms after BUSY; see pause_ms_next(). */
	PAUSE_MAX_MS = 128,
	/* The SA accepts requests if it has replied other than BUSY within this
	 * many ms. */
	SERVES_MS = 1000,
};

/* Put @txn, which is in flight, back at the head of the queue. */
static void txn_requeue(struct ibsa__engine *engine, struct txn *txn)
{
	txn_leave_window(engine, txn);
	txn->state = TXN_QUEUED;
	list_append(txn_waiting(engine, txn)->next, &txn->link);
	engine->queued++;
	ibsa__txn_schedule(engine, txn, UINT64_MAX);
}

/* Whether the SA has replied other than BUSY within the last SERVES_MS. */
static bool sa_accepts(const struct ibsa__engine *engine)
{
	return engine->accepted_ns &&
	       engine->now_ns - engine->accepted_ns < SERVES_MS * NS_PER_MS;
}

/*
 * Return: the mean time in ms after which @txn, to which the SA replied BUSY,
 * is sent again if no other request is in flight: a round trip at first, then
 * twice as long after each BUSY of requests that were not in flight together,
 * until the SA replies other than BUSY.
 */
static unsigned int pause_ms_next(struct ibsa__engine *engine,
				  const struct txn *txn, bool is_first)
{
	if (!engine->pause_ms)
		engine->pause_ms = 1 +
				   (unsigned int)txn->trip->smooth_us / 1000;
	else if (is_first)
		engine->pause_ms *= 2;
	if (engine->pause_ms > PAUSE_MAX_MS)
		engine->pause_ms = PAUSE_MAX_MS;
	return engine->pause_ms;
}

/*
 * The SA replied BUSY to @txn: the window was too large. If the other requests in
 * flight fill the window, @txn goes back to the queue; otherwise it stays in the
 * window and is sent again after a pause. @is_first: this is the first BUSY to
 * one of the requests that were in flight together.
 */
static void txn_yield(struct ibsa__engine *engine, struct txn *txn,
		      bool is_first)
{
	const unsigned int others = engine->in_flight - engine->overdue - 1;
	unsigned int pause_ms;

	if (others >= engine->window.size) {
		timer_cancel(&engine->wheel, &txn->retry);
		txn->is_backing_off = false;
		txn->id_tries = 0;
		txn_requeue(engine, txn);
		return;
	}
	pause_ms = pause_ms_next(engine, txn, is_first);
	ibsa__txn_schedule(
		engine, txn,
		engine_now_ns(engine) / NS_PER_MS + 1 + pause_ms / 2 +
			random_below(&engine->random, (uint64_t)pause_ms));
}

/*
 * The SA replied BUSY to @txn: if the caller of the query gave the interval, and
 * the SA does not accept other requests either, send the next try after a whole
 * interval from now. The last try has already doubled the interval, so the
 * interval before the doubling is used now.
 */
void ibsa__txn_back_off(struct ibsa__engine *engine, struct txn *txn)
{
	const bool is_first = window_cut(&engine->window, AFTER_BUSY,
					 txn->sent_ns, engine->now_ns);

	txn->got_busy = true;
	txn->is_backing_off = true;
	txn->outstanding = 0;
	txn->interval_ms = txn->last_interval_ms;
	if (txn->overdue)
		ibsa__overdue_end(engine, txn);
	if (!engine->limits_retries_only &&
	    (txn->is_measured || sa_accepts(engine)))
		txn_yield(engine, txn, is_first);
	else
		ibsa__txn_back_off_arm(engine, txn, engine_now(engine));
}

/*
 * The transport reports that the timeout of a try has ended. From now on the
 * kernel drops a reply to this try, and the remaining segments of a large
 * reply. If the transport refused the next try because it still held this one,
 * the next try is sent now. The kernel may send the report late; it may be
 * about an earlier try than the last one.
 */
void ibsa__txn_transport_timeout(struct ibsa__engine *engine, struct txn *txn)
{
	txn->outstanding -= txn->outstanding > 0;
	if (!txn->outstanding && txn->state == TXN_ABANDONED) {
		ibsa__txn_free(engine, txn);
		return;
	}
	if (!txn->is_late || txn->state != TXN_IN_FLIGHT)
		return;
	txn->is_late = false;
	txn->interval_ms = txn->last_interval_ms;
	timer_arm(&engine->wheel, &txn->retry, engine->wheel.now);
}

void ibsa__txn_free(struct ibsa__engine *engine, struct txn *txn)
{
	txn_end(engine, txn);
	pool_give(&engine->txns, txn);
}

/*
 * End @query without a reply. The next dispatch calls it back. If no other
 * query waits for the same request, the request ends, too. The SA may still
 * carry out a Set or Delete that ends in this way.
 */
void ibsa__query_end(struct ibsa__engine *engine, struct query *query, int err)
{
	struct txn *txn = query->txn;

	timer_cancel(&engine->wheel, &query->deadline);
	list_remove(&query->link);
	list_append(&engine->ended, &query->link);
	query->txn = NULL;
	query->record = txn->record;
	query->tries = txn->tries;
	query->err = err;
	query->status = 0;
	if (txn_is_write(txn))
		engine->epoch++;
	if (list_is_empty(&txn->queries) && txn->state != TXN_ENDED)
		ibsa__txn_abandon(engine, txn);
}

void ibsa__query_deadline_set(struct ibsa__engine *engine, struct query *query,
			      uint64_t due)
{
	struct timer *next_try = &query->txn->retry;

	timer_cancel(&engine->wheel, &query->deadline);
	query->deadline.due = due;
	if (due <= next_try->due)
		timer_arm(&engine->wheel, &query->deadline, due);
	else if (!next_try->armed)
		timer_arm(&engine->wheel, next_try, next_try->due);
}

void ibsa__txn_first_sent(struct ibsa__engine *engine, struct txn *txn,
			  uint64_t now)
{
	struct query *query;

	txn->starts_deadlines = false;
	LIST_EACH(query, &txn->queries, link) {
		if (!query->from_send_ms)
			continue;
		ibsa__query_deadline_set(engine, query,
					 now + query->from_send_ms);
		query->from_send_ms = 0;
	}
}

/* Return: why a query without a reply ends at its deadline. */
static int expiry_error(struct ibsa__engine *engine)
{
	const int err = ibsa__engine_port_error(engine);

	return err ? err : -ETIMEDOUT;
}

/*
 * End @query, because its deadline has passed: either no reply came, or BUSY
 * was the only reply.
 */
void ibsa__query_expire(struct ibsa__engine *engine, struct query *query)
{
	bool busy = query->txn->got_busy;

	engine->stats.timeouts += !busy;
	ibsa__query_end(engine, query, busy ? 0 : expiry_error(engine));
	query->status = busy ? IBSA_STATUS_BUSY : 0;
}

void ibsa__engine_call_back(struct ibsa__engine *engine)
{
	while (!list_is_empty(&engine->ended)) {
		struct query *query = list_object(engine->ended.next,
						  struct query, link);
		struct ibsa_reply reply = {
			.record = query->record,
			.err = query->err,
			.status = query->status,
			.tries = query->tries,
		};

		list_take(&query->link);
		query_call_back(engine, query, &reply);
	}
}

int ibsa__engine_cancel(struct ibsa__engine *engine, uint64_t id)
{
	const uint64_t number = id % QUERY_ID_STEP;
	struct query *query;

	if (!ibsa__engine_is_ours(engine))
		return -EINVAL;
	if (!number || number > engine->slot_count)
		return -ENOENT;
	query = engine->slots[number - 1];
	if (query->id != id || !query->txn)
		return -ENOENT;
	engine->stats.canceled++;
	ibsa__query_end(engine, query, -ECANCELED);
	return 0;
}

/*
 * Send the requests in flight again: MOVED_PER_MS of them in each ms. A request
 * whose next try is scheduled for an earlier time keeps that time. An abandoned
 * request leaves the window instead of being sent.
 */
void ibsa__engine_resend(struct ibsa__engine *engine, bool only_moved)
{
	uint64_t now = engine_now_ns(engine) / NS_PER_MS;
	unsigned int count = 0;

	for (size_t i = 1; i <= engine->tids.mask; i++) {
		uint32_t *slot = engine->tids.slots[i];
		uint64_t due = now + count / MOVED_PER_MS;
		struct txn *txn;

		if (!slot)
			continue;
		txn = id_object(slot, struct txn, tid);
		if (only_moved &&
		    ibsa__engine_is_same_address(&txn->to, &engine->sa))
			continue;
		txn->is_lost = !only_moved;
		count++;
		if (due < txn->retry.due)
			timer_arm(txn->state == TXN_ABANDONED
					  ? &engine->abandoned_wheel
					  : &engine->wheel,
				  &txn->retry, due);
	}
}

static void txn_fail(struct ibsa__engine *engine, struct txn *txn, int err)
{
	txn_answer(engine, txn, &(struct ibsa_reply){ .err = err });
}

static void txn_send_failed(struct ibsa__engine *engine, struct txn *txn,
			    int err)
{
	if (!ibsa__send_error_is_temporary(err))
		txn_fail(engine, txn, err);
}

/*
 * The transport reports @err for a try that it had accepted. The kernel uses
 * -EINVAL for a duplicate: the next try then follows when the transport's
 * timeout for the previous try has ended. Another error ends @txn, unless it is
 * temporary.
 */
void ibsa__txn_refused(struct ibsa__engine *engine, struct txn *txn, int err)
{
	engine->stats.send_errors++;
	if (txn->state != TXN_IN_FLIGHT) {
		ibsa__txn_transport_timeout(engine, txn);
		return;
	}
	txn->outstanding -= txn->outstanding > 0;
	txn->tries -= txn->tries > 0;
	txn->id_tries -= txn->id_tries > 0;
	txn->is_refused = true;
	if (err == -EINVAL && txn->id_tries) {
		txn->is_late = true;
		return;
	}
	/* Nothing was sent, so the interval does not grow. */
	txn->interval_ms = txn->last_interval_ms;
	txn_send_failed(engine, txn, err);
}

/*
 * Whether at least one query of @txn has a deadline in the future, if @txn is
 * sent at tick @now.
 */
static bool txn_is_awaited(const struct ibsa__engine *engine,
			   const struct txn *txn, uint64_t now)
{
	const struct query *query;

	LIST_EACH(query, &txn->queries, link) {
		if (query_end_tick(query, now) > engine->wheel.now)
			return true;
	}
	return false;
}

/*
 * Return: the number of ms after which to send a request again that the
 * transport refused because it had no room or no memory. The time doubles until
 * a send succeeds.
 */
static unsigned int room_ms_next(struct ibsa__engine *engine)
{
	engine->room_ms = engine->room_ms ? 2 * engine->room_ms : 1;
	if (engine->room_ms > ROOM_MAX_MS)
		engine->room_ms = ROOM_MAX_MS;
	return engine->room_ms;
}

void ibsa__txn_postpone(struct ibsa__engine *engine, struct txn *txn)
{
	txn_requeue(engine, txn);
	if (!engine->room_timer.armed)
		timer_arm(&engine->wheel, &engine->room_timer,
			  tick_after(engine->now_ns, room_ms_next(engine)));
}

static void transport_has_room(struct ibsa__engine *engine)
{
	engine->room_ms = 0;
	timer_cancel(&engine->wheel, &engine->room_timer);
}

/*
 * The transport has refused a retry of @txn. If the transport has no room or no
 * memory, the retry follows soon, and not an interval later.
 */
static void txn_retry_refused(struct ibsa__engine *engine, struct txn *txn,
			      uint64_t now, int err)
{
	const bool waits_for_timeout = txn->is_late ||
				       txn->retry.due == txn->wait_end;

	if (!ibsa__send_error_is_temporary(err))
		txn_fail(engine, txn, err);
	else if (engine->sa_known && !waits_for_timeout)
		ibsa__txn_schedule(engine, txn, now + room_ms_next(engine));
}

/*
 * The next try of @txn is due, usually because no reply came within the
 * interval. The port is read again (at most once in 100 ms), because the SM may
 * have moved. If all deadlines have passed as well, as after a suspend of the
 * machine, the deadline timers end @txn.
 */
void ibsa__txn_retry(struct ibsa__engine *engine, struct txn *txn)
{
	if (!txn_is_awaited(engine, txn, engine_now(engine))) {
		ibsa__txn_schedule(engine, txn, engine->wheel.now);
		return;
	}
	ibsa__engine_port_refresh(engine);
	if (ibsa__overdue_admit(engine, txn))
		ibsa__txn_send_again(engine, txn);
}

void ibsa__txn_send_again(struct ibsa__engine *engine, struct txn *txn)
{
	const uint64_t now = engine_now(engine);
	int err;

	/*
	 * The target of a redirection does not reply and may be gone: send
	 * requests to the SM's own SA again.
	 */
	if (!txn->is_backing_off && !txn->is_refused)
		ibsa__redirect_distrust(engine, txn);
	err = ibsa__txn_try_send(engine, txn, now);
	if (err) {
		txn_retry_refused(engine, txn, now, err);
		return;
	}
	transport_has_room(engine);
	engine->stats.retries += txn->tries > 1;
}

void ibsa__txn_redirected(struct ibsa__engine *engine, struct txn *txn)
{
	const uint64_t now_ns = engine_now_ns(engine);

	txn->outstanding = 0;
	txn->interval_ms = txn->last_interval_ms;
	if (txn_is_at_sa(engine, txn)) {
		/*
		 * The address of the redirection's target is not known yet, so
		 * a missing reply does not mean that the target is gone.
		 */
		txn->is_backing_off = true;
		ibsa__txn_back_off_arm(engine, txn, tick_after(now_ns, 0));
	} else {
		timer_arm(&engine->wheel, &txn->retry, now_ns / NS_PER_MS);
	}
}

/*
 * Return: the tick at which an abandoned request may leave the window before
 * the transport's timeout for it ends. In each period of PACE_MS, as many
 * requests as the window's size may leave the window at once; further requests
 * leave it at the end of the period. Without this limit, a program that submits
 * and cancels in a loop would flood the SA.
 */
static uint64_t paced_release(struct ibsa__engine *engine)
{
	const uint64_t now = engine->abandoned_wheel.now;

	if (now >= engine->pace_end) {
		engine->pace_end = now + PACE_MS;
		engine->paced = 0;
	}
	return engine->paced++ < engine->window.size ? now : engine->pace_end;
}

/*
 * Return: the tick until which an abandoned request stays in the window. The
 * kernel cannot cancel a request: until the timeout that was passed with the
 * request, the kernel waits for the reply and the SA works on it. The kernel
 * reports the end of the timeout; LATE_MS limits the wait for that report. Once
 * abandoned requests fill half of the window, further ones leave it earlier, so
 * that the other half serves queries: at the tick that paced_release() returns;
 * or, if the timeout is over, after PACE_MS, because the report is due. If the
 * transport does not hold requests, paced_release() decides about all abandoned
 * requests.
 */
static uint64_t abandoned_until(struct ibsa__engine *engine,
				const struct txn *txn)
{
	const uint64_t until = txn->wait_end + LATE_MS;
	uint64_t paced;

	if (engine->transport_holds &&
	    engine->abandoned < engine->window.size / 2)
		return until;
	if (engine->transport_holds && txn->wait_end <= engine->wheel.now)
		paced = engine->wheel.now + PACE_MS;
	else
		paced = paced_release(engine);
	return paced < until ? paced : until;
}

void ibsa__txn_abandon(struct ibsa__engine *engine, struct txn *txn)
{
	uint64_t until = 0;

	/* A wheel without timers is not advanced in each dispatch. */
	if (!engine->abandoned)
		wheel_advance(&engine->abandoned_wheel, engine->wheel.now);
	if (txn->outstanding && !engine->closing)
		until = abandoned_until(engine, txn);
	if (until <= engine->abandoned_wheel.now) {
		ibsa__txn_free(engine, txn);
		return;
	}
	timer_cancel(&engine->wheel, &txn->retry);
	if (txn->overdue && txn->overdue != OVERDUE)
		ibsa__overdue_end(engine, txn);
	txn->state = TXN_ABANDONED;
	engine->abandoned++;
	timer_arm(&engine->abandoned_wheel, &txn->retry, until);
}

void ibsa__engine_window_release(struct ibsa__engine *engine)
{
	struct timer *timer;

	wheel_advance(&engine->abandoned_wheel, engine->now_ns / NS_PER_MS);
	while ((timer = wheel_take(&engine->abandoned_wheel)))
		ibsa__txn_free(engine, list_object(timer, struct txn, retry));
}

/*
 * Send only as many requests as are queued now: the callback of a query whose
 * send fails may queue another query, and at a port that is down the loop
 * would not end.
 */
void ibsa__engine_window_fill(struct ibsa__engine *engine)
{
	for (unsigned int left = engine->queued;
	     left && engine->queued &&
	     (window_admits(engine) ||
	      (ibsa__overdue_leave(engine) && window_admits(engine)));
	     left--) {
		struct txn *txn = engine_waiting_first(engine);
		int err;

		list_remove(&txn->link);
		engine->queued--;
		err = ibsa__txn_launch(engine, txn, engine_now(engine));
		if (txn->state == TXN_QUEUED)
			return;
		transport_has_room(engine);
		engine->stats.retries += txn->tries > 1;
		if (err)
			txn_send_failed(engine, txn, err);
		else if (!engine->limits_retries_only)
			ibsa__overdue_watch(engine, txn);
	}
}
