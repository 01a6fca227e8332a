/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine with its n-th allocation failing, for every n; and without
 * allocations once warm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/fail_alloc.h"
#include "test/support/puppet.h"

enum { QUERIES = 200 };

static struct puppet puppet;

static struct ibsa__engine *open_engine(int *err)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine = NULL;

	options.queue = 1000;
	puppet_init(&puppet);
	*err = ibsa__engine_new(&options, &puppet.transport, &engine);
	return engine;
}

/*
 * Submit queries, and answer every other request that was sent; the caller
 * cancels the other queries when it frees the engine. Return: number of queries
 * that were accepted.
 */
static int scenario(struct ibsa__engine *engine, struct seen *seen)
{
	int accepted = 0;

	for (uint16_t i = 0; i < QUERIES; i++) {
		int err = puppet_query(engine, i, seen);

		assert_true(err == 0 || err == -ENOMEM);
		accepted += !err;
	}
	for (unsigned int i = 0; i < 40 && i < puppet.sent_count; i += 2) {
		struct puppet_mad answer;

		answer = puppet_answer(puppet_sent(&puppet, i));
		puppet_deliver(&puppet, &answer);
		puppet_advance(&puppet, engine, 1);
	}
	return accepted;
}

/* Every accepted query is called back once, a refused one never. */
static void every_allocation_may_fail(void **state)
{
	bool failed = true;

	(void)state;
	for (long n = 0; failed; n++) {
		struct ibsa__engine *engine;
		struct seen seen = { 0 };
		int accepted, err;

		fail_alloc_after(n);
		engine = open_engine(&err);
		if (err) {
			assert_int_equal(err, -ENOMEM);
			continue;
		}
		accepted = scenario(engine, &seen);
		fail_alloc_after(-1);
		ibsa__engine_free(engine);
		assert_int_equal(seen.calls, accepted);
		failed = accepted < QUERIES;
	}
}

/* Once warm, the same load allocates no memory. */
static void warm_engine_does_not_allocate(void **state)
{
	struct ibsa__engine *engine;
	struct seen seen = { 0 };
	int err;

	(void)state;
	engine = open_engine(&err);
	assert_int_equal(err, 0);
	assert_int_equal(scenario(engine, &seen), QUERIES);
	puppet_advance(&puppet, engine, 20000);
	assert_int_equal(seen.calls, QUERIES);
	fail_alloc_after(0);
	puppet.sent_count = 0;
	assert_int_equal(scenario(engine, &seen), QUERIES);
	puppet_advance(&puppet, engine, 20000);
	fail_alloc_after(-1);
	assert_int_equal(seen.calls, 2 * QUERIES);
	ibsa__engine_free(engine);
}

static void not_told(unsigned int changes, const struct ibsa_port_state *now,
		     void *arg)
{
	(void)changes;
	(void)now;
	(void)arg;
	fail();
}

static void watch_needs_memory(void **state)
{
	struct ibsa_port_watch *watch = NULL;
	struct ibsa__engine *engine;
	int err;

	(void)state;
	engine = open_engine(&err);
	assert_int_equal(err, 0);
	fail_alloc_after(0);
	assert_int_equal(ibsa__engine_watch(engine, 0, not_told, NULL, &watch),
			 -ENOMEM);
	fail_alloc_after(-1);
	assert_null(watch);
	puppet.port.lid++;
	puppet_advance(&puppet, engine, 1000);
	ibsa__engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(warm_engine_does_not_allocate),
		cmocka_unit_test(watch_needs_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
