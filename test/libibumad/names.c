/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of devices by libibumad's calls, in trees that the test writes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <infiniband/umad.h>

#include "test/support/device_tree.h"

#define LONG_NAME "an_adapter_with_a_long_name__0"

static void names_are_in_byte_order_and_as_many_as_asked(void **state)
{
	char names[4][UMAD_CA_NAME_LEN];

	tree_add_device(*state, "mlx5_9");
	tree_add_device(*state, "mlx5_10");
	tree_add_device(*state, "cxgb4_0");
	tree_write(*state, "class/infiniband/cxgb4_0/node_type", "4: RNIC\n");
	tree_write(*state, "class/infiniband/abi_version", "5\n");
	assert_int_equal(umad_get_cas_names(names, -1), 0);
	assert_int_equal(umad_get_cas_names(names, 0), 0);
	assert_int_equal(umad_get_cas_names(names, 1), 1);
	assert_string_equal(names[0], "mlx5_10");
	assert_int_equal(umad_get_cas_names(names, 4), 2);
	assert_string_equal(names[1], "mlx5_9");
}

/* libibumad returns "mthca0" on a machine without devices. */
static void without_modules_there_are_no_names(void **state)
{
	char names[1][UMAD_CA_NAME_LEN];

	tree_remove_file(*state, "class/infiniband");
	assert_int_equal(umad_get_cas_names(names, 1), 0);
	errno = EPERM;
	assert_null(umad_get_ca_device_list());
	assert_int_equal(errno, 0);
}

static void unreadable_class_folder_is_the_lists_error(void **state)
{
	tree_remove_file(*state, "class/infiniband");
	tree_write(*state, "class/infiniband", "");
	assert_null(umad_get_ca_device_list());
	assert_int_equal(errno, ENOTDIR);
}

static void many_devices_and_long_names_are_listed(void **state)
{
	struct umad_device_node *head;
	char names[50][UMAD_CA_NAME_LEN];
	bool has_long = false;
	int count = 0;
	char name[64];

	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "mlx5_%d", i);
		tree_add_device(*state, name);
	}
	tree_add_device(*state, LONG_NAME);
	assert_int_equal(umad_get_cas_names(names, 50), 40);
	head = umad_get_ca_device_list();
	assert_int_equal(errno, 0);
	for (struct umad_device_node *node = head; node; node = node->next) {
		has_long |= !strcmp(node->ca_name, LONG_NAME);
		count++;
	}
	assert_int_equal(count, 41);
	assert_true(has_long);
	umad_free_ca_device_list(head);
}

static void list_is_sorted_whatever_its_order(void **state)
{
	struct umad_device_node third = { .ca_name = "c" };
	struct umad_device_node first = { .next = &third, .ca_name = "a" };
	struct umad_device_node second = { .next = &first, .ca_name = "b" };
	struct umad_device_node *head = &second;

	(void)state;
	assert_int_equal(umad_sort_ca_device_list(&head, 1), EINVAL);
	assert_int_equal(umad_sort_ca_device_list(&head, 2), EINVAL);
	assert_int_equal(umad_sort_ca_device_list(&head, 4), EINVAL);
	assert_ptr_equal(head, &second);
	assert_int_equal(umad_sort_ca_device_list(&head, 3), 0);
	assert_ptr_equal(head, &first);
	assert_ptr_equal(first.next, &second);
	assert_ptr_equal(second.next, &third);
	assert_null(third.next);
	head = NULL;
	assert_int_equal(umad_sort_ca_device_list(&head, 0), 0);
	assert_null(head);
	umad_free_ca_device_list(NULL);
}

#define ON_A_TREE(name) \
	cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(names_are_in_byte_order_and_as_many_as_asked),
		ON_A_TREE(without_modules_there_are_no_names),
		ON_A_TREE(unreadable_class_folder_is_the_lists_error),
		ON_A_TREE(many_devices_and_long_names_are_listed),
		ON_A_TREE(list_is_sorted_whatever_its_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
