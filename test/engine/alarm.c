/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Alarms, by which the layers above the engine wait. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "test/support/puppet.h"

static struct puppet puppet;

/* An alarm, and what to do when it rings. */
struct bell {
	struct ibsa__alarm alarm;
	struct ibsa__engine *engine;
	struct bell *other; /* to silence */
	int calls;
	int free_err, dispatch_err, query_err;
	unsigned int again_ms;
	bool again;
	struct seen seen;
};

static void on_ring(struct ibsa__alarm *alarm)
{
	struct bell *bell = list_object(alarm, struct bell, alarm);

	bell->calls++;
	bell->free_err = ibsa__engine_free(bell->engine);
	bell->dispatch_err = ibsa__engine_dispatch(bell->engine);
	if (bell->other)
		ibsa__alarm_cancel(bell->engine, &bell->other->alarm);
	if (bell->again)
		ibsa__alarm_set(bell->engine, alarm, bell->again_ms);
}

static struct bell bell_of(struct ibsa__engine *engine)
{
	struct bell bell = { .engine = engine };

	ibsa__alarm_init(&bell.alarm, on_ring);
	return bell;
}

/* To the millisecond, and once; the timeout says when. */
static void alarm_rings_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct bell bell = bell_of(engine);

	(void)state;
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	ibsa__alarm_set(engine, &bell.alarm, 50);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 50);
	puppet_advance(&puppet, engine, 49);
	assert_int_equal(bell.calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(bell.calls, 1);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	puppet_advance(&puppet, engine, 1000);
	assert_int_equal(bell.calls, 1);
	assert_int_equal(puppet.sent_count, 0);
	ibsa__engine_free(engine);
}

/* Set again, it is moved; cancelled, it keeps quiet. */
static void alarm_moves_and_is_cancelled(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct bell bell = bell_of(engine);

	(void)state;
	ibsa__alarm_set(engine, &bell.alarm, 50);
	ibsa__alarm_set(engine, &bell.alarm, 5000);
	puppet_advance(&puppet, engine, 4999);
	assert_int_equal(bell.calls, 0);
	ibsa__alarm_cancel(engine, &bell.alarm);
	ibsa__alarm_cancel(engine, &bell.alarm);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	puppet_advance(&puppet, engine, 5000);
	assert_int_equal(bell.calls, 0);
	ibsa__engine_free(engine);
}

/* From an alarm, as from a reply's callback: no close, no dispatch; of two
 * that are due at once the first may silence the other. */
static void alarm_keeps_the_rules_of_callbacks(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct bell one = bell_of(engine), two = bell_of(engine);

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

/* One that sets itself for at once rings once a dispatch, not for ever. */
static void alarm_at_once_is_the_next_dispatch(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct bell bell = bell_of(engine);

	(void)state;
	bell.again = true;
	ibsa__alarm_set(engine, &bell.alarm, 0);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 1);
	for (int i = 1; i < 5; i++) {
		puppet_advance(&puppet, engine, 1);
		assert_int_equal(bell.calls, i);
	}
	ibsa__engine_free(engine);
	assert_int_equal(bell.calls, 4);
}

static void ask_and_go(struct ibsa__alarm *alarm)
{
	struct bell *bell = list_object(alarm, struct bell, alarm);
	struct bell *kept = bell->other;

	kept->query_err = puppet_ask(bell->engine, 4, &kept->seen);
	free(bell);
}

/* It may ask the SA, and its memory may be gone when it returns. */
static void alarm_may_ask_and_free_itself(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct bell kept = bell_of(engine);
	struct bell *bell = calloc(1, sizeof(*bell));
	struct puppet_mad answer;

	(void)state;
	assert_non_null(bell);
	ibsa__alarm_init(&bell->alarm, ask_and_go);
	bell->engine = engine;
	bell->other = &kept;
	ibsa__alarm_set(engine, &bell->alarm, 3);
	puppet_advance(&puppet, engine, 3);
	assert_int_equal(kept.query_err, 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(kept.seen.calls, 1);
	assert_int_equal(kept.seen.err, 0);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(alarm_rings_once),
		TEST(alarm_moves_and_is_cancelled),
		TEST(alarm_keeps_the_rules_of_callbacks),
		TEST(alarm_at_once_is_the_next_dispatch),
		TEST(alarm_may_ask_and_free_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
