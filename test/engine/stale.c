/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node refuses a request with a status of nodes without an SA: the SA may
 * have moved. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum { NEW_SM = 12 };

static struct puppet puppet;

static int set_up(void **state)
{
	(void)state;
	puppet_init(&puppet);
	return 0;
}

/* Answer the @n-th MAD with @status, and deliver nothing else. */
static void refuse_with(struct ibsa__engine *engine, unsigned int n,
			uint16_t status)
{
	struct puppet_mad answer = puppet_answer(puppet_sent(&puppet, n));

	ibsa_put_be16(answer.mad + MAD_STATUS, status);
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
}

static void request_refuse(struct ibsa__engine *engine, unsigned int n)
{
	refuse_with(engine, n, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void request_answer(struct ibsa__engine *engine, unsigned int n)
{
	refuse_with(engine, n, IBSA_STATUS_OK);
}

/* The port's state changes before the refusal arrives, but the engine has not
 * read it. */
static void refused_request_goes_to_the_new_sm(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet_advance(&puppet, engine, 1);
	puppet.port.sm_lid = NEW_SM;
	request_refuse(engine, 0);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(puppet_sent(&puppet, 1)->address.lid, NEW_SM);
	request_refuse(engine, 0); /* a duplicate */
	assert_int_equal(seen.calls, 0);
	request_answer(engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, 0);
	assert_int_equal(seen.tries, 2);
	assert_int_equal(stats->retargeted, 1);
	assert_int_equal(stats->ignored_source, 1);
	assert_int_equal(stats->ignored_id, 1);
	ibsa__engine_free(engine);
}

static void another_service_level_is_a_move_too(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.port.sm_sl = 5;
	request_refuse(engine, 0);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(puppet_sent(&puppet, 1)->address.sl, 5);
	ibsa__engine_free(engine);
}

/*
 * Each status by which a node without an SA refuses a request: unknown class,
 * version or method.
 */
static void each_status_of_a_node_without_an_sa(void **state)
{
	const uint16_t stale[] = { IBSA_STATUS_BAD_VERSION,
				   IBSA_STATUS_BAD_METHOD,
				   IBSA_STATUS_BAD_METHOD_ATTRIBUTE };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	for (unsigned int i = 0; i < 3; i++) {
		puppet.port.sm_lid++;
		refuse_with(engine, i, stale[i]);
		assert_int_equal(seen.calls, 0);
		assert_int_equal(puppet.sent_count, i + 2);
	}
	request_answer(engine, 3);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.tries, 4);
	ibsa__engine_free(engine);
}

/*
 * The SA itself refuses the request: the port is read once, and the request is
 * not sent again.
 */
static void refusal_of_the_sa_ends_the_query(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const unsigned int reads = puppet.port_reads;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	request_refuse(engine, 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.status, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(seen.tries, 1);
	assert_int_equal(puppet.sent_count, 1);
	assert_int_equal(puppet.port_reads, reads + 1);
	ibsa__engine_free(engine);
}

/* Any other status comes from an SA, even if the SM has moved since. */
static void other_refusals_come_from_an_sa(void **state)
{
	const uint16_t of_sa[] = { IBSA_STATUS_BAD_VALUE,
				   IBSA_STATUS_NO_RESOURCES,
				   IBSA_STATUS_REQ_INVALID,
				   IBSA_STATUS_NO_RECORDS,
				   IBSA_STATUS_REQ_DENIED };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const unsigned int reads = puppet.port_reads;
	struct seen seen = { 0 };

	(void)state;
	puppet.port.sm_lid = NEW_SM;
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(puppet_query(engine, 4, &seen), 0);
		refuse_with(engine, i, of_sa[i]);
		assert_int_equal(seen.calls, (int)i + 1);
		assert_int_equal(seen.status, of_sa[i]);
	}
	assert_int_equal(puppet.port_reads, reads);
	ibsa__engine_free(engine);
}

static void unreadable_port_shows_no_move(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.port_err = -EIO;
	puppet.port.sm_lid = NEW_SM;
	request_refuse(engine, 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
	ibsa__engine_free(engine);
}

static void refusal_of_the_sa_in_the_options_is_final(void **state)
{
	const struct ibsa_address sa = { .lid = 33, .qpn = 1 };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };
	unsigned int reads;

	(void)state;
	options.access.sa = &sa;
	engine = puppet_engine(&puppet, &options);
	reads = puppet.port_reads;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.port.sm_lid = NEW_SM;
	request_refuse(engine, 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(puppet.port_reads, reads);
	ibsa__engine_free(engine);
}

/* If the old SM's node refuses many requests, only the first refusal causes a
 * read of the port. */
static void port_is_read_once_for_all_in_flight(void **state)
{
	enum { MANY = 8 };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const unsigned int reads = puppet.port_reads;
	struct seen seen[MANY] = { 0 };

	(void)state;
	for (uint16_t i = 0; i < MANY; i++)
		assert_int_equal(puppet_query(engine, i, &seen[i]), 0);
	puppet.port.sm_lid = NEW_SM;
	for (unsigned int i = 0; i < MANY; i++) {
		struct puppet_mad no = puppet_answer(puppet_sent(&puppet, i));

		ibsa_put_be16(no.mad + MAD_STATUS,
			      IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
		puppet_deliver(&puppet, &no);
	}
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.port_reads, reads + 1);
	assert_int_equal(puppet.sent_count, 2 * MANY);
	for (unsigned int i = 0; i < MANY; i++) {
		assert_int_equal(seen[i].calls, 0);
		request_answer(engine, MANY + i);
	}
	for (unsigned int i = 0; i < MANY; i++)
		assert_int_equal(seen[i].calls, 1);
	ibsa__engine_free(engine);
}

/* Without an SM, the refused request waits, as other requests in flight do. */
static void refused_request_waits_for_an_sm(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.port.sm_lid = 0;
	request_refuse(engine, 0);
	puppet_advance(&puppet, engine, 150);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(puppet.sent_count, 1);
	puppet.port.sm_lid = NEW_SM;
	puppet_advance(&puppet, engine, 200);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(puppet_sent(&puppet, 1)->address.lid, NEW_SM);
	request_answer(engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	ibsa__engine_free(engine);
}

/* Repeated moves of the SM do not change the deadline. */
static void deadline_does_not_move(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	for (unsigned int i = 0; i < 20; i++) {
		puppet_advance(&puppet, engine, i < 19 ? 500 : 499);
		puppet.port.sm_lid++;
		request_refuse(engine, puppet.sent_count - 1);
	}
	assert_int_equal(seen.calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ETIMEDOUT);
	ibsa__engine_free(engine);
}

/* After the refusal the kernel does not hold the request: when cancelled, it
 * leaves the window at once. */
static void refused_request_leaves_the_window_when_cancelled(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen first = { 0 }, second = { 0 };

	(void)state;
	options.window = 1;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	puppet.port.sm_lid = 0;
	request_refuse(engine, 0);
	assert_int_equal(ibsa__engine_cancel(engine, first.id), 0);
	puppet.port.sm_lid = NEW_SM;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(first.calls, 1);
	assert_int_equal(puppet_query(engine, 5, &second), 0);
	assert_int_equal(puppet.sent_count, 2);
	ibsa__engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(refused_request_goes_to_the_new_sm,
				       set_up),
		cmocka_unit_test_setup(another_service_level_is_a_move_too,
				       set_up),
		cmocka_unit_test_setup(each_status_of_a_node_without_an_sa,
				       set_up),
		cmocka_unit_test_setup(refusal_of_the_sa_ends_the_query,
				       set_up),
		cmocka_unit_test_setup(other_refusals_come_from_an_sa, set_up),
		cmocka_unit_test_setup(unreadable_port_shows_no_move, set_up),
		cmocka_unit_test_setup(
			refusal_of_the_sa_in_the_options_is_final, set_up),
		cmocka_unit_test_setup(port_is_read_once_for_all_in_flight,
				       set_up),
		cmocka_unit_test_setup(refused_request_waits_for_an_sm, set_up),
		cmocka_unit_test_setup(deadline_does_not_move, set_up),
		cmocka_unit_test_setup(
			refused_request_leaves_the_window_when_cancelled,
			set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
