/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How queries begin and end; every callback is called from here. */
#include <errno.h>

#include "engine/state.h"

/* Call @query back. It is out of all lists, and gone before the call. */
static void call_back(struct ibsa__engine *engine, struct query *query,
		      struct ibsa_reply *reply)
{
	ibsa_reply_fn done = query->done;
	void *arg = query->arg;

	reply->id = query->id.key;
	ibsa__hash_remove(&engine->ids, &query->id);
	ibsa__pool_give(&engine->queries, query);
	if (!done)
		return;
	engine->calling_back = true;
	done(reply, arg);
	engine->calling_back = false;
}

/*
 * @txn has come to its end: give @reply to all its queries. A callback may
 * cancel another of them, so the list is looked at afresh each time.
 */
void ibsa__txn_answer(struct ibsa__engine *engine, struct txn *txn,
		      struct ibsa_reply *reply)
{
	ibsa__txn_end(engine, txn);
	if (txn->method == IBSA_METHOD_SET || txn->method == IBSA_METHOD_DELETE)
		engine->epoch++;
	reply->record = txn->record;
	reply->tries = txn->tries;
	while (!list_is_empty(&txn->queries)) {
		struct query *query = list_object(txn->queries.next,
						  struct query, link);

		list_remove(&query->link);
		ibsa__timer_cancel(&engine->wheel, &query->deadline);
		engine->stats.replies += !reply->err;
		call_back(engine, query, reply);
	}
	ibsa__pool_give(&engine->txns, txn);
}

/* End @query without an answer; its callback comes from the next dispatch.
 * A request that nobody waits for any more ends with it. */
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
	if (list_is_empty(&txn->queries) && txn->state != TXN_ENDED)
		ibsa__txn_give_up(engine, txn);
}

/* @query's deadline has passed: in silence, or with nothing heard but BUSY. */
void ibsa__query_expire(struct ibsa__engine *engine, struct query *query)
{
	bool busy = query->txn->heard_busy;

	engine->stats.timeouts += !busy;
	ibsa__query_end(engine, query, busy ? 0 : -ETIMEDOUT);
	query->status = busy ? IBSA_STATUS_BUSY : 0;
}

/* Call back all queries that ended without an answer. */
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
		call_back(engine, query, &reply);
	}
}

static int check(const struct ibsa__engine *engine,
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
	struct query *query = ibsa__pool_take(&engine->queries);

	if (!query)
		return NULL;
	timer_init(&query->deadline, TIMER_DEADLINE);
	query->done = done;
	query->arg = arg;
	return query;
}

/* Join a request that asks the same, or submit @txn as a new one. */
static int join_or_submit(struct ibsa__engine *engine, struct txn *txn,
			  const struct ibsa_query *query, uint64_t now_ns,
			  struct txn **out)
{
	struct txn *other = ibsa__txn_like(engine, txn);
	int err;

	if (other) {
		ibsa__pool_give(&engine->txns, txn);
		ibsa__txn_hurry(engine, other, query->first_interval_ms);
		engine->stats.shared++;
		*out = other;
		return 0;
	}
	err = ibsa__txn_submit(engine, txn, now_ns);
	if (err)
		ibsa__pool_give(&engine->txns, txn);
	*out = txn;
	return err;
}

static void query_start(struct ibsa__engine *engine, struct query *query,
			struct txn *txn, uint64_t deadline)
{
	query->txn = txn;
	list_append(&txn->queries, &query->link);
	ibsa__hash_add(&engine->ids, &query->id, engine->next_id++);
	ibsa__timer_arm(&engine->wheel, &query->deadline, deadline);
	engine->stats.queries++;
}

static uint64_t deadline_tick(const struct ibsa__engine *engine,
			      const struct ibsa_query *query, uint64_t now_ns)
{
	return tick_after(now_ns, query->deadline_ms
					  ? query->deadline_ms
					  : engine->options.deadline_ms);
}

int ibsa__engine_query(struct ibsa__engine *engine,
		       const struct ibsa_query *query, ibsa_reply_fn done,
		       void *arg, uint64_t *out_id)
{
	struct query *mine;
	struct txn *txn;
	uint64_t now_ns;
	int err = check(engine, query);

	if (err)
		return err;
	if (!engine->sa_known)
		ibsa__engine_refresh(engine);
	if (!engine->sa_known)
		return -EAGAIN;
	mine = query_new(engine, done, arg);
	if (!mine)
		return -ENOMEM;
	now_ns = engine_now_ns(engine);
	err = ibsa__txn_new(engine, query, &txn);
	if (!err)
		err = join_or_submit(engine, txn, query, now_ns, &txn);
	if (err) {
		ibsa__pool_give(&engine->queries, mine);
		return err;
	}
	query_start(engine, mine, txn, deadline_tick(engine, query, now_ns));
	if (out_id)
		*out_id = mine->id.key;
	return 0;
}

int ibsa__engine_cancel(struct ibsa__engine *engine, uint64_t id)
{
	struct hash_node *node = hash_find(&engine->ids, id);
	struct query *query = node ? hash_object(node, struct query, id) : NULL;

	if (!query || !query->txn)
		return -ENOENT;
	engine->stats.canceled++;
	ibsa__query_end(engine, query, -ECANCELED);
	return 0;
}
