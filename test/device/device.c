/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices in sysfs: copies of real trees, and trees made by the test. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/types.h>

#include "device/device.h"
#include "device/parse.h"
#include "test/support/device_now.h"
#include "test/support/device_tree.h"

static void port_print(FILE *out, const struct ibsa_port *port)
{
	assert_int_equal(port->err, 0);
	fprintf(out,
		"  port %u lid 0x%x lmc %u sm_lid 0x%x sm_sl %u state %u "
		"phys %u rate %lu capmask 0x%08x link_layer \"%s\" "
		"prefix 0x%016llx guid 0x%016llx pkeys %zu:",
		port->number, port->state->lid, port->state->lmc,
		port->state->sm_lid, port->state->sm_sl,
		port->state->port_state, port->state->phys_state,
		strtoul(port->rate, NULL, 10), port->cap_mask, port->link_layer,
		(unsigned long long)ibsa_be64(port->state->gid.raw),
		(unsigned long long)ibsa_be64(port->state->gid.raw + 8),
		port->pkey_count);
	for (size_t i = 0; i < port->pkey_count && i < 4; i++)
		fprintf(out, " %04x", port->pkeys[i]);
	fprintf(out, "\n");
}

static void device_print(FILE *out, const struct ibsa_device *device)
{
	assert_int_equal(device->err, 0);
	fprintf(out,
		"device %s type %u fw \"%s\" hca \"%s\" node 0x%016llx "
		"system 0x%016llx\n",
		device->name, device->node_type, device->firmware,
		device->board, (unsigned long long)device->node_guid,
		(unsigned long long)device->system_image_guid);
	for (size_t i = 0; i < device->port_count; i++)
		port_print(out, ibsa_device_port_at(device, i));
}

static struct ibsa_device_list *devices_read(void)
{
	struct ibsa_device_list *list;

	assert_int_equal(ibsa_devices_read(&list), 0);
	return list;
}

static char *file_read(const char *path)
{
	char *text = calloc(1, 65536);
	FILE *file = fopen(path, "r");

	assert_non_null(text);
	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static void matches_libibumad(const char *name)
{
	struct ibsa_device_list *list;
	char path[256];
	char *expected;
	char *seen;
	size_t size;
	FILE *out;

	snprintf(path, sizeof(path), DATA "/sysfs/%s/sys", name);
	setenv("SYSFS_PATH", path, 1);
	snprintf(path, sizeof(path), DATA "/sysfs/expected/%s.txt", name);
	expected = file_read(path);
	out = open_memstream(&seen, &size);
	list = devices_read();
	for (size_t i = 0; i < list->count; i++)
		device_print(out, ibsa_device_at(list, i));
	fclose(out);
	assert_string_equal(seen, expected);
	ibsa_devices_free(list);
	free(expected);
	free(seen);
	unsetenv("SYSFS_PATH");
}

/* Trees of real kernels: the result equals libibumad's, which was recorded for
 * each. */
static void devices_equal_those_of_libibumad(void **state)
{
	(void)state;
	matches_libibumad("ib_one_port");
	matches_libibumad("two_devices");
	matches_libibumad("roce_rxe");
	matches_libibumad("switch");
	matches_libibumad("gid_holes");
	matches_libibumad("planar_xdr");
}

/*
 * A missing rate file: libibumad fails for the whole device; ibsa leaves only
 * the rate empty.
 */
static void missing_rate_is_empty(void **state)
{
	struct ibsa_device_list *list;

	(void)state;
	setenv("SYSFS_PATH", DATA "/sysfs/missing_rate/sys", 1);
	list = devices_read();
	assert_int_equal(list->count, 1);
	assert_int_equal(ibsa_device_at(list, 0)->err, 0);
	assert_int_equal(ibsa_device_port_at(ibsa_device_at(list, 0), 0)->err,
			 0);
	assert_string_equal(
		ibsa_device_port_at(ibsa_device_at(list, 0), 0)->rate, "");
	assert_string_equal(
		ibsa_device_port_at(ibsa_device_at(list, 0), 0)->umad, "umad0");
	assert_int_equal(
		ibsa_device_port_at(ibsa_device_at(list, 0), 0)->state->lid, 5);
	ibsa_devices_free(list);
	unsetenv("SYSFS_PATH");
}

static void missing_class_folder_means_missing_modules(void **state)
{
	struct ibsa_device_list *list = NULL;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	assert_int_equal(ibsa_devices_read(&list), -ENOSYS);
	assert_null(list);
	tree_remove(&tree);
}

static void empty_class_folder_is_an_empty_list(void **state)
{
	struct ibsa_device_list *list;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "class/infiniband/", "");
	list = devices_read();
	assert_int_equal(list->count, 0);
	ibsa_devices_free(list);
	ibsa_devices_free(NULL);
	tree_remove(&tree);
}

/*
 * The list has all devices. libibumad stops at 32 devices, and skips names of
 * 20 or more characters.
 */
static void many_devices_and_long_names_are_in_natural_order(void **state)
{
	static const char base[] = "an_adapter_with_a_long_name__";
	struct ibsa_device_list *list;
	struct tree tree;
	char name[64];

	(void)state;
	tree_make(&tree);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%s%d", base, i);
		tree_add_device(&tree, name);
	}
	list = devices_read();
	assert_int_equal(list->count, 40);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%s%d", base, i);
		assert_string_equal(ibsa_device_at(list, i)->name, name);
		assert_int_equal(ibsa_device_at(list, i)->err, 0);
	}
	ibsa_devices_free(list);
	tree_remove(&tree);
}

/*
 * Ports are listed in ascending order, also those from port 10 on, for which
 * libibumad has no room.
 */
static void ports_are_in_ascending_order_however_many(void **state)
{
	struct ibsa_device_list *list;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	for (unsigned int port = 2; port <= 30; port++)
		tree_add_port(&tree, "mlx5_0", port);
	tree_write(&tree, "class/infiniband/mlx5_0/ports/x/lid", "1");
	tree_write(&tree, "class/infiniband/mlx5_0/ports/007/lid", "1");
	list = devices_read();
	assert_int_equal(ibsa_device_at(list, 0)->port_count, 30);
	for (unsigned int i = 0; i < 30; i++) {
		assert_int_equal(
			ibsa_device_port_at(ibsa_device_at(list, 0), i)->number,
			i + 1);
		assert_int_equal(
			ibsa_device_port_at(ibsa_device_at(list, 0), i)->err,
			0);
	}
	ibsa_devices_free(list);
	tree_remove(&tree);
}

/*
 * Return: the error of reading port 1; check that the values of port 2 did not
 * change.
 */
static int port_err(const struct tree *tree)
{
	struct ibsa_device_list *list = devices_read();
	const struct ibsa_device *device = ibsa_device_at(list, 0);
	int err;

	(void)tree;
	assert_int_equal(list->count, 1);
	assert_int_equal(device->port_count, 2);
	assert_int_equal(device->err, 0);
	assert_int_equal(ibsa_device_port_at(device, 1)->err, 0);
	assert_int_equal(ibsa_device_port_at(device, 1)->state->lid, 7);
	err = ibsa_device_port_at(device, 0)->err;
	ibsa_devices_free(list);
	return err;
}

static void bad_file_is_the_error_of_its_port_alone(void **state)
{
	static const struct {
		const char *file;
		const char *text;
		int err;
	} cases[] = {
		{ "lid", "", -EPROTO },
		{ "lid", "none\n", -EPROTO },
		{ "lid", "-1\n", -EPROTO },
		{ "lid", "0x100000000\n", -ERANGE },
		{ "lid", "99999999999999999999999\n", -ERANGE },
		{ "lid_mask_count", "8\n", -ERANGE },
		{ "sm_sl", "16\n", -ERANGE },
		{ "state", ": ACTIVE\n", -EPROTO },
		{ "state", "256\n", -ERANGE },
		{ "cap_mask", "0x1ffffffff\n", -ERANGE },
		{ "gids/0", "fe80::1\n", -EPROTO },
		{ "gids/0", "fe80:0000:0000:0000:0002:c903:0000\n", -EPROTO },
		{ "gids/0", "0:0:0:0:0:0:0:0:0\n", -EPROTO },
		{ "pkeys/0", "0x10000\n", -ERANGE },
		{ "pkeys/0", "\n", -EPROTO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tree tree;

		tree_make(&tree);
		tree_add_device(&tree, "mlx5_0");
		tree_add_port(&tree, "mlx5_0", 2);
		tree_set_port(&tree, "mlx5_0", 1, cases[i].file, cases[i].text);
		assert_int_equal(port_err(&tree), cases[i].err);
		tree_remove(&tree);
	}
}

static void missing_and_unreadable_files_are_reported(void **state)
{
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_add_port(&tree, "mlx5_0", 2);
	tree_remove_file(&tree, "class/infiniband/mlx5_0/ports/1/state");
	assert_int_equal(port_err(&tree), -ENOENT);
	/* Reading a directory fails for root, too. */
	tree_set_port(&tree, "mlx5_0", 1, "state/x", "");
	assert_int_equal(port_err(&tree), -EISDIR);
	tree_remove(&tree);
}

static void bad_device_hides_no_other_device_and_no_port(void **state)
{
	struct ibsa_device_list *list;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_add_device(&tree, "mlx5_1");
	tree_write(&tree, "class/infiniband/mlx5_0/node_guid", "0\n");
	tree_write(&tree, "class/infiniband/just_a_file", "");
	tree_write(&tree, "class/infiniband/nothing/", "");
	list = devices_read();
	assert_int_equal(list->count, 3);
	assert_int_equal(ibsa_device_at(list, 0)->err, -EPROTO);
	assert_int_equal(ibsa_device_at(list, 0)->port_count, 1);
	assert_int_equal(
		ibsa_device_port_at(ibsa_device_at(list, 0), 0)->state->lid, 7);
	assert_int_equal(ibsa_device_at(list, 1)->err, 0);
	assert_string_equal(ibsa_device_at(list, 2)->name, "nothing");
	assert_int_equal(ibsa_device_at(list, 2)->err, -ENOENT);
	ibsa_devices_free(list);
	tree_remove(&tree);
}

/* On InfiniBand a port without LID has 0xffff. On Omni-Path this is an ordinary
 * LID, and an SL has five bits. */
static void numbers_are_those_of_the_link(void **state)
{
	static const char uevent[] = "class/infiniband/mlx5_0/device/uevent";
	struct ibsa_port_state port;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "lid", "0xffff\n");
	tree_set_port(&tree, "mlx5_0", 1, "sm_lid", "0xffff\n");
	assert_int_equal(now_port_read("mlx5_0", 1, &port), 0);
	assert_int_equal(port.lid, 0);
	assert_int_equal(port.sm_lid, 0);
	tree_write(&tree, uevent, "DRIVER=hfi1\n");
	tree_set_port(&tree, "mlx5_0", 1, "sm_sl", "31\n");
	assert_int_equal(now_port_read("mlx5_0", 1, &port), 0);
	assert_int_equal(port.link, IBSA_LINK_OPA);
	assert_int_equal(port.lid, 0xffff);
	assert_int_equal(port.sm_lid, 0xffff);
	assert_int_equal(port.sm_sl, 31);
	assert_true(ibsa_port_has_sm(&port));
	tree_set_port(&tree, "mlx5_0", 1, "lid", "0xffffffff\n");
	assert_int_equal(now_port_read("mlx5_0", 1, &port), 0);
	assert_int_equal(port.lid, 0);
	tree_set_port(&tree, "mlx5_0", 1, "sm_sl", "32\n");
	assert_int_equal(now_port_read("mlx5_0", 1, &port), -ERANGE);
	tree_remove(&tree);
}

/* Numbers are read in the formats of all kernel versions. */
static void numbers_are_read_in_any_base(void **state)
{
	struct ibsa_port_state port;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "lid", "  010 octal\n");
	tree_set_port(&tree, "mlx5_0", 1, "sm_lid", "0xc001");
	tree_set_port(&tree, "mlx5_0", 1, "sm_sl", "3\n");
	tree_set_port(&tree, "mlx5_0", 1, "lid_mask_count", "2\n");
	assert_int_equal(now_port_read("mlx5_0", 1, &port), 0);
	assert_int_equal(port.lid, 8);
	assert_int_equal(port.sm_lid, 0xc001);
	assert_int_equal(port.sm_sl, 3);
	assert_int_equal(port.lmc, 2);
	assert_false(port.needs_grh);
	assert_int_equal(now_port_read("mlx5_0", 2, &port), -ENOENT);
	assert_int_equal(port.lid, 8);
	tree_remove(&tree);
}

static unsigned int default_pkey(const struct tree *tree, const char *first,
				 const char *second, const char *third)
{
	struct ibsa_port_state port;

	tree_set_port(tree, "mlx5_0", 1, "pkeys/0", first);
	tree_set_port(tree, "mlx5_0", 1, "pkeys/1", second);
	tree_set_port(tree, "mlx5_0", 1, "pkeys/2", third);
	assert_int_equal(now_port_read("mlx5_0", 1, &port), 0);
	return port.pkey_index;
}

static void default_pkey_is_the_full_one_or_the_limited(void **state)
{
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	assert_int_equal(default_pkey(&tree, "0x8001", "0x7fff", "0xffff"), 2);
	assert_int_equal(default_pkey(&tree, "0x8001", "0x7fff", "0"), 1);
	assert_int_equal(default_pkey(&tree, "0x7fff", "0x7fff", "0"), 0);
	assert_int_equal(default_pkey(&tree, "0x8001", "0x8002", "0"), 0);
	tree_remove(&tree);
}

static void port_without_link_layer_is_infiniband(void **state)
{
	struct ibsa_device_list *list;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "ibsim0");
	tree_remove_file(&tree, "class/infiniband/ibsim0/ports/1/link_layer");
	list = devices_read();
	assert_int_equal(ibsa_device_port_at(ibsa_device_at(list, 0), 0)->err,
			 0);
	assert_string_equal(
		ibsa_device_port_at(ibsa_device_at(list, 0), 0)->link_layer,
		"InfiniBand");
	ibsa_devices_free(list);
	tree_remove(&tree);
}

static void umad_is_found_by_device_and_port(void **state)
{
	struct ibsa_device_list *list;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_add_port(&tree, "mlx5_0", 2);
	tree_add_port(&tree, "mlx5_0", 3);
	tree_add_umad(&tree, 0, "mlx5_1", 2);
	tree_add_umad(&tree, 1, "mlx5_0", 2);
	tree_add_umad(&tree, 12, "mlx5_0", 1);
	tree_write(&tree, "class/infiniband_mad/umad3/port", "x");
	tree_write(&tree, "class/infiniband_mad/issm0/port", "3");
	tree_write(&tree, "class/infiniband_mad/issm0/ibdev", "mlx5_0");
	list = devices_read();
	assert_string_equal(
		ibsa_device_port_at(ibsa_device_at(list, 0), 0)->umad,
		"umad12");
	assert_string_equal(
		ibsa_device_port_at(ibsa_device_at(list, 0), 1)->umad, "umad1");
	assert_string_equal(
		ibsa_device_port_at(ibsa_device_at(list, 0), 2)->umad, "");
	ibsa_devices_free(list);
	tree_remove(&tree);
}

/* At most one page of a file is read. */
static void endless_text_is_cut(void **state)
{
	struct ibsa_device_list *list;
	struct tree tree;
	char text[10000];

	(void)state;
	memset(text, '7', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "rate", text);
	tree_set_port(&tree, "mlx5_0", 1, "lid", text);
	list = devices_read();
	assert_int_equal(
		strlen(ibsa_device_port_at(ibsa_device_at(list, 0), 0)->rate),
		4096);
	assert_int_equal(ibsa_device_port_at(ibsa_device_at(list, 0), 0)->err,
			 -ERANGE);
	ibsa_devices_free(list);
	tree_remove(&tree);
}

static void path_longer_than_the_system_takes_is_refused(void **state)
{
	struct ibsa_device_list *list;
	char root[5000];

	(void)state;
	memset(root, '/', sizeof(root));
	root[sizeof(root) - 1] = '\0';
	setenv("SYSFS_PATH", root, 1);
	assert_int_equal(ibsa_devices_read(&list), -ENAMETOOLONG);
	unsetenv("SYSFS_PATH");
}

static void names_compare_in_natural_order(void **state)
{
	static const char *const ordered[] = {
		"",
		"0",
		"1",
		"9",
		"10",
		"010a",
		"a",
		"a01",
		"a1",
		"a1b",
		"a2",
		"a10",
		"a99999999999999999999999",
		"a100000000000000000000000",
		"b",
	};
	const size_t count = sizeof(ordered) / sizeof(ordered[0]);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			int order = ibsa__name_compare(ordered[i], ordered[j]);

			assert_int_equal((order > 0) - (order < 0),
					 (i > j) - (i < j));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_equal_those_of_libibumad),
		cmocka_unit_test(missing_rate_is_empty),
		cmocka_unit_test(missing_class_folder_means_missing_modules),
		cmocka_unit_test(empty_class_folder_is_an_empty_list),
		cmocka_unit_test(
			many_devices_and_long_names_are_in_natural_order),
		cmocka_unit_test(ports_are_in_ascending_order_however_many),
		cmocka_unit_test(bad_file_is_the_error_of_its_port_alone),
		cmocka_unit_test(missing_and_unreadable_files_are_reported),
		cmocka_unit_test(bad_device_hides_no_other_device_and_no_port),
		cmocka_unit_test(numbers_are_those_of_the_link),
		cmocka_unit_test(numbers_are_read_in_any_base),
		cmocka_unit_test(default_pkey_is_the_full_one_or_the_limited),
		cmocka_unit_test(port_without_link_layer_is_infiniband),
		cmocka_unit_test(umad_is_found_by_device_and_port),
		cmocka_unit_test(endless_text_is_cut),
		cmocka_unit_test(path_longer_than_the_system_takes_is_refused),
		cmocka_unit_test(names_compare_in_natural_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
