/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The embedded fabric's queue: limits of what it holds. */
#include "support.h"

#include "fabric/mad/queue.h"

/*
 * A queue has a limit of bytes and of MADs. A MAD of any size fits into an
 * empty queue.
 */
static void room_ends_at_the_limit(void **state)
{
	struct queue queue = { .count = 1, .bytes = QUEUE_BYTES_MAX - 256 };

	(void)state;
	assert_true(ibsa__queue_has_room(&queue, 256));
	assert_false(ibsa__queue_has_room(&queue, 257));
	queue.bytes = 0;
	queue.count = QUEUE_MESSAGES_MAX;
	assert_false(ibsa__queue_has_room(&queue, 256));
	queue.count = 0;
	assert_true(ibsa__queue_has_room(&queue, QUEUE_BYTES_MAX + 1));
}

/* A MAD that was held back for reordering may exceed the limit. */
static void overtaken_mad_does_not_lift_the_limit(void **state)
{
	const struct queue queue = { .count = 2, .bytes = QUEUE_BYTES_MAX + 1 };

	(void)state;
	assert_false(ibsa__queue_has_room(&queue, 256));
}

/* A client that does not receive must not use up the memory. */
static void queue_has_a_limit(void **state)
{
	enum { MESSAGES = 131072 };
	unsigned int received = 0;
	struct bench bench;

	(void)state;
	bench_start_text(&bench, "Ca 1 \"a\"\n[1] \"b\"[1]\nCa 1 \"b\"\n", "b",
			 NULL);
	bench_request(&bench, IBSA_METHOD_GET, 0x0001, 0);
	for (int i = 0; i < MESSAGES + 3; i++)
		bench_send(&bench);
	assert_int_equal(bench_lost(&bench), 3);
	while (bench_receive(&bench))
		received++;
	assert_int_equal(received, MESSAGES);
	assert_int_equal(bench_exchange(&bench), 0);
	assert_int_equal(bench_lost(&bench), 3);
	bench_stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_ends_at_the_limit),
		cmocka_unit_test(overtaken_mad_does_not_lift_the_limit),
		cmocka_unit_test(queue_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
