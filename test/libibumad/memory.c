/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libibumad's calls with the n-th allocation failing, for every n. The leak
 * checker detects memory that is not freed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/umad_ext.h>

#include "test/support/device_tree.h"
#include "test/support/fail_alloc.h"

enum { ROOM = 8 };

/* A device whose ports are down, and an active one. */
static int setup(void **state)
{
	struct tree *tree;

	tree_setup(state);
	tree = *state;
	tree_add_device(tree, "mlx5_0");
	tree_add_port(tree, "mlx5_0", 2);
	tree_set_port(tree, "mlx5_0", 1, "state", "1: DOWN\n");
	tree_set_port(tree, "mlx5_0", 2, "state", "1: DOWN\n");
	tree_add_device(tree, "mlx5_1");
	tree_set_port(tree, "mlx5_1", 1, "pkeys/1", "0x8001\n");
	tree_set_port(tree, "mlx5_1", 1, "gids/0", "fe80:0:0:0:2:3:4:5\n");
	tree_add_umad(tree, 0, "mlx5_1", 1);
	return 0;
}

/*
 * Run @call with one more allocation allowed each time until it succeeds, and
 * check each failure.
 */
static void fails_until_there_is_enough(int (*call)(void), int failure)
{
	int result = failure;
	long n;

	for (n = 0; result == failure; n++) {
		fail_alloc_after(n);
		result = call();
		fail_alloc_after(-1);
	}
	assert_true(result >= 0);
	assert_true(n > 1);
}

static int names_get(void)
{
	char names[ROOM][UMAD_CA_NAME_LEN];

	return umad_get_cas_names(names, ROOM);
}

static int list_get(void)
{
	struct umad_device_node *head = umad_get_ca_device_list();

	if (!head)
		return -errno;
	assert_int_equal(errno, 0);
	assert_int_equal(umad_sort_ca_device_list(&head, 2), 0);
	umad_free_ca_device_list(head);
	return 0;
}

/* The struct can be released after a failure, whatever was in it before. */
static int ca_get(void)
{
	umad_ca_t ca;
	int err;

	memset(&ca, 0xee, sizeof(ca));
	err = umad_get_ca(NULL, &ca);
	if (err) {
		assert_int_equal(umad_release_ca(&ca), 0);
		return err;
	}
	assert_string_equal(ca.ca_name, "mlx5_1");
	return umad_release_ca(&ca);
}

static int port_get(void)
{
	umad_port_t port;
	int err;

	memset(&port, 0xee, sizeof(port));
	err = umad_get_port(NULL, 0, &port);
	if (err) {
		assert_int_equal(umad_release_port(&port), 0);
		return err;
	}
	assert_string_equal(port.ca_name, "mlx5_1");
	return umad_release_port(&port);
}

static int named_port_get(void)
{
	umad_port_t port;
	int err = umad_get_port("mlx5_1", 0, &port);

	return err ? err : umad_release_port(&port);
}

static int issm_path_get(void)
{
	char path[64];

	return umad_get_issm_path(NULL, 0, path, sizeof(path));
}

/* The array is large enough: -ENOMEM can only mean that memory is short. */
static int portguids_get(void)
{
	__be64 guids[ROOM];

	return umad_get_ca_portguids(NULL, guids, ROOM);
}

static int pairs_get(void)
{
	struct umad_ca_pair pairs[ROOM];

	return umad_get_smi_gsi_pairs(pairs, ROOM);
}

static int pair_get(void)
{
	struct umad_ca_pair pair;

	return umad_get_smi_gsi_pair_by_ca_name(NULL, 0, &pair, 1);
}

static void every_allocation_of_a_list_may_fail(void **state)
{
	(void)state;
	fails_until_there_is_enough(names_get, -ENOMEM);
	fails_until_there_is_enough(list_get, -ENOMEM);
}

static void every_allocation_of_a_device_may_fail(void **state)
{
	(void)state;
	fails_until_there_is_enough(ca_get, -ENOMEM);
	fails_until_there_is_enough(portguids_get, -1);
}

static void every_allocation_of_a_port_may_fail(void **state)
{
	(void)state;
	fails_until_there_is_enough(port_get, -ENOMEM);
	fails_until_there_is_enough(named_port_get, -ENOMEM);
	fails_until_there_is_enough(issm_path_get, -ENOMEM);
}

static void every_allocation_of_pairs_may_fail(void **state)
{
	(void)state;
	fails_until_there_is_enough(pairs_get, -1);
	fails_until_there_is_enough(pair_get, -1);
}

#define ON_A_TREE(name) \
	cmocka_unit_test_setup_teardown(name, setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(every_allocation_of_a_list_may_fail),
		ON_A_TREE(every_allocation_of_a_device_may_fail),
		ON_A_TREE(every_allocation_of_a_port_may_fail),
		ON_A_TREE(every_allocation_of_pairs_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
