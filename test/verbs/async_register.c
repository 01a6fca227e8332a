/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SA that a device of the machine is registered with, and errors. */
#include <pthread.h>
#include <stdlib.h>

#include "test/verbs/async_rig.h"

static void device_is_of_this_machine(void **state)
{
	(void)state;
	setenv("IBSA_FABRIC", "/nosuch.net", 1);
	async_add();
	unsetenv("IBSA_FABRIC");
	assert_string_equal(world.asked.fabric, "");
	assert_string_equal(world.asked.name, "mlx5_0");
	assert_ptr_equal(world.asked.context, &world.context);
	assert_null(world.asked.access.sa);
}

static int add_errno(void)
{
	assert_int_equal(ibv_register_sm_events(&world.context,
						IBV_SM_EVENT_ALL, 0, NULL),
			 -1);
	assert_true(async_is_pipe(world.number));
	return errno;
}

static void why_it_cannot_be_registered_is_said(void **state)
{
	static const struct {
		int err;
		int fails_with;
	} rows[] = {
		{ -EBUSY, EBUSY },   { -EOPNOTSUPP, ENODEV },
		{ -ENOMEM, ENOMEM }, { -EAGAIN, EAGAIN },
		{ -ECANCELED, EIO }, { -ETIMEDOUT, EIO },
		{ -EACCES, EIO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world.watch_err = rows[i].err;
		assert_int_equal(add_errno(), rows[i].fails_with);
	}
	world.watch_err = 0;
	async_add();
}

static void ethernet_needs_an_address(void **state)
{
	const struct ibsa_address sa = { .lid = 1, .qpn = 1 };
	const struct ibsa_verbs_options options = { .access = { .sa = &sa,
								.sm_key = 5 } };
	union ibv_gid gid = verbs_rig_gid(&world.rig, "node1", 1);

	(void)state;
	tree_set_port(&world.tree, "mlx5_0", 1, "link_layer", "Ethernet\n");
	assert_int_equal(add_errno(), ENODEV);
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), 0);
	async_add();
	assert_int_equal(world.asked.access.sa->lid, 1);
	assert_int_equal(world.asked.access.sm_key, 5);
	assert_errno(ibv_gid_reachable(&world.context, 2, &gid, 0), EINVAL);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_true(async_is_pipe(world.number));
	assert_int_equal(add_errno(), ENODEV);
}

/*
 * The address of the SA is used for all queries of a context until the context
 * is detached.
 */
static void address_comes_before_all_questions(void **state)
{
	const struct ibsa_address sa = { .lid = 1, .qpn = 1 };
	const struct ibsa_verbs_options options = { .access.sa = &sa };

	(void)state;
	async_add();
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), -EBUSY);
	async_drop();
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), -EBUSY);
	assert_true(async_is_pipe(world.number));
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), 0);
	async_add();
	assert_int_equal(world.asked.access.sa->lid, 1);
}

static void *read_one(void *arg)
{
	struct ibsa_async_event event;

	(void)arg;
	(void)!ibsa_get_async_event(&world.context, &event);
	return NULL;
}

/*
 * While a thread waits for an event, a detach does not end the context state,
 * but forgets the address of the SA.
 */
static void address_is_forgotten_beside_a_reader(void **state)
{
	const struct ibsa_address sa = { .lid = 1, .qpn = 1 };
	const struct ibsa_verbs_options options = { .access.sa = &sa };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_one, NULL), 0);
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), 0);
	async_add();
	assert_int_equal(world.asked.access.sa->lid, 1);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	async_add();
	assert_null(world.asked.access.sa);
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(device_is_of_this_machine),
		TEST(why_it_cannot_be_registered_is_said),
		TEST(ethernet_needs_an_address),
		TEST(address_comes_before_all_questions),
		TEST(address_is_forgotten_beside_a_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
