/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The end of requests and of their queries. These functions are inline because
 * they run for each reply. All callbacks of queries are called by
 * query_call_back().
 */
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "engine/state.h"

/* Take @txn out of the window. The caller has disarmed the timer of @txn. */
static inline void txn_leave_window(struct ibsa__engine *engine,
				    struct txn *txn)
{
	id_table_remove(&engine->tids, &txn->tid);
	if (txn->overdue)
		ibsa__overdue_end(engine, txn);
	engine->in_flight--;
	txn->state = TXN_ENDED;
}

/*
 * Remove @txn from the queue or window and from all tables; its list of
 * queries is not changed.
 */
static inline void txn_end(struct ibsa__engine *engine, struct txn *txn)
{
	switch (txn->state) {
	case TXN_QUEUED:
		list_remove(&txn->link);
		engine->queued--;
		txn->state = TXN_ENDED;
		break;
	case TXN_IN_FLIGHT:
		timer_cancel(&engine->wheel, &txn->retry);
		txn_leave_window(engine, txn);
		break;
	case TXN_ABANDONED:
		timer_cancel(&engine->abandoned_wheel, &txn->retry);
		engine->abandoned--;
		txn_leave_window(engine, txn);
		break;
	case TXN_ENDED:
		break;
	}
}

/*
 * Free @query, which is in no list, and call its callback. The memory is freed
 * before the callback runs, so that a query which the callback submits can use
 * it.
 */
static inline void query_call_back(struct ibsa__engine *engine,
				   struct query *query,
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

static inline bool txn_is_write(const struct txn *txn)
{
	return txn->method == IBSA_METHOD_SET ||
	       txn->method == IBSA_METHOD_DELETE;
}

/*
 * End @txn, which is in flight, and call back its queries. A callback may
 * cancel any other query of @txn: the loop reads the head of the list again
 * after each callback.
 */
static inline void txn_answer(struct ibsa__engine *engine, struct txn *txn,
			      struct ibsa_reply *reply)
{
	timer_cancel(&engine->wheel, &txn->retry);
	txn_leave_window(engine, txn);
	if (txn_is_write(txn))
		engine->epoch++;
	reply->record = txn->record;
	reply->tries = txn->tries;
	while (!list_is_empty(&txn->queries)) {
		struct query *query = list_object(txn->queries.next,
						  struct query, link);

		list_take(&query->link);
		timer_cancel(&engine->wheel, &query->deadline);
		engine->stats.replies += !reply->err;
		query_call_back(engine, query, reply);
	}
	pool_give(&engine->txns, txn);
}

#endif
