/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Planarized adapters: the device that SA queries go to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/device.h>

#include "device/device.h"
#include "device/sysfs.h"
#include "device/files.h"
#include "test/support/device_tree.h"

#define GID "fe80:0:0:0:2:c903:0:1\n"
#define NO_SMI "0x2651ec4a\n" /* IsSMdisabled */

static void planes_add(const struct tree *tree)
{
	tree_add_device(tree, "mlx5_0");
	tree_add_device(tree, "smi_0");
	tree_add_device(tree, "a_smi");
	tree_set_port(tree, "mlx5_0", 1, "gids/0", GID);
	tree_set_port(tree, "mlx5_0", 1, "cap_mask", NO_SMI);
	tree_set_port(tree, "a_smi", 1, "gids/0", GID);
	tree_set_port(tree, "smi_0", 1, "gids/0", "fe80:0:0:0:2:c903:0:2\n");
	tree_add_umad(tree, 0, "a_smi", 1);
	tree_add_umad(tree, 1, "mlx5_0", 1);
	tree_add_umad(tree, 2, "smi_0", 1);
}

static void gsi_is_told_of_an_smi_alone(void **state)
{
	const struct ibsa_device *device = NULL;
	struct ibsa_device_list *list;

	planes_add(*state);
	assert_int_equal(ibsa_devices_read(&list), 0);
	assert_int_equal(list->count, 3);
	assert_string_equal(ibsa_device_at(list, 0)->name, "a_smi");
	assert_ptr_equal(ibsa_port_gsi(list, ibsa_device_at(list, 0)->ports,
				       &device),
			 ibsa_device_at(list, 1)->ports);
	assert_string_equal(device->name, "mlx5_0");
	assert_null(
		ibsa_port_gsi(list, ibsa_device_at(list, 1)->ports, &device));
	assert_null(
		ibsa_port_gsi(list, ibsa_device_at(list, 2)->ports, &device));
	assert_string_equal(device->name, "mlx5_0");
	assert_non_null(
		ibsa_port_gsi(list, ibsa_device_at(list, 0)->ports, NULL));
	ibsa_devices_free(list);
}

/* The GSI's port is selected although the SMI's is the first active port. */
static void gsi_is_chosen(void **state)
{
	struct device_files *files;
	struct ibsa__port_selection selection;
	struct ibsa_error error;

	planes_add(*state);
	assert_int_equal(ibsa__sysfs_open(getenv("SYSFS_PATH"), &files), 0);
	assert_int_equal(
		ibsa__port_select(files, NULL, 0, 0, &error, &selection), 0);
	assert_string_equal(selection.device, "mlx5_0");
	assert_string_equal(selection.umad, "umad1");
	/* The SMI's port can be selected by its name. */
	assert_int_equal(
		ibsa__port_select(files, "a_smi", 0, 0, &error, &selection), 0);
	assert_string_equal(selection.umad, "umad0");
	/*
	 * While the GSI is down, its SMI is not selected instead, but the port
	 * of another device.
	 */
	tree_set_port(*state, "mlx5_0", 1, "state", "1: DOWN\n");
	assert_int_equal(
		ibsa__port_select(files, NULL, 0, 0, &error, &selection), 0);
	assert_string_equal(selection.device, "smi_0");
	ibsa__files_put(files);
}

/*
 * An adapter of two planes, which have the GSI's port GUID and LID: each plane
 * is known as an SMI, and none is selected.
 */
static void planes_of_an_adapter_have_its_gsi(void **state)
{
	static const char *const gsi_of[] = { NULL,	NULL,	  NULL,
					      "mlx5_0", "mlx5_0", "mlx5_1",
					      "mlx5_1" };
	struct ibsa__port_selection selection;
	const struct ibsa_device *device;
	struct ibsa_device_list *list;
	struct device_files *files;
	struct ibsa_error error;
	size_t seen = 0;

	(void)state;
	setenv("SYSFS_PATH", DATA "/sysfs/planar_xdr/sys", 1);
	assert_int_equal(ibsa_devices_read(&list), 0);
	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *at = ibsa_device_at(list, i);

		for (size_t k = 0; k < at->port_count; k++, seen++) {
			device = NULL;
			(void)ibsa_port_gsi(list, ibsa_device_port_at(at, k),
					    &device);
			assert_int_equal(!device, !gsi_of[seen]);
			if (device)
				assert_string_equal(device->name, gsi_of[seen]);
		}
	}
	assert_int_equal(seen, sizeof(gsi_of) / sizeof(gsi_of[0]));
	ibsa_devices_free(list);
	assert_int_equal(ibsa__sysfs_open(getenv("SYSFS_PATH"), &files), 0);
	assert_int_equal(
		ibsa__port_select(files, NULL, 0, 0, &error, &selection), 0);
	assert_string_equal(selection.umad, "umad0");
	assert_int_equal(
		ibsa__port_select(files, "smi2", 2, 0, &error, &selection), 0);
	assert_string_equal(selection.umad, "umad5");
	ibsa__files_put(files);
	unsetenv("SYSFS_PATH");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gsi_is_told_of_an_smi_alone,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(gsi_is_chosen, tree_setup,
						tree_teardown),
		cmocka_unit_test(planes_of_an_adapter_have_its_gsi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
