/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Planarized adapters: which devices belong together, and their ports. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/umad_ext.h>

#include "test/support/device_tree.h"

#define NO_SMI "0x2651ec4a\n" /* IsSMdisabled */
#define ARMED "3: ARMED\n"
#define DOWN "1: DOWN\n"

enum { ROOM = 8 };

/* A device whose port GUID ends with @guid. */
static void device_add(const struct tree *tree, const char *name, int guid)
{
	char gid[64];

	tree_add_device(tree, name);
	snprintf(gid, sizeof(gid), "fe80:0:0:0:2:c903:0:%x\n", guid);
	tree_set_port(tree, name, 1, "gids/0", gid);
}

static void planes_add(const struct tree *tree)
{
	device_add(tree, "a_gsi", 1);
	tree_set_port(tree, "a_gsi", 1, "cap_mask", NO_SMI);
	device_add(tree, "b_smi", 1);
}

static void pair_is(const struct umad_ca_pair *pair, const char *smi,
		    uint32_t smi_port, const char *gsi, uint32_t gsi_port)
{
	assert_string_equal(pair->smi_name, smi);
	assert_int_equal(pair->smi_preferred_port, smi_port);
	assert_string_equal(pair->gsi_name, gsi);
	assert_int_equal(pair->gsi_preferred_port, gsi_port);
}

static void pair_of_is(const char *name, uint8_t port, const char *smi,
		       uint32_t smi_port, const char *gsi, uint32_t gsi_port)
{
	struct umad_ca_pair pair;

	assert_int_equal(umad_get_smi_gsi_pair_by_ca_name(name, port, &pair, 0),
			 0);
	pair_is(&pair, smi, smi_port, gsi, gsi_port);
}

static void no_pair_of(const char *name, uint8_t port, unsigned int enforce)
{
	struct umad_ca_pair pair = { .smi_name = "as it was" };

	assert_int_equal(umad_get_smi_gsi_pair_by_ca_name(name, port, &pair,
							  enforce),
			 -ENODEV);
	assert_int_equal(errno, ENODEV);
	pair_is(&pair, "", 0, "", 0);
}

static void device_alone_is_both_sides(void **state)
{
	struct umad_ca_pair pairs[ROOM];

	device_add(*state, "b", 2);
	device_add(*state, "a", 1);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, ROOM), 2);
	pair_is(&pairs[0], "a", 0, "a", 0);
	pair_is(&pairs[1], "b", 0, "b", 0);
}

static void device_without_smi_alone_is_gsi(void **state)
{
	struct umad_ca_pair pairs[ROOM];

	device_add(*state, "a", 1);
	tree_set_port(*state, "a", 1, "cap_mask", NO_SMI);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, ROOM), 1);
	pair_is(&pairs[0], "", 0, "a", 0);
	no_pair_of("a", 1, 1);
	pair_of_is("a", 1, "", 1, "a", 1);
	pair_of_is(NULL, 0, "", 1, "a", 1);
}

static void devices_of_one_guid_are_a_pair(void **state)
{
	struct umad_ca_pair pairs[ROOM];

	planes_add(*state);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, ROOM), 1);
	pair_is(&pairs[0], "b_smi", 0, "a_gsi", 0);
}

static void last_of_a_kind_is_taken(void **state)
{
	struct umad_ca_pair pairs[ROOM];

	planes_add(*state);
	device_add(*state, "c_smi", 1);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, ROOM), 1);
	pair_is(&pairs[0], "c_smi", 0, "a_gsi", 0);
	no_pair_of("b_smi", 0, 0);
}

/* If other devices have its GUID, a device is only the SMI or only the GSI. */
static void devices_with_smi_alone_have_no_other_side(void **state)
{
	struct umad_ca_pair pairs[ROOM];

	device_add(*state, "a", 1);
	device_add(*state, "b", 1);
	device_add(*state, "c", 2);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, ROOM), 2);
	pair_is(&pairs[0], "b", 0, "", 0);
	pair_is(&pairs[1], "c", 0, "c", 0);
	no_pair_of("b", 1, 0);
	pair_of_is(NULL, 0, "c", 1, "c", 1);
}

static void guid_of_two_ports_of_a_device_is_shared(void **state)
{
	struct umad_ca_pair pairs[ROOM];

	device_add(*state, "a", 1);
	tree_add_port(*state, "a", 2);
	tree_set_port(*state, "a", 2, "gids/0", "fe80:0:0:0:2:c903:0:1\n");
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, ROOM), 1);
	pair_is(&pairs[0], "a", 0, "", 0);
}

/*
 * If the array has no room for a pair with a device's first GUID, the device
 * may still belong to the pair of its second GUID.
 */
static void device_without_room_joins_a_pair(void **state)
{
	struct umad_ca_pair pairs[1];

	device_add(*state, "a", 1);
	device_add(*state, "b", 2);
	tree_add_port(*state, "b", 2);
	tree_set_port(*state, "b", 2, "gids/0", "fe80:0:0:0:2:c903:0:1\n");
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, 1), 1);
	pair_is(&pairs[0], "b", 0, "", 0);
}

/* An unreadable device does not hide another. */
static void devices_without_guid_or_room_are_left_out(void **state)
{
	struct umad_ca_pair pairs[ROOM];

	tree_add_device(*state, "a");
	tree_remove_file(*state, "class/infiniband/a/node_guid");
	device_add(*state, "b", 1);
	tree_set_port(*state, "b", 1, "gids/0", "fe80:0:0:0:0:0:0:0\n");
	device_add(*state, "c_with_a_name_of_30_characters", 1);
	device_add(*state, "d", 1);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, ROOM), 1);
	pair_is(&pairs[0], "d", 0, "d", 0);
}

static void no_more_pairs_than_there_is_room_for(void **state)
{
	struct umad_ca_pair pairs[2];

	memset(pairs, 0xee, sizeof(pairs));
	device_add(*state, "a", 1);
	device_add(*state, "b", 2);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, 0), 0);
	assert_int_equal((uint8_t)pairs[0].smi_name[0], 0xee);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, 1), 1);
	pair_is(&pairs[0], "a", 0, "a", 0);
	assert_int_equal((uint8_t)pairs[1].smi_name[0], 0xee);
	tree_remove_file(*state, "class/infiniband/a/node_guid");
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, 2), 1);
	pair_is(&pairs[0], "b", 0, "b", 0);
	pair_is(&pairs[1], "", 0, "", 0);
}

static void without_modules_there_are_no_pairs(void **state)
{
	struct umad_ca_pair pairs[ROOM];

	no_pair_of(NULL, 0, 0);
	tree_remove_file(*state, "class/infiniband");
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, ROOM), 0);
	no_pair_of(NULL, 0, 0);
	assert_int_equal(umad_get_smi_gsi_pair_by_ca_name(NULL, 0, NULL, 0),
			 -1);
}

static void either_name_leads_to_the_pair(void **state)
{
	planes_add(*state);
	tree_add_port(*state, "b_smi", 2);
	tree_set_port(*state, "b_smi", 1, "state", DOWN);
	pair_of_is("a_gsi", 0, "b_smi", 1, "a_gsi", 1);
	pair_of_is("b_smi", 0, "b_smi", 2, "a_gsi", 2);
	pair_of_is("b_smi", 1, "b_smi", 1, "a_gsi", 2);
	no_pair_of("a_gsi", 2, 0);
	no_pair_of("b_smi", 3, 0);
	no_pair_of("c", 0, 0);
}

/*
 * A pair whose ports are ARMED counts as up: a subnet manager uses ports that
 * are not active yet.
 */
static void without_name_the_first_pair_that_is_up_is_taken(void **state)
{
	device_add(*state, "a", 1);
	device_add(*state, "b", 2);
	tree_add_port(*state, "b", 2);
	tree_set_port(*state, "a", 1, "state", DOWN);
	tree_set_port(*state, "b", 1, "state", DOWN);
	tree_set_port(*state, "b", 2, "state", ARMED);
	pair_of_is(NULL, 0, "b", 2, "b", 2);
	pair_of_is(NULL, 2, "b", 2, "b", 2);
	no_pair_of(NULL, 1, 0);
	tree_set_port(*state, "b", 2, "state", DOWN);
	no_pair_of(NULL, 0, 0);
}

/* If the only port of a device is down, the pair qualifies only if the port has
 * number 1. */
static void only_port_that_is_not_number_one_must_be_up(void **state)
{
	const struct tree *tree = *state;
	char from[256];
	char to[256];

	device_add(tree, "a", 1);
	snprintf(from, sizeof(from), "%s/class/infiniband/a/ports/1",
		 tree->path);
	snprintf(to, sizeof(to), "%s/class/infiniband/a/ports/2", tree->path);
	assert_int_equal(rename(from, to), 0);
	pair_of_is("a", 0, "a", 2, "a", 2);
	tree_set_port(tree, "a", 2, "state", DOWN);
	no_pair_of("a", 0, 0);
	pair_of_is("a", 2, "a", 2, "a", 2);
}

static void named_port_may_be_down(void **state)
{
	planes_add(*state);
	device_add(*state, "c", 2);
	tree_add_port(*state, "c", 2);
	tree_set_port(*state, "a_gsi", 1, "state", DOWN);
	tree_set_port(*state, "b_smi", 1, "state", DOWN);
	tree_set_port(*state, "c", 1, "state", DOWN);
	tree_set_port(*state, "c", 2, "state", DOWN);
	pair_of_is("a_gsi", 0, "b_smi", 0, "a_gsi", 1);
	pair_of_is("c", 2, "c", 2, "c", 2);
	no_pair_of("c", 0, 0);
	no_pair_of(NULL, 0, 0);
	tree_set_port(*state, "b_smi", 1, "state", ARMED);
	pair_of_is(NULL, 0, "b_smi", 1, "a_gsi", 1);
}

static void pair_print(FILE *out, const struct umad_ca_pair *pair)
{
	fprintf(out, "smi %s %u gsi %s %u\n", pair->smi_name,
		pair->smi_preferred_port, pair->gsi_name,
		pair->gsi_preferred_port);
}

static void pairs_print(FILE *out)
{
	static const char *const names[] = { NULL,     "mlx5_0", "smi1",
					     "mlx5_1", "smi2",	 "mlx5_2" };
	struct umad_ca_pair pairs[ROOM];
	const int count = umad_get_smi_gsi_pairs(pairs, ROOM);

	fprintf(out, "%d\n", count);
	for (int i = 0; i < count; i++)
		pair_print(out, &pairs[i]);
	for (unsigned int i = 0; i < 6 * 3 * 2; i++) {
		const char *name = names[i / 6];
		const uint8_t port = (uint8_t)(i / 2 % 3);
		int err = umad_get_smi_gsi_pair_by_ca_name(name, port, pairs,
							   i % 2);

		fprintf(out, "%s %u %u: %d%s", name ? name : "-", port, i % 2,
			err, err ? "\n" : " ");
		if (!err)
			pair_print(out, pairs);
	}
}

/* Adapters of two planes, whose SMI device has a port for each. */
static void pairs_of_planes_equal_those_of_libibumad(void **state)
{
	FILE *file = fopen(DATA "/sysfs/expected/planar_xdr.pairs.txt", "r");
	char expected[8192] = "";
	char *seen;
	size_t size;
	FILE *out = open_memstream(&seen, &size);

	(void)state;
	assert_non_null(file);
	assert_non_null(out);
	assert_true(fread(expected, 1, sizeof(expected) - 1, file) > 0);
	fclose(file);
	setenv("SYSFS_PATH", DATA "/sysfs/planar_xdr/sys", 1);
	pairs_print(out);
	fclose(out);
	assert_string_equal(seen, expected);
	free(seen);
	unsetenv("SYSFS_PATH");
}

#define ON_A_TREE(name) \
	cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(device_alone_is_both_sides),
		ON_A_TREE(device_without_smi_alone_is_gsi),
		ON_A_TREE(devices_of_one_guid_are_a_pair),
		ON_A_TREE(last_of_a_kind_is_taken),
		ON_A_TREE(devices_with_smi_alone_have_no_other_side),
		ON_A_TREE(guid_of_two_ports_of_a_device_is_shared),
		ON_A_TREE(device_without_room_joins_a_pair),
		ON_A_TREE(devices_without_guid_or_room_are_left_out),
		ON_A_TREE(no_more_pairs_than_there_is_room_for),
		ON_A_TREE(without_modules_there_are_no_pairs),
		ON_A_TREE(either_name_leads_to_the_pair),
		ON_A_TREE(without_name_the_first_pair_that_is_up_is_taken),
		ON_A_TREE(only_port_that_is_not_number_one_must_be_up),
		ON_A_TREE(named_port_may_be_down),
		cmocka_unit_test(pairs_of_planes_equal_those_of_libibumad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
