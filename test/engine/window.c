/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The window on a transport that holds requests: the transport's timeouts,
 * abandoned requests in the window, and deadlines that start at the first send.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"

enum { MS = 1000000, WINDOW = 16, PACE_MS = 16, NEW_SM = 12 };

static struct puppet puppet;

static struct ibsa__engine *engine_on(bool holds, unsigned int window)
{
	struct ibsa__engine_options options = puppet_options;

	puppet.holds = holds;
	options.window = window;
	options.queue = 1000;
	return puppet_engine(&puppet, &options);
}

static uint64_t node_query(struct ibsa__engine *engine, uint16_t dlid,
			   unsigned int deadline_ms, unsigned int queue_ms,
			   struct seen *seen)
{
	const struct ibsa_path match = { .dlid = dlid };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(dlid),
		.deadline_ms = deadline_ms,
		.queue_ms = queue_ms,
	};
	uint64_t id = 0;

	assert_int_equal(
		ibsa__engine_query(engine, &query, puppet_note, seen, &id), 0);
	return id;
}

static void request_answer(struct ibsa__engine *engine, unsigned int n)
{
	struct puppet_mad answer = puppet_answer(puppet_sent(&puppet, n));

	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
}

/* The transport's timeout ends no later than the queries. */
static void wait_is_clipped_to_the_deadline(void **state)
{
	struct ibsa__engine *engine = engine_on(true, WINDOW);
	struct seen seen = { 0 };

	(void)state;
	node_query(engine, 4, 70, 0, &seen);
	assert_int_equal(puppet_sent(&puppet, 0)->timeout_ms, 70);
	node_query(engine, 5, 150, 0, &seen);
	assert_int_equal(puppet_sent(&puppet, 1)->timeout_ms, 88);
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(puppet_sent(&puppet, 2)->timeout_ms, 50);
	puppet_advance(&puppet, engine, 50);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(puppet.sent_count, 3);
	ibsa__engine_free(engine);
}

static void wait_is_clipped_to_the_latest_deadline(void **state)
{
	struct ibsa__engine *engine = engine_on(true, 1);
	struct seen first = { 0 }, other = { 0 };

	(void)state;
	node_query(engine, 4, 500, 0, &first);
	node_query(engine, 5, 50, 0, &other);
	node_query(engine, 5, 70, 0, &other);
	node_query(engine, 5, 60, 0, &other);
	puppet_advance(&puppet, engine, 10);
	request_answer(engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(puppet_sent(&puppet, 1)->timeout_ms, 60);
	ibsa__engine_free(engine);
	assert_int_equal(other.calls, 3);
}

/* On a transport that does not hold requests, the timeout is the whole
 * interval. */
static void other_transports_wait_for_the_whole_interval(void **state)
{
	struct ibsa__engine *engine = engine_on(false, WINDOW);
	struct seen seen = { 0 };

	(void)state;
	node_query(engine, 4, 1000, 0, &seen);
	node_query(engine, 5, 70, 0, &seen);
	assert_int_equal(puppet_sent(&puppet, 0)->timeout_ms, 100);
	assert_int_equal(puppet_sent(&puppet, 1)->timeout_ms, 70);
	ibsa__engine_free(engine);
}

static void holder_gives_up_before_the_next_try(void **state)
{
	(void)state;
	assert_int_equal(ibsa__wait_before_retry(1), 1);
	assert_int_equal(ibsa__wait_before_retry(8), 7);
	assert_int_equal(ibsa__wait_before_retry(100), 88);
	assert_int_equal(ibsa__wait_before_retry(160), 140);
	assert_int_equal(ibsa__wait_before_retry(4000), 3980);
}

static void cancel_some(struct ibsa__engine *engine, unsigned int count)
{
	struct seen seen = { 0 };

	for (unsigned int i = 0; i < count; i++) {
		const uint64_t id = node_query(engine, (uint16_t)(1000 + i), 0,
					       0, &seen);

		assert_int_equal(ibsa__engine_cancel(engine, id), 0);
	}
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen.calls, (int)count);
}

/* Return: how many of many new queries are sent at once. */
static unsigned int room_measure(struct ibsa__engine *engine, struct seen *seen)
{
	const unsigned int before = puppet.sent_count;

	for (uint16_t i = 0; i < 2 * WINDOW; i++)
		node_query(engine, i, 0, 0, seen);
	return puppet.sent_count - before;
}

/* Cancelled requests take at most half of the window, until the transport's
 * timeouts end. */
static void held_requests_take_half_of_the_window(void **state)
{
	struct ibsa__engine *engine = engine_on(true, WINDOW);
	struct seen seen = { 0 };

	(void)state;
	cancel_some(engine, WINDOW);
	assert_int_equal(room_measure(engine, &seen), WINDOW / 2);
	/* The cancelled requests leave the window when the transport's timeouts
	 * for them have passed. */
	puppet_advance(&puppet, engine, 99);
	assert_int_equal(puppet.sent_count, WINDOW + WINDOW / 2);
	puppet_advance(&puppet, engine, 251);
	assert_true(puppet.sent_count >= 2 * WINDOW + WINDOW / 2);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 2 * WINDOW);
}

static void window_of_one_holds_no_cancelled_request(void **state)
{
	struct ibsa__engine *engine = engine_on(true, 1);
	struct seen seen = { 0 };

	(void)state;
	cancel_some(engine, 1);
	assert_int_equal(room_measure(engine, &seen), 1);
	ibsa__engine_free(engine);
}

static void other_transports_hold_nothing(void **state)
{
	struct ibsa__engine *engine = engine_on(false, WINDOW);
	struct seen seen = { 0 };

	(void)state;
	cancel_some(engine, WINDOW);
	assert_int_equal(room_measure(engine, &seen), WINDOW);
	ibsa__engine_free(engine);
}

/* A program that only submits and cancels sends at most a window of requests in
 * each PACE_MS, and a query that is not cancelled is sent then. */
static void cancelling_in_a_loop_does_not_flood(void **state)
{
	struct ibsa__engine *engine = engine_on(true, WINDOW);
	struct seen seen = { 0 };
	unsigned int before;

	(void)state;
	cancel_some(engine, 500);
	assert_in_range(puppet.sent_count, WINDOW, 3 * WINDOW);
	before = puppet.sent_count;
	node_query(engine, 4, 1000, 0, &seen);
	assert_int_equal(puppet.sent_count, before);
	assert_in_range(ibsa__engine_timeout_ms(engine), 1, PACE_MS);
	puppet_advance(&puppet, engine, PACE_MS);
	assert_int_equal(puppet.sent_count, before + 1);
	for (int ms = 0; ms < 10 * PACE_MS; ms++) {
		cancel_some(engine, 100);
		puppet_advance(&puppet, engine, 1);
	}
	assert_in_range(puppet.sent_count, before, before + 24 * WINDOW);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 1);
}

/* The SM moves while requests are held: queued requests go to the new SM. */
static void sm_moves_while_requests_are_held(void **state)
{
	struct ibsa__engine *engine = engine_on(true, 2);
	struct seen seen[2] = { 0 };

	(void)state;
	cancel_some(engine, 1);
	node_query(engine, 4, 1000, 0, &seen[0]);
	node_query(engine, 5, 1000, 0, &seen[1]);
	assert_int_equal(puppet.sent_count, 2);
	puppet.port.sm_lid = NEW_SM;
	puppet.port_changed = true;
	puppet_advance(&puppet, engine, 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(
		puppet_sent(&puppet, puppet.sent_count - 1)->address.lid,
		NEW_SM);
	for (unsigned int n = 2; n < puppet.sent_count; n++)
		request_answer(engine, n);
	puppet_advance(&puppet, engine, 0);
	for (unsigned int n = 2; n < puppet.sent_count; n++)
		request_answer(engine, n);
	assert_int_equal(seen[0].calls + seen[1].calls, 2);
	assert_int_equal(seen[0].err + seen[1].err, 0);
	ibsa__engine_free(engine);
}

/* The transport reports the timeout of the @n-th request that was sent. */
static void time_out(struct ibsa__engine *engine, unsigned int n)
{
	struct puppet_mad report = *puppet_sent(&puppet, n);

	report.err = -ETIMEDOUT;
	puppet_deliver(&puppet, &report);
	puppet_advance(&puppet, engine, 0);
}

/* A request that was sent to the new SM, too, leaves the window at the timeout
 * of its last try: the timeout for the old SM has another id. */
static void request_of_two_sms_leaves_the_window(void **state)
{
	struct ibsa__engine *engine = engine_on(true, 2);
	struct seen seen = { 0 };
	uint64_t id;

	(void)state;
	id = node_query(engine, 4, 0, 0, &seen);
	puppet.port.sm_lid = NEW_SM;
	puppet.port_changed = true;
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(ibsa__engine_cancel(engine, id), 0);
	node_query(engine, 5, 0, 0, &seen);
	node_query(engine, 6, 0, 0, &seen);
	assert_int_equal(puppet.sent_count, 3);
	time_out(engine, 0);
	assert_int_equal(puppet.sent_count, 3);
	time_out(engine, 1);
	assert_int_equal(puppet.sent_count, 4);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 3);
}

struct canceller {
	struct ibsa__engine *engine;
	uint64_t victims[4];
	struct seen seen;
	struct seen next;
};

static void cancel_all(const struct ibsa_reply *reply, void *arg)
{
	struct canceller *canceller = arg;

	puppet_note(reply, &canceller->seen);
	for (int i = 0; i < 4; i++)
		ibsa__engine_cancel(canceller->engine, canceller->victims[i]);
	node_query(canceller->engine, 9, 1000, 0, &canceller->next);
}

/* A callback cancels requests and submits another query. */
static void callback_cancels_what_is_in_flight(void **state)
{
	struct canceller canceller = { .engine = engine_on(true, 4) };
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct seen victims = { 0 };

	(void)state;
	assert_int_equal(ibsa__engine_query(canceller.engine, &query,
					    cancel_all, &canceller, NULL),
			 0);
	for (int i = 0; i < 4; i++)
		canceller.victims[i] = node_query(
			canceller.engine, (uint16_t)(1 + i), 1000, 0, &victims);
	assert_int_equal(puppet.sent_count, 4);
	request_answer(canceller.engine, 0);
	puppet_advance(&puppet, canceller.engine, 0);
	assert_int_equal(victims.calls, 4);
	assert_int_equal(puppet.sent_count, 5);
	request_answer(canceller.engine, 4);
	assert_int_equal(canceller.next.calls, 1);
	assert_int_equal(canceller.next.err, 0);
	ibsa__engine_free(canceller.engine);
}

static void engine_ends_with_held_requests(void **state)
{
	struct ibsa__engine *engine = engine_on(true, WINDOW);
	struct seen seen = { 0 };

	(void)state;
	cancel_some(engine, WINDOW);
	assert_int_equal(room_measure(engine, &seen), WINDOW / 2);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 2 * WINDOW);
	assert_int_equal(seen.err, -ECANCELED);
}

/* With queue_ms the deadline starts at the first send. */
static void deadline_runs_from_the_first_send(void **state)
{
	struct ibsa__engine *engine = engine_on(true, 1);
	struct seen first = { 0 }, second = { 0 };

	(void)state;
	node_query(engine, 4, 5000, 0, &first);
	node_query(engine, 5, 70, 1000, &second);
	puppet_advance(&puppet, engine, 900);
	assert_int_equal(second.calls, 0);
	request_answer(engine, 0);
	assert_int_equal(first.calls, 1);
	assert_int_equal(
		puppet_sent(&puppet, puppet.sent_count - 1)->timeout_ms, 70);
	puppet_advance(&puppet, engine, 69);
	assert_int_equal(second.calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(second.calls, 1);
	assert_int_equal(second.err, -ETIMEDOUT);
	assert_int_equal(second.tries, 1);
	ibsa__engine_free(engine);
}

/* If the request is sent at once, its deadline starts now. */
static void deadline_of_one_that_is_sent_at_once(void **state)
{
	struct ibsa__engine *engine = engine_on(true, 1);
	struct seen seen[2] = { 0 };

	(void)state;
	node_query(engine, 4, 300, 60000, &seen[0]);
	/* A second query shares the request; its deadline starts now, too. */
	puppet_advance(&puppet, engine, 50);
	node_query(engine, 4, 280, 60000, &seen[1]);
	puppet_advance(&puppet, engine, 249);
	assert_int_equal(seen[0].calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen[0].calls, 1);
	puppet_advance(&puppet, engine, 29);
	assert_int_equal(seen[1].calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen[1].calls, 1);
	assert_int_equal(ibsa__engine_stats(engine)->shared, 1);
	ibsa__engine_free(engine);
}

static void wait_for_the_window_ends(void **state)
{
	struct ibsa__engine *engine = engine_on(true, 1);
	struct seen first = { 0 }, unsent = { 0 };

	(void)state;
	node_query(engine, 4, 5000, 0, &first);
	node_query(engine, 5, 70, 200, &unsent);
	puppet_advance(&puppet, engine, 199);
	assert_int_equal(unsent.calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(unsent.calls, 1);
	assert_int_equal(unsent.err, -ETIMEDOUT);
	assert_int_equal(unsent.tries, 0);
	ibsa__engine_free(engine);
}

/* The deadline does not start at a send that the transport refuses. */
static void deadline_does_not_run_from_a_refused_send(void **state)
{
	struct ibsa__engine *engine = engine_on(true, 1);
	struct seen seen = { 0 };

	(void)state;
	puppet.send_err = -EBUSY;
	node_query(engine, 4, 70, 1000, &seen);
	puppet_advance(&puppet, engine, 90);
	assert_int_equal(seen.calls, 0);
	puppet.send_err = 0;
	puppet_advance(&puppet, engine, 10);
	assert_int_equal(puppet.sent_count, 1);
	puppet_advance(&puppet, engine, 69);
	assert_int_equal(seen.calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.tries, 1);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wait_is_clipped_to_the_deadline),
		TEST(wait_is_clipped_to_the_latest_deadline),
		TEST(other_transports_wait_for_the_whole_interval),
		TEST(holder_gives_up_before_the_next_try),
		TEST(held_requests_take_half_of_the_window),
		TEST(window_of_one_holds_no_cancelled_request),
		TEST(other_transports_hold_nothing),
		TEST(cancelling_in_a_loop_does_not_flood),
		TEST(sm_moves_while_requests_are_held),
		TEST(request_of_two_sms_leaves_the_window),
		TEST(callback_cancels_what_is_in_flight),
		TEST(engine_ends_with_held_requests),
		TEST(deadline_runs_from_the_first_send),
		TEST(deadline_of_one_that_is_sent_at_once),
		TEST(wait_for_the_window_ends),
		TEST(deadline_does_not_run_from_a_refused_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
