/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A batch with the n-th allocation failing, for every n. */
#include <errno.h>

#include "test/support/fail_alloc.h"
#include "test/client/reach_support.h"

/*
 * A batch that was started reports all GIDs, whichever allocation has failed.
 */
static void every_allocation_may_fail(void **state)
{
	size_t reached = 0;

	(void)state;
	for (long n = 0; reached < HOSTS; n++) {
		struct seen seen = { 0 };
		struct rig rig;
		int err;

		rig_start(&rig, NULL);
		fail_alloc_after(n);
		err = rig_each(&rig, HOSTS, &seen);
		assert_true(err == 0 || err == -ENOMEM);
		if (!err)
			rig_finish(&seen);
		rig_stop(&rig);
		fail_alloc_after(-1);
		assert_int_equal(seen.told, err ? 0 : HOSTS);
		reached = err ? 0 : told_as(&seen, IBSA_REACH_YES);
		for (size_t i = 0; i < seen.told; i++)
			assert_true(seen.answers[i].reach == IBSA_REACH_YES ||
				    seen.answers[i].err ||
				    seen.answers[i].status);
	}
}

/*
 * The messages of the fabric use the same allocator; a first batch makes these
 * allocations.
 */
static void batch_in_flight_allocates_nothing(void **state)
{
	struct seen first = { 0 };
	struct seen second = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig, NULL);
	assert_int_equal(rig_each(&rig, HOSTS, &first), 0);
	rig_finish(&first);
	assert_int_equal(rig_each(&rig, HOSTS, &second), 0);
	fail_alloc_after(0);
	rig_finish(&second);
	fail_alloc_after(-1);
	assert_int_equal(told_as(&second, IBSA_REACH_YES), HOSTS);
	rig_stop(&rig);
}

static void unplug(struct rig *rig, const char *node)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
	};

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, node, 1, &change),
			 0);
}

/* Also with reasons, a batch allocates memory only when it is started. */
static void every_allocation_of_a_search_may_fail(void **state)
{
	size_t explained = 0;

	(void)state;
	for (long n = 0; !explained; n++) {
		struct seen seen = { .why = IBSA_WHY_ALWAYS };
		struct rig rig;
		int err;

		rig_start(&rig, NULL);
		unplug(&rig, "host7");
		fail_alloc_after(n);
		err = rig_each(&rig, HOSTS, &seen);
		assert_true(err == 0 || err == -ENOMEM);
		if (!err)
			rig_finish(&seen);
		rig_stop(&rig);
		fail_alloc_after(-1);
		assert_int_equal(seen.told, err ? 0 : HOSTS);
		explained = seen.answers[6].reason == IBSA_REASON_UNKNOWN_PORT;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_allocation_of_a_search_may_fail),
		cmocka_unit_test(batch_in_flight_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
