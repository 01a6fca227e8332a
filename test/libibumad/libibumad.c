/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices and ports under libibumad's names, in trees that the test writes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <infiniband/umad.h>

#include "absent.h"
#include "test/support/device_tree.h"

#define LONG_NAME "an_adapter_with_a_long_name__0"
#define DISABLED "3: Disabled\n"
#define POLLING "2: Polling\n"
#define DOWN "1: DOWN\n"
#define GUID 0x0002c90300000001

enum { ROOM = 64 };

static void device_set(const struct tree *tree, const char *name,
		       const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "class/infiniband/%s/%s", name, file);
	tree_write(tree, path, text);
}

static void device_unset(const struct tree *tree, const char *name,
			 const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "class/infiniband/%s/%s", name, file);
	tree_remove_file(tree, path);
}

static void port_down(const struct tree *tree, const char *name,
		      unsigned int port, const char *phys_state)
{
	tree_set_port(tree, name, port, "state", DOWN);
	tree_set_port(tree, name, port, "phys_state", phys_state);
}

/* A switch has only port 0. */
static void switch_add(const struct tree *tree, const char *name)
{
	char from[256];
	char to[256];

	tree_add_device(tree, name);
	device_set(tree, name, "node_type", "2: switch\n");
	snprintf(from, sizeof(from), "%s/class/infiniband/%s/ports/1",
		 tree->path, name);
	snprintf(to, sizeof(to), "%s/class/infiniband/%s/ports/0", tree->path,
		 name);
	assert_int_equal(rename(from, to), 0);
}

/*
 * Check that umad_get_ca_portguids() writes nothing after its result, and
 * nothing at all after an error.
 */
static int portguids(const char *name, __be64 guids[ROOM], int max)
{
	int count;

	memset(guids, 0xee, ROOM * sizeof(*guids));
	count = umad_get_ca_portguids(name, guids, max);
	for (int i = count > 0 ? count : 0; i < ROOM; i++)
		assert_true(guids[i] == (__be64)0xeeeeeeeeeeeeeeee);
	return count;
}

static void guids_are_by_port_number_and_zero_in_holes(void **state)
{
	__be64 guids[ROOM];

	tree_add_device(*state, "mlx5_0");
	tree_add_port(*state, "mlx5_0", 3);
	tree_set_port(*state, "mlx5_0", 3, "gids/0",
		      "fec0:0000:0000:0001:0002:c903:0000:0033\n");
	assert_int_equal(portguids("mlx5_0", guids, 4), 4);
	assert_true(guids[0] == 0);
	assert_true(be64toh(guids[1]) == GUID);
	assert_true(guids[2] == 0);
	assert_true(be64toh(guids[3]) == 0x0002c90300000033);
	assert_int_equal(portguids(NULL, guids, ROOM), 4);
}

static void array_too_small_for_all_guids_gets_none(void **state)
{
	__be64 guids[ROOM];

	tree_add_device(*state, "mlx5_0");
	tree_add_port(*state, "mlx5_0", 2);
	for (int max = -1; max <= 2; max++)
		assert_int_equal(portguids("mlx5_0", guids, max), -ENOMEM);
	assert_int_equal(portguids("mlx5_0", guids, 3), 3);
}

static void without_array_the_device_must_still_be_readable(void **state)
{
	tree_add_device(*state, "mlx5_0");
	assert_int_equal(umad_get_ca_portguids("mlx5_0", NULL, 0), 0);
	assert_int_equal(umad_get_ca_portguids(NULL, NULL, ROOM), 0);
	tree_set_port(*state, "mlx5_0", 1, "gids/0", "");
	assert_int_equal(umad_get_ca_portguids("mlx5_0", NULL, 0), -1);
}

static void guids_of_no_device_are_minus_one(void **state)
{
	char name[300] = { 0 };
	__be64 guids[ROOM];

	tree_add_device(*state, "mlx5_0");
	assert_int_equal(portguids("mlx5_1", guids, ROOM), -1);
	assert_int_equal(portguids("", guids, ROOM), -1);
	assert_int_equal(portguids("./mlx5_0", guids, ROOM), -1);
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(portguids(name, guids, ROOM), -1);
}

static void one_unreadable_port_is_minus_one(void **state)
{
	__be64 guids[ROOM];

	tree_add_device(*state, "mlx5_0");
	tree_add_port(*state, "mlx5_0", 2);
	device_unset(*state, "mlx5_0", "ports/2/rate");
	assert_int_equal(portguids("mlx5_0", guids, ROOM), -1);
	assert_int_equal(portguids(NULL, guids, ROOM), -1);
}

static void no_infiniband_device_is_enodev(void **state)
{
	__be64 guids[ROOM];

	assert_int_equal(portguids(NULL, guids, ROOM), -ENODEV);
	tree_add_device(*state, "cxgb4_0");
	device_set(*state, "cxgb4_0", "node_type", "4: RNIC\n");
	assert_int_equal(portguids(NULL, guids, ROOM), -ENODEV);
	assert_int_equal(portguids("cxgb4_0", guids, ROOM), 2);
}

static void no_modules_are_enodev(void **state)
{
	umad_port_t port;
	__be64 guids[ROOM];
	umad_ca_t ca;
	char path[64];

	tree_remove_file(*state, "class/infiniband");
	assert_int_equal(portguids(NULL, guids, ROOM), -ENODEV);
	assert_int_equal(umad_get_ca(NULL, &ca), -ENODEV);
	assert_int_equal(umad_get_port(NULL, 1, &port), -ENODEV);
	assert_int_equal(umad_get_issm_path(NULL, 1, path, sizeof(path)),
			 -ENODEV);
}

static void guid_of_a_switch_is_entry_zero(void **state)
{
	__be64 guids[ROOM];

	switch_add(*state, "sw_0");
	assert_int_equal(portguids("sw_0", guids, 0), -ENOMEM);
	assert_int_equal(portguids("sw_0", guids, 1), 1);
	assert_true(be64toh(guids[0]) == GUID);
}

/* Only the size of the caller's array limits the number of GUIDs. */
static void guids_of_forty_ports_are_returned(void **state)
{
	__be64 guids[ROOM];

	tree_add_device(*state, "mlx5_0");
	for (unsigned int port = 2; port <= 40; port++)
		tree_add_port(*state, "mlx5_0", port);
	assert_int_equal(portguids("mlx5_0", guids, 40), -ENOMEM);
	assert_int_equal(portguids("mlx5_0", guids, 41), 41);
	assert_true(be64toh(guids[40]) == GUID);
}

/* Check which device and port are chosen for the name NULL and port 0. */
static void leads_to(const char *name, int number)
{
	umad_port_t port;

	assert_int_equal(umad_get_port(NULL, UMAD_ANY_PORT, &port), 0);
	assert_string_equal(port.ca_name, name);
	assert_int_equal(port.portnum, number);
	assert_int_equal(umad_release_port(&port), 0);
}

/* Of equal devices, the first in the directory's order is selected. */
static void leads_to_the_first(void)
{
	struct umad_device_node *head = umad_get_ca_device_list();

	assert_non_null(head);
	leads_to(head->ca_name, 1);
	umad_free_ca_device_list(head);
}

static void no_name_leads_to_the_first_active_port(void **state)
{
	tree_add_device(*state, "a");
	tree_add_device(*state, "b");
	tree_add_port(*state, "b", 2);
	port_down(*state, "a", 1, POLLING);
	port_down(*state, "b", 1, "5: LinkUp\n");
	leads_to("b", 2);
	tree_set_port(*state, "a", 1, "state", "4: ACTIVE\n");
	tree_set_port(*state, "b", 1, "state", "4: ACTIVE\n");
	leads_to_the_first();
}

static void without_active_port_the_first_enabled_device_is_taken(void **state)
{
	tree_add_device(*state, "a");
	tree_add_device(*state, "b");
	tree_add_port(*state, "b", 2);
	port_down(*state, "a", 1, DISABLED);
	port_down(*state, "b", 1, POLLING);
	port_down(*state, "b", 2, "5: LinkUp\n");
	leads_to("b", 2);
	port_down(*state, "b", 2, DISABLED);
	leads_to("b", 1);
	tree_set_port(*state, "a", 1, "phys_state", POLLING);
	leads_to_the_first();
}

static void ethernet_is_taken_only_where_nothing_else_is(void **state)
{
	umad_port_t port;

	tree_add_device(*state, "a");
	tree_add_port(*state, "a", 2);
	tree_set_port(*state, "a", 1, "link_layer", "Ethernet\n");
	leads_to("a", 2);
	port_down(*state, "a", 2, "5: LinkUp\n");
	leads_to("a", 2);
	port_down(*state, "a", 2, POLLING);
	leads_to("a", 1);
	tree_add_device(*state, "b");
	leads_to("b", 1);
	port_down(*state, "b", 1, DISABLED);
	leads_to("a", 1);
	assert_int_equal(umad_get_port(NULL, 1, &port), -EIO);
}

static void switch_is_active_by_port_zero(void **state)
{
	switch_add(*state, "sw_0");
	port_down(*state, "sw_0", 0, DISABLED);
	leads_to("sw_0", 0);
}

static void unreadable_device_hides_no_other(void **state)
{
	__be64 guids[ROOM];

	tree_add_device(*state, "a");
	tree_add_device(*state, "b");
	device_unset(*state, "a", "ports/1/lid");
	leads_to("b", 1);
	assert_int_equal(portguids(NULL, guids, ROOM), 2);
}

/*
 * If no device is usable, umad_get_ca() returns -ENOENT, because libibumad then
 * tries the device mthca0.
 */
static void devices_of_which_none_is_usable_fail(void **state)
{
	umad_port_t port;
	__be64 guids[ROOM];
	umad_ca_t ca;

	tree_add_device(*state, "a");
	port_down(*state, "a", 1, DISABLED);
	assert_int_equal(portguids(NULL, guids, ROOM), -1);
	assert_int_equal(umad_get_ca(NULL, &ca), -ENOENT);
	assert_int_equal(umad_get_port(NULL, 0, &port), -EIO);
	assert_int_equal(umad_get_port("a", 0, &port), -ENODEV);
	assert_int_equal(umad_get_port("a", 1, &port), 0);
	umad_release_port(&port);
}

static void ca_has_its_ports_by_their_numbers(void **state)
{
	umad_ca_t ca;

	tree_add_device(*state, "mlx5_0");
	tree_add_port(*state, "mlx5_0", 3);
	device_set(*state, "mlx5_0", "hw_rev", "0123456789012345678901\n");
	assert_int_equal(umad_get_ca("mlx5_0", &ca), 0);
	assert_string_equal(ca.ca_name, "mlx5_0");
	assert_int_equal(ca.node_type, 1);
	assert_int_equal(ca.numports, 3);
	assert_string_equal(ca.fw_ver, "20.31.1014");
	assert_string_equal(ca.ca_type, "MT4123");
	assert_string_equal(ca.hw_ver, "0123456789012345678");
	assert_true(be64toh(ca.node_guid) == 0x0002c90300000000);
	assert_true(be64toh(ca.system_guid) == 0x0002c90300000003);
	assert_null(ca.ports[0]);
	assert_null(ca.ports[2]);
	assert_int_equal(ca.ports[3]->portnum, 3);
	assert_int_equal(umad_release_ca(&ca), 0);
	assert_null(ca.ports[3]);
	assert_int_equal(umad_release_ca(&ca), 0);
	assert_int_equal(umad_release_ca(NULL), -ENODEV);
}

static void ca_of_a_long_name_is_found_by_all_of_it(void **state)
{
	umad_port_t port;
	char path[64];
	umad_ca_t ca;

	tree_add_device(*state, LONG_NAME);
	tree_add_umad(*state, 3, LONG_NAME, 1);
	assert_int_equal(umad_get_ca(LONG_NAME, &ca), 0);
	assert_string_equal(ca.ca_name, "an_adapter_with_a_l");
	umad_release_ca(&ca);
	assert_int_equal(umad_get_ca("an_adapter_with_a_l", &ca), -ENOENT);
	assert_int_equal(umad_get_port(LONG_NAME, 1, &port), 0);
	umad_release_port(&port);
	assert_int_equal(umad_get_issm_path(NULL, 0, path, sizeof(path)), 0);
	assert_string_equal(path, "/dev/infiniband/issm3");
}

/*
 * umad_ca_t has no room for this port; to return only the other ports would be
 * misleading.
 */
static void ca_with_a_port_ten_does_not_fit(void **state)
{
	umad_port_t port;
	umad_ca_t ca;

	tree_add_device(*state, "mlx5_0");
	tree_add_port(*state, "mlx5_0", 9);
	assert_int_equal(umad_get_ca("mlx5_0", &ca), 0);
	umad_release_ca(&ca);
	tree_add_port(*state, "mlx5_0", 10);
	assert_int_equal(umad_get_ca("mlx5_0", &ca), -EIO);
	assert_int_equal(umad_get_port("mlx5_0", 10, &port), 0);
	assert_int_equal(port.portnum, 10);
	umad_release_port(&port);
}

static void bad_file_of_a_device_is_its_error(void **state)
{
	static const struct {
		const char *file;
		const char *text; /* NULL: missing */
		int err;
	} cases[] = {
		{ "node_type", NULL, -ENOENT },
		{ "node_type", "CA\n", -EINVAL },
		{ "node_type", "256\n", -EINVAL },
		{ "node_guid", NULL, -ENOENT },
		{ "node_guid", "0002:c903\n", -EINVAL },
		{ "sys_image_guid", NULL, -ENOENT },
		{ "sys_image_guid", "\n", -EINVAL },
		{ "ports/x/lid", "1\n", -EIO },
		{ "ports/01/lid", "1\n", -EIO },
		{ "ports/4294967295/lid", "1\n", -EIO },
		{ "ports/1/lid", NULL, -EIO },
		{ "ports/1/lid", "none\n", -EIO },
		{ "ports/1/lid_mask_count", NULL, -EIO },
		{ "ports/1/sm_lid", NULL, -EIO },
		{ "ports/1/sm_sl", NULL, -EIO },
		{ "ports/1/state", NULL, -EIO },
		{ "ports/1/phys_state", NULL, -EIO },
		{ "ports/1/rate", NULL, -EIO },
		{ "ports/1/cap_mask", NULL, -EIO },
		{ "ports/1/cap_mask", "0x100000000\n", -EIO },
		{ "ports/1/gids/0", NULL, -EIO },
		{ "ports/1/gids/0", "fe80::1\n", -EIO },
		{ "ports/1/pkeys/0", NULL, -EIO },
		{ "ports/1/pkeys/0", "0x10000\n", -EIO },
	};
	umad_ca_t ca;
	char name[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(name, sizeof(name), "mlx5_%zu", i);
		tree_add_device(*state, name);
		if (cases[i].text)
			device_set(*state, name, cases[i].file, cases[i].text);
		else
			device_unset(*state, name, cases[i].file);
		assert_int_equal(umad_get_ca(name, &ca), cases[i].err);
	}
}

static void optional_files_may_be_missing(void **state)
{
	umad_ca_t ca;

	tree_add_device(*state, "mlx5_0");
	device_unset(*state, "mlx5_0", "fw_ver");
	device_unset(*state, "mlx5_0", "hca_type");
	device_unset(*state, "mlx5_0", "ports/1/link_layer");
	assert_int_equal(umad_get_ca("mlx5_0", &ca), 0);
	assert_string_equal(ca.fw_ver, "");
	assert_string_equal(ca.ca_type, "");
	assert_string_equal(ca.hw_ver, "");
	assert_string_equal(ca.ports[1]->link_layer, "IB");
	umad_release_ca(&ca);
}

static void port_is_as_its_files_say(void **state)
{
	umad_port_t port;

	tree_add_device(*state, "mlx5_0");
	tree_set_port(*state, "mlx5_0", 1, "lid", "0xffff\n");
	tree_set_port(*state, "mlx5_0", 1, "lid_mask_count", "2\n");
	tree_set_port(*state, "mlx5_0", 1, "sm_sl", "3\n");
	tree_set_port(*state, "mlx5_0", 1, "rate", "2.5 Gb/sec (1X SDR)\n");
	tree_set_port(*state, "mlx5_0", 1, "pkeys/1", "0x8001\n");
	assert_int_equal(umad_get_port("mlx5_0", 1, &port), 0);
	assert_string_equal(port.ca_name, "mlx5_0");
	assert_int_equal(port.portnum, 1);
	assert_int_equal(port.base_lid, 0xffff);
	assert_int_equal(port.lmc, 2);
	assert_int_equal(port.sm_lid, 1);
	assert_int_equal(port.sm_sl, 3);
	assert_int_equal(port.state, 4);
	assert_int_equal(port.phys_state, 5);
	assert_int_equal(port.rate, 2);
	assert_int_equal(be32toh(port.capmask), 0x2651e84a);
	assert_true(be64toh(port.gid_prefix) == 0xfe80000000000000);
	assert_true(be64toh(port.port_guid) == GUID);
	assert_int_equal(port.pkeys_size, 2);
	assert_int_equal(port.pkeys[1], 0x8001);
	assert_string_equal(port.link_layer, "InfiniBand");
	assert_int_equal(umad_release_port(&port), 0);
	assert_null(port.pkeys);
	assert_int_equal(umad_release_port(&port), 0);
	assert_int_equal(umad_release_port(NULL), -ENODEV);
}

static void port_that_is_not_there_is_eio(void **state)
{
	umad_port_t port;

	tree_add_device(*state, "mlx5_0");
	assert_int_equal(umad_get_port("mlx5_0", 2, &port), -EIO);
	assert_int_equal(umad_get_port("mlx5_0", -1, &port), -EIO);
	assert_int_equal(umad_get_port("mlx5_1", 1, &port), -EIO);
	assert_int_equal(umad_get_port("./mlx5_0", 1, &port), -EIO);
	assert_int_equal(umad_get_port("mlx5_1", 0, &port), -ENODEV);
}

/* Other ports may be unreadable. */
static void named_port_is_read_alone(void **state)
{
	umad_port_t port;

	tree_add_device(*state, "mlx5_0");
	tree_add_port(*state, "mlx5_0", 2);
	device_unset(*state, "mlx5_0", "ports/1/lid");
	assert_int_equal(umad_get_port("mlx5_0", 2, &port), 0);
	umad_release_port(&port);
}

static void issm_path_is_that_of_the_ports_mad_device(void **state)
{
	static const char path_of_12[] = "/dev/infiniband/issm12";
	char path[64] = "";

	tree_add_device(*state, "mlx5_0");
	tree_add_port(*state, "mlx5_0", 2);
	tree_add_umad(*state, 200, "mlx5_0", 1);
	tree_add_umad(*state, 12, "mlx5_0", 2);
	assert_int_equal(umad_get_issm_path("mlx5_0", 0, path, sizeof(path)),
			 0);
	assert_string_equal(path, "/dev/infiniband/issm200");
	assert_int_equal(umad_get_issm_path("mlx5_0", 3, path, sizeof(path)),
			 -EINVAL);
	assert_int_equal(umad_get_issm_path("mlx5_1", 1, path, sizeof(path)),
			 -EINVAL);
	assert_int_equal(umad_get_issm_path("mlx5_1", 0, path, sizeof(path)),
			 -ENODEV);
	assert_string_equal(path, "/dev/infiniband/issm200");
	assert_int_equal(umad_get_issm_path("mlx5_0", 2, path,
					    sizeof(path_of_12) - 1),
			 -ENAMETOOLONG);
	assert_string_equal(path, "/dev/infiniband/issm200");
	assert_int_equal(
		umad_get_issm_path("mlx5_0", 2, path, sizeof(path_of_12)), 0);
	assert_string_equal(path, path_of_12);
}

static void missing_names_are_enoent_in_errno(void **state)
{
	tree_add_device(*state, "mlx5_0");
	assert_absent_is_enoent("mlx5_0");
}

static void beginning_and_end_always_succeed(void **state)
{
	tree_remove_file(*state, "class/infiniband");
	assert_int_equal(umad_init(), 0);
	assert_int_equal(umad_done(), 0);
}

#define ON_A_TREE(name) \
	cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(guids_are_by_port_number_and_zero_in_holes),
		ON_A_TREE(array_too_small_for_all_guids_gets_none),
		ON_A_TREE(without_array_the_device_must_still_be_readable),
		ON_A_TREE(guids_of_no_device_are_minus_one),
		ON_A_TREE(one_unreadable_port_is_minus_one),
		ON_A_TREE(no_infiniband_device_is_enodev),
		ON_A_TREE(no_modules_are_enodev),
		ON_A_TREE(guid_of_a_switch_is_entry_zero),
		ON_A_TREE(guids_of_forty_ports_are_returned),
		ON_A_TREE(no_name_leads_to_the_first_active_port),
		ON_A_TREE(
			without_active_port_the_first_enabled_device_is_taken),
		ON_A_TREE(ethernet_is_taken_only_where_nothing_else_is),
		ON_A_TREE(switch_is_active_by_port_zero),
		ON_A_TREE(unreadable_device_hides_no_other),
		ON_A_TREE(devices_of_which_none_is_usable_fail),
		ON_A_TREE(ca_has_its_ports_by_their_numbers),
		ON_A_TREE(ca_of_a_long_name_is_found_by_all_of_it),
		ON_A_TREE(ca_with_a_port_ten_does_not_fit),
		ON_A_TREE(bad_file_of_a_device_is_its_error),
		ON_A_TREE(optional_files_may_be_missing),
		ON_A_TREE(port_is_as_its_files_say),
		ON_A_TREE(port_that_is_not_there_is_eio),
		ON_A_TREE(named_port_is_read_alone),
		ON_A_TREE(issm_path_is_that_of_the_ports_mad_device),
		ON_A_TREE(missing_names_are_enoent_in_errno),
		ON_A_TREE(beginning_and_end_always_succeed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
