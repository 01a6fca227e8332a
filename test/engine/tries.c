/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tries of a request: intervals, deadlines, the window and the queue. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum { MS = 1000000 };

static struct puppet puppet;

/* Tries are sent at doubling intervals up to the maximum, all with one id. */
static void silence_is_retried_with_back_off(void **state)
{
	static const unsigned int at_ms[] = { 0, 100, 300, 700, 1500, 2300 };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	for (unsigned int ms = 0; ms < 2400; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 6);
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(puppet_sent(&puppet, i)->at_ns,
				 (uint64_t)at_ms[i] * MS);
		assert_memory_equal(puppet_sent(&puppet, i)->mad,
				    puppet_sent(&puppet, 0)->mad, 256);
	}
	assert_int_equal(ibsa__engine_stats(engine)->retries, 5);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ECANCELED);
}

static void late_answer_to_first_try_counts(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet_advance(&puppet, engine, 150);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.tries, 2);
	ibsa__engine_free(engine);
}

/* The query ends at its deadline, to the millisecond. */
static void silence_ends_at_the_deadline(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	for (unsigned int ms = 0; ms < 9999; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ETIMEDOUT);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	assert_int_equal(ibsa__engine_stats(engine)->timeouts, 1);
	ibsa__engine_free(engine);
}

/* If the clock jumps past all deadlines, each query still gets one callback. */
static void long_sleep_expires_everything_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen[40] = { 0 };

	(void)state;
	for (uint16_t i = 0; i < 40; i++)
		assert_int_equal(puppet_query(engine, i, &seen[i]), 0);
	puppet_advance(&puppet, engine, 3600 * 1000);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(seen[i].calls, 1);
		assert_int_equal(seen[i].err, -ETIMEDOUT);
	}
	ibsa__engine_free(engine);
}

/* After BUSY the interval begins again. */
static void busy_backs_off(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad busy;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	busy = puppet_answer(puppet_sent(&puppet, 0));
	busy.mad[MAD_STATUS + 1] = IBSA_STATUS_BUSY;
	puppet_deliver(&puppet, &busy);
	puppet_advance(&puppet, engine, 90);
	puppet_advance(&puppet, engine, 99);
	assert_int_equal(puppet.sent_count, 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(seen.calls, 0);
	puppet_advance(&puppet, engine, 10000);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.status, IBSA_STATUS_BUSY);
	ibsa__engine_free(engine);
}

/* At most a window of requests is in flight; the rest follows in order. */
static void window_holds_the_rest_back(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen[20] = { 0 };

	(void)state;
	for (uint16_t i = 0; i < 20; i++)
		assert_int_equal(puppet_query(engine, i, &seen[i]), 0);
	assert_int_equal(puppet.sent_count, 16);
	for (unsigned int i = 0; i < 20; i++) {
		struct puppet_mad answer;

		answer = puppet_answer(puppet_sent(&puppet, i));
		puppet_deliver(&puppet, &answer);
		puppet_advance(&puppet, engine, 1);
		assert_int_equal(seen[i].calls, 1);
		assert_int_equal(puppet.sent_count, i < 4 ? 17 + i : 20);
	}
	ibsa__engine_free(engine);
}

/* If the queue is full, a query is refused and never called back. */
static void full_queue_is_refused(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 }, refused = { 0 };

	(void)state;
	for (uint16_t i = 0; i < 16 + 64; i++)
		assert_int_equal(puppet_query(engine, i, &seen), 0);
	assert_int_equal(puppet_query(engine, 1000, &refused), -ENOBUFS);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 80);
	assert_int_equal(refused.calls, 0);
}

/* Jitter spreads the tries around the interval, within its percentage. */
static void jitter_stays_in_its_share(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct seen seen = { 0 };
	bool early = false, late = false;

	(void)state;
	options.jitter_percent = 25;
	for (options.seed = 1; options.seed < 50; options.seed++) {
		struct ibsa__engine *engine;
		uint64_t gap_ms;

		puppet_init(&puppet);
		engine = puppet_engine(&puppet, &options);
		assert_int_equal(puppet_query(engine, 4, &seen), 0);
		for (int ms = 0; ms < 120; ms++)
			puppet_advance(&puppet, engine, 1);
		gap_ms = puppet_sent(&puppet, 1)->at_ns / MS;
		assert_in_range(gap_ms, 88, 113);
		early |= gap_ms < 100;
		late |= gap_ms > 100;
		ibsa__engine_free(engine);
	}
	assert_true(early && late);
}

static void request_end_early(struct ibsa__engine *engine,
			      const struct ibsa_query *query)
{
	struct seen seen = { 0 };
	uint64_t id;

	assert_int_equal(
		ibsa__engine_query(engine, query, puppet_note, &seen, &id), 0);
	assert_int_equal(ibsa__engine_cancel(engine, id), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen.calls, 1);
}

/* A request in memory of another one has no bytes of it, whether the other one
 * had a longer record or an RMPP header. */
static void request_has_no_bytes_of_another(void **state)
{
	static const uint8_t zeroes[PUPPET_BYTES];
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct ibsa_service service = { .service_data8 = { 1, 2, 3 } };
	struct ibsa_query query = { .record = &ibsa_service_record,
				    .match = &service };
	const uint8_t *mad;
	struct seen seen = { 0 };

	(void)state;
	memset(service.service_data64, 0xff, sizeof(service.service_data64));
	request_end_early(engine, &query);
	query = (struct ibsa_query){ .record = &ibsa_multi_path_record,
				     .method = IBSA_METHOD_GET_MULTI };
	request_end_early(engine, &query);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	mad = puppet_sent(&puppet, 2)->mad;
	assert_memory_equal(mad + MAD_RMPP_VERSION, zeroes,
			    MAD_RMPP_END - MAD_RMPP_VERSION);
	mad += IBSA_SA_HEADER_BYTES;
	assert_memory_equal(mad + 64, zeroes, 256 - 64 - IBSA_SA_HEADER_BYTES);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(silence_is_retried_with_back_off),
		TEST(late_answer_to_first_try_counts),
		TEST(silence_ends_at_the_deadline),
		TEST(long_sleep_expires_everything_once),
		TEST(busy_backs_off),
		TEST(window_holds_the_rest_back),
		TEST(full_queue_is_refused),
		TEST(jitter_stays_in_its_share),
		TEST(request_has_no_bytes_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
