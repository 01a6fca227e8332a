/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Alarms: timers of the layers above the engine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "test/support/puppet.h"

static struct puppet puppet;

/* An alarm, and what its callback does. */
struct probe {
	struct ibsa__alarm alarm;
	struct ibsa__engine *engine;
	struct probe *other; /* alarm to cancel */
	int calls;
	int free_err, dispatch_err, query_err;
	unsigned int again_ms;
	bool again;
	struct seen seen;
};

static void alarm_on_expiry(struct ibsa__alarm *alarm)
{
	struct probe *probe = list_object(alarm, struct probe, alarm);

	probe->calls++;
	probe->free_err = ibsa__engine_free(probe->engine);
	probe->dispatch_err = ibsa__engine_dispatch(probe->engine);
	if (probe->other)
		ibsa__alarm_cancel(probe->engine, &probe->other->alarm);
	if (probe->again)
		ibsa__alarm_set(probe->engine, alarm, probe->again_ms);
}

static struct probe probe_new(struct ibsa__engine *engine)
{
	struct probe probe = { .engine = engine };

	ibsa__alarm_init(&probe.alarm, alarm_on_expiry);
	return probe;
}

/* An alarm expires once, at its millisecond, and the engine's timeout ends
 * then. */
static void alarm_expires_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct probe probe = probe_new(engine);

	(void)state;
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	ibsa__alarm_set(engine, &probe.alarm, 50);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 50);
	puppet_advance(&puppet, engine, 49);
	assert_int_equal(probe.calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(probe.calls, 1);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	puppet_advance(&puppet, engine, 1000);
	assert_int_equal(probe.calls, 1);
	assert_int_equal(puppet.sent_count, 0);
	ibsa__engine_free(engine);
}

/* A second set replaces the time; a cancelled alarm does not expire. */
static void alarm_moves_and_is_cancelled(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct probe probe = probe_new(engine);

	(void)state;
	ibsa__alarm_set(engine, &probe.alarm, 50);
	ibsa__alarm_set(engine, &probe.alarm, 5000);
	puppet_advance(&puppet, engine, 4999);
	assert_int_equal(probe.calls, 0);
	ibsa__alarm_cancel(engine, &probe.alarm);
	ibsa__alarm_cancel(engine, &probe.alarm);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	puppet_advance(&puppet, engine, 5000);
	assert_int_equal(probe.calls, 0);
	ibsa__engine_free(engine);
}

/*
 * In an alarm's callback, as in a reply's, the engine can neither be freed nor
 * dispatched. Of two alarms that are due at once, the first may cancel the
 * second.
 */
static void alarm_callback_may_do_what_a_reply_may(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct probe one = probe_new(engine), two = probe_new(engine);

	(void)state;
	one.other = &two;
	two.other = &one;
	ibsa__alarm_set(engine, &one.alarm, 10);
	ibsa__alarm_set(engine, &two.alarm, 10);
	puppet_advance(&puppet, engine, 20);
	assert_int_equal(one.calls + two.calls, 1);
	assert_int_equal(one.free_err + two.free_err, -EBUSY);
	assert_int_equal(one.dispatch_err + two.dispatch_err, -EBUSY);
	assert_false(ibsa__engine_is_busy(engine));
	ibsa__engine_free(engine);
}

/* An alarm that sets itself again with 0 ms expires once in each dispatch. */
static void alarm_at_once_is_the_next_dispatch(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct probe probe = probe_new(engine);

	(void)state;
	probe.again = true;
	ibsa__alarm_set(engine, &probe.alarm, 0);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 1);
	for (int i = 1; i < 5; i++) {
		puppet_advance(&puppet, engine, 1);
		assert_int_equal(probe.calls, i);
	}
	ibsa__engine_free(engine);
	assert_int_equal(probe.calls, 4);
}

static void alarm_query_and_free(struct ibsa__alarm *alarm)
{
	struct probe *probe = list_object(alarm, struct probe, alarm);
	struct probe *remaining = probe->other;

	remaining->query_err = puppet_query(probe->engine, 4, &remaining->seen);
	free(probe);
}

/* The callback may submit a query and free the alarm's memory. */
static void alarm_may_query_and_free_itself(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct probe remaining = probe_new(engine);
	struct probe *probe = calloc(1, sizeof(*probe));
	struct puppet_mad answer;

	(void)state;
	assert_non_null(probe);
	ibsa__alarm_init(&probe->alarm, alarm_query_and_free);
	probe->engine = engine;
	probe->other = &remaining;
	ibsa__alarm_set(engine, &probe->alarm, 3);
	puppet_advance(&puppet, engine, 3);
	assert_int_equal(remaining.query_err, 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(remaining.seen.calls, 1);
	assert_int_equal(remaining.seen.err, 0);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(alarm_expires_once),
		TEST(alarm_moves_and_is_cancelled),
		TEST(alarm_callback_may_do_what_a_reply_may),
		TEST(alarm_at_once_is_the_next_dispatch),
		TEST(alarm_may_query_and_free_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
