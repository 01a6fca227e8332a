/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which requests a further query may share. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

static struct puppet puppet;

static int path_query(struct ibsa__engine *engine,
		      const struct ibsa_query *options, struct seen *seen)
{
	struct ibsa_query query = *options;

	query.record = &ibsa_path_record;
	return ibsa__engine_query(engine, &query, puppet_note, seen, NULL);
}

static void client_may_share_nothing(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	const struct ibsa_query query = { 0 };
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	options.sharing = false;
	engine = puppet_engine(&puppet, &options);
	for (int i = 0; i < 3; i++)
		assert_int_equal(path_query(engine, &query, &seen), 0);
	assert_int_equal(puppet.sent_count, 3);
	ibsa__engine_free(engine);
}

/*
 * A query sends its own request at once if the next try of an identical request
 * would come later than its own second try. The other request is not affected.
 */
static void late_query_does_not_join(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen first = { 0 }, second = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	for (int ms = 0; ms < 1700; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 5);
	assert_int_equal(puppet_query(engine, 4, &second), 0);
	assert_int_equal(puppet.sent_count, 6);
	/*
	 * The tries at 1800 and 2000 ms are those of the second query, the try
	 * at 2300 ms is that of the first.
	 */
	for (int ms = 0; ms < 599; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 8);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 9);
	assert_memory_equal(puppet_sent(&puppet, 8)->mad,
			    puppet_sent(&puppet, 0)->mad, 256);
	ibsa__engine_free(engine);
}

/* A third query shares the request of the second query, which is the latest. */
static void latest_request_is_joined(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };
	struct puppet_mad answer;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(puppet_query(engine, 4, &seen), 0);
		assert_int_equal(puppet_query(engine, 4, &seen), 0);
		puppet_advance(&puppet, engine, 700);
	}
	assert_int_equal(ibsa__engine_stats(engine)->shared, 3);
	puppet_advance(&puppet, engine, 0);
	answer = puppet_answer(puppet_sent(&puppet, puppet.sent_count - 1));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen.calls, 2);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 6);
}

/*
 * A query does not share a request with longer intervals between its tries,
 * whether that request was sent yet or not.
 */
static void impatient_query_does_not_join(void **state)
{
	const struct ibsa_query slow = { .first_interval_ms = 100 };
	const struct ibsa_query quick = { .first_interval_ms = 50 };
	const struct ibsa_query capped = { .max_interval_ms = 400 };
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(path_query(engine, &slow, &seen), 0);
	assert_int_equal(path_query(engine, &quick, &seen), 0);
	assert_int_equal(path_query(engine, &capped, &seen), 0);
	assert_int_equal(stats->shared, 0);
	/* A query with longer intervals than the first shares its request. */
	assert_int_equal(path_query(engine, &slow, &seen), 0);
	assert_int_equal(stats->shared, 1);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 4);
}

/* The transport drops replies after the first query's deadline: a query with a
 * later deadline sends its own request. */
static void query_with_more_time_does_not_join_a_short_wait(void **state)
{
	const struct ibsa_query brief = { .deadline_ms = 50 };
	const struct ibsa_query longer = { .deadline_ms = 60 };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(path_query(engine, &brief, &seen), 0);
	assert_int_equal(path_query(engine, &brief, &seen), 0);
	assert_int_equal(stats->shared, 1);
	assert_int_equal(path_query(engine, &longer, &seen), 0);
	assert_int_equal(puppet.sent_count, 2);
	ibsa__engine_free(engine);
}

/* A query does not share a request with no_sharing, even if its memory was that
 * of a shared request before. */
static void request_that_is_alone_is_not_joined(void **state)
{
	const struct ibsa_query shared = { 0 };
	const struct ibsa_query alone = { .no_sharing = true };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(path_query(engine, &shared, &seen), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(path_query(engine, &alone, &seen), 0);
	assert_int_equal(path_query(engine, &shared, &seen), 0);
	assert_int_equal(ibsa__engine_stats(engine)->shared, 0);
	assert_int_equal(puppet.sent_count, 3);
	ibsa__engine_free(engine);
}

/* A query without jitter does not share a request with jitter, whose next try
 * may come later. */
static void query_without_jitter_does_not_join_one_with(void **state)
{
	const struct ibsa_query random = { .jitter_percent = 100 };
	const struct ibsa_query exact = { .jitter_percent = -1 };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(path_query(engine, &random, &seen), 0);
	assert_int_equal(path_query(engine, &exact, &seen), 0);
	assert_int_equal(stats->shared, 0);
	/* A query with jitter shares a request. */
	assert_int_equal(path_query(engine, &random, &seen), 0);
	assert_int_equal(stats->shared, 1);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 3);
}

static void deliver_busy(const struct puppet_mad *request)
{
	struct puppet_mad busy = puppet_answer(request);

	busy.mad[MAD_STATUS + 1] = IBSA_STATUS_BUSY;
	puppet_deliver(&puppet, &busy);
}

/*
 * The SA has answered BUSY once, and the request was sent again. The transport
 * drops a reply to that try after the deadline of the first query. A second
 * query with a later deadline therefore sends a request of its own, at once.
 */
static void request_sent_after_busy_is_not_joined_if_too_short(void **state)
{
	const struct ibsa_query brief = { .deadline_ms = 250 };
	const struct ibsa_query longer = { .first_interval_ms = 800 };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(path_query(engine, &brief, &seen), 0);
	deliver_busy(puppet_sent(&puppet, 0));
	puppet_advance(&puppet, engine, 0);
	/* No request is sent until 200 ms. */
	assert_int_equal(path_query(engine, &brief, &seen), 0);
	assert_int_equal(stats->shared, 1);
	puppet_advance(&puppet, engine, 200);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(puppet_sent(&puppet, 1)->timeout_ms, 50);
	puppet_advance(&puppet, engine, 20);
	assert_int_equal(path_query(engine, &longer, &seen), 0);
	assert_int_equal(puppet.sent_count, 3);
	assert_int_equal(stats->shared, 1);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 3);
}

struct late {
	struct ibsa__alarm alarm;
	struct ibsa__engine *engine;
	struct seen seen;
};

static void query_on_alarm(struct ibsa__alarm *alarm)
{
	struct late *late = (struct late *)(void *)alarm;

	assert_int_equal(puppet_query(late->engine, 4, &late->seen), 0);
}

/* A request whose query has expired has no next try: an identical query,
 * submitted by an alarm in the same dispatch, is sent. */
static void request_that_is_over_is_not_joined(void **state)
{
	const struct ibsa_path match = { .dlid = 4 };
	const struct ibsa_query brief = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(dlid),
		.deadline_ms = 150,
	};
	struct late late = { .engine = puppet_engine(&puppet,
						     &puppet_options) };
	struct seen seen = { 0 };

	(void)state;
	ibsa__alarm_init(&late.alarm, query_on_alarm);
	assert_int_equal(ibsa__engine_query(late.engine, &brief, puppet_note,
					    &seen, NULL),
			 0);
	ibsa__alarm_set(late.engine, &late.alarm, 120);
	puppet_advance(&puppet, late.engine, 200);
	assert_int_equal(seen.err, -ETIMEDOUT);
	assert_int_equal(puppet.sent_count, 2);
	ibsa__engine_free(late.engine);
	assert_int_equal(late.seen.tries, 1);
}

/* A query shares a request that waits for room in the transport. */
static void refused_request_is_joined(void **state)
{
	const struct ibsa_query query = { 0 };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	puppet.send_err = -EAGAIN;
	assert_int_equal(path_query(engine, &query, &seen), 0);
	puppet.send_err = 0;
	assert_int_equal(path_query(engine, &query, &seen), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 1);
	assert_int_equal(ibsa__engine_stats(engine)->shared, 1);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 2);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(client_may_share_nothing),
		TEST(late_query_does_not_join),
		TEST(latest_request_is_joined),
		TEST(impatient_query_does_not_join),
		TEST(query_with_more_time_does_not_join_a_short_wait),
		TEST(request_that_is_alone_is_not_joined),
		TEST(query_without_jitter_does_not_join_one_with),
		TEST(request_sent_after_busy_is_not_joined_if_too_short),
		TEST(request_that_is_over_is_not_joined),
		TEST(refused_request_is_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
