/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of a request to the SA from its creation to its end: the queue, the
 * window, and its tries.
 */
#include <errno.h>

#include "engine/state.h"
#include "wire/request.h"

enum {
	/*
	 * After the SM has moved, this many requests in flight are sent again
	 * per ms.
	 */
	MOVED_PER_MS = 64,
	/*
	 * The kernel may report the end of a request's timeout up to this many
	 * milliseconds late.
	 */
	LATE_MS = 250,
	/*
	 * Period in ms. In each period, the number of abandoned requests that
	 * leave the window early is at most the window's size.
	 */
	PACE_MS = 16,
};

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

static uint8_t query_jitter(const struct ibsa__engine *engine, int percent)
{
	if (!percent)
		percent = engine->options.jitter_percent;
	return percent < 0 ? 0 : (uint8_t)percent;
}

/*
 * Raise the interval between the tries of @txn to the time after which a reply
 * is late: an earlier retry only adds load to a slow SA.
 */
static void txn_interval_raise(const struct ibsa__engine *engine,
			       struct txn *txn)
{
	uint32_t ms = ibsa__round_trip_limit_ms(&engine->round_trip);

	if (ms > txn->max_interval_ms)
		ms = txn->max_interval_ms;
	if (txn->interval_ms < ms)
		txn->interval_ms = ms;
}

int ibsa__txn_new(struct ibsa__engine *engine, const struct ibsa_query *query,
		  struct txn **out)
{
	const struct ibsa__engine_options *options = &engine->options;
	const struct ibsa__request request = {
		.record = query->record,
		.match = query->match,
		.mask = query->mask,
		.sm_key = options->access.sm_key,
		.attribute_modifier = query->attribute_modifier,
		.method = query->method ? query->method : IBSA_METHOD_GET,
	};
	struct txn *txn = pool_take(&engine->txns);
	int err;

	if (!txn)
		return -ENOMEM;
	err = ibsa__request_encode(&request, txn->mad);
	if (err) {
		pool_give(&engine->txns, txn);
		return err;
	}
	list_init(&txn->queries);
	timer_init(&txn->retry, TIMER_RETRY);
	txn->record = query->record->reply;
	txn->request_bytes = query->record->size;
	txn->interval_ms = or_default(query->first_interval_ms,
				      options->first_interval_ms);
	txn->max_interval_ms = or_default(query->max_interval_ms,
					  options->max_interval_ms);
	txn_interval_raise(engine, txn);
	txn->jitter_percent = query_jitter(engine, query->jitter_percent);
	txn->tries = 0;
	txn->id_tries = 0;
	txn->to = (struct ibsa_address){ 0 };
	txn->method = request.method;
	txn->epoch = engine->epoch;
	txn->hops = 0;
	txn->got_busy = false;
	txn->starts_deadlines = false;
	txn->is_late = false;
	txn->outstanding = 0;
	txn->state = TXN_ENDED;
	txn->shareable = options->sharing && !query->no_sharing &&
			 (request.method == IBSA_METHOD_GET ||
			  request.method == IBSA_METHOD_GET_TABLE);
	if (txn->shareable)
		txn->share_hash = ibsa__txn_identity(txn);
	*out = txn;
	return 0;
}

static uint64_t txn_jittered_ms(struct ibsa__engine *engine,
				const struct txn *txn)
{
	uint64_t spread = (uint64_t)txn->interval_ms * txn->jitter_percent /
			  100;

	if (!spread)
		return txn->interval_ms;
	return txn->interval_ms - spread / 2 +
	       random_below(&engine->random, spread + 1);
}

static void txn_interval_double(struct txn *txn)
{
	if (txn->interval_ms >= txn->max_interval_ms / 2)
		txn->interval_ms = txn->max_interval_ms;
	else
		txn->interval_ms *= 2;
}

/*
 * Arm the timer for the next try of @txn. Return: milliseconds until that try.
 */
static uint64_t txn_retry_arm(struct ibsa__engine *engine, struct txn *txn,
			      uint64_t now_ns)
{
	uint64_t ms;

	txn_interval_raise(engine, txn);
	ms = txn_jittered_ms(engine, txn);
	ms = ms ? ms : 1;
	txn->last_interval_ms = txn->interval_ms;
	ibsa__timer_arm(&engine->wheel, &txn->retry, tick_after(now_ns, ms));
	txn_interval_double(txn);
	return ms;
}

/*
 * The SA answered @txn with BUSY: send the next try a whole interval after
 * now.
 */
void ibsa__txn_back_off(struct ibsa__engine *engine, struct txn *txn)
{
	txn->got_busy = true;
	txn->is_backing_off = true;
	txn->outstanding = 0;
	txn_retry_arm(engine, txn, engine_now_ns(engine));
}

/*
 * Handle the transport's refusal @err of a try. -EALREADY: the transport still
 * holds the previous try, as the kernel does until the timeout that was passed
 * with it; the next try follows at the end of that timeout. If no try was sent
 * yet with this TransactionID, -EALREADY is the kernel's error for an address
 * to which it cannot send. -EBUSY: the transport's queue is full. Return:
 * -EBUSY, or the error that ends the request.
 */
static int txn_try_refused(struct ibsa__engine *engine, struct txn *txn,
			   int err)
{
	if (!txn->id_tries)
		return err == -EALREADY ? -EINVAL : err;
	if (txn->wait_end > engine->wheel.now)
		ibsa__timer_arm(&engine->wheel, &txn->retry, txn->wait_end);
	else
		txn->is_late = err == -EALREADY;
	return -EBUSY;
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
	ibsa__timer_arm(&engine->wheel, &txn->retry, engine->wheel.now);
}

/* Give @txn a new TransactionID: not 0, which OpenSM ignores. */
static void txn_id_assign(struct ibsa__engine *engine, struct txn *txn)
{
	txn->id_tries = 0;
	id_table_add(&engine->tids, &txn->tid);
	ibsa__request_set_id(txn->mad, engine->tid_high | txn->tid);
}

/*
 * Set the address of @txn to the current SA's address. If the address changes,
 * @txn gets a new TransactionID, since the kernel still holds the request with
 * the old one and would refuse to send it again. A BUSY of the old SA no
 * longer counts. The kernel later reports the end of the timeout with the old
 * TransactionID; that report is ignored.
 */
static void txn_address_update(struct ibsa__engine *engine, struct txn *txn)
{
	if (txn->tries && !is_same_address(&txn->to, &engine->sa)) {
		id_table_remove(&engine->tids, &txn->tid);
		txn_id_assign(engine, txn);
		txn->got_busy = false;
		txn->outstanding = 0;
		engine->stats.retargeted++;
		if (!engine->is_redirected)
			txn->hops = 0;
	}
	txn->to = engine->sa;
}

/*
 * Return: the timeout in ms to pass to the transport with the last try of a
 * request, which waits for its reply until tick @end.
 */
static unsigned int last_wait_ms(uint64_t now_ns, uint64_t end)
{
	const uint64_t now = tick_after(now_ns, 0);

	return end > now ? (unsigned int)(end - now) : 1;
}

/*
 * Send a try of @txn. The transport's timeout for it ends at the next try, or
 * when the last query of @txn ends, whichever is sooner.
 */
static int txn_mad_send(struct ibsa__engine *engine, struct txn *txn,
			uint64_t now_ns, unsigned int interval_ms)
{
	struct ibsa_transport *transport = engine->transport;
	uint64_t wait_end = txn->retry.due;
	uint64_t last;
	int err;

	txn_address_update(engine, txn);
	if (!ibsa__txn_is_awaited(txn, now_ns, wait_end, &last)) {
		wait_end = last;
		interval_ms = last_wait_ms(now_ns, last);
	} else if (engine->transport_holds) {
		interval_ms = ibsa__wait_before_retry(interval_ms);
	}
	err = transport->ops->send(transport, &txn->to, txn->mad,
				   sizeof(txn->mad), interval_ms);
	if (!err)
		txn->wait_end = wait_end;
	return err;
}

static int txn_try_send(struct ibsa__engine *engine, struct txn *txn,
			uint64_t now_ns)
{
	const uint64_t interval_ms = txn_retry_arm(engine, txn, now_ns);
	int err = -EAGAIN;

	txn->is_backing_off = false;
	if (engine->sa_known)
		err = txn_mad_send(engine, txn, now_ns,
				   (unsigned int)interval_ms);
	txn->is_refused = err != 0;
	if (err) {
		engine->stats.send_errors++;
		/*
		 * After -EALREADY nothing was sent, so the interval to the
		 * next try does not grow.
		 */
		if (err != -EALREADY)
			txn->interval_ms = txn->last_interval_ms;
		if (err == -EALREADY || err == -EBUSY)
			err = txn_try_refused(engine, txn, err);
		return err;
	}
	if (txn->starts_deadlines)
		ibsa__txn_first_sent(engine, txn, now_ns);
	txn->sent_ns = now_ns;
	txn->is_late = false;
	txn->id_tries++;
	txn->outstanding++;
	txn->tries++;
	engine->stats.sent++;
	return 0;
}

static int txn_launch(struct ibsa__engine *engine, struct txn *txn,
		      uint64_t now_ns)
{
	txn->state = TXN_IN_FLIGHT;
	engine->in_flight++;
	txn_id_assign(engine, txn);
	return txn_try_send(engine, txn, now_ns);
}

static struct wheel *txn_wheel(struct ibsa__engine *engine,
			       const struct txn *txn)
{
	return txn->state == TXN_ABANDONED ? &engine->abandoned_wheel
					   : &engine->wheel;
}

/*
 * Send the requests in flight again: MOVED_PER_MS of them in each ms, but none
 * later than its next try.
 */
void ibsa__engine_resend(struct ibsa__engine *engine, bool only_moved)
{
	uint64_t now = engine_now_ns(engine) / NS_PER_MS;
	unsigned int count = 0;

	for (size_t i = 0; i <= engine->tids.mask; i++) {
		uint64_t *slot = engine->tids.slots[i];
		uint64_t due = now + count / MOVED_PER_MS;
		struct txn *txn;

		if (!slot)
			continue;
		txn = id_object(slot, struct txn, tid);
		if (only_moved && is_same_address(&txn->to, &engine->sa))
			continue;
		count++;
		if (due < txn->retry.due)
			ibsa__timer_arm(txn_wheel(engine, txn), &txn->retry,
					due);
	}
}

/*
 * Whether the error of a send may be gone at the next try. That is -EBUSY: the
 * transport's queue is full, or the transport still holds the previous try.
 */
static bool send_error_is_temporary(int err)
{
	return err == -EAGAIN || err == -ENOBUFS || err == -ENOMEM ||
	       err == -EINTR || err == -EBUSY;
}

/*
 * Send @txn if the window has room, otherwise queue it. If sending fails with
 * a temporary error, the next try follows later. Return: 0; -ENOBUFS the queue
 * is full; -ENOMEM; or the transport's error. After an error, @txn is in no
 * list.
 */
int ibsa__txn_submit(struct ibsa__engine *engine, struct txn *txn,
		     uint64_t now_ns)
{
	const size_t live = engine->in_flight + engine->queued + 1;
	bool room;
	int err;

	if (engine->in_flight >= engine->options.window)
		ibsa__engine_window_release(engine, now_ns);
	/*
	 * The engine's own query for the path to a redirection's target is
	 * sent even if the window is full: the redirected requests stay in the
	 * window until the path is known.
	 */
	room = ibsa__redirect_is_path_query(txn) ||
	       (engine->in_flight < engine->options.window &&
		list_is_empty(&engine->waiting));
	if (!room && engine->queued >= engine->options.queue)
		return -ENOBUFS;
	err = id_table_fit(&engine->tids, live);
	if (err)
		return err;
	if (txn->shareable) {
		ibsa__share_fit(&engine->shares, live);
		share_add(&engine->shares, txn, txn->share_hash);
	}
	if (!room) {
		txn->state = TXN_QUEUED;
		list_append(&engine->waiting, &txn->link);
		engine->queued++;
		return 0;
	}
	err = txn_launch(engine, txn, now_ns);
	if (!err || send_error_is_temporary(err))
		return 0;
	ibsa__txn_end(engine, txn);
	return err;
}

static void txn_send_failed(struct ibsa__engine *engine, struct txn *txn,
			    int err)
{
	if (!send_error_is_temporary(err))
		ibsa__txn_answer(engine, txn,
				 &(struct ibsa_reply){ .err = err });
}

/*
 * The transport reports @err for a try that it had accepted. The kernel uses
 * -EINVAL for a duplicate: the next try then follows when the transport's
 * timeout for the previous try has ended.
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
	if (err == -EINVAL && txn->id_tries)
		txn->is_late = true;
	else
		txn_send_failed(engine, txn, err);
}

/*
 * No reply to @txn came within the interval. The port is read again, because
 * the SM may have moved. If all deadlines have passed as well, as after a
 * suspend of the machine, the deadline timers end @txn.
 */
void ibsa__txn_retry(struct ibsa__engine *engine, struct txn *txn)
{
	const uint64_t now_ns = engine_now_ns(engine);
	uint64_t last;
	int err;

	if (!ibsa__txn_is_awaited(txn, now_ns, engine->wheel.now + 1, &last))
		return;
	ibsa__engine_port_refresh(engine);
	/*
	 * The target of a redirection does not reply and may be gone: send
	 * requests to the SM's own SA again.
	 */
	if (!txn->is_backing_off && !txn->is_refused)
		ibsa__redirect_distrust(engine, txn);
	err = txn_try_send(engine, txn, now_ns);
	if (err)
		txn_send_failed(engine, txn, err);
	else if (txn->tries > 1)
		engine->stats.retries++;
}

void ibsa__txn_redirected(struct ibsa__engine *engine, struct txn *txn)
{
	const uint64_t now_ns = engine_now_ns(engine);

	txn->outstanding = 0;
	txn->interval_ms = txn->last_interval_ms;
	if (is_at_sa(engine, txn)) {
		/*
		 * The address of the redirection's target is not known yet, so
		 * a missing reply does not mean that the target is gone.
		 */
		txn->is_backing_off = true;
		txn_retry_arm(engine, txn, now_ns);
	} else {
		ibsa__timer_arm(&engine->wheel, &txn->retry,
				now_ns / NS_PER_MS);
	}
}

/*
 * Remove @txn from the queue or window and from all tables; its list of
 * queries is not changed.
 */
void ibsa__txn_end(struct ibsa__engine *engine, struct txn *txn)
{
	if (txn->state == TXN_ENDED)
		return;
	if (txn->state == TXN_QUEUED) {
		list_remove(&txn->link);
		engine->queued--;
	} else {
		ibsa__timer_cancel(txn_wheel(engine, txn), &txn->retry);
		id_table_remove(&engine->tids, &txn->tid);
		engine->in_flight--;
		engine->abandoned -= txn->state == TXN_ABANDONED;
	}
	txn->state = TXN_ENDED;
}

void ibsa__txn_free(struct ibsa__engine *engine, struct txn *txn)
{
	ibsa__txn_end(engine, txn);
	pool_give(&engine->txns, txn);
}

/*
 * Return: the tick at which an abandoned request may leave the window before
 * the transport's timeout for it ends. Usually this is now. Only a program
 * that cancels queries faster than the SA replies to them has to wait: without
 * this limit its requests would flood the SA.
 */
static uint64_t paced_release(struct ibsa__engine *engine)
{
	const uint64_t now = engine->abandoned_wheel.now;

	if (now >= engine->pace_end) {
		engine->pace_end = now + PACE_MS;
		engine->paced = 0;
	}
	return engine->paced++ < engine->options.window ? now
							: engine->pace_end;
}

/*
 * Return: the tick until which an abandoned request stays in the window. The
 * kernel cannot cancel a request: until the timeout that was passed with the
 * request, the kernel waits for the reply and the SA works on it. The kernel
 * reports the end of the timeout; LATE_MS limits the wait for that report. At
 * most half of the window holds abandoned requests, so that the other half
 * serves queries. Beyond that half, a request whose timeout is over stays for
 * PACE_MS, because the report is due.
 */
static uint64_t abandoned_until(struct ibsa__engine *engine,
				const struct txn *txn)
{
	const uint64_t until = txn->wait_end + LATE_MS;
	uint64_t paced;

	if (engine->transport_holds &&
	    engine->abandoned < engine->options.window / 2)
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

	if (txn->outstanding && !engine->closing)
		until = abandoned_until(engine, txn);
	if (until <= engine->abandoned_wheel.now) {
		ibsa__txn_free(engine, txn);
		return;
	}
	ibsa__timer_cancel(&engine->wheel, &txn->retry);
	txn->state = TXN_ABANDONED;
	engine->abandoned++;
	ibsa__timer_arm(&engine->abandoned_wheel, &txn->retry, until);
}

void ibsa__engine_window_release(struct ibsa__engine *engine, uint64_t now_ns)
{
	struct timer *timer;

	ibsa__wheel_advance(&engine->abandoned_wheel, now_ns / NS_PER_MS);
	while ((timer = ibsa__wheel_take(&engine->abandoned_wheel)))
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
	     left && engine->in_flight < engine->options.window &&
	     !list_is_empty(&engine->waiting);
	     left--) {
		struct txn *txn = list_object(engine->waiting.next, struct txn,
					      link);
		int err;

		list_remove(&txn->link);
		engine->queued--;
		err = txn_launch(engine, txn, engine_now_ns(engine));
		if (err)
			txn_send_failed(engine, txn, err);
	}
}
