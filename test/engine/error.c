/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors of the transport, and invalid queries. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"

enum { MS = 1000000 };

static struct puppet puppet;

/* If the first send fails at once, the query is refused, and nothing of it
 * remains. */
static void send_error_is_returned(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	puppet.send_err = -ENODEV;
	assert_int_equal(puppet_query(engine, 4, &seen), -ENODEV);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 0);
}

/* If a later send fails, the callback gets the error, unless the error is
 * temporary. */
static void later_send_error_ends_the_query(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.send_err = -EAGAIN;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(seen.calls, 0);
	puppet.send_err = -ENODEV;
	puppet_advance(&puppet, engine, 200);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ENODEV);
	ibsa__engine_free(engine);
}

/* ibsa__engine_dispatch() returns receive errors; deadlines still expire. */
static void receive_error_is_returned(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.recv_err = -ENODEV;
	puppet.now_ns += UINT64_C(10000) * MS;
	assert_int_equal(ibsa__engine_dispatch(engine), -ENODEV);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ETIMEDOUT);
	ibsa__engine_free(engine);
}

/*
 * When the device is gone, requests in flight are lost, and queued ones cannot
 * be sent: all queries end before their deadlines.
 */
static void queries_end_with_their_device(void **state)
{
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	struct seen sent = { 0 }, queued = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &sent), 0);
	assert_int_equal(puppet_query(engine, 5, &queued), 0);
	puppet.recv_err = -ENODEV;
	puppet.send_err = -ENODEV;
	assert_int_equal(ibsa__engine_dispatch(engine), -ENODEV);
	puppet.recv_err = 0;
	assert_int_equal(ibsa__engine_dispatch(engine), 0);
	assert_int_equal(sent.calls, 1);
	assert_int_equal(sent.err, -ENODEV);
	assert_int_equal(queued.calls, 1);
	assert_int_equal(queued.err, -ENODEV);
	ibsa__engine_free(engine);
}

/* Requests are sent again if the device exists again before their deadlines. */
static void queries_survive_a_device_that_is_back_at_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.recv_err = -ENODEV;
	assert_int_equal(ibsa__engine_dispatch(engine), -ENODEV);
	puppet.recv_err = 0;
	assert_int_equal(puppet.sent_count, 2);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	puppet_deliver(&puppet, &answer);
	assert_int_equal(ibsa__engine_dispatch(engine), 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	ibsa__engine_free(engine);
}

/* Invalid queries are refused before anything is sent. */
static void bad_queries_are_refused(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_path wide = { .sl = 16 };
	struct ibsa_query query = { 0 };
	struct seen seen = { 0 };
	uint64_t id = 42;

	(void)state;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.record = &ibsa_path_record;
	query.mask = UINT64_C(1) << 40;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.mask = 0;
	query.method = IBSA_METHOD_REPORT;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.method = (enum ibsa_method)(0x100 | IBSA_METHOD_GET_TABLE);
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.method = 0;
	query.jitter_percent = 101;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.jitter_percent = 0;
	query.match = &wide;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -ERANGE);
	assert_int_equal(id, 42);
	assert_int_equal(puppet.sent_count, 0);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 0);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(send_error_is_returned),
		TEST(later_send_error_ends_the_query),
		TEST(receive_error_is_returned),
		TEST(queries_end_with_their_device),
		TEST(queries_survive_a_device_that_is_back_at_once),
		TEST(bad_queries_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
