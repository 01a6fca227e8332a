/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of queries. All callbacks of queries are called here. */
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
	query->id += QUERY_ID_STEP;
	query->txn = NULL;
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
		timer_cancel(&engine->wheel, &query->deadline);
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
			  uint64_t now_ns)
{
	struct query *query;

	txn->starts_deadlines = false;
	LIST_EACH(query, &txn->queries, link) {
		if (!query->from_send_ms)
			continue;
		ibsa__query_deadline_set(
			engine, query, tick_after(now_ns, query->from_send_ms));
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

int ibsa__engine_cancel(struct ibsa__engine *engine, uint64_t id)
{
	const uint64_t number = id % QUERY_ID_STEP;
	struct query *query;

	if (!number || number > engine->slot_count)
		return -ENOENT;
	query = engine->slots[number - 1];
	if (query->id != id || !query->txn)
		return -ENOENT;
	engine->stats.canceled++;
	ibsa__query_end(engine, query, -ECANCELED);
	return 0;
}
