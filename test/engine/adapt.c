/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The window adapts to the SA: it grows with replies, and shrinks with losses
 * and BUSY. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/round_trip.h"
#include "test/support/puppet.h"
#include "wire/mad.h"

enum { MAX = 16, MANY = 200, FIRST_MS = 100, PAUSE_MAX_MS = 3 };

static struct puppet puppet;
static struct seen seen[MANY];

/* An engine whose window has 1 to MAX places, and COUNT queries for it. */
static struct ibsa__engine *engine_start(unsigned int count)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;

	options.window = MAX;
	options.window_min = 1;
	options.queue = MANY;
	engine = puppet_engine(&puppet, &options);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(
			puppet_query(engine, (uint16_t)(100 + i), &seen[i]), 0);
	return engine;
}

static void status_deliver(unsigned int n, uint16_t status)
{
	struct puppet_mad reply = puppet_answer(puppet_sent(&puppet, n));

	ibsa_put_be16(reply.mad + MAD_STATUS, status);
	puppet_deliver(&puppet, &reply);
}

/*
 * Answer all requests in flight after @ms, the first of which is @from. Return:
 * how many are sent then.
 */
static unsigned int round_pass(struct ibsa__engine *engine, unsigned int from,
			       unsigned int ms)
{
	const unsigned int sent = puppet.sent_count;

	for (unsigned int i = from; i < sent; i++)
		status_deliver(i, 0);
	puppet_advance(&puppet, engine, ms);
	return puppet.sent_count - sent;
}

/*
 * Answer all requests after 1 ms each, until @want are in flight. Return: the
 * number of requests that were sent.
 */
static unsigned int window_reach(struct ibsa__engine *engine, unsigned int want)
{
	unsigned int in_flight = 1;

	while (in_flight < want)
		in_flight = round_pass(engine, puppet.sent_count - in_flight,
				       1);
	return puppet.sent_count;
}

/* Let @ms pass without a reply. Return: how many requests are sent. */
static unsigned int silence_pass(struct ibsa__engine *engine, unsigned int ms)
{
	const unsigned int sent = puppet.sent_count;

	for (unsigned int i = 0; i < ms; i++)
		puppet_advance(&puppet, engine, 1);
	return puppet.sent_count - sent;
}

/*
 * One request is in flight until the round trip is known, then twice as many in
 * each round trip.
 */
static void window_doubles_up_to_its_limit(void **state)
{
	struct ibsa__engine *engine = engine_start(MANY);
	unsigned int in_flight = 1;

	(void)state;
	for (unsigned int i = 1; i < SAMPLES_LEAST; i++)
		assert_int_equal(round_pass(engine, puppet.sent_count - 1, 1),
				 1);
	for (unsigned int want = 2; want <= MAX; want *= 2) {
		in_flight = round_pass(engine, puppet.sent_count - in_flight,
				       1);
		assert_int_equal(in_flight, want);
	}
	in_flight = round_pass(engine, puppet.sent_count - in_flight, 1);
	assert_int_equal(in_flight, MAX);
	ibsa__engine_free(engine);
}

/* Queries that come one by one do not make it grow. */
static void window_that_is_not_full_does_not_grow(void **state)
{
	struct ibsa__engine *engine = engine_start(0);

	(void)state;
	for (uint16_t i = 0; i < 8; i++) {
		assert_int_equal(puppet_query(engine, i, &seen[0]), 0);
		/* The second of them sees that the window is full. */
		round_pass(engine, puppet.sent_count - 1, 1);
	}
	assert_int_equal(seen[0].calls, 8);
	ibsa__engine_free(engine);
}

/* While requests wait at the SA, more of them would only wait longer. */
static void window_stays_if_requests_wait_at_the_sa(void **state)
{
	struct ibsa__engine *engine = engine_start(MANY);

	(void)state;
	for (unsigned int i = 1; i < SAMPLES_LEAST; i++)
		round_pass(engine, puppet.sent_count - 1, 20);
	assert_int_equal(round_pass(engine, puppet.sent_count - 1, 20), 2);
	assert_int_equal(round_pass(engine, puppet.sent_count - 2, 50), 2);
	assert_int_equal(round_pass(engine, puppet.sent_count - 2, 50), 2);
	assert_int_equal(round_pass(engine, puppet.sent_count - 2, 30), 4);
	ibsa__engine_free(engine);
}

/*
 * The first of eight requests is lost. When its reply is late, the window has
 * half of its places, and then grows by one place in a round trip.
 */
static void loss_halves_the_window(void **state)
{
	struct ibsa__engine *engine = engine_start(MANY);
	const unsigned int lost = window_reach(engine, 8) - 8;
	unsigned int in_flight, least = MAX;

	(void)state;
	in_flight = round_pass(engine, lost + 1, 1);
	assert_int_equal(in_flight, 14);
	for (int round = 0; round < 6; round++) {
		in_flight = round_pass(engine, puppet.sent_count - in_flight,
				       1);
		least = in_flight < least ? in_flight : least;
	}
	assert_in_range(least, MAX / 2 - 1, MAX / 2);
	assert_in_range(in_flight, least + 1, MAX);
	assert_int_equal(seen[lost].calls, 0);
	ibsa__engine_free(engine);
}

/* The reply was only late: the window gets the places back. */
static void late_reply_restores_the_window(void **state)
{
	struct ibsa__engine *engine = engine_start(MANY);
	const unsigned int late = window_reach(engine, 8) - 8;
	unsigned int in_flight;

	(void)state;
	in_flight = round_pass(engine, late + 1, 1);
	while (in_flight > MAX / 2)
		in_flight = round_pass(engine, puppet.sent_count - in_flight,
				       1);
	status_deliver(late, 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen[late].calls, 1);
	in_flight = round_pass(engine, late + 1, 1);
	assert_in_range(in_flight, MAX - 2, MAX);
	ibsa__engine_free(engine);
}

/*
 * The only request in flight is lost. After the reply to the probe, the window of
 * one place needs four replies for the second one.
 */
static void window_grows_slowly_after_a_loss(void **state)
{
	struct ibsa__engine *engine = engine_start(MANY);

	(void)state;
	for (unsigned int i = 1; i < SAMPLES_LEAST; i++)
		round_pass(engine, puppet.sent_count - 1, 1);
	assert_int_equal(silence_pass(engine, FIRST_MS / 2), 1); /* a probe */
	for (int i = 0; i < 4; i++)
		assert_int_equal(round_pass(engine, puppet.sent_count - 1, 1),
				 1);
	assert_int_equal(round_pass(engine, puppet.sent_count - 1, 1), 2);
	ibsa__engine_free(engine);
}

/*
 * The only request in flight is lost, which no later reply can show. As soon as
 * its reply is late, one further request is sent, whose reply shows it.
 */
static void probe_takes_the_place_of_a_lost_request(void **state)
{
	struct ibsa__engine *engine = engine_start(MANY);
	unsigned int sent;

	(void)state;
	for (unsigned int i = 1; i < SAMPLES_LEAST; i++)
		round_pass(engine, puppet.sent_count - 1, 1);
	assert_int_equal(silence_pass(engine, FIRST_MS / 10), 1);
	assert_int_equal(silence_pass(engine, FIRST_MS / 2), 0);
	sent = puppet.sent_count;
	assert_int_equal(round_pass(engine, sent - 1, 1), 1);
	assert_int_equal(round_pass(engine, sent, 1), 1);
	assert_int_equal(seen[sent - 2].calls, 0);
	assert_int_equal(seen[sent - 1].calls, 1);
	ibsa__engine_free(engine);
}

/* An SA that stops gets the requests in flight again, and one probe: when it
 * answers, the window begins with few places. */
static void silence_shrinks_the_window(void **state)
{
	struct ibsa__engine *engine = engine_start(MANY);
	unsigned int sent = window_reach(engine, 4);

	(void)state;
	assert_in_range(silence_pass(engine, 8 * FIRST_MS), 4, 5 * 4);
	assert_int_equal(seen[sent + 1].calls, 0);
	sent = puppet.sent_count;
	status_deliver(sent - 1, 0);
	puppet_advance(&puppet, engine, 0);
	assert_in_range(puppet.sent_count, sent, sent + 1);
	ibsa__engine_free(engine);
}

/* The SA does not answer one request, the only one in flight. After its second
 * interval, the next request is sent. */
static void unanswered_request_does_not_hold_up_others(void **state)
{
	struct ibsa__engine *engine = engine_start(3);

	(void)state;
	for (unsigned int ms = 0; ms < 3 * FIRST_MS - 1; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 2);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 4);
	status_deliver(3, 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen[1].calls, 1);
	assert_true(puppet.sent_count >= 5);
	ibsa__engine_free(engine);
}

/* The SA has no room for four of eight: these are sent again as soon as others
 * are answered, and every query is answered. */
static void busy_request_waits_for_a_place(void **state)
{
	enum { COUNT = 24 };
	struct ibsa__engine *engine = engine_start(COUNT);
	const unsigned int sent = window_reach(engine, 8);

	(void)state;
	puppet_advance(&puppet, engine, 1);
	for (unsigned int i = sent - 4; i < sent; i++)
		status_deliver(i, IBSA_STATUS_BUSY);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, sent);
	for (unsigned int i = sent - 8; i < sent - 4; i++)
		status_deliver(i, 0);
	puppet_advance(&puppet, engine, PAUSE_MAX_MS);
	assert_in_range(puppet.sent_count, sent + 4, sent + 7);
	for (unsigned int i = sent; i < puppet.sent_count; i++) {
		status_deliver(i, 0);
		puppet_advance(&puppet, engine, 1);
	}
	for (unsigned int i = 0; i < COUNT; i++) {
		assert_int_equal(seen[i].calls, 1);
		assert_int_equal(seen[i].status, 0);
	}
	ibsa__engine_free(engine);
}

/*
 * One of eight requests finds no room: the window has half of its places, and
 * the replies to the other seven do not make it larger. Other clients get the
 * places.
 */
static void busy_halves_the_window(void **state)
{
	struct ibsa__engine *engine = engine_start(MANY);
	const unsigned int sent = window_reach(engine, 8);

	(void)state;
	puppet_advance(&puppet, engine, 1);
	status_deliver(sent - 1, IBSA_STATUS_BUSY);
	puppet_advance(&puppet, engine, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(round_pass(engine, sent - 8, 0), 4);
	assert_int_equal(round_pass(engine, sent, 1), 5);
	ibsa__engine_free(engine);
}

/* The two limits are equal: the window has that many places at once. */
static void window_with_equal_limits_is_fixed(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;

	(void)state;
	options.window = options.window_min = 4;
	engine = puppet_engine(&puppet, &options);
	for (uint16_t i = 0; i < 12; i++)
		assert_int_equal(puppet_query(engine, i, &seen[i]), 0);
	assert_int_equal(puppet.sent_count, 4);
	puppet_advance(&puppet, engine, FIRST_MS);
	assert_int_equal(puppet.sent_count, 8);
	for (unsigned int i = 4; i < 8; i++)
		status_deliver(i, 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 12);
	ibsa__engine_free(engine);
}

static int seen_clear(void **state)
{
	memset(seen, 0, sizeof(seen));
	return puppet_setup(state);
}

#define ADAPT_TEST(name)                                                 \
	cmocka_unit_test_prestate_setup_teardown(name, seen_clear, NULL, \
						 &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ADAPT_TEST(window_doubles_up_to_its_limit),
		ADAPT_TEST(window_that_is_not_full_does_not_grow),
		ADAPT_TEST(window_stays_if_requests_wait_at_the_sa),
		ADAPT_TEST(loss_halves_the_window),
		ADAPT_TEST(late_reply_restores_the_window),
		ADAPT_TEST(window_grows_slowly_after_a_loss),
		ADAPT_TEST(probe_takes_the_place_of_a_lost_request),
		ADAPT_TEST(silence_shrinks_the_window),
		ADAPT_TEST(unanswered_request_does_not_hold_up_others),
		ADAPT_TEST(busy_request_waits_for_a_place),
		ADAPT_TEST(busy_halves_the_window),
		ADAPT_TEST(window_with_equal_limits_is_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
