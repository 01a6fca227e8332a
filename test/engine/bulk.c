/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two priorities: a query waits for the window before all bulk queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum { BULK = 8, BULK_DLID = 100, DLID = 7 };

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

/* Answer the request in flight. Return: the DLID of the next request. */
static uint16_t next_dlid(struct ibsa__engine *engine)
{
	enum { DLID_AT = IBSA_SA_HEADER_BYTES + 40 };
	struct puppet_mad reply =
		puppet_answer(puppet_sent(&puppet, puppet.sent_count - 1));

	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
	return ibsa_be16(puppet_sent(&puppet, puppet.sent_count - 1)->mad +
			 DLID_AT);
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
		PUPPET_TEST(both_queues_end_with_the_engine, &puppet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
