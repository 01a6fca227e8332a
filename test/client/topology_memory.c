/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a topology with the n-th allocation failing, for every n. */
#include <errno.h>

#include <ibsa/topology.h>

#include "test/support/fail_alloc.h"
#include "test/client/reach_support.h"

/* The leak checker detects memory that is not freed. */
static void every_allocation_of_a_read_may_fail(void **state)
{
	const struct ibsa_topology_options options = { .timeout_ms = 2000 };
	struct ibsa_topology *topology = NULL;

	(void)state;
	for (long n = 0; !topology; n++) {
		struct rig rig;
		int err;

		rig_start(&rig, NULL);
		fail_alloc_after(n);
		err = ibsa_topology_wait(rig.client, &options, &topology);
		fail_alloc_after(-1);
		assert_true(!err == !!topology);
		rig_stop(&rig);
	}
	ibsa_topology_free(topology);
}

static void every_allocation_of_a_file_may_fail(void **state)
{
	struct ibsa_topology *topology = NULL;

	(void)state;
	for (long n = 0; !topology; n++) {
		struct ibsa_error error = { "" };
		int err;

		fail_alloc_after(n);
		err = ibsa_topology_load(FABRIC, &error, &topology);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(!err == !error.text[0]);
	}
	ibsa_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_of_a_read_may_fail),
		cmocka_unit_test(every_allocation_of_a_file_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
