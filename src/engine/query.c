/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queries from submission to callback. All callbacks of queries are called
 * here. */
#include <errno.h>

#include "engine/state.h"

/*
 * Free @query, which is in no list, and call its callback. The memory is freed
 * before the callback runs, so that the callback can submit a new query.
 */
static void query_call_back(struct ibsa__engine *engine, struct query *query,
			    struct ibsa_reply *reply)
{
	ibsa_reply_fn done = query->done;
	void *arg = query->arg;

	reply->id = query->id;
	id_table_remove(&engine->ids, &query->id);
	pool_give(&engine->queries, query);
	if (!done)
		return;
	engine->calling_back = true;
	done(reply, arg);
	engine->calling_back = false;
}

static bool txn_is_write(const struct txn *txn)
{
	return txn->method == IBSA_METHOD_SET ||
	       txn->method == IBSA_METHOD_DELETE;
}

/*
 * End @txn and call back its queries. A callback may cancel any other query of
 * @txn: the loop reads the head of the list again after each callback.
 */
void ibsa__txn_answer(struct ibsa__engine *engine, struct txn *txn,
		      struct ibsa_reply *reply)
{
	ibsa__txn_end(engine, txn);
	if (txn_is_write(txn))
		engine->epoch++;
	reply->record = txn->record;
	reply->tries = txn->tries;
	while (!list_is_empty(&txn->queries)) {
		struct query *query = list_object(txn->queries.next,
						  struct query, link);

		list_remove(&query->link);
		ibsa__timer_cancel(&engine->wheel, &query->deadline);
		engine->stats.replies += !reply->err;
		query_call_back(engine, query, reply);
	}
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

	ibsa__timer_cancel(&engine->wheel, &query->deadline);
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

/*
 * Return: the tick until which @query waits for its reply, if its request is
 * sent at @now_ns.
 */
static uint64_t query_end_tick(const struct query *query, uint64_t now_ns)
{
	return query->from_send_ms ? tick_after(now_ns, query->from_send_ms)
				   : query->deadline.due;
}

bool ibsa__txn_is_awaited(const struct txn *txn, uint64_t now_ns, uint64_t tick,
			  uint64_t *out_last)
{
	const struct query *query;

	*out_last = 0;
	LIST_EACH(query, &txn->queries, link) {
		const uint64_t end = query_end_tick(query, now_ns);

		if (end >= tick)
			return true;
		if (end > *out_last)
			*out_last = end;
	}
	return false;
}

void ibsa__txn_first_sent(struct ibsa__engine *engine, struct txn *txn,
			  uint64_t now_ns)
{
	struct query *query;

	txn->starts_deadlines = false;
	LIST_EACH(query, &txn->queries, link) {
		if (!query->from_send_ms)
			continue;
		ibsa__timer_arm(&engine->wheel, &query->deadline,
				tick_after(now_ns, query->from_send_ms));
		query->from_send_ms = 0;
	}
}

/*
 * End @query, because its deadline has passed: either no reply came, or BUSY
 * was the only reply.
 */
void ibsa__query_expire(struct ibsa__engine *engine, struct query *query)
{
	bool busy = query->txn->got_busy;

	engine->stats.timeouts += !busy;
	ibsa__query_end(engine, query, busy ? 0 : -ETIMEDOUT);
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

		list_remove(&query->link);
		query_call_back(engine, query, &reply);
	}
}

static int query_check(const struct ibsa__engine *engine,
		       const struct ibsa_query *query)
{
	if (engine->closing)
		return -ESHUTDOWN;
	if (!query->record || query->mask & ~query->record->mask ||
	    query->jitter_percent > 100)
		return -EINVAL;
	switch (query->method) {
	case 0:
	case IBSA_METHOD_GET:
	case IBSA_METHOD_GET_TABLE:
	case IBSA_METHOD_GET_MULTI:
	case IBSA_METHOD_SET:
	case IBSA_METHOD_DELETE:
		return 0;
	default:
		return -EINVAL;
	}
}

static struct query *query_new(struct ibsa__engine *engine, ibsa_reply_fn done,
			       void *arg)
{
	struct query *query = pool_take(&engine->queries);

	if (!query)
		return NULL;
	timer_init(&query->deadline, TIMER_DEADLINE);
	query->done = done;
	query->arg = arg;
	query->from_send_ms = 0;
	return query;
}

/*
 * Add @query to the queries that wait for the reply to @txn, until @deadline.
 */
static void query_attach(struct ibsa__engine *engine, struct query *query,
			 struct txn *txn, uint64_t deadline)
{
	query->txn = txn;
	txn->starts_deadlines |= query->from_send_ms != 0;
	list_append(&txn->queries, &query->link);
	ibsa__timer_arm(&engine->wheel, &query->deadline, deadline);
}

static int query_submit(struct ibsa__engine *engine, struct query *query,
			struct txn *txn, uint64_t deadline, uint64_t now_ns)
{
	int err;

	query_attach(engine, query, txn, deadline);
	err = ibsa__txn_submit(engine, txn, now_ns);
	if (err)
		ibsa__timer_cancel(&engine->wheel, &query->deadline);
	return err;
}

/*
 * Let @query share an identical request that is queued or in flight, and free
 * @txn; or submit @txn. If the query has a queue_ms, its deadline_ms starts
 * when the request is first sent; if the shared request has been sent already,
 * deadline_ms starts now.
 */
static int query_join_or_submit(struct ibsa__engine *engine,
				struct query *query, struct txn *txn,
				const struct ibsa_query *options,
				uint64_t now_ns)
{
	const uint32_t deadline_ms = options->deadline_ms
					     ? options->deadline_ms
					     : engine->options.deadline_ms;
	const uint64_t deadline = tick_after(now_ns, deadline_ms);
	struct txn *other = ibsa__txn_find_same(engine, txn, deadline);
	uint64_t until = deadline;
	int err = 0;

	if (options->queue_ms && !(other && other->tries)) {
		query->from_send_ms = deadline_ms;
		until = tick_after(now_ns, options->queue_ms);
	}
	if (other) {
		query_attach(engine, query, other, until);
		engine->stats.shared++;
	} else {
		err = query_submit(engine, query, txn, until, now_ns);
	}
	if (other || err)
		pool_give(&engine->txns, txn);
	return err;
}

int ibsa__engine_query(struct ibsa__engine *engine,
		       const struct ibsa_query *query, ibsa_reply_fn done,
		       void *arg, uint64_t *out_id)
{
	struct query *added;
	struct txn *txn;
	uint64_t now_ns;
	int err = query_check(engine, query);

	if (err)
		return err;
	if (!engine->sa_known)
		ibsa__engine_port_refresh(engine);
	if (!engine->sa_known)
		return -EAGAIN;
	if (id_table_fit(&engine->ids, engine->ids.count + 1))
		return -ENOMEM;
	added = query_new(engine, done, arg);
	if (!added)
		return -ENOMEM;
	now_ns = engine_now_ns(engine);
	err = ibsa__txn_new(engine, query, &txn);
	if (!err)
		err = query_join_or_submit(engine, added, txn, query, now_ns);
	if (err) {
		pool_give(&engine->queries, added);
		return err;
	}
	id_table_add(&engine->ids, &added->id);
	engine->stats.queries++;
	if (out_id)
		*out_id = added->id;
	return 0;
}

int ibsa__engine_cancel(struct ibsa__engine *engine, uint64_t id)
{
	uint64_t *slot = id_table_find(&engine->ids, id);
	struct query *query = slot ? id_object(slot, struct query, id) : NULL;

	if (!query || !query->txn)
		return -ENOENT;
	engine->stats.canceled++;
	ibsa__query_end(engine, query, -ECANCELED);
	return 0;
}
