/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading devices with the n-th allocation failing, for every n. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/device.h>
#include <ibsa/verbs.h>

#include "device/device.h"
#include "test/support/device_now.h"
#include "test/support/device_tree.h"
#include "test/support/fail_alloc.h"
#include "umad_dev/umad.h"

/* The leak checker detects memory that is not freed. */
static void every_allocation_may_fail(void **state)
{
	struct ibsa_device_list *list = NULL;
	struct tree tree;
	int err = -ENOMEM;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_add_device(&tree, "mlx5_1");
	tree_add_port(&tree, "mlx5_1", 2);
	tree_add_umad(&tree, 0, "mlx5_0", 1);
	for (long n = 0; err; n++) {
		fail_alloc_after(n);
		err = ibsa_devices_read(&list);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(!err == !!list);
	}
	ibsa_devices_free(list);
	tree_remove(&tree);
}

static void every_allocation_of_a_search_may_fail(void **state)
{
	const struct ibsa_gid gid = { .raw = { 1 } };
	struct ibsa_gid_entry entry;
	struct tree tree;
	int err = -ENOMEM;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	for (long n = 0; err == -ENOMEM; n++) {
		fail_alloc_after(n);
		err = now_gid_find("mlx5_0", 1, &gid, IBSA_GID_IB, 0, &entry);
		fail_alloc_after(-1);
	}
	assert_int_equal(err, -ENOENT);
	tree_remove(&tree);
}

static void every_allocation_of_a_list_of_gids_may_fail(void **state)
{
	struct ibsa_gid_list *list = NULL;
	struct tree tree;
	int err = -ENOMEM;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_add_device(&tree, "mlx5_1");
	tree_add_port(&tree, "mlx5_1", 2);
	for (long n = 0; err; n++) {
		fail_alloc_after(n);
		err = ibsa_gids_read(NULL, 0, &list);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(!err == !!list);
	}
	assert_int_equal(list->count, 3);
	ibsa_gids_free(list);
	tree_remove(&tree);
}

static void every_allocation_of_a_context_may_fail(void **state)
{
	const struct ibsa_options options = { .device = "mlx5_0" };
	struct ibv_context *context = NULL;
	struct ibv_gid_entry entry;
	struct tree tree;
	ssize_t count = -ENOMEM;
	int err = -ENOMEM;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	for (long n = 0; err; n++) {
		fail_alloc_after(n);
		err = ibsa_verbs_open(&options, NULL, &context);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(!err == !!context);
	}
	for (long n = 0; count == -ENOMEM; n++) {
		fail_alloc_after(n);
		count = ibsa_query_gid_table(context, &entry, 1, 0);
		fail_alloc_after(-1);
	}
	assert_int_equal(count, 1);
	assert_int_equal(ibsa_verbs_close(context), 0);
	tree_remove(&tree);
}

/* With enough memory, the missing device file is the error. */
static void every_allocation_of_an_open_may_fail(void **state)
{
	struct ibsa_transport *transport = NULL;
	struct tree tree;
	int err = -ENOMEM;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_add_umad(&tree, 999999, "mlx5_0", 1);
	for (long n = 0; err == -ENOMEM; n++) {
		fail_alloc_after(n);
		err = now_umad_open(NULL, 0, 4096, NULL, &transport);
		fail_alloc_after(-1);
		assert_null(transport);
	}
	assert_int_equal(err, -ENODEV);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_allocation_of_a_search_may_fail),
		cmocka_unit_test(every_allocation_of_a_list_of_gids_may_fail),
		cmocka_unit_test(every_allocation_of_a_context_may_fail),
		cmocka_unit_test(every_allocation_of_an_open_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
