/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine: creation, alarms, dispatch and the next timeout. */
#include <errno.h>
#include <limits.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/registry.h"
#include "engine/state.h"

static void engine_init(struct ibsa__engine *engine)
{
	ibsa__wheel_init(&engine->wheel, engine_now_ns(engine) / NS_PER_MS);
	ibsa__wheel_init(&engine->abandoned_wheel, engine->wheel.now);
	ibsa__pool_init(&engine->queries, sizeof(struct query));
	ibsa__pool_init(&engine->txns, sizeof(struct txn));
	list_init(&engine->waiting);
	list_init(&engine->waiting_bulk);
	list_init(&engine->in_window);
	list_init(&engine->overdue_waiting);
	list_init(&engine->ended);
	list_init(&engine->watches);
	list_init(&engine->changed);
	timer_init(&engine->watch_timer, TIMER_WATCH);
	timer_init(&engine->room_timer, TIMER_FILL);
	timer_init(&engine->probe_timer, TIMER_FILL);
	engine->window = window_of(engine->options.window_min,
				   engine->options.window);
	engine->sa_given = engine->options.access.sa;
	if (engine->sa_given)
		engine->sa = *engine->options.access.sa;
	engine->options.access.sa = NULL;
	engine->sa_known = engine->sa_given;
	engine->transport_holds =
		IBSA_TRANSPORT_HAS(engine->transport, holds) &&
		engine->transport->ops->holds(engine->transport);
	ibsa__engine_port_read(engine);
}

static void engine_destroy(struct ibsa__engine *engine)
{
	ibsa__pool_done(&engine->queries);
	ibsa__pool_done(&engine->txns);
	ibsa__free(engine->slots);
	ibsa__id_table_done(&engine->tids);
	ibsa__share_done(&engine->shares);
	ibsa__free(engine);
}

/*
 * The first TransactionID is random; struct id_table gives the numbers after it
 * to further requests.
 */
static int engine_tables_init(struct ibsa__engine *engine)
{
	engine->random.state = engine->options.seed;
	engine->tid_high = random_next(&engine->random) << 32;
	if (ibsa__id_table_init(&engine->tids,
				(uint32_t)random_next(&engine->random)) ||
	    ibsa__share_init(&engine->shares))
		return -ENOMEM;
	return 0;
}

int ibsa__engine_new(const struct ibsa__engine_options *options,
		     struct ibsa_transport *transport,
		     struct ibsa__engine **out)
{
	struct ibsa__engine *engine = ibsa__calloc(1, sizeof(*engine));

	if (!engine)
		return -ENOMEM;
	engine->transport = transport;
	engine->forks = ibsa__process_number();
	engine->process = ibsa__process();
	engine->options = *options;
	if (engine_tables_init(engine)) {
		engine_destroy(engine);
		return -ENOMEM;
	}
	engine_init(engine);
	*out = engine;
	return 0;
}

/*
 * Cancel all queries of @txn. Cancelling the last query frees @txn. A request
 * in state TXN_ABANDONED has no queries left.
 */
static void txn_cancel_queries(struct ibsa__engine *engine, struct txn *txn)
{
	bool is_last = txn->state == TXN_ABANDONED;

	if (is_last)
		ibsa__txn_free(engine, txn);
	while (!is_last) {
		struct list *first = txn->queries.next;

		is_last = first->next == &txn->queries;
		ibsa__query_end(engine, list_object(first, struct query, link),
				-ECANCELED);
	}
}

int ibsa__engine_free(struct ibsa__engine *engine)
{
	if (!engine)
		return 0;
	if (engine->calling_back)
		return -EBUSY;
	engine->closing = true;
	while (engine->queued)
		txn_cancel_queries(engine, engine_waiting_first(engine));
	for (size_t i = 1; i <= engine->tids.mask; i++) {
		uint32_t *slot = engine->tids.slots[i];

		if (slot)
			txn_cancel_queries(engine,
					   id_object(slot, struct txn, tid));
	}
	ibsa__engine_call_back(engine);
	ibsa__engine_port_unwatch_all(engine);
	engine_destroy(engine);
	return 0;
}

void ibsa__alarm_init(struct ibsa__alarm *alarm,
		      void (*expired)(struct ibsa__alarm *alarm))
{
	timer_init(&alarm->timer, TIMER_ALARM);
	alarm->expired = expired;
}

/*
 * Set an alarm that expires at least one tick later: if an alarm could set
 * itself again for the current tick, ibsa_dispatch() would not return.
 */
void ibsa__alarm_set(struct ibsa__engine *engine, struct ibsa__alarm *alarm,
		     unsigned int ms)
{
	timer_arm(&engine->wheel, &alarm->timer,
		  tick_after(engine_now_ns(engine), ms ? ms : 1));
}

void ibsa__alarm_cancel(struct ibsa__engine *engine, struct ibsa__alarm *alarm)
{
	timer_cancel(&engine->wheel, &alarm->timer);
}

static void alarm_call_back(struct ibsa__engine *engine,
			    struct ibsa__alarm *alarm)
{
	engine->calling_back = true;
	alarm->expired(alarm);
	engine->calling_back = false;
}

static void timer_expire(struct ibsa__engine *engine, struct timer *timer)
{
	switch ((enum timer_kind)timer->kind) {
	case TIMER_DEADLINE:
		ibsa__query_expire(engine,
				   list_object(timer, struct query, deadline));
		break;
	case TIMER_RETRY:
		ibsa__txn_retry(engine, list_object(timer, struct txn, retry));
		break;
	case TIMER_ALARM:
		alarm_call_back(engine,
				list_object(timer, struct ibsa__alarm, timer));
		break;
	case TIMER_WATCH:
		ibsa__engine_port_check(engine);
		break;
	/* Nothing to do: every dispatch fills the window at its end. */
	case TIMER_FILL:
		break;
	}
}

static void engine_timers_expire(struct ibsa__engine *engine)
{
	struct timer *timer;

	wheel_advance(&engine->wheel, engine->now_ns / NS_PER_MS);
	while ((timer = wheel_take(&engine->wheel)))
		timer_expire(engine, timer);
	if (engine->abandoned)
		ibsa__engine_window_release(engine);
}

int ibsa__engine_dispatch(struct ibsa__engine *engine)
{
	int err = ibsa__engine_wait_check(engine);

	if (err)
		return err;
	engine_now_ns(engine);
	err = ibsa__engine_receive(engine);
	ibsa__engine_port_poll(engine);
	engine_timers_expire(engine);
	ibsa__engine_port_report(engine);
	if (!list_is_empty(&engine->ended))
		ibsa__engine_call_back(engine);
	if (!list_is_empty(&engine->overdue_waiting))
		ibsa__overdue_fill(engine);
	if (engine->queued)
		ibsa__engine_window_fill(engine);
	return err;
}

static bool engine_has_work(const struct ibsa__engine *engine)
{
	return engine->has_messages || !list_is_empty(&engine->ended) ||
	       !list_is_empty(&engine->changed) ||
	       ibsa__overdue_can_fill(engine) ||
	       (engine->queued && !engine->room_timer.armed &&
		window_admits(engine));
}

static uint64_t engine_next_tick(const struct ibsa__engine *engine)
{
	uint64_t tick = ibsa__wheel_next(&engine->wheel);
	uint64_t release = UINT64_MAX;

	if (engine->queued)
		release = ibsa__wheel_next(&engine->abandoned_wheel);
	return tick < release ? tick : release;
}

int ibsa__engine_timeout_ms(const struct ibsa__engine *engine)
{
	uint64_t tick, now_ns, ms;

	if (!ibsa__engine_is_ours(engine))
		return -1;
	tick = engine_next_tick(engine);
	now_ns = engine_clock_ns(engine);
	if (engine_has_work(engine))
		return 0;
	if (tick == UINT64_MAX)
		return -1;
	if (tick * NS_PER_MS <= now_ns)
		return 0;
	ms = (tick * NS_PER_MS - now_ns + NS_PER_MS - 1) / NS_PER_MS;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

void ibsa__engine_limit_retries_only(struct ibsa__engine *engine)
{
	engine->limits_retries_only = true;
}

void ibsa__engine_tap(struct ibsa__engine *engine, ibsa_mad_fn report,
		      void *arg)
{
	engine->tap = report;
	engine->tap_arg = arg;
}

const struct ibsa_stats *ibsa__engine_stats(const struct ibsa__engine *engine)
{
	return &engine->stats;
}

const struct ibsa__engine_options *
ibsa__engine_options(const struct ibsa__engine *engine)
{
	return &engine->options;
}

uint64_t ibsa__engine_now_ns(const struct ibsa__engine *engine)
{
	return engine_clock_ns(engine);
}

uint64_t ibsa__engine_random(struct ibsa__engine *engine, uint64_t limit)
{
	return random_below(&engine->random, limit);
}

int ibsa__engine_listen(struct ibsa__engine *engine,
			struct ibsa__listener *listener)
{
	struct ibsa_transport *transport = engine->transport;
	int err;

	if (!IBSA_TRANSPORT_HAS(transport, listen))
		return -EOPNOTSUPP;
	err = transport->ops->listen(transport, listener != NULL);
	if (!err || !listener)
		engine->listener = listener;
	return err;
}

bool ibsa__engine_holder(struct ibsa__engine *engine, struct ibsa_error *out)
{
	struct ibsa_transport *transport = engine->transport;

	return IBSA_TRANSPORT_HAS(transport, holder) &&
	       transport->ops->holder(transport, out);
}

int ibsa__engine_send(struct ibsa__engine *engine,
		      const struct ibsa_address *to, const uint8_t *mad,
		      size_t len)
{
	struct ibsa_transport *transport = engine->transport;
	const int err = transport->ops->send(transport, to, mad, len, 0);

	if (!err)
		engine_mad_tap(engine, to, mad, len, true);
	return err;
}

void ibsa__engine_enter(struct ibsa__engine *engine)
{
	engine->calling_back = true;
}

void ibsa__engine_leave(struct ibsa__engine *engine)
{
	engine->calling_back = false;
}

bool ibsa__engine_is_busy(const struct ibsa__engine *engine)
{
	return engine->calling_back;
}

bool ibsa__engine_is_ours(const struct ibsa__engine *engine)
{
	return engine_is_ours(engine);
}

int ibsa__engine_wait_check(const struct ibsa__engine *engine)
{
	if (!engine_is_ours(engine))
		return -EINVAL;
	return engine->calling_back ? -EBUSY : 0;
}
