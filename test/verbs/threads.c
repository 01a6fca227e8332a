/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GID tables from many threads at once: on one context of our own, on contexts
 * that each thread opens and closes, and on one of libibverbs, whose driver is
 * found out meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/verbs.h>

#include "test/support/device_tree.h"

enum { THREADS = 4, ROUNDS = 100 };

/* What all threads use. */
static struct {
	struct ibv_device device;
	struct ibv_context foreign;
	struct ibv_context *shared;
	atomic_uint asked; /* queries for the driver */
	atomic_uint wrong;
} common;

int __wrap_ibsa__uverbs_driver(const char *device, uint32_t *out);

int __wrap_ibsa__uverbs_driver(const char *device, uint32_t *out)
{
	(void)device;
	*out = 14;
	atomic_fetch_add(&common.asked, 1);
	return 0;
}

static void expect(bool is_right)
{
	if (!is_right)
		atomic_fetch_add(&common.wrong, 1);
}

static void own_context_use(const struct ibsa_options *options)
{
	struct ibv_gid_entry entries[2];
	struct ibv_context *context;

	if (ibsa_verbs_open(options, NULL, &context)) {
		expect(false);
		return;
	}
	expect(ibsa_query_gid_table(context, entries, 2, 0) == 1);
	expect(!ibsa_verbs_close(context));
}

static void *work(void *arg)
{
	const struct ibsa_options fabric = { .fabric = FABRIC };
	const struct ibsa_options tree = { .device = "mlx5_0", .fabric = "" };

	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_gid_entry entry;

		own_context_use(i % 2 ? &fabric : &tree);
		expect(!ibsa_query_gid_ex(&common.foreign, 1, 0, &entry, 0));
		expect(!ibsa_query_gid_ex(common.shared, 1, 0, &entry, 0));
		expect(entry.port_num == 1);
	}
	return NULL;
}

static void tables_are_read_by_all_at_once(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	pthread_t threads[THREADS];
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	snprintf(common.device.name, sizeof(common.device.name), "mlx5_0");
	common.foreign.device = &common.device;
	/* A file without commands returns ENOTTY. */
	common.foreign.cmd_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(common.foreign.cmd_fd >= 0);
	assert_int_equal(ibsa_verbs_open(&options, NULL, &common.shared), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, NULL),
				 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(common.wrong, 0);
	assert_in_range(common.asked, 1, THREADS);
	assert_int_equal(ibsa_verbs_close(common.shared), 0);
	close(common.foreign.cmd_fd);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_read_by_all_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
