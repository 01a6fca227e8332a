/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libibumad's calls from many threads at once. libibumad itself has the names
 * in one static array.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/umad_ext.h>

#include "test/support/device_tree.h"

enum { THREADS = 4, ROUNDS = 20, ROOM = 8 };

static bool ca_is_right(void)
{
	umad_ca_t ca;
	bool right;

	if (umad_get_ca(NULL, &ca))
		return false;
	right = !strcmp(ca.ca_name, "mlx5_1") && ca.numports == 1;
	return !umad_release_ca(&ca) && right;
}

static bool port_is_right(void)
{
	umad_port_t port;
	bool right;

	if (umad_get_port(NULL, 0, &port))
		return false;
	right = !strcmp(port.ca_name, "mlx5_1") && port.state == 4;
	return !umad_release_port(&port) && right;
}

static bool list_is_right(void)
{
	struct umad_device_node *head = umad_get_ca_device_list();
	bool right = !umad_sort_ca_device_list(&head, 0) && head &&
		     !strcmp(head->ca_name, "mlx5_0");

	umad_free_ca_device_list(head);
	return right;
}

static bool all_is_right(void)
{
	char names[ROOM][UMAD_CA_NAME_LEN];
	struct umad_ca_pair pairs[ROOM];
	__be64 guids[ROOM];
	char path[64];

	return !umad_init() && umad_get_cas_names(names, ROOM) == 2 &&
	       umad_get_ca_portguids(NULL, guids, ROOM) == 2 &&
	       !umad_get_issm_path(NULL, 0, path, sizeof(path)) &&
	       umad_get_smi_gsi_pairs(pairs, ROOM) == 1 && list_is_right() &&
	       ca_is_right() && port_is_right() && !umad_done();
}

static void *thread_run(void *arg)
{
	int *right = arg;

	for (int i = 0; i < ROUNDS; i++)
		*right += all_is_right();
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[THREADS];
	int right[THREADS] = { 0 };
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "state", "1: DOWN\n");
	tree_add_device(&tree, "mlx5_1");
	tree_add_umad(&tree, 0, "mlx5_1", 1);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_run,
						&right[i]),
				 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(right[i], ROUNDS);
	}
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
