/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts of ibsa_verbs_open(): in trees like /sys, and on the embedded
 * fabric.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/types.h>
#include <ibsa/fabric.h>
#include <ibsa/verbs.h>

#include "test/support/child.h"
#include "test/support/device_tree.h"

enum { ROOM = 16 };

static void type_print(FILE *out, const struct ibv_gid_entry *entry)
{
	static const char *const types[] = { "IB", "ROCE_V1", "ROCE_V2" };
	char name[IF_NAMESIZE] = "-";

	for (size_t i = 0; i < sizeof(entry->gid); i++)
		fprintf(out, "%02x", entry->gid.raw[i]);
	if (entry->ndev_ifindex)
		assert_non_null(if_indextoname(entry->ndev_ifindex, name));
	fprintf(out, " %s %s\n", types[entry->gid_type], name);
}

/* Print port 1, entries 0 to 15, in the form of the expected files. */
static void entries_print(FILE *out, struct ibv_context *context)
{
	for (uint32_t index = 0; index < 16; index++) {
		struct ibv_gid_entry entry;
		int err = ibsa_query_gid_ex(context, 1, index, &entry, 0);

		fprintf(out, "%s %u: ", context->device->name, index);
		if (err) {
			assert_true(err == ENODATA || err == EINVAL);
			fprintf(out, "%s\n",
				err == ENODATA ? "ENODATA" : "EINVAL");
			continue;
		}
		assert_int_equal(entry.gid_index, index);
		assert_int_equal(entry.port_num, 1);
		type_print(out, &entry);
	}
}

/* The table has the same entries as the single queries for the port. */
static void table_is_the_entries(struct ibv_context *context)
{
	struct ibv_gid_entry entries[ROOM];
	ssize_t count = ibsa_query_gid_table(context, entries, ROOM, 0);
	ssize_t found = 0;

	for (uint32_t index = 0; index < ROOM; index++) {
		struct ibv_gid_entry entry;
		int err = ibsa_query_gid_ex(context, 1, index, &entry, 0);

		if (err)
			continue;
		assert_true(found < count);
		assert_memory_equal(&entry, &entries[found++], sizeof(entry));
	}
	assert_int_equal(found, count);
}

static struct ibv_context *device_open(const char *device)
{
	const struct ibsa_options options = { .device = device };
	struct ibsa_error error = { .text = "" };
	struct ibv_context *context = NULL;
	int err = ibsa_verbs_open(&options, &error, &context);

	if (err)
		fail_msg("%s: %d, %s", device, err, error.text);
	assert_string_equal(context->device->name, device);
	assert_int_equal(context->cmd_fd, -1);
	return context;
}

static void expected_read(const char *tree, char *out, size_t size)
{
	char path[256];
	FILE *in;

	snprintf(path, sizeof(path), DATA "/sysfs/expected/%s.gid.txt", tree);
	in = fopen(path, "r");
	assert_non_null(in);
	out[fread(out, 1, size - 1, in)] = '\0';
	fclose(in);
}

/*
 * @device: one or two devices of the tree. libibverbs finds no port 2 in any
 * tree.
 */
static void matches_libibverbs(const char *tree, const char *const *device)
{
	char expected[8192];
	char path[256];
	char *seen;
	size_t size;
	FILE *out = open_memstream(&seen, &size);

	snprintf(path, sizeof(path), DATA "/sysfs/%s/sys", tree);
	setenv("SYSFS_PATH", path, 1);
	for (; *device; device++) {
		struct ibv_context *context = device_open(*device);
		struct ibv_gid_entry entry;

		entries_print(out, context);
		assert_int_equal(context->device->node_type, IBV_NODE_CA);
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(ibsa_query_gid_ex(context, 2, i,
							   &entry, 0),
					 EINVAL);
		if (strcmp(tree, "gid_holes") != 0)
			table_is_the_entries(context);
		assert_int_equal(ibsa_verbs_close(context), 0);
	}
	fclose(out);
	unsetenv("SYSFS_PATH");
	expected_read(tree, expected, sizeof(expected));
	assert_string_equal(seen, expected);
	free(seen);
}

static void trees_are_read_as_libibverbs_reads_them(void **state)
{
	static const char *const mlx5[] = { "mlx5_0", "mlx5_1", NULL };
	static const char *const rxe[] = { "rxe_eth0", NULL };
	static const char *const holes[] = { "rxe1", NULL };
	static const char *const one[] = { "mlx5_0", NULL };

	(void)state;
	matches_libibverbs("ib_one_port", one);
	matches_libibverbs("two_devices", mlx5);
	matches_libibverbs("roce_rxe", rxe);
	matches_libibverbs("gid_holes", holes);
}

static int open_err(const struct ibsa_options *options, const char *text)
{
	struct ibsa_error error = { .text = "" };
	struct ibv_context *context = NULL;
	int err = ibsa_verbs_open(options, &error, &context);

	assert_null(context);
	if (!strstr(error.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, error.text);
	return err;
}

static void missing_devices_are_not_opened(void **state)
{
	const struct ibsa_options unknown = { .device = "nosuch" };
	const struct ibsa_options lost = { .fabric = "/nosuch.net" };
	const struct ibsa_options no_node = { .fabric = FABRIC,
					      .device = "nosuch" };
	struct tree tree;

	(void)state;
	tree_make(&tree);
	assert_int_equal(open_err(&unknown, "no sysfs"), -ENOSYS);
	tree_write(&tree, "class/net/", "");
	assert_int_equal(open_err(&unknown, "not loaded"), -ENOSYS);
	tree_write(&tree, "class/infiniband/", "");
	assert_int_equal(open_err(&unknown, "no device nosuch"), -ENODEV);
	assert_int_equal(open_err(NULL, ""), -ENODEV);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "state", "1: DOWN\n");
	assert_int_equal(open_err(NULL, "mlx5_0"), -ENETDOWN);
	assert_int_equal(open_err(&lost, "/nosuch.net"), -ENOENT);
	assert_int_equal(open_err(&no_node, "nosuch"), -ENODEV);
	tree_remove(&tree);
}

static void options_for_one_port_are_refused(void **state)
{
	struct ibsa_transport transport = { .ops = NULL };
	struct ibv_context context = { .cmd_fd = -1 };
	const struct ibsa_options wrong[] = {
		{ .fabric = FABRIC, .port = 1 },
		{ .fabric = FABRIC, .transport = &transport },
		{ .fabric = FABRIC, .context = &context },
	};
	const struct ibsa_options window = { .fabric = FABRIC,
					     .window = 1u << 30 };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(open_err(&wrong[i], "whole device"), -EINVAL);
	assert_int_equal(open_err(&window, "window"), -EINVAL);
}

static void nodes_of_a_fabric_have_tables(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC,
					      .device = "node2" };
	struct ibv_gid_entry entries[ROOM];
	struct ibv_gid_entry entry;
	struct ibv_context *context;

	(void)state;
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	assert_string_equal(context->device->name, "node2");
	assert_int_equal(context->device->node_type, IBV_NODE_CA);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	assert_int_equal(ibsa_be64(entry.gid.raw), 0xfe80000000000000);
	assert_int_equal(entry.gid_type, IBV_GID_TYPE_IB);
	assert_int_equal(entry.port_num, 1);
	assert_int_equal(ibsa_query_gid_table(context, entries, ROOM, 0), 1);
	assert_memory_equal(entries, &entry, sizeof(entry));
	assert_int_equal(ibsa_query_gid_ex(context, 1, 1, &entry, 0), ENODATA);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 1000, &entry, 0),
			 EINVAL);
	assert_int_equal(ibsa_query_gid_ex(context, 0, 0, &entry, 0), EINVAL);
	assert_int_equal(ibsa_query_gid_ex(context, 2, 0, &entry, 0), EINVAL);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 1),
			 EOPNOTSUPP);
	assert_int_equal(ibsa_query_gid_table(context, entries, 0, 0), -EINVAL);
	assert_int_equal(ibsa_query_gid_table(context, entries, 1, 1),
			 -EOPNOTSUPP);
	assert_int_equal(ibsa_verbs_close(context), 0);
}

/* node1 has two ports, of which the second has no link. */
static const char two_ports[] = "Switch 2 \"S-1\"\n"
				"[1] \"H-10\"[1]\n"
				"Ca 2 \"H-10\" # \"node1\"\n"
				"[1](11) \"S-1\"[1]\n";

static void fabric_that_is_loaded_serves_a_context(void **state)
{
	struct ibsa_options options = { .device = NULL };
	struct ibv_gid_entry entries[ROOM];
	struct ibsa_error error = { .text = "" };
	struct ibsa_fabric *fabric = NULL;
	struct ibv_context *context;

	(void)state;
	if (ibsa_fabric_parse(two_ports, strlen(two_ports), NULL, &error,
			      &fabric))
		fail_msg("%s", error.text);
	options.on = fabric;
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	assert_string_equal(context->device->name, "node1");
	assert_int_equal(ibsa_query_gid_table(context, entries, ROOM, 0), 1);
	assert_int_equal(ibsa_be64(entries[0].gid.raw + 8), 0x11);
	assert_int_equal(ibsa_query_gid_ex(context, 2, 0, entries, 0), ENODATA);
	assert_int_equal(ibsa_verbs_close(context), 0);
	ibsa_fabric_put(fabric);
}

/*
 * The environment when the context was opened counts, not a later change of it.
 */
static void device_stays_a_device(void **state)
{
	struct ibv_gid_entry entry;
	struct ibv_context *context;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "node1");
	context = device_open("node1");
	setenv("IBSA_FABRIC", FABRIC, 1);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	assert_int_equal(ibsa_be64(entry.gid.raw + 8), 0x2c90300000001);
	assert_int_equal(ibsa_verbs_close(context), 0);
	unsetenv("IBSA_FABRIC");
	tree_remove(&tree);
}

static void long_name_is_cut_in_the_context(void **state)
{
	static const char name[] = "a-name-of-sixty-six-characters-that-no-"
				   "kernel-gives-but-sysfs-might";
	const struct ibsa_options options = { .device = name };
	struct ibv_context *context;
	struct ibv_gid_entry entry;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, name);
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	assert_int_equal(strlen(context->device->name), IBV_SYSFS_NAME_MAX - 1);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	assert_int_equal(ibsa_verbs_close(context), 0);
	tree_remove(&tree);
}

static void async_fd_is_quiet_and_is_closed(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct ibv_context *context;
	struct pollfd fd = { .events = POLLIN };

	(void)state;
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	fd.fd = context->async_fd;
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(ibsa_verbs_close(context), 0);
	assert_int_equal(fcntl(fd.fd, F_GETFD), -1);
}

static void foreign_contexts_are_not_closed(void **state)
{
	struct ibv_context foreign = { .cmd_fd = 3 };

	(void)state;
	assert_int_equal(ibsa_verbs_close(NULL), 0);
	assert_int_equal(ibsa_verbs_close(&foreign), -EINVAL);
	foreign.cmd_fd = -1;
	assert_int_equal(ibsa_verbs_close(&foreign), -EINVAL);
}

/* Closing a closed context fails, and does not read its memory. */
static void closed_contexts_are_not_closed_again(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct ibv_context *context;

	(void)state;
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	assert_int_equal(ibsa_verbs_close(context), 0);
	assert_int_equal(ibsa_verbs_close(context), -EINVAL);
}

/*
 * Calls of a child on its parent's context fail: they must not use locks and
 * files of the parent.
 */
static void child_does_not_have_its_parent_s_contexts(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct ibv_context *context;
	struct ibv_gid_entry entry;
	pid_t pid;

	(void)state;
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	pid = fork();
	if (!pid)
		_exit(ibsa_query_gid_ex(context, 1, 0, &entry, 0) == EINVAL &&
				      ibsa_verbs_close(context) == -EINVAL
			      ? 0
			      : 1);
	child_end(pid);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	assert_int_equal(ibsa_verbs_close(context), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_are_read_as_libibverbs_reads_them),
		cmocka_unit_test(missing_devices_are_not_opened),
		cmocka_unit_test(options_for_one_port_are_refused),
		cmocka_unit_test(nodes_of_a_fabric_have_tables),
		cmocka_unit_test(fabric_that_is_loaded_serves_a_context),
		cmocka_unit_test(device_stays_a_device),
		cmocka_unit_test(long_name_is_cut_in_the_context),
		cmocka_unit_test(async_fd_is_quiet_and_is_closed),
		cmocka_unit_test(foreign_contexts_are_not_closed),
		cmocka_unit_test(closed_contexts_are_not_closed_again),
		cmocka_unit_test(child_does_not_have_its_parent_s_contexts),
	};

	unsetenv("IBSA_FABRIC");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
