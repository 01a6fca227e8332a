/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's calls from several threads at once. */
#include <pthread.h>
#include <stdatomic.h>

#include "test/ib_sa_rig.h"

static void *unregister(void *client)
{
	ib_sa_unregister_client(client);
	return NULL;
}

/*
 * A thread unregisters, and so dispatches a device without a worker; the
 * device's owner puts it. The query is told once, and the unregistering ends.
 */
static void put_ends_who_unregisters(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		struct told told = { 0 };
		struct ib_sa_query *query;
		pthread_t thread;
		struct rig rig;

		rig_start_on(&rig, rig_fabric(i % 2));
		rig_silence(&rig, true);
		assert_true(rig_ask_on(&rig.client, rig.device, 1, 2, 1000000,
				       told_path, &told, &query) >= 0);
		assert_int_equal(pthread_create(&thread, NULL, unregister,
						&rig.client),
				 0);
		if (i % 3)
			sched_yield();
		ibsa_device_put(rig.device);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(told.calls, 1);
		rig.device = NULL;
		rig_stop(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put_ends_who_unregisters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
