/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries from their submission to the tries of their request. All of this is
 * in one file so that the compiler can inline it.
 */
#include <errno.h>

#include "base/array.h"
#include "engine/answer.h"
#include "engine/interval.h"
#include "engine/state.h"
#include "wire/mad.h"
#include "wire/request.h"
#include "wire/word.h"

static uint8_t query_jitter(const struct ibsa__engine *engine, int percent)
{
	if (!percent)
		percent = engine->options.jitter_percent;
	return percent < 0 ? 0 : (uint8_t)percent;
}

static int txn_new(struct ibsa__engine *engine, const struct ibsa_query *query,
		   struct txn **out)
{
	const struct ibsa__engine_options *options = &engine->options;
	const struct ibsa__request request = {
		.record = query->record,
		.match = query->match,
		.mask = query->mask,
		.sm_key = options->access.sm_key,
		.transaction_id = engine->tid_high,
		.attribute_modifier = query->attribute_modifier,
		.method = query->method ? query->method : IBSA_METHOD_GET,
	};
	struct txn *txn = pool_take(&engine->txns);
	int err;

	if (!txn)
		return -ENOMEM;
	err = ibsa__request_replace(&request, txn->asked, txn->method,
				    txn->mad);
	txn->asked = query->record;
	txn->method = request.method;
	if (err) {
		pool_give(&engine->txns, txn);
		return err;
	}
	list_init(&txn->queries);
	timer_init(&txn->retry, TIMER_RETRY);
	txn->record = query->record->reply;
	txn_interval_init(engine, query, txn);
	txn->max_interval_ms = or_default(query->max_interval_ms,
					  options->max_interval_ms);
	txn->jitter_percent = query_jitter(engine, query->jitter_percent);
	txn->epoch = engine->epoch;
	txn->tries = 0;
	txn->id_tries = 0;
	txn->outstanding = 0;
	txn->hops = 0;
	txn->got_busy = false;
	txn->starts_deadlines = false;
	txn->is_late = false;
	txn->is_lost = false;
	txn->overdue = NOT_OVERDUE;
	txn->cut = 0;
	txn->is_bulk = query->bulk;
	txn->shareable = options->sharing && !query->no_sharing &&
			 (request.method == IBSA_METHOD_GET ||
			  request.method == IBSA_METHOD_GET_TABLE);
	*out = txn;
	return 0;
}

/*
 * Do what ibsa__txn_schedule() does. Return: @due, or the tick at which the
 * last deadline of a query of @txn ends if that is earlier; deadlines that
 * start with the first send count from tick @now.
 */
static inline uint64_t txn_schedule(struct ibsa__engine *engine,
				    struct txn *txn, uint64_t now, uint64_t due)
{
	struct query *query;
	uint64_t last = 0;
	bool is_needed = false;

	LIST_EACH(query, &txn->queries, link) {
		const uint64_t end = query_end_tick(query, now);

		last = end > last ? end : last;
		if (query->deadline.due > due)
			is_needed = true;
		else if (!query->deadline.armed)
			ibsa__timer_insert(&engine->wheel, &query->deadline,
					   query->deadline.due);
	}
	txn->retry.due = due;
	if (is_needed)
		timer_arm(&engine->wheel, &txn->retry, due);
	else
		timer_cancel(&engine->wheel, &txn->retry);
	return last < due ? last : due;
}

void ibsa__txn_schedule(struct ibsa__engine *engine, struct txn *txn,
			uint64_t due)
{
	txn_schedule(engine, txn, 0, due);
}

/*
 * Schedule the next try of @txn an interval after tick @now, with a jitter of
 * @percent. Return: as txn_schedule().
 */
static inline uint64_t txn_retry_arm(struct ibsa__engine *engine,
				     struct txn *txn, uint64_t now,
				     unsigned int percent)
{
	uint64_t wait_end;
	uint64_t ms;

	txn_interval_raise(txn);
	ms = txn_jittered_ms(engine, txn, percent);
	ms = ms ? ms : 1;
	txn->last_interval_ms = txn->interval_ms;
	wait_end = txn_schedule(engine, txn, now, now + ms);
	txn_interval_double(txn);
	return wait_end;
}

/*
 * After BUSY, many requests would be sent again at the same time. To avoid
 * this, the jitter is WIDER times as wide, and the interval is not shorter than
 * before the first measured reply.
 */
void ibsa__txn_back_off_arm(struct ibsa__engine *engine, struct txn *txn,
			    uint64_t now)
{
	enum { WIDER = 4 };
	const unsigned int percent = WIDER * txn->jitter_percent;

	if (txn->is_measured &&
	    txn->interval_ms < IBSA_DEFAULT_FIRST_INTERVAL_MS)
		txn->interval_ms = IBSA_DEFAULT_FIRST_INTERVAL_MS;
	txn_retry_arm(engine, txn, now, percent < 100 ? percent : 100);
}

/*
 * Handle the transport's refusal @err of a try. -EALREADY: the transport still
 * holds the previous try, as the kernel does until the timeout that was passed
 * with that try. -EBUSY: the transport's queue is full. If the timeout of the
 * previous try has not ended, the next try follows when it ends. If it has
 * ended, the next try follows at its usual time, but after -EALREADY as soon as
 * the transport reports the end. If no try was sent yet with this
 * TransactionID, -EALREADY is the kernel's error for an address to which it
 * cannot send. Return: -EBUSY, or the error that ends the request.
 */
static int txn_try_refused(struct ibsa__engine *engine, struct txn *txn,
			   int err)
{
	if (!txn->id_tries)
		return err == -EALREADY ? -EINVAL : err;
	if (txn->wait_end > engine->wheel.now) {
		txn->interval_ms = txn->last_interval_ms;
		ibsa__txn_schedule(engine, txn, txn->wait_end);
	} else {
		txn->is_late = err == -EALREADY;
	}
	return -EBUSY;
}

/* Give @txn a new TransactionID: not 0, which OpenSM ignores. */
static void txn_id_assign(struct ibsa__engine *engine, struct txn *txn)
{
	id_table_add(&engine->tids, &txn->tid);
	ibsa_put_be32(txn->mad + MAD_TID_LOW, txn->tid);
}

/*
 * Set the address of @txn to the current SA's address. If the address changes,
 * @txn gets a new TransactionID, since the kernel still holds the request with
 * the old one and would refuse to send it again. A BUSY of the old SA no
 * longer counts. The kernel later reports the end of the timeout with the old
 * TransactionID; that report is ignored.
 */
static inline void txn_address_update(struct ibsa__engine *engine,
				      struct txn *txn)
{
	if (txn->tries &&
	    !ibsa__engine_is_same_address(&txn->to, &engine->sa)) {
		id_table_remove(&engine->tids, &txn->tid);
		txn_id_assign(engine, txn);
		txn->id_tries = 0;
		txn->got_busy = false;
		txn->outstanding = 0;
		engine->stats.retargeted++;
		if (!engine->is_redirected)
			txn->hops = 0;
	}
	txn->to = engine->sa;
}

/*
 * Send a try of @txn at tick @now. The transport's timeout for the try ends at
 * tick @wait_end, which is the tick of the next try, or of the last deadline of
 * the queries of @txn if that is sooner. If the transport holds requests, its
 * timeout ends a little before the next try.
 */
static inline int txn_mad_send(struct ibsa__engine *engine, struct txn *txn,
			       uint64_t now, uint64_t wait_end)
{
	struct ibsa_transport *transport = engine->transport;
	unsigned int wait_ms = wait_end > now ? (unsigned int)(wait_end - now)
					      : 1;
	int err;

	txn_address_update(engine, txn);
	if (engine->transport_holds && wait_end == txn->retry.due)
		wait_ms = ibsa__wait_before_retry(wait_ms);
	err = transport->ops->send(transport, &txn->to, txn->mad,
				   sizeof(txn->mad), wait_ms);
	if (err)
		return err;
	txn->wait_end = wait_end;
	engine_mad_tap(engine, &txn->to, txn->mad, sizeof(txn->mad), true);
	return 0;
}

static inline int txn_try_send(struct ibsa__engine *engine, struct txn *txn,
			       uint64_t now)
{
	const uint64_t wait_end = txn_retry_arm(engine, txn, now,
						txn->jitter_percent);
	int err = -EAGAIN;

	if (engine->sa_known)
		err = txn_mad_send(engine, txn, now, wait_end);
	else if (!txn->tries)
		txn->to = (struct ibsa_address){ 0 };
	txn->is_backing_off = false;
	txn->is_refused = err != 0;
	if (err) {
		engine->stats.send_errors++;
		/*
		 * As nothing was sent, the interval stays the same. After
		 * -EALREADY, however, the interval grows, because the transport
		 * still holds an earlier try.
		 */
		if (err != -EALREADY)
			txn->interval_ms = txn->last_interval_ms;
		if (err == -EALREADY || err == -EBUSY)
			err = txn_try_refused(engine, txn, err);
		return err;
	}
	if (txn->starts_deadlines)
		ibsa__txn_first_sent(engine, txn, now);
	txn->sent_ns = engine->now_ns;
	if (!txn->id_tries)
		txn->first_ns = engine->now_ns;
	txn->is_late = false;
	txn->is_lost = false;
	txn->id_tries++;
	txn->outstanding++;
	txn->tries++;
	engine->stats.sent++;
	return 0;
}

int ibsa__txn_try_send(struct ibsa__engine *engine, struct txn *txn,
		       uint64_t now)
{
	return txn_try_send(engine, txn, now);
}

static inline int txn_launch(struct ibsa__engine *engine, struct txn *txn,
			     uint64_t now)
{
	int err;

	txn->state = TXN_IN_FLIGHT;
	engine->in_flight++;
	txn_id_assign(engine, txn);
	err = txn_try_send(engine, txn, now);
	if (err && engine->sa_known && ibsa__send_error_is_temporary(err))
		ibsa__txn_postpone(engine, txn);
	return err;
}

int ibsa__txn_launch(struct ibsa__engine *engine, struct txn *txn, uint64_t now)
{
	if (txn->is_measured)
		txn_interval_measure(txn, txn_is_table(txn));
	return txn_launch(engine, txn, now);
}

bool ibsa__send_error_is_temporary(int err)
{
	return err == -EAGAIN || err == -ENOBUFS || err == -ENOMEM ||
	       err == -EINTR || err == -EBUSY;
}

static inline bool window_has_room(const struct ibsa__engine *engine)
{
	return window_admits(engine) && !engine->queued;
}

/*
 * Called when the window has no room: remove those abandoned requests from the
 * window whose time is over.
 * Return: whether @txn may be sent now. The engine's own query for the path to
 * a redirection's target is sent even if the window is full: the redirected
 * requests stay in the window until the path is known.
 */
static bool window_make_room(struct ibsa__engine *engine, const struct txn *txn)
{
	if (engine->abandoned)
		ibsa__engine_window_release(engine);
	return window_has_room(engine) || ibsa__redirect_is_path_query(txn);
}

/* Make room in the tables for @live requests. Return: 0; -ENOMEM. */
static int tables_fit(struct ibsa__engine *engine, size_t live)
{
	if (id_table_fit(&engine->tids, live))
		return -ENOMEM;
	engine->room = engine->tids.mask / 2;
	if (!engine->options.sharing)
		return 0;
	if (live > engine->shares.room)
		ibsa__share_grow(&engine->shares);
	if (engine->room > engine->shares.room)
		engine->room = engine->shares.room;
	return 0;
}

static int txn_queue(struct ibsa__engine *engine, struct txn *txn)
{
	txn->state = TXN_QUEUED;
	list_append(txn_waiting(engine, txn), &txn->link);
	engine->queued++;
	ibsa__txn_schedule(engine, txn, UINT64_MAX);
	return 0;
}

/*
 * Send @txn if the window has room, otherwise queue it. If sending fails with
 * a temporary error, the next try follows later. Return: 0; -ENOBUFS the queue
 * is full; -ENOMEM; or the transport's error. After an error, @txn is in no
 * list.
 */
static inline int txn_submit(struct ibsa__engine *engine, struct txn *txn,
			     uint64_t hash, uint64_t now)
{
	const size_t live = engine->in_flight + engine->queued + 1;
	const bool has_room = window_has_room(engine) ||
			      window_make_room(engine, txn);
	int err;

	if (!has_room && engine->queued >= engine->options.queue)
		return -ENOBUFS;
	if (live > engine->room && tables_fit(engine, live))
		return -ENOMEM;
	if (txn->shareable)
		share_add(&engine->shares, txn, hash);
	if (!has_room)
		return txn_queue(engine, txn);
	err = txn_launch(engine, txn, now);
	if (!err || ibsa__send_error_is_temporary(err))
		return 0;
	txn_end(engine, txn);
	return err;
}

static int query_check(const struct ibsa__engine *engine,
		       const struct ibsa_query *query)
{
	if (engine->closing)
		return -ESHUTDOWN;
	if (!engine_is_ours(engine))
		return -EINVAL;
	if (!query->record || query->mask & ~query->record->mask ||
	    query->jitter_percent > 100 ||
	    !ibsa__is_query_method(query->method))
		return -EINVAL;
	return 0;
}

/* Give @query, which was never in use, a slot. Return: 0; -ENOMEM. */
static int query_slot_assign(struct ibsa__engine *engine, struct query *query)
{
	const size_t slot = engine->slot_count;

	if (slot == QUERY_ID_STEP - 1 ||
	    ARRAY_GROW(engine->slots, engine->slot_room, slot + 1))
		return -ENOMEM;
	engine->slots[engine->slot_count++] = query;
	query->id = slot + 1;
	timer_init(&query->deadline, TIMER_DEADLINE);
	return 0;
}

static struct query *query_new(struct ibsa__engine *engine, ibsa_reply_fn done,
			       void *arg)
{
	struct query *query = pool_take(&engine->queries);

	if (!query)
		return NULL;
	if (!query->id && query_slot_assign(engine, query)) {
		pool_give(&engine->queries, query);
		return NULL;
	}
	query->done = done;
	query->arg = arg;
	query->from_send_ms = 0;
	return query;
}

/* Add @query to the queries that wait for the reply to @txn. */
static void query_attach(struct query *query, struct txn *txn)
{
	query->txn = txn;
	if (query->from_send_ms)
		txn->starts_deadlines = true;
	list_append(&txn->queries, &query->link);
}

/*
 * Hash a word: the lower half of the result depends on all bits of it. The
 * multiplier is odd, so that no two words have the same product.
 */
static inline uint64_t hash_mix(uint64_t hash, const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash << 32 | hash >> 32;
}

/*
 * Return: a hash of AttributeID, AttributeModifier, component mask and record
 * of the request. The record is read in blocks of two words from its end
 * backwards; the last block read may begin in the header before the record.
 */
static inline uint64_t txn_identity(const struct txn *txn)
{
	enum { WORD = 8 };
	const uint8_t *record = txn->mad + IBSA_SA_HEADER_BYTES;
	const uint8_t *p = record + txn->asked->size;
	uint64_t hash;

	memcpy(&hash, txn->mad + MAD_ATTRIBUTE, sizeof(hash));
	hash = hash_mix(hash, txn->mad + MAD_COMPONENT_MASK);
	while (p > record) {
		p -= 2 * WORD;
		hash = hash_mix(hash, p);
		hash = hash_mix(hash, p + WORD);
	}
	return hash ^ hash >> 20;
}

/*
 * Find a request with the same content as @txn, which is shareable and has
 * @hash, whose reply a query with @deadline may use, so that @txn need not be
 * sent. Few buckets contain the hash of a new request. Return: the request; or
 * NULL.
 */
static inline struct txn *txn_find_same(const struct ibsa__engine *engine,
					struct txn *txn, uint64_t hash,
					uint64_t deadline)
{
	const struct share_bucket *bucket = share_bucket(&engine->shares, hash);

	UNROLL
	for (int i = 0; i < SHARE_WAYS; i++) {
		if (bucket->entries[i].hash == hash) {
			txn_interval_raise(txn);
			return ibsa__txn_find_in(engine, bucket, txn, deadline);
		}
	}
	return NULL;
}

/* A query that is not bulk shares @txn, so that @txn is not bulk any more. */
static void txn_bulk_end(struct ibsa__engine *engine, struct txn *txn)
{
	txn->is_bulk = false;
	if (txn->state != TXN_QUEUED)
		return;
	list_remove(&txn->link);
	list_append(&engine->waiting, &txn->link);
}

/*
 * Let @query share an identical request that is queued or in flight, and free
 * @txn; or submit @txn. If the query has a queue_ms, its deadline_ms starts
 * when the request is first sent; if the shared request has been sent already,
 * deadline_ms starts now.
 */
static int query_join_or_submit(struct ibsa__engine *engine,
				struct query *query, struct txn *txn,
				const struct ibsa_query *options, uint64_t now)
{
	const uint32_t deadline_ms = options->deadline_ms
					     ? options->deadline_ms
					     : engine->options.deadline_ms;
	const uint64_t deadline = now + deadline_ms;
	const uint64_t hash = txn->shareable ? txn_identity(txn) : 0;
	struct txn *other = txn->shareable
				    ? txn_find_same(engine, txn, hash, deadline)
				    : NULL;
	uint64_t until = deadline;
	int err;

	if (options->queue_ms && !(other && other->tries)) {
		query->from_send_ms = deadline_ms;
		until = now + options->queue_ms;
	}
	query->deadline.due = until;
	if (other) {
		if (other->is_bulk && !options->bulk)
			txn_bulk_end(engine, other);
		pool_give(&engine->txns, txn);
		query_attach(query, other);
		ibsa__query_deadline_set(engine, query, until);
		engine->stats.shared++;
		return 0;
	}
	query_attach(query, txn);
	err = txn_submit(engine, txn, hash, now);
	if (err) {
		timer_cancel(&engine->wheel, &query->deadline);
		pool_give(&engine->txns, txn);
	}
	return err;
}

int ibsa__engine_query(struct ibsa__engine *engine,
		       const struct ibsa_query *query, ibsa_reply_fn done,
		       void *arg, uint64_t *out_id)
{
	struct query *added;
	struct txn *txn;
	uint64_t now;
	int err = query_check(engine, query);

	if (!err && !engine->sa_known)
		err = ibsa__engine_port_error(engine);
	if (err)
		return err;
	added = query_new(engine, done, arg);
	if (!added)
		return -ENOMEM;
	now = engine_now(engine);
	err = txn_new(engine, query, &txn);
	if (!err)
		err = query_join_or_submit(engine, added, txn, query, now);
	if (err) {
		added->txn = NULL;
		pool_give(&engine->queries, added);
		return err;
	}
	engine->stats.queries++;
	if (out_id)
		*out_id = added->id;
	return 0;
}
