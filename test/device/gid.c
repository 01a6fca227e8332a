/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GID tables in sysfs: copies of real trees, and trees made by the test. */
#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "device/device.h"
#include "test/support/device_now.h"
#include "test/support/device_tree.h"

#define GID_ZERO "0000:0000:0000:0000:0000:0000:0000:0000\n"
#define GID_ONE "fe80:0000:0000:0000:0202:c9ff:fe00:0001\n"
#define GID_V4 "0000:0000:0000:0000:0000:ffff:c000:0201\n"

static const struct ibsa_gid gid_one = {
	.raw = { 0xfe, 0x80, [8] = 2, 2, 0xc9, 0xff, 0xfe, 0, 0, 1 },
};

/* Return: the name of the error of reading an entry: ENODATA or EINVAL. */
static const char *fault_name(int err)
{
	return err == -ENODATA ? "ENODATA" : "EINVAL";
}

static void entry_print(FILE *out, const struct ibsa_gid_entry *entry)
{
	static const char *const types[] = {
		[IBSA_GID_IB] = "IB",
		[IBSA_GID_ROCE_V1] = "ROCE_V1",
		[IBSA_GID_ROCE_V2] = "ROCE_V2",
	};
	char name[IF_NAMESIZE] = "-";

	for (size_t i = 0; i < sizeof(entry->gid); i++)
		fprintf(out, "%02x", entry->gid.raw[i]);
	if (entry->ifindex)
		assert_non_null(if_indextoname(entry->ifindex, name));
	fprintf(out, " %s %s\n", types[entry->type], name);
}

static void table_print(FILE *out, const char *device)
{
	for (uint32_t index = 0; index < 16; index++) {
		struct ibsa_gid_entry entry;
		int err = now_gid_read(device, 1, index, &entry);

		fprintf(out, "%s %u: ", device, index);
		if (err) {
			fprintf(out, "%s\n", fault_name(err));
			continue;
		}
		assert_int_equal(entry.index, index);
		entry_print(out, &entry);
	}
}

static void matches_libibverbs(const char *tree, const char *device)
{
	char expected[8192] = "";
	char path[256];
	char *seen;
	size_t size;
	FILE *out;
	FILE *in;

	snprintf(path, sizeof(path), DATA "/sysfs/%s/sys", tree);
	setenv("SYSFS_PATH", path, 1);
	out = open_memstream(&seen, &size);
	table_print(out, device);
	fclose(out);
	unsetenv("SYSFS_PATH");
	snprintf(path, sizeof(path), DATA "/sysfs/expected/%s.gid.txt", tree);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_true(fread(expected, 1, sizeof(expected) - 1, in) > 0);
	fclose(in);
	assert_string_equal(seen, expected);
	free(seen);
}

/* Trees of real kernels: the result equals libibverbs', which was recorded for
 * each. */
static void entries_equal_those_of_libibverbs(void **state)
{
	(void)state;
	matches_libibverbs("ib_one_port", "mlx5_0");
	matches_libibverbs("roce_rxe", "rxe_eth0");
	matches_libibverbs("gid_holes", "rxe1");
}

static void gid_set(const struct tree *tree, const char *gid, const char *type)
{
	tree_set_port(tree, "mlx5_0", 1, "gids/0", gid);
	tree_set_port(tree, "mlx5_0", 1, "gid_attrs/types/0", type);
}

static int read_err(void)
{
	const struct ibsa_gid_entry before = { .index = 77 };
	struct ibsa_gid_entry entry = before;
	int err = now_gid_read("mlx5_0", 1, 0, &entry);

	if (err)
		assert_memory_equal(&entry, &before, sizeof(entry));
	return err;
}

/* The type of the empty entry is invalid, so that reading it would fail. */
static void type_of_an_empty_entry_is_not_read(void **state)
{
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	gid_set(&tree, GID_ZERO, "nonsense\n");
	assert_int_equal(read_err(), -ENODATA);
	tree_remove(&tree);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		const char *gid;
		const char *type;
	} cases[] = {
		{ "", "RoCE v2\n" },
		{ "fe80::1\n", "RoCE v2\n" },
		{ "fe80:0000:0000:0000:0002:c903:0000\n", "RoCE v2\n" },
		{ GID_ONE, "" },
		{ GID_ONE, "\n" },
		{ GID_ONE, "RoCE v2 \n" },
		{ GID_ONE, "RoCE v2\n\n" },
		{ GID_ONE, " RoCE v2\n" },
		{ GID_ONE, "RoCE v3\n" },
		{ GID_ONE, "RoCE\n" },
		{ GID_ONE, "IB\n" },
		{ GID_ONE, "IB/RoCE v1x" },
	};
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gid_set(&tree, cases[i].gid, cases[i].type);
		assert_int_equal(read_err(), -EPROTO);
	}
	tree_remove(&tree);
}

static void type_that_others_have_must_not_be_missing(void **state)
{
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "gids/0", GID_ONE);
	tree_set_port(&tree, "mlx5_0", 1, "gid_attrs/types/1", "RoCE v2\n");
	assert_int_equal(read_err(), -EPROTO);
	/* Reading a directory fails for root, too. */
	tree_set_port(&tree, "mlx5_0", 1, "gid_attrs/types/0/x", "");
	assert_int_equal(read_err(), -EISDIR);
	tree_remove(&tree);
}

static int type_with_link(const struct tree *tree, const char *link_layer)
{
	struct ibsa_gid_entry entry;

	tree_set_port(tree, "mlx5_0", 1, "link_layer", link_layer);
	assert_int_equal(now_gid_read("mlx5_0", 1, 0, &entry), 0);
	assert_int_equal(entry.ifindex, 0);
	return entry.type;
}

static void assert_v1_by_link(const struct tree *tree)
{
	assert_int_equal(type_with_link(tree, "InfiniBand\n"), IBSA_GID_IB);
	assert_int_equal(type_with_link(tree, "Ethernet\n"), IBSA_GID_ROCE_V1);
	assert_int_equal(type_with_link(tree, "Unspecified\n"), IBSA_GID_IB);
}

static void first_version_is_told_apart_by_the_link(void **state)
{
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "gids/0", GID_ONE);
	/*
	 * On kernels before Linux 4.5, the directory of GID types does not
	 * exist.
	 */
	assert_v1_by_link(&tree);
	gid_set(&tree, GID_ONE, "IB/RoCE v1\n");
	assert_v1_by_link(&tree);
	gid_set(&tree, GID_ONE, "IB/RoCE v1");
	assert_v1_by_link(&tree);
	gid_set(&tree, GID_ONE, "RoCE v2\n");
	assert_int_equal(type_with_link(&tree, "InfiniBand\n"),
			 IBSA_GID_ROCE_V2);
	tree_set_port(&tree, "mlx5_0", 1, "link_layer", "Ethernet\n");
	assert_int_equal(type_with_link(&tree, "Ethernet\n"), IBSA_GID_ROCE_V2);
	tree_remove(&tree);
}

/* Reading the type fails as in the kernel for a GID without a type. The speed
 * of the loopback interface is a file with the same error on any machine. */
static void unreadable_type_is_version_1(void **state)
{
	static const char type[] = "class/infiniband/mlx5_0/ports/1/"
				   "gid_attrs/types/0";
	char path[256];
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	gid_set(&tree, GID_ONE, "");
	tree_remove_file(&tree, type);
	snprintf(path, sizeof(path), "%s/%s", tree.path, type);
	assert_int_equal(symlink("/sys/class/net/lo/speed", path), 0);
	assert_v1_by_link(&tree);
	tree_remove(&tree);
}

static void unknown_interface_is_zero(void **state)
{
	static const struct {
		const char *name;
		bool is_known;
	} cases[] = {
		{ "lo\n", true }, { "lo", true },  { "nosuchthing\n", false },
		{ "", false },	  { "\n", false }, { "lo \n", false },
	};
	struct ibsa_gid_entry entry;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	gid_set(&tree, GID_ONE, "RoCE v2\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tree_set_port(&tree, "mlx5_0", 1, "gid_attrs/ndevs/0",
			      cases[i].name);
		assert_int_equal(now_gid_read("mlx5_0", 1, 0, &entry), 0);
		assert_int_equal(entry.ifindex,
				 cases[i].is_known ? if_nametoindex("lo") : 0);
	}
	tree_remove(&tree);
}

static void missing_entry_port_or_device_is_enoent(void **state)
{
	struct ibsa_gid_entry entry;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	assert_int_equal(now_gid_read("mlx5_0", 1, 1, &entry), -ENOENT);
	assert_int_equal(now_gid_read("mlx5_0", 2, 0, &entry), -ENOENT);
	assert_int_equal(now_gid_read("mlx5_1", 1, 0, &entry), -ENOENT);
	assert_int_equal(now_gid_find("mlx5_0", 2, &gid_one, IBSA_GID_IB, 0,
				      &entry),
			 -ENOENT);
	assert_int_equal(now_gid_find("mlx5_1", 1, &gid_one, IBSA_GID_IB, 0,
				      &entry),
			 -ENOENT);
	tree_remove(&tree);
}

/* A table with two types of one GID, and empty, missing and invalid entries
 * before them. */
static void table_with_holes(struct tree *tree)
{
	tree_make(tree);
	tree_add_device(tree, "mlx5_0");
	tree_set_port(tree, "mlx5_0", 1, "link_layer", "Ethernet\n");
	gid_set(tree, GID_ZERO, "IB/RoCE v1\n");
	tree_set_port(tree, "mlx5_0", 1, "gids/1", "nonsense");
	tree_set_port(tree, "mlx5_0", 1, "gids/3", GID_ONE);
	tree_set_port(tree, "mlx5_0", 1, "gids/9", GID_ONE);
	tree_set_port(tree, "mlx5_0", 1, "gid_attrs/types/9", "IB/RoCE v1\n");
	tree_set_port(tree, "mlx5_0", 1, "gids/10", GID_ONE);
	tree_set_port(tree, "mlx5_0", 1, "gid_attrs/types/10", "RoCE v2\n");
	tree_set_port(tree, "mlx5_0", 1, "gid_attrs/ndevs/10", "lo\n");
	tree_set_port(tree, "mlx5_0", 1, "gids/11", GID_V4);
	tree_set_port(tree, "mlx5_0", 1, "gid_attrs/types/11", "RoCE v2\n");
	tree_set_port(tree, "mlx5_0", 1, "gids/x", GID_ONE);
}

static void gid_is_found_by_its_type_behind_holes(void **state)
{
	struct ibsa_gid_entry entry = { 0 };
	struct tree tree;

	(void)state;
	table_with_holes(&tree);
	assert_int_equal(now_gid_find("mlx5_0", 1, &gid_one, IBSA_GID_ROCE_V1,
				      0, &entry),
			 0);
	assert_int_equal(entry.index, 9);
	assert_int_equal(entry.type, IBSA_GID_ROCE_V1);
	assert_int_equal(now_gid_find("mlx5_0", 1, &gid_one, IBSA_GID_ROCE_V2,
				      0, &entry),
			 0);
	assert_int_equal(entry.index, 10);
	assert_int_equal(entry.ifindex, if_nametoindex("lo"));
	assert_memory_equal(&entry.gid, &gid_one, sizeof(gid_one));
	tree_remove(&tree);
}

static void missing_gid_is_not_found(void **state)
{
	static const struct ibsa_gid none;
	struct ibsa_gid_entry entry = { .index = 77 };
	struct ibsa_gid other = gid_one;
	struct tree tree;

	(void)state;
	other.raw[15]++;
	table_with_holes(&tree);
	assert_int_equal(now_gid_find("mlx5_0", 1, &other, IBSA_GID_ROCE_V2, 0,
				      &entry),
			 -ENOENT);
	assert_int_equal(now_gid_find("mlx5_0", 1, &gid_one, IBSA_GID_IB, 0,
				      &entry),
			 -ENOENT);
	assert_int_equal(now_gid_find("mlx5_0", 1, &none, IBSA_GID_ROCE_V1, 0,
				      &entry),
			 -ENOENT);
	assert_int_equal(entry.index, 77);
	tree_remove(&tree);
}

static uint8_t link_with(const struct tree *tree, const char *link_layer,
			 const char *uevent)
{
	struct ibsa_port_state state;
	enum ibsa_link_layer link;

	tree_set_port(tree, "mlx5_0", 1, "link_layer", link_layer);
	tree_write(tree, "class/infiniband/mlx5_0/device/uevent", uevent);
	assert_int_equal(now_port_read("mlx5_0", 1, &state), 0);
	assert_int_equal(now_link_read("mlx5_0", 1, &link), 0);
	assert_int_equal(state.link, link);
	assert_int_equal(state.needs_grh, link == IBSA_LINK_ETHERNET);
	return link;
}

static void omni_path_is_known_by_its_driver(void **state)
{
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	assert_int_equal(link_with(&tree, "InfiniBand\n",
				   "DRIVER=hfi1\nPCI_CLASS=20800\n"),
			 IBSA_LINK_OPA);
	assert_int_equal(link_with(&tree, "InfiniBand\n",
				   "PCI_CLASS=20800\nDRIVER=hfi1"),
			 IBSA_LINK_OPA);
	assert_int_equal(link_with(&tree, "InfiniBand\n",
				   "OLD_DRIVER=hfi1\nDRIVER=mlx5_core\n"),
			 IBSA_LINK_INFINIBAND);
	assert_int_equal(link_with(&tree, "InfiniBand\n", ""),
			 IBSA_LINK_INFINIBAND);
	assert_int_equal(link_with(&tree, "Ethernet\n", "DRIVER=hfi1\n"),
			 IBSA_LINK_ETHERNET);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_equal_those_of_libibverbs),
		cmocka_unit_test(type_of_an_empty_entry_is_not_read),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(type_that_others_have_must_not_be_missing),
		cmocka_unit_test(first_version_is_told_apart_by_the_link),
		cmocka_unit_test(unreadable_type_is_version_1),
		cmocka_unit_test(unknown_interface_is_zero),
		cmocka_unit_test(missing_entry_port_or_device_is_enoent),
		cmocka_unit_test(gid_is_found_by_its_type_behind_holes),
		cmocka_unit_test(missing_gid_is_not_found),
		cmocka_unit_test(omni_path_is_known_by_its_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
