/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GID tables under libibverbs' names by the kernel's commands: results, and
 * when the files are read instead. Each test has a device of its own name,
 * since the driver of a device is found out once.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/verbs.h>

#include "test/support/device_tree.h"
#include "test/verbs/kernel.h"
#include "verbs/context_state.h"

enum { ROOM = 8, MANY = 4096 };

#define GID_V4 "0000:0000:0000:0000:0000:ffff:0a00:0001\n"

static const struct ibv_gid_entry untouched = { .gid_index = 77 };

static void entry_is(const struct ibv_gid_entry *entry,
		     const struct ibv_gid_entry *wanted)
{
	assert_memory_equal(entry, wanted, sizeof(*entry));
}

static void entry_fails(struct ibv_context *context, uint32_t port,
			uint32_t index, uint32_t flags, int err)
{
	struct ibv_gid_entry entry = untouched;

	assert_int_equal(ibsa_query_gid_ex(context, port, index, &entry, flags),
			 err);
	entry_is(&entry, &untouched);
	assert_int_equal(_ibv_query_gid_ex(context, port, index, &entry, flags,
					   sizeof(entry)),
			 err);
	entry_is(&entry, &untouched);
}

static void table_fails(struct ibv_context *context, size_t room,
			uint32_t flags, int err)
{
	struct ibv_gid_entry entries[ROOM];

	assert_true(room <= ROOM);
	assert_int_equal(ibsa_query_gid_table(context, entries, room, flags),
			 err);
	assert_int_equal(_ibv_query_gid_table(context, entries, room, flags,
					      sizeof(*entries)),
			 err);
}

static void entry_is_the_kernel_s(void **state)
{
	struct ibv_gid_entry entry;
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "entry");
	for (size_t i = 0; i < kernel.count; i++) {
		const struct ibv_gid_entry *want = &kernel.entries[i];

		assert_int_equal(ibsa_query_gid_ex(&foreign.context,
						   want->port_num,
						   want->gid_index, &entry, 0),
				 0);
		entry_is(&entry, want);
	}
	assert_int_equal(kernel.commands, kernel.count);
	assert_int_equal(kernel.driver_queries, 1);
}

static void errors_of_an_entry_are_the_kernel_s(void **state)
{
	static const int errors[] = { EIO, EPERM, EFAULT, ENOMEM };
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "entry-errors");
	entry_fails(&foreign.context, 1, 1, 0, ENODATA);
	entry_fails(&foreign.context, 1, kernel.table_len, 0, EINVAL);
	entry_fails(&foreign.context, 1, UINT32_MAX, 0, EINVAL);
	entry_fails(&foreign.context, 0, 0, 0, EINVAL);
	entry_fails(&foreign.context, 3, 0, 0, EINVAL);
	entry_fails(&foreign.context, 257, 0, 0, EINVAL);
	entry_fails(&foreign.context, 1, 0, 1, EINVAL);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		kernel.fails = errors[i];
		entry_fails(&foreign.context, 1, 0, 0, errors[i]);
		table_fails(&foreign.context, ROOM, 0, -errors[i]);
	}
}

static void table_is_the_kernel_s(void **state)
{
	struct ibv_gid_entry entries[ROOM];
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "table");
	for (size_t room = kernel.count; room <= ROOM; room++) {
		memset(entries, 0xa5, sizeof(entries));
		assert_int_equal(ibsa_query_gid_table(&foreign.context, entries,
						      room, 0),
				 kernel.count);
		assert_memory_equal(entries, kernel.entries,
				    kernel.count * sizeof(*entries));
	}
	/* One command each, whatever the table's length. */
	assert_int_equal(kernel.commands, ROOM - kernel.count + 1);
	kernel.count = 0;
	assert_int_equal(ibsa_query_gid_table(&foreign.context, entries, 1, 0),
			 0);
}

static void errors_of_the_table_are_the_kernel_s(void **state)
{
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "table-errors");
	table_fails(&foreign.context, kernel.count - 1, 0, -EINVAL);
	table_fails(&foreign.context, 0, 0, -EINVAL);
	table_fails(&foreign.context, ROOM, 1, -EINVAL);
	kernel.count = 0;
	table_fails(&foreign.context, 0, 0, -EINVAL);
}

static void entries_may_be_larger_or_smaller(void **state)
{
	struct {
		struct ibv_gid_entry known;
		uint8_t more[8];
	} large[ROOM];
	uint8_t small[ROOM][20];
	static const uint8_t zero[8];
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "sizes");
	memset(large, 0xa5, sizeof(large));
	assert_int_equal(_ibv_query_gid_ex(&foreign.context, 1, 3,
					   &large[7].known, 0, sizeof(*large)),
			 0);
	entry_is(&large[7].known, &kernel.entries[1]);
	assert_memory_equal(large[7].more, zero, sizeof(zero));
	assert_int_equal(_ibv_query_gid_table(&foreign.context, &large->known,
					      ROOM, 0, sizeof(*large)),
			 3);
	assert_int_equal(_ibv_query_gid_table(&foreign.context, (void *)small,
					      ROOM, 0, sizeof(*small)),
			 3);
	for (size_t i = 0; i < 3; i++) {
		entry_is(&large[i].known, &kernel.entries[i]);
		assert_memory_equal(large[i].more, zero, sizeof(zero));
		assert_memory_equal(small[i], &kernel.entries[i],
				    sizeof(*small));
	}
}

static void wrong_entry_sizes_are_refused(void **state)
{
	struct ibv_gid_entry entries[ROOM];
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "no-size");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(_ibv_query_gid_ex(&foreign.context, 1, 0,
						   entries, 0, 31),
				 EINVAL);
		assert_int_equal(_ibv_query_gid_ex(&foreign.context, 1, 0,
						   entries, 0, 0),
				 EINVAL);
		assert_int_equal(_ibv_query_gid_table(&foreign.context, entries,
						      ROOM, 0, 0),
				 -EINVAL);
		/* In the second round, the device files are read. */
		kernel.fails = ENOTTY;
	}
	kernel.fails = 0;
	assert_int_equal(_ibv_query_gid_ex(&foreign.context, 1, 0, entries, 0,
					   (size_t)UINT16_MAX + 1),
			 EINVAL);
}

static void driver_is_queried_once(void **state)
{
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "once");
	for (int i = 0; i < 3; i++)
		entry_fails(&foreign.context, 1, 1, 0, ENODATA);
	assert_int_equal(kernel.driver_queries, 1);
}

/*
 * After EINVAL, the driver number is queried again: another device may have
 * come with the name.
 */
static void rejected_driver_is_queried_again(void **state)
{
	struct ibv_gid_entry entry;
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "again");
	assert_int_equal(ibsa_query_gid_ex(&foreign.context, 1, 0, &entry, 0),
			 0);
	kernel.driver = 5;
	kernel.needs = 5;
	assert_int_equal(ibsa_query_gid_ex(&foreign.context, 1, 0, &entry, 0),
			 0);
	entry_is(&entry, &kernel.entries[0]);
	assert_int_equal(kernel.driver_queries, 2);
	assert_int_equal(ibsa_query_gid_ex(&foreign.context, 1, 0, &entry, 0),
			 0);
	assert_int_equal(kernel.driver_queries, 2);
}

/*
 * Make a tree whose GID table has one IPv4 entry, which the simulated kernel
 * does not have.
 */
static void tree_with_files(struct tree *tree, const char *device)
{
	tree_make(tree);
	tree_add_device(tree, device);
	tree_set_port(tree, device, 1, "link_layer", "Ethernet\n");
	tree_set_port(tree, device, 1, "gids/0",
		      "0000:0000:0000:0000:0000:0000:0000:0000\n");
	tree_set_port(tree, device, 1, "gids/1", GID_V4);
	tree_set_port(tree, device, 1, "gid_attrs/types/1", "RoCE v2\n");
	tree_set_port(tree, device, 1, "gid_attrs/ndevs/1", "lo\n");
}

/*
 * Check that entry and table equal those of the device files, and so do the
 * errors.
 */
static void files_are_read(struct ibv_context *context)
{
	const struct ibv_gid_entry want = {
		.gid = { .raw = { [10] = 0xff, 0xff, 10, 0, 0, 1 } },
		.gid_index = 1,
		.port_num = 1,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
		.ndev_ifindex = 1, /* lo */
	};
	struct ibv_gid_entry entries[ROOM];

	assert_int_equal(ibsa_query_gid_ex(context, 1, 1, entries, 0), 0);
	entry_is(entries, &want);
	memset(entries, 0xa5, sizeof(entries));
	assert_int_equal(ibsa_query_gid_table(context, entries, 1, 0), 1);
	entry_is(entries, &want);
	entry_fails(context, 1, 0, 0, ENODATA);
	entry_fails(context, 1, 2, 0, EINVAL);
	entry_fails(context, 0, 1, 0, EINVAL);
	entry_fails(context, 2, 1, 0, EINVAL);
	entry_fails(context, 257, 1, 0, EINVAL);
	entry_fails(context, 1, 1, 1, EOPNOTSUPP);
	table_fails(context, 1, 1, -EOPNOTSUPP);
	table_fails(context, 0, 0, -EINVAL);
}

static void files_are_read_without_the_command(void **state)
{
	static const int errors[] = { ENOTTY, EPROTONOSUPPORT };
	struct foreign foreign;
	struct tree tree;

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		kernel_reset(&foreign, "no-command");
		kernel.fails = errors[i];
		tree_with_files(&tree, "no-command");
		files_are_read(&foreign.context);
		assert_true(kernel.commands > 0);
		ibsa__context_state_end(&foreign.context);
		tree_remove(&tree);
	}
}

static void files_are_read_without_the_driver(void **state)
{
	static const struct {
		int err;
		const char *device;
		bool is_asked_again;
	} cases[] = {
		{ -ELIBACC, "no-libnl", false },
		{ -ENODATA, "no-driver-id", false },
		{ -ENOMEM, "no-memory", true },
	};
	struct foreign foreign;
	struct tree tree;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kernel_reset(&foreign, cases[i].device);
		kernel.driver_err = cases[i].err;
		tree_with_files(&tree, cases[i].device);
		files_are_read(&foreign.context);
		assert_int_equal(kernel.commands, 0);
		assert_int_equal(kernel.driver_queries > 1,
				 cases[i].is_asked_again);
		tree_remove(&tree);
	}
}

/*
 * The kernel reads the length of the buffer from 16 bits, where that of MANY
 * entries would be 0. The library passes less, and the three entries are found.
 */
static void more_room_than_a_command_takes_is_accepted(void **state)
{
	static struct ibv_gid_entry entries[MANY];
	struct foreign foreign;
	struct tree tree;

	(void)state;
	kernel_reset(&foreign, "room");
	tree_with_files(&tree, "room");
	assert_int_equal(
		ibsa_query_gid_table(&foreign.context, entries, MANY, 0), 3);
	kernel.fails = EINVAL;
	assert_int_equal(
		ibsa_query_gid_table(&foreign.context, entries, MANY, 0), 1);
	assert_int_equal(ibsa_query_gid_table(&foreign.context, entries, MANY,
					      1),
			 -EINVAL);
	tree_remove(&tree);
}

static void device_without_files_is_gone(void **state)
{
	struct foreign foreign;
	struct tree tree;

	(void)state;
	kernel_reset(&foreign, "gone");
	kernel.fails = ENOTTY;
	tree_make(&tree);
	tree_add_device(&tree, "another");
	entry_fails(&foreign.context, 1, 0, 0, EIO);
	table_fails(&foreign.context, ROOM, 0, -EIO);
	tree_remove(&tree);
}

static void table_of_files_is_by_port_and_index(void **state)
{
	struct ibv_gid_entry entries[ROOM];
	struct foreign foreign;
	struct tree tree;

	(void)state;
	kernel_reset(&foreign, "ports");
	kernel.fails = EPROTONOSUPPORT;
	tree_with_files(&tree, "ports");
	tree_add_port(&tree, "ports", 2);
	tree_add_port(&tree, "ports", 10);
	tree_set_port(&tree, "ports", 1, "gids/10", GID_V4);
	tree_set_port(&tree, "ports", 1, "gids/9", GID_V4);
	tree_set_port(&tree, "ports", 1, "gid_attrs/types/9", "IB/RoCE v1\n");
	tree_set_port(&tree, "ports", 1, "gid_attrs/types/10", "RoCE v2\n");
	/*
	 * The tables of port 0 of a switch, and files that are not entries, are
	 * left out.
	 */
	tree_add_port(&tree, "ports", 0);
	tree_set_port(&tree, "ports", 1, "gids/x", "nonsense");
	assert_int_equal(
		ibsa_query_gid_table(&foreign.context, entries, ROOM, 0), 5);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(entries[i].gid_index, i ? 8 + i : 1);
	assert_int_equal(entries[1].gid_type, IBV_GID_TYPE_ROCE_V1);
	assert_int_equal(entries[3].port_num, 2);
	assert_int_equal(entries[4].port_num, 10);
	assert_int_equal(ibsa_query_gid_table(&foreign.context, entries, 5, 0),
			 5);
	table_fails(&foreign.context, 4, 0, -EINVAL);
	/* An entry of unknown type. */
	tree_set_port(&tree, "ports", 1, "gid_attrs/types/9", "RoCE v3\n");
	entry_fails(&foreign.context, 1, 9, 0, EINVAL);
	table_fails(&foreign.context, ROOM, 0, -EINVAL);
	tree_remove(&tree);
}

static void empty_table_of_files_needs_no_room(void **state)
{
	struct foreign foreign;
	struct tree tree;

	(void)state;
	kernel_reset(&foreign, "empty");
	kernel.fails = ENOTTY;
	tree_make(&tree);
	tree_add_device(&tree, "empty");
	tree_set_port(&tree, "empty", 1, "gids/0",
		      "0000:0000:0000:0000:0000:0000:0000:0000\n");
	tree_set_port(&tree, "empty", 1, "gid_attrs/types/0", "nonsense\n");
	table_fails(&foreign.context, 0, 0, 0);
	tree_remove(&tree);
}

static void context_without_a_file_is_refused(void **state)
{
	struct foreign foreign;
	struct tree tree;

	(void)state;
	kernel_reset(&foreign, "no-file");
	foreign.context.cmd_fd = -1;
	tree_with_files(&tree, "no-file");
	entry_fails(&foreign.context, 1, 1, 0, EINVAL);
	table_fails(&foreign.context, ROOM, 0, -EINVAL);
	tree_remove(&tree);
}

/*
 * Call the functions like a program that is built with rdma-core's header
 * alone.
 */
static void names_of_the_header_are_ours(void **state)
{
	struct ibv_gid_entry entries[ROOM];
	struct foreign foreign;

	(void)state;
	kernel_reset(&foreign, "header");
	assert_int_equal(ibv_query_gid_ex(&foreign.context, 1, 3, entries, 0),
			 0);
	entry_is(entries, &kernel.entries[1]);
	assert_int_equal(
		ibv_query_gid_table(&foreign.context, entries, ROOM, 0), 3);
	assert_int_equal(kernel.commands, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_is_the_kernel_s),
		cmocka_unit_test(errors_of_an_entry_are_the_kernel_s),
		cmocka_unit_test(table_is_the_kernel_s),
		cmocka_unit_test(errors_of_the_table_are_the_kernel_s),
		cmocka_unit_test(entries_may_be_larger_or_smaller),
		cmocka_unit_test(wrong_entry_sizes_are_refused),
		cmocka_unit_test(driver_is_queried_once),
		cmocka_unit_test(rejected_driver_is_queried_again),
		cmocka_unit_test(files_are_read_without_the_command),
		cmocka_unit_test(files_are_read_without_the_driver),
		cmocka_unit_test(more_room_than_a_command_takes_is_accepted),
		cmocka_unit_test(device_without_files_is_gone),
		cmocka_unit_test(table_of_files_is_by_port_and_index),
		cmocka_unit_test(empty_table_of_files_needs_no_room),
		cmocka_unit_test(context_without_a_file_is_refused),
		cmocka_unit_test(names_of_the_header_are_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
