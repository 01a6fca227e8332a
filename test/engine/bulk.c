/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two priorities: a query waits for the window before all bulk queries. */
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
	BULK = 8,
	BULK_DLID = 100,
	DLID = 7,
	/* The longest time that a cancelled request stays in the window. */
	HELD_MS = 350,
};

static struct puppet puppet;

/* Return: the error of a query for a path to @dlid. */
static int path_query(struct ibsa__engine *engine, uint16_t dlid, bool bulk,
		      struct seen *seen)
{
	const struct ibsa_path match = { .dlid = dlid };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(dlid),
		.bulk = bulk,
	};

	return ibsa__engine_query(engine, &query, puppet_note, seen, NULL);
}

/* An engine of one place, with BULK bulk queries, of which one is sent. */
static struct ibsa__engine *engine_start(struct seen *seen)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;

	options.window = 1;
	options.queue = 2 * BULK;
	options.sharing = true;
	engine = puppet_engine(&puppet, &options);
	for (uint16_t i = 0; i < BULK; i++)
		assert_int_equal(path_query(engine, BULK_DLID + i, true, seen),
				 0);
	assert_int_equal(puppet.sent_count, 1);
	return engine;
}

/* Return: the DLID of the @n-th request. */
static uint16_t sent_dlid(unsigned int n)
{
	enum { DLID_AT = IBSA_SA_HEADER_BYTES + 40 };

	return ibsa_be16(puppet_sent(&puppet, n)->mad + DLID_AT);
}

/* Answer the last request. Return: the DLID of the next request. */
static uint16_t next_dlid(struct ibsa__engine *engine)
{
	struct puppet_mad reply =
		puppet_answer(puppet_sent(&puppet, puppet.sent_count - 1));

	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
	return sent_dlid(puppet.sent_count - 1);
}

/* Bulk queries keep their order, behind all others. */
static void query_is_sent_before_bulk_queries(void **state)
{
	struct seen bulk = { 0 }, seen = { 0 };
	struct ibsa__engine *engine = engine_start(&bulk);

	(void)state;
	assert_int_equal(path_query(engine, DLID, false, &seen), 0);
	assert_int_equal(path_query(engine, DLID + 1, false, &seen), 0);
	assert_int_equal(next_dlid(engine), DLID);
	assert_int_equal(next_dlid(engine), DLID + 1);
	for (uint16_t i = 1; i < BULK; i++)
		assert_int_equal(next_dlid(engine), BULK_DLID + i);
	assert_int_equal(seen.calls, 2);
	ibsa__engine_free(engine);
	assert_int_equal(bulk.calls, BULK);
}

/* A query that shares the request of a bulk query does not wait for others. */
static void shared_request_is_not_bulk(void **state)
{
	struct seen bulk = { 0 }, seen = { 0 };
	struct ibsa__engine *engine = engine_start(&bulk);

	(void)state;
	assert_int_equal(path_query(engine, BULK_DLID + 5, false, &seen), 0);
	assert_int_equal(path_query(engine, BULK_DLID + 6, true, &seen), 0);
	assert_int_equal(next_dlid(engine), BULK_DLID + 5);
	assert_int_equal(next_dlid(engine), BULK_DLID + 1);
	ibsa__engine_free(engine);
}

/* A bulk query to which the SA replies BUSY waits behind all others again. */
static void busy_bulk_query_waits_again(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct seen bulk[2] = { 0 }, seen = { 0 };
	struct ibsa__engine *engine;
	struct puppet_mad busy;

	(void)state;
	options.window_min = 1;
	options.window = 2;
	engine = puppet_engine(&puppet, &options);
	puppet_advance(&puppet, engine, 1);
	for (uint16_t i = 0; i < SAMPLES_LEAST; i++)
		assert_int_equal(path_query(engine, DLID + i, false, &seen), 0);
	assert_int_equal(path_query(engine, BULK_DLID, true, &bulk[0]), 0);
	assert_int_equal(path_query(engine, BULK_DLID + 1, true, &bulk[1]), 0);
	/* The SA accepts requests, and the window grows to two places. */
	for (uint16_t i = 1; i < SAMPLES_LEAST; i++)
		assert_int_equal(next_dlid(engine), DLID + i);
	assert_int_equal(next_dlid(engine), BULK_DLID + 1);
	assert_int_equal(path_query(engine, DLID, false, &seen), 0);
	busy = puppet_answer(puppet_sent(&puppet, SAMPLES_LEAST));
	ibsa_put_be16(busy.mad + MAD_STATUS, IBSA_STATUS_BUSY);
	puppet_deliver(&puppet, &busy);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, SAMPLES_LEAST + 2);
	assert_int_equal(next_dlid(engine), BULK_DLID);
	assert_int_equal(puppet.sent_count, SAMPLES_LEAST + 4);
	assert_int_equal(sent_dlid(SAMPLES_LEAST + 2), DLID);
	ibsa__engine_free(engine);
}

/*
 * The program is called in time for a bulk query, which waits until the
 * transport's timeout for a cancelled request has passed.
 */
static void bulk_query_follows_an_abandoned_request(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct seen bulk = { 0 }, seen[2] = { { 0 } };
	struct ibsa__engine *engine;

	(void)state;
	puppet.holds = true;
	options.window = 2;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_query(engine, DLID, &seen[0]), 0);
	assert_int_equal(ibsa__engine_cancel(engine, seen[0].id), 0);
	assert_int_equal(puppet_query(engine, DLID + 1, &seen[1]), 0);
	assert_int_equal(path_query(engine, BULK_DLID, true, &bulk), 0);
	assert_int_equal(puppet.sent_count, 2);
	while (sent_dlid(puppet.sent_count - 1) != BULK_DLID) {
		const int ms = ibsa__engine_timeout_ms(engine);

		assert_in_range(ms, 0, HELD_MS);
		puppet_advance(&puppet, engine, (unsigned int)ms);
		assert_true(puppet.now_ns <= HELD_MS * NS_PER_MS);
	}
	assert_int_equal(seen[1].calls, 0);
	ibsa__engine_free(engine);
}

/* The queries that wait end with the engine, whatever they are. */
static void both_queues_end_with_the_engine(void **state)
{
	struct seen bulk = { 0 }, seen = { 0 };
	struct ibsa__engine *engine = engine_start(&bulk);

	(void)state;
	assert_int_equal(path_query(engine, DLID, false, &seen), 0);
	ibsa__engine_free(engine);
	assert_int_equal(bulk.calls, BULK);
	assert_int_equal(seen.calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUPPET_TEST(query_is_sent_before_bulk_queries, &puppet),
		PUPPET_TEST(shared_request_is_not_bulk, &puppet),
		PUPPET_TEST(busy_bulk_query_waits_again, &puppet),
		PUPPET_TEST(bulk_query_follows_an_abandoned_request, &puppet),
		PUPPET_TEST(both_queues_end_with_the_engine, &puppet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
