/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A request from its first byte to its end: queue, window, tries. */
#include <errno.h>

#include "base/fold.h"
#include "engine/state.h"
#include "wire/request.h"

enum {
	IDENTITY_FROM = 16, /* AttributeID: from there on, two requests that
			     * are the same have the same bytes */
	MOVED_PER_MS = 64,  /* requests that follow the SA when it has moved */
	LATE_MS = 250,	    /* that a kernel's word may be late */
};

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

static uint8_t jitter_of(const struct ibsa__engine *engine, int percent)
{
	if (!percent)
		percent = engine->options.jitter_percent;
	return percent < 0 ? 0 : (uint8_t)percent;
}

/*
 * What makes two requests the same: all of the MAD but its TransactionID,
 * which a txn gets only when it is sent. The rest beyond the record is zero.
 */
static size_t identity_len(const struct txn *txn)
{
	return IBSA_SA_HEADER_BYTES + (size_t)txn->record->size - IDENTITY_FROM;
}

/* Two words at a time: both halves of their product depend on all of both. */
static uint64_t mix(uint64_t hash, const uint8_t *p)
{
	uint64_t word[2];

	memcpy(word, p, sizeof(word));
	return fold_product(word[0] ^ hash ^ UINT64_C(0x9e3779b97f4a7c15),
			    word[1] ^ UINT64_C(0xbf58476d1ce4e5b9));
}

/* What lies beyond the record is zero, and one MAD has room for it. */
static uint64_t identity_hash(const struct txn *txn)
{
	const uint8_t *p = txn->mad + IDENTITY_FROM;
	uint64_t hash = txn->method;

	for (size_t i = 0; i < identity_len(txn); i += 16)
		hash = mix(hash, p + i);
	return hash;
}

int ibsa__txn_new(struct ibsa__engine *engine, const struct ibsa_query *query,
		  struct txn **out)
{
	const struct ibsa__engine_options *options = &engine->options;
	const struct ibsa__request request = {
		.record = query->record,
		.match = query->match,
		.mask = query->mask,
		.sm_key = options->sm_key,
		.attribute_modifier = query->attribute_modifier,
		.method = query->method ? query->method : IBSA_METHOD_GET,
	};
	struct txn *txn = ibsa__pool_take(&engine->txns);
	int err;

	if (!txn)
		return -ENOMEM;
	err = ibsa__request_encode(&request, txn->mad);
	if (err) {
		ibsa__pool_give(&engine->txns, txn);
		return err;
	}
	list_init(&txn->queries);
	timer_init(&txn->retry, TIMER_RETRY);
	txn->record = query->record;
	txn->interval_ms = or_default(query->first_interval_ms,
				      options->first_interval_ms);
	txn->max_interval_ms = or_default(query->max_interval_ms,
					  options->max_interval_ms);
	txn->jitter_percent = jitter_of(engine, query->jitter_percent);
	txn->tries = 0;
	txn->to = (struct ibsa_address){ 0 };
	txn->method = request.method;
	txn->epoch = engine->epoch;
	txn->heard_busy = false;
	txn->is_held = false;
	txn->is_late = false;
	txn->out = 0;
	txn->state = TXN_ENDED;
	txn->shareable = options->sharing && !query->no_sharing &&
			 (request.method == IBSA_METHOD_GET ||
			  request.method == IBSA_METHOD_GET_TABLE);
	if (txn->shareable)
		txn->share_hash = identity_hash(txn);
	*out = txn;
	return 0;
}

static bool is_same(const struct txn *a, const struct txn *b)
{
	return a->record == b->record && a->method == b->method &&
	       !memcmp(a->mad + IDENTITY_FROM, b->mad + IDENTITY_FROM,
		       identity_len(a));
}

/* A request on its way that asks what @txn, a new one, asks; or NULL. */
struct txn *ibsa__txn_like(struct ibsa__engine *engine, const struct txn *txn)
{
	const struct share_bucket *bucket;

	if (!txn->shareable)
		return NULL;
	bucket = share_bucket(&engine->shares, txn->share_hash);
	for (int i = 0; i < SHARE_WAYS; i++) {
		const struct share_entry *entry = &bucket->entries[i];

		if (entry->txn && entry->hash == txn->share_hash &&
		    entry->txn->state <= TXN_IN_FLIGHT &&
		    entry->txn->epoch == txn->epoch && is_same(entry->txn, txn))
			return entry->txn;
	}
	return NULL;
}

static uint64_t jittered_ms(struct ibsa__engine *engine, const struct txn *txn)
{
	uint64_t spread = (uint64_t)txn->interval_ms * txn->jitter_percent /
			  100;

	if (!spread)
		return txn->interval_ms;
	return txn->interval_ms - spread / 2 +
	       random_below(&engine->random, spread + 1);
}

static void double_interval(struct txn *txn)
{
	if (txn->interval_ms >= txn->max_interval_ms / 2)
		txn->interval_ms = txn->max_interval_ms;
	else
		txn->interval_ms *= 2;
}

/* Arm the next try. Return: when that is from now, in ms. */
static uint64_t arm_retry(struct ibsa__engine *engine, struct txn *txn,
			  uint64_t now_ns)
{
	uint64_t ms = jittered_ms(engine, txn);

	ms = ms ? ms : 1;
	ibsa__timer_arm(&engine->wheel, &txn->retry, tick_after(now_ns, ms));
	double_interval(txn);
	return ms;
}

/* The SA is busy: leave it alone for a whole interval from now. */
void ibsa__txn_back_off(struct ibsa__engine *engine, struct txn *txn)
{
	txn->heard_busy = true;
	txn->out = 0;
	arm_retry(engine, txn, engine_now_ns(engine));
}

/*
 * A try was refused because the one before still waits for its answer, as a
 * kernel does that was told how long: the next is when it was to be. Of an id
 * that was never sent that cannot be: the kernel says the same of an address
 * that it cannot send to. Or its queue is full (-EBUSY).
 */
static int try_refused(struct ibsa__engine *engine, struct txn *txn, int err)
{
	if (!txn->planned)
		return err == -EALREADY ? -EINVAL : err;
	if (txn->planned > engine->wheel.now) {
		txn->is_held = true;
		ibsa__timer_arm(&engine->wheel, &txn->retry, txn->planned);
	} else {
		txn->is_late = err == -EALREADY;
	}
	return -EBUSY;
}

/*
 * Once it has given up, a kernel takes no answer, and of a large one not even
 * those segments that are on their way: where it was late a try is due. It need
 * not speak of the last try: its word may come after that was sent.
 */
void ibsa__txn_given_up(struct ibsa__engine *engine, struct txn *txn)
{
	txn->out -= txn->out > 0;
	if (!txn->out && txn->state == TXN_GIVEN_UP) {
		ibsa__txn_free(engine, txn);
		return;
	}
	if (!txn->is_late || txn->state != TXN_IN_FLIGHT)
		return;
	txn->is_late = false;
	txn->interval_ms = txn->late_interval_ms;
	ibsa__timer_arm(&engine->wheel, &txn->retry, engine->wheel.now);
}

/* Give @txn an id of its own, which has not been sent yet. */
static void name_txn(struct ibsa__engine *engine, struct txn *txn)
{
	txn->planned = 0;
	if (!engine->next_tid)
		engine->next_tid++; /* 0 is no id to OpenSM */
	ibsa__request_set_id(txn->mad, engine->tid_high | engine->next_tid);
	ibsa__hash_add(&engine->tids, &txn->tid, engine->next_tid++);
}

/*
 * Aim @txn at the SA. When that has moved, what was asked there is not what
 * is asked here: the kernel, which still waits for the old answer, would refuse
 * a request of the same id, and whether the old SA was busy says nothing.
 */
static void aim(struct ibsa__engine *engine, struct txn *txn)
{
	if (txn->tries && !is_same_address(&txn->to, &engine->sa)) {
		ibsa__hash_remove(&engine->tids, &txn->tid);
		name_txn(engine, txn);
		txn->heard_busy = false;
		engine->stats.retargeted++;
	}
	txn->to = engine->sa;
}

/* Send @txn once more and arm its next try. */
static int send_try(struct ibsa__engine *engine, struct txn *txn,
		    uint64_t now_ns)
{
	struct ibsa_transport *transport = engine->transport;
	const uint32_t own_ms = txn->interval_ms;
	const uint64_t interval_ms = arm_retry(engine, txn, now_ns);
	int err = -EAGAIN;

	if (!txn->tries)
		txn->sent_ns = now_ns;
	if (engine->sa_known) {
		aim(engine, txn);
		err = transport->ops->send(transport, &txn->to, txn->mad,
					   sizeof(txn->mad),
					   (unsigned int)interval_ms);
	}
	if (err) {
		engine->stats.send_errors++;
		txn->late_interval_ms = own_ms;
		if (err == -EALREADY || err == -EBUSY)
			err = try_refused(engine, txn, err);
		return err;
	}
	txn->sent_ns = now_ns;
	txn->planned = txn->retry.due;
	txn->is_held = false;
	txn->is_late = false;
	txn->out++;
	txn->tries++;
	engine->stats.sent++;
	return 0;
}

/* Give @txn its place in the window, and send it. */
static int launch(struct ibsa__engine *engine, struct txn *txn, uint64_t now_ns)
{
	txn->state = TXN_IN_FLIGHT;
	engine->in_flight++;
	name_txn(engine, txn);
	return send_try(engine, txn, now_ns);
}

/* The wheel that @txn's timer is in. */
static struct wheel *wheel_of(struct ibsa__engine *engine,
			      const struct txn *txn)
{
	return txn->state == TXN_GIVEN_UP ? &engine->holds : &engine->wheel;
}

/* What is in flight is sent again: all of it at once if that is little, else
 * in turn, but nothing later than its next try. */
static void resend(struct ibsa__engine *engine, bool only_moved)
{
	uint64_t now = engine_now_ns(engine) / NS_PER_MS;
	unsigned int count = 0;

	for (size_t i = 0; i <= engine->tids.mask; i++) {
		struct hash_node *node = engine->tids.chains[i];

		for (; node; node = node->next) {
			struct txn *txn = hash_object(node, struct txn, tid);
			uint64_t due = now + count / MOVED_PER_MS;

			if (only_moved &&
			    is_same_address(&txn->to, &engine->sa))
				continue;
			count++;
			if (due < txn->retry.due)
				ibsa__timer_arm(wheel_of(engine, txn),
						&txn->retry, due);
		}
	}
}

/* The SA has moved: what is in flight follows it. */
void ibsa__engine_retarget(struct ibsa__engine *engine)
{
	resend(engine, true);
}

/* The transport has lost what was in flight: to send it again is to learn
 * whether it still carries anything. */
void ibsa__engine_resend(struct ibsa__engine *engine)
{
	resend(engine, false);
}

/*
 * Send @txn now if the window has room, else queue it. Return: 0; -ENOBUFS
 * or why it could not be sent, and it is out of everything.
 */
int ibsa__txn_submit(struct ibsa__engine *engine, struct txn *txn,
		     uint64_t now_ns)
{
	bool room;
	int err;

	if (engine->in_flight >= engine->options.window)
		ibsa__engine_release(engine, now_ns);
	room = engine->in_flight < engine->options.window &&
	       list_is_empty(&engine->waiting);
	if (!room && engine->queued >= engine->options.queue)
		return -ENOBUFS;
	if (txn->shareable) {
		ibsa__share_fit(&engine->shares,
				engine->in_flight + engine->queued);
		share_add(&engine->shares, txn, txn->share_hash);
	}
	if (!room) {
		txn->state = TXN_QUEUED;
		list_append(&engine->waiting, &txn->link);
		engine->queued++;
		return 0;
	}
	err = launch(engine, txn, now_ns);
	if (err)
		ibsa__txn_end(engine, txn);
	return err;
}

/*
 * Another query has joined @txn: do not let it wait longer for the next try
 * than if it had asked alone, but where the SA or the transport is busy.
 */
void ibsa__txn_hurry(struct ibsa__engine *engine, struct txn *txn,
		     unsigned int interval_ms)
{
	uint64_t due;

	interval_ms = or_default(interval_ms,
				 engine->options.first_interval_ms);
	due = tick_after(txn->sent_ns, interval_ms);
	if (txn->state == TXN_IN_FLIGHT && !txn->heard_busy && !txn->is_held &&
	    due < txn->retry.due)
		ibsa__timer_arm(&engine->wheel, &txn->retry, due);
}

/*
 * An error that may be gone at the next try: a full send queue, or a kernel
 * that still waits for the answer to the try before (-EBUSY).
 */
static bool is_passing(int err)
{
	return err == -EAGAIN || err == -ENOBUFS || err == -ENOMEM ||
	       err == -EINTR || err == -EBUSY;
}

/* @txn could not be sent: leave it to its next try, or give it up. */
static void send_failed(struct ibsa__engine *engine, struct txn *txn, int err)
{
	if (!is_passing(err))
		ibsa__txn_answer(engine, txn,
				 &(struct ibsa_reply){ .err = err });
}

/* Whether a query of @txn has time left to be answered. */
static bool is_awaited(const struct ibsa__engine *engine, const struct txn *txn)
{
	const struct list *at = txn->queries.next;

	for (; at != &txn->queries; at = at->next) {
		if (list_object(at, struct query, link)->deadline.due >
		    engine->wheel.now)
			return true;
	}
	return false;
}

/*
 * @txn got no answer in its interval: perhaps the SM has moved. After a long
 * sleep its deadlines are due too, and will end it.
 */
void ibsa__txn_retry(struct ibsa__engine *engine, struct txn *txn)
{
	int err;

	if (!is_awaited(engine, txn))
		return;
	ibsa__engine_refresh(engine);
	err = send_try(engine, txn, engine_now_ns(engine));
	if (err)
		send_failed(engine, txn, err);
	else if (txn->tries > 1)
		engine->stats.retries++;
}

/* Take @txn out of everything but its list of queries. */
void ibsa__txn_end(struct ibsa__engine *engine, struct txn *txn)
{
	if (txn->state == TXN_ENDED)
		return;
	if (txn->state == TXN_QUEUED) {
		list_remove(&txn->link);
		engine->queued--;
	} else {
		ibsa__timer_cancel(wheel_of(engine, txn), &txn->retry);
		ibsa__hash_remove(&engine->tids, &txn->tid);
		engine->in_flight--;
	}
	txn->state = TXN_ENDED;
}

void ibsa__txn_free(struct ibsa__engine *engine, struct txn *txn)
{
	ibsa__txn_end(engine, txn);
	ibsa__pool_give(&engine->txns, txn);
}

/*
 * Nobody waits for @txn any more. No kernel lets a request be taken back: it
 * waits for the answer as long as it was told to, and to it, as to the SA, the
 * request is in flight until then. So it keeps its place in the window, and
 * its id, until the kernel says that it waits no more; or for a while longer
 * than it was to, for not all that say so.
 */
void ibsa__txn_give_up(struct ibsa__engine *engine, struct txn *txn)
{
	const uint64_t until = txn->planned + LATE_MS;

	if (!txn->out || engine->closing || until <= engine->wheel.now) {
		ibsa__txn_free(engine, txn);
		return;
	}
	ibsa__timer_cancel(&engine->wheel, &txn->retry);
	txn->state = TXN_GIVEN_UP;
	ibsa__timer_arm(&engine->holds, &txn->retry, until);
}

void ibsa__engine_release(struct ibsa__engine *engine, uint64_t now_ns)
{
	struct timer *timer;

	ibsa__wheel_advance(&engine->holds, now_ns / NS_PER_MS);
	while ((timer = ibsa__wheel_take(&engine->holds)))
		ibsa__txn_free(engine, list_object(timer, struct txn, retry));
}

/*
 * Fill the window from the queue: from what is there now, for callbacks of
 * failed sends may queue more, and on a dead port that would have no end.
 */
void ibsa__engine_pump(struct ibsa__engine *engine)
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
		err = launch(engine, txn, engine_now_ns(engine));
		if (err)
			send_failed(engine, txn, err);
	}
}
