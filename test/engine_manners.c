/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's manners: towards a busy SA, a busy kernel and its caller. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/puppet.h"

static struct puppet puppet;

static int set_up(void **state)
{
	(void)state;
	puppet_init(&puppet);
	return 0;
}

static struct ibsa__engine *asked_again;

/* Asks the same once more, as programs do that do not take no. */
static void ask_again(const struct ibsa_reply *reply, void *arg)
{
	const struct ibsa_query query = { .record = &ibsa_node_record };
	int *calls = arg;
	int err = 0;

	(void)reply;
	if (++*calls < 1000)
		err = ibsa__engine_query(asked_again, &query, ask_again, arg,
					 NULL);
	assert_true(err == 0 || err == -ENODEV || err == -ESHUTDOWN);
}

/* A dead port and callbacks that ask again do not keep one dispatch busy. */
static void failed_sends_do_not_hold_a_dispatch(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct ibsa__engine *engine;
	struct puppet_mad answer;
	struct seen seen = { 0 };
	int calls = 0;

	(void)state;
	options.window = 1;
	options.sharing = false;
	engine = puppet_engine(&puppet, &options);
	asked_again = engine;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ibsa__engine_query(engine, &query, ask_again,
						    &calls, NULL),
				 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet.send_err = -ENODEV;
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_in_range(calls, 3, 20);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 0);
	ibsa__engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(failed_sends_do_not_hold_a_dispatch,
				       set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
