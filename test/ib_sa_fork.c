/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What fork() leaves a child, and its parent. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/child.h"
#include "test/ib_sa_rig.h"

enum { LONG_MS = 60000 };

static void count(int status, struct sa_path_rec *resp, void *context)
{
	(void)resp;
	if (!status)
		atomic_fetch_add((atomic_int *)context, 1);
}

/* Ask, and wait for a good answer. */
static bool is_answered(struct ib_sa_client *client, struct ib_device *device)
{
	atomic_int good = 0;
	struct ib_sa_query *query;

	if (rig_ask_on(client, device, 1, 2, LONG_MS, count, &good, &query) < 0)
		return false;
	while (!atomic_load(&good))
		sched_yield();
	return true;
}

/* In the child: what it inherited is nobody's, what it opens is its own. */
static int child(struct ib_sa_client *inherited, struct ib_device *device)
{
	struct ib_sa_client client;
	struct ib_sa_query *query;
	struct ib_device *mine;
	bool good;

	ib_sa_cancel_query(0, (struct ib_sa_query *)(uintptr_t)1);
	if (ibsa_device_get("node1", &mine))
		return 1;
	ib_sa_register_client(&client);
	good = mine != device && is_answered(&client, mine) &&
	       rig_ask_on(&client, device, 1, 2, 1, NULL, NULL, &query) ==
		       -EINVAL &&
	       rig_ask_on(inherited, mine, 1, 2, 1, NULL, NULL, &query) ==
		       -EINVAL;
	ib_sa_unregister_client(&client);
	ibsa_device_put(mine);
	ib_sa_unregister_client(inherited);
	ibsa_device_put(device);
	return good ? 0 : 2;
}

/* Whatever the worker is at when its process forks, but for its first query,
 * which takes memory: AddressSanitizer's is not to be had in a child then. */
static void child_and_parent_go_on(void **state)
{
	struct ib_sa_client client;
	struct ib_sa_query *query;
	struct ib_device *device;
	atomic_int good = 0;

	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC", FABRIC, 1), 0);
	ib_sa_register_client(&client);
	assert_int_equal(ibsa_device_get("node1", &device), 0);
	assert_true(is_answered(&client, device));
	for (int i = 1; i <= 20; i++) {
		pid_t pid;

		assert_true(rig_ask_on(&client, device, 1, 2, LONG_MS, count,
				       &good, &query) >= 0);
		pid = fork();
		if (!pid)
			_exit(child(&client, device));
		child_end(pid);
		assert_true(is_answered(&client, device));
		while (atomic_load(&good) < i)
			sched_yield();
	}
	ib_sa_unregister_client(&client);
	ibsa_device_put(device);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
}

/* A child that just ends, handlers and all, ends nothing of its parent's. */
static void child_just_exits(void **state)
{
	struct ib_sa_client client;
	struct ib_device *device;
	pid_t pid;

	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC", FABRIC, 1), 0);
	ib_sa_register_client(&client);
	assert_int_equal(ibsa_device_get("node1", &device), 0);
	assert_true(is_answered(&client, device));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		ibsa_device_put(device);
		exit(0);
	}
	child_end(pid);
	assert_true(is_answered(&client, device));
	ib_sa_unregister_client(&client);
	ibsa_device_put(device);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_and_parent_go_on),
		cmocka_unit_test(child_just_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
