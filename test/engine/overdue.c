/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lost requests, which leave the window, and the intervals that follow the
 * measured round trips. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "engine/round_trip.h"
#include "test/support/puppet.h"
#include "wire/mad.h"

enum {
	WINDOW = 2,
	RETRIES_MAX = 64,
	FIRST_MS = IBSA_DEFAULT_FIRST_INTERVAL_MS,
	DEADLINE_MS = 10000, /* of puppet_options */
	PAUSE_MAX_MS = 128,  /* after BUSY */
};

static struct puppet puppet;

/* An engine with the default intervals. */
static struct ibsa__engine *engine_of(unsigned int window)
{
	struct ibsa__engine_options options = puppet_options;

	options.window = window;
	options.first_interval_ms = 0;
	options.max_interval_ms = IBSA_DEFAULT_MAX_INTERVAL_MS;
	return puppet_engine(&puppet, &options);
}

static struct ibsa__engine *engine_start(void)
{
	return engine_of(WINDOW);
}

/* An engine with RETRIES_MAX places for retries. */
static struct ibsa__engine *engine_of_retries_start(void)
{
	struct ibsa__engine *engine = engine_of(1);

	ibsa__engine_limit_retries_only(engine);
	puppet_advance(&puppet, engine, 1); /* the time of no reply is 0 */
	return engine;
}

static void request_answer(struct ibsa__engine *engine, unsigned int n)
{
	const struct puppet_mad reply = puppet_answer(puppet_sent(&puppet, n));

	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
}

/* Submit @count queries of different paths. */
static void queries_start(struct ibsa__engine *engine, struct seen *seen,
			  unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(
			puppet_query(engine, (uint16_t)(100 + i), &seen[i]), 0);
}

/* Let the engine measure one round trip of @ms, or as many as it relies on. */
static void round_trip_measure(struct ibsa__engine *engine, unsigned int ms)
{
	struct seen seen = { 0 };

	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet_advance(&puppet, engine, ms);
	request_answer(engine, puppet.sent_count - 1);
	assert_int_equal(seen.calls, 1);
}

static void round_trips_measure(struct ibsa__engine *engine, unsigned int ms)
{
	for (int i = 0; i < SAMPLES_LEAST; i++)
		round_trip_measure(engine, ms);
}

/* Return: in how many ms the next MAD is sent. */
static unsigned int next_send_await(struct ibsa__engine *engine)
{
	const unsigned int sent = puppet.sent_count;
	unsigned int ms = 0;

	for (; puppet.sent_count == sent && ms < 10000; ms++)
		puppet_advance(&puppet, engine, 1);
	return ms;
}

/*
 * The reply to the first of three requests is lost. It leaves the window as
 * soon as the SA has answered a later one, and is sent again 100 ms later.
 */
static void lost_request_leaves_the_window(void **state)
{
	struct ibsa__engine *engine = engine_start();
	const unsigned int first = SAMPLES_LEAST; /* number of its MAD */
	struct seen seen[6] = { 0 };

	(void)state;
	round_trips_measure(engine, 1);
	queries_start(engine, seen, 2);
	puppet_advance(&puppet, engine, 1);
	/* Both places are taken; these three wait. */
	for (uint16_t i = 2; i < 5; i++)
		assert_int_equal(puppet_query(engine, 200 + i, &seen[i]), 0);
	assert_int_equal(puppet.sent_count, first + 2);
	request_answer(engine, first + 1); /* the second: 2 is sent */
	assert_int_equal(puppet.sent_count, first + 3);
	puppet_advance(&puppet, engine, 10);
	request_answer(
		engine,
		first + 2); /* 3 is sent; the first stays in the window */
	assert_int_equal(puppet.sent_count, first + 4);
	puppet_advance(&puppet, engine, 89);
	/* Its first interval has passed: it is sent again, and 4 as well. */
	assert_int_equal(puppet.sent_count, first + 6);
	assert_int_equal(seen[0].calls, 0);
	request_answer(engine, first + 4);
	request_answer(engine, first + 3);
	request_answer(engine, first + 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(seen[i].calls, 1);
	assert_int_equal(seen[0].tries + seen[4].tries, 3);
	ibsa__engine_free(engine);
}

/*
 * While the SA answers other requests, it is not slow: the first tries of one
 * that is lost follow at equal intervals.
 */
static void interval_of_a_lost_request_grows_late(void **state)
{
	static const unsigned int intervals[] = {
		100, 100, 100, 100, 100, 200
	};
	struct ibsa__engine *engine = engine_of(4);
	struct seen seen[2] = { 0 };
	unsigned int lost;

	(void)state;
	round_trips_measure(engine, 1);
	lost = puppet.sent_count;
	assert_int_equal(puppet_query(engine, 5, &seen[0]), 0);
	for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
		puppet_advance(&puppet, engine, 1);
		assert_int_equal(puppet_query(engine, 6, &seen[1]), 0);
		request_answer(engine, puppet.sent_count - 1);
		assert_int_equal(next_send_await(engine), intervals[i] - 1);
	}
	request_answer(engine, lost);
	assert_int_equal(seen[0].calls, 1);
	ibsa__engine_free(engine);
}

/* One that was queued leaves as soon as its reply is late. */
static void lost_request_of_the_queue_leaves_early(void **state)
{
	struct ibsa__engine *engine = engine_start();
	struct seen seen[8] = { 0 };

	(void)state;
	round_trip_measure(engine, 1);
	queries_start(engine, seen, 6); /* sent: 1, 2 */
	puppet_advance(&puppet, engine, 1);
	request_answer(engine, 1);
	request_answer(engine, 2);
	assert_int_equal(puppet.sent_count, 5); /* sent: 3, lost, and 4 */
	puppet_advance(&puppet, engine, 1);
	request_answer(engine, 4);
	assert_int_equal(puppet.sent_count, 6); /* sent: 5 */
	request_answer(engine, 5);
	puppet_advance(&puppet, engine, 20);
	/* 6 goes to the place of 5; nothing waits for the place of 3. */
	assert_int_equal(puppet.sent_count, 7);
	assert_int_equal(puppet_query(engine, 300, &seen[6]), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 8); /* 3 has left */
	ibsa__engine_free(engine);
}

/* An SA that answers nothing gets no more requests than the window has places.
 */
static void silent_sa_gets_no_further_requests(void **state)
{
	struct ibsa__engine *engine = engine_start();
	struct seen seen[8] = { 0 };

	(void)state;
	round_trip_measure(engine, 1);
	queries_start(engine, seen, 8);
	puppet_advance(&puppet, engine, 1000);
	assert_int_equal(puppet.sent_count, 1 + 2 * WINDOW);
	puppet_advance(&puppet, engine, 1000);
	for (int i = 0; i < 8; i++)
		assert_int_equal(seen[i].calls, 0);
	assert_int_equal(puppet.sent_count, 1 + 3 * WINDOW);
	ibsa__engine_free(engine);
}

static void first_interval_follows_the_round_trip(void **state)
{
	static const struct {
		unsigned int round_trip_ms;
		unsigned int interval_ms;
	} cases[] = { { 0, 100 }, { 20, 100 }, { 50, 200 }, { 300, 1200 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibsa__engine *engine;
		struct seen seen = { 0 };

		puppet_init(&puppet);
		engine = engine_start();
		/* The deviation of a constant time becomes small. */
		for (int n = 0; n < 40; n++)
			round_trip_measure(engine, cases[i].round_trip_ms);
		assert_int_equal(puppet_query(engine, 5, &seen), 0);
		assert_in_range(next_send_await(engine),
				cases[i].interval_ms * 9 / 10,
				cases[i].interval_ms + 1);
		ibsa__engine_free(engine);
	}
}

static void unmeasured_first_interval_is_the_default(void **state)
{
	struct ibsa__engine *engine = engine_start();
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 5, &seen), 0);
	assert_int_equal(next_send_await(engine), FIRST_MS);
	ibsa__engine_free(engine);
}

static void table_query(struct ibsa__engine *engine,
			const struct ibsa_record *record, struct seen *seen)
{
	const struct ibsa_query query = {
		.record = record,
		.method = IBSA_METHOD_GET_TABLE,
		.no_sharing = true,
	};

	assert_int_equal(
		ibsa__engine_query(engine, &query, puppet_note, seen, NULL), 0);
}

/* Tables of one attribute are measured apart from others and from Gets. */
static void first_interval_of_a_table_is_its_own(void **state)
{
	struct ibsa__engine *engine = engine_start();
	struct seen seen[2] = { 0 };

	(void)state;
	for (int n = 0; n < 40; n++) {
		struct seen table = { 0 };

		table_query(engine, &ibsa_node_record, &table);
		puppet_advance(&puppet, engine, 250);
		request_answer(engine, puppet.sent_count - 1);
		round_trip_measure(engine, 1);
	}
	table_query(engine, &ibsa_node_record, &seen[0]);
	assert_in_range(next_send_await(engine), 900, 1001);
	ibsa__engine_cancel(engine, 1);
	table_query(engine, &ibsa_link_record, &seen[1]);
	assert_int_equal(next_send_await(engine), FIRST_MS);
	ibsa__engine_free(engine);
}

/*
 * A reply that comes long after the last try answers an earlier one, and is
 * measured from the first.
 */
static void late_reply_raises_the_interval(void **state)
{
	struct ibsa__engine *engine = engine_start();
	struct seen seen[2] = { 0 };

	(void)state;
	round_trips_measure(engine, 1);
	assert_int_equal(puppet_query(engine, 5, &seen[0]), 0);
	puppet_advance(&puppet, engine, 100);
	puppet_advance(&puppet, engine, 200);
	puppet_advance(&puppet, engine, 350); /* the third try was at 300 ms */
	assert_int_equal(puppet.sent_count, SAMPLES_LEAST + 3);
	request_answer(engine, SAMPLES_LEAST);
	assert_int_equal(seen[0].calls, 1);
	assert_int_equal(puppet_query(engine, 6, &seen[1]), 0);
	assert_in_range(next_send_await(engine), 650, 750);
	ibsa__engine_free(engine);
}

/*
 * All first tries are sent at once. Once the SA has replied, RETRIES_MAX
 * requests without a reply are sent again.
 */
static void window_limits_retries_only(void **state)
{
	enum { COUNT = RETRIES_MAX + 10 };
	struct ibsa__engine *engine = engine_of_retries_start();
	struct seen seen[COUNT] = { 0 };

	(void)state;
	queries_start(engine, seen, COUNT);
	assert_int_equal(puppet.sent_count, COUNT);
	puppet_advance(&puppet, engine, 1);
	request_answer(engine, COUNT - 1);
	puppet_advance(&puppet, engine, FIRST_MS - 1);
	assert_int_equal(puppet.sent_count, COUNT + RETRIES_MAX);
	puppet_advance(&puppet, engine, 1);
	request_answer(engine, puppet.sent_count - 1);
	assert_int_equal(puppet.sent_count, COUNT + RETRIES_MAX + 1);
	ibsa__engine_cancel(engine, seen[0].id);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, COUNT + RETRIES_MAX + 2);
	puppet_advance(&puppet, engine, DEADLINE_MS - FIRST_MS);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(seen[i].calls, 1);
	ibsa__engine_free(engine);
}

/* An SA that does not reply gets one retry an interval, until it replies. */
static void silent_sa_gets_a_window_of_retries(void **state)
{
	enum { COUNT = 40 };
	struct ibsa__engine *engine = engine_of_retries_start();
	struct seen seen[COUNT] = { 0 };

	(void)state;
	queries_start(engine, seen, COUNT);
	puppet_advance(&puppet, engine, FIRST_MS);
	assert_int_equal(puppet.sent_count, COUNT + 1);
	puppet_advance(&puppet, engine, 2 * FIRST_MS);
	assert_int_equal(puppet.sent_count, COUNT + 2);
	request_answer(engine, puppet.sent_count - 1);
	/* All that wait, but the one that was sent again a while ago. */
	assert_in_range(puppet.sent_count, 2 * COUNT, 2 * COUNT + 1);
	ibsa__engine_free(engine);
}

/* A new SA gets all requests, whether they had a place or waited. */
static void move_of_the_sa_needs_no_place(void **state)
{
	enum { COUNT = RETRIES_MAX + 4 };
	struct ibsa__engine *engine = engine_of_retries_start();
	struct seen seen[COUNT] = { 0 };
	unsigned int sent;

	(void)state;
	queries_start(engine, seen, COUNT);
	puppet_advance(&puppet, engine, FIRST_MS);
	sent = puppet.sent_count;
	assert_int_equal(sent, COUNT + 1);
	puppet.port.sm_lid++;
	puppet.port_changed = true;
	puppet_advance(&puppet, engine, 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, sent + COUNT);
	ibsa__engine_free(engine);
}

/*
 * Deliver BUSY to each of the last @count requests. BUSY is answered by the
 * next try within FIRST_MS and its jitter.
 */
static void busy_deliver(struct ibsa__engine *engine, unsigned int count)
{
	for (unsigned int i = puppet.sent_count - count; i < puppet.sent_count;
	     i++) {
		struct puppet_mad busy = puppet_answer(puppet_sent(&puppet, i));

		busy.mad[MAD_STATUS + 1] = IBSA_STATUS_BUSY;
		puppet_deliver(&puppet, &busy);
	}
	puppet_advance(&puppet, engine, 0);
}

/* After BUSY, a request waits for a place like one without a reply. */
static void busy_request_needs_a_place(void **state)
{
	enum { MORE = 4, COUNT = RETRIES_MAX + MORE };
	struct ibsa__engine *engine = engine_of_retries_start();
	struct seen seen[COUNT] = { 0 };

	(void)state;
	queries_start(engine, seen, RETRIES_MAX);
	busy_deliver(engine, RETRIES_MAX);
	for (uint16_t i = RETRIES_MAX; i < COUNT; i++)
		assert_int_equal(puppet_query(engine, 300 + i, &seen[i]), 0);
	busy_deliver(engine, MORE);
	puppet_advance(&puppet, engine, FIRST_MS + 1);
	assert_int_equal(puppet.sent_count, COUNT + RETRIES_MAX);
	ibsa__engine_free(engine);
}

/*
 * After BUSY, a request is sent again after a round trip, then after twice that
 * time, and so on up to PAUSE_MAX_MS.
 */
static void busy_sa_gets_fewer_and_fewer_tries(void **state)
{
	struct ibsa__engine *engine = engine_start();
	struct seen seen = { 0 };

	(void)state;
	round_trip_measure(engine, 1);
	assert_int_equal(puppet_query(engine, 5, &seen), 0);
	for (unsigned int ms = 1; ms < 8 * PAUSE_MAX_MS; ms *= 2) {
		const unsigned int longest = ms < PAUSE_MAX_MS ? ms
							       : PAUSE_MAX_MS;

		busy_deliver(engine, 1);
		assert_in_range(next_send_await(engine), 1 + longest / 2,
				longest + longest / 2);
	}
	assert_int_equal(seen.calls, 0);
	ibsa__engine_free(engine);
}

/* An SA that has served no request yet is tried again soon, too. */
static void busy_sa_is_tried_soon_at_the_start(void **state)
{
	struct ibsa__engine *engine = engine_start();
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 5, &seen), 0);
	busy_deliver(engine, 1);
	assert_int_equal(next_send_await(engine), 1);
	ibsa__engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUPPET_TEST(lost_request_leaves_the_window, &puppet),
		PUPPET_TEST(interval_of_a_lost_request_grows_late, &puppet),
		PUPPET_TEST(lost_request_of_the_queue_leaves_early, &puppet),
		PUPPET_TEST(silent_sa_gets_no_further_requests, &puppet),
		PUPPET_TEST(first_interval_follows_the_round_trip, &puppet),
		PUPPET_TEST(unmeasured_first_interval_is_the_default, &puppet),
		PUPPET_TEST(first_interval_of_a_table_is_its_own, &puppet),
		PUPPET_TEST(late_reply_raises_the_interval, &puppet),
		PUPPET_TEST(window_limits_retries_only, &puppet),
		PUPPET_TEST(silent_sa_gets_a_window_of_retries, &puppet),
		PUPPET_TEST(move_of_the_sa_needs_no_place, &puppet),
		PUPPET_TEST(busy_request_needs_a_place, &puppet),
		PUPPET_TEST(busy_sa_gets_fewer_and_fewer_tries, &puppet),
		PUPPET_TEST(busy_sa_is_tried_soon_at_the_start, &puppet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
