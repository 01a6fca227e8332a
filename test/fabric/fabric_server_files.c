/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device files of a fabric server, one by one and as the text of its command
 * sysfs.
 */
#include "test/support/server_rig.h"

#include <errno.h>

#include <ibsa/server.h>

#include "remote/files.h"

static const char hosts[] = "Switch 4 \"S\"\n[1] \"a\"[1]\n[2] \"b\"[2]\n"
			    "Ca 1 \"a\" # \"gpu1 mlx5_0\"\n"
			    "Ca 2 \"b\" # \"gpu1 mlx5_2\"\n";

static int setup(void **state)
{
	*state = server_start(hosts);
	return 0;
}

static int teardown(void **state)
{
	server_stop(*state);
	return 0;
}

static void check_folder(struct device_files *files, const char *path,
			 const char *expected)
{
	struct ibsa__names names;
	char text[512] = "";

	assert_int_equal(ibsa__names_read(files, &names, "%s", path), 0);
	for (size_t i = 0; i < names.count; i++) {
		const size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s ", names.at[i]);
	}
	assert_string_equal(text, expected);
	ibsa__names_free(&names);
}

/* Tables, counters and the PCI device are in directories of their own. */
static void device_files_have_their_directories(void **state)
{
	static const char port[] = "class/infiniband/mlx5_2/ports/2";
	struct device_files *files;
	struct ibsa__file_text text;
	struct ibsa__names names;

	assert_int_equal(ibsa__remote_files_open(server_address(*state), NULL,
						 "gpu1", &files),
			 0);
	check_folder(files, "class/infiniband/mlx5_2",
		     "board_id device fw_ver hca_type hw_rev node_desc "
		     "node_guid node_type ports sys_image_guid ");
	check_folder(files, "class/infiniband/mlx5_2/device",
		     "class device modalias numa_node subsystem_device "
		     "subsystem_vendor uevent vendor ");
	check_folder(files, "class/infiniband/mlx5_2/ports/2",
		     "cap_mask counters gid_attrs gids lid lid_mask_count "
		     "link_layer phys_state pkeys rate sm_lid sm_sl state ");
	check_folder(files, "class/infiniband/mlx5_2/ports/2/gid_attrs",
		     "ndevs types ");
	assert_int_equal(ibsa__names_read(files, &names, "%s/counters", port),
			 0);
	assert_int_equal(names.count, 21);
	ibsa__names_free(&names);
	assert_int_equal(ibsa__file_read(files, &text, "%s/counters/%s", port,
					 "port_xmit_wait"),
			 0);
	assert_string_equal(text.bytes, "0\n");
	assert_int_equal(ibsa__file_read(files, &text, "%s/gid_attrs/types/1",
					 port),
			 -EINVAL);
	assert_int_equal(ibsa__file_read(files, &text, "%s/counters", port),
			 -ENOENT);
	assert_int_equal(ibsa__file_read(files, &text, "%s/counters/x", port),
			 -ENOENT);
	ibsa__files_put(files);
}

/* The command sysfs needs a number, and a node that exists. */
static void wrong_commands_are_refused(void **state)
{
	static const struct {
		const char *line;
		int err;
	} cases[] = {
		{ "sysfs", -EINVAL },
		{ "sysfs gpu1", -EINVAL },
		{ "sysfs -1 gpu1", -EINVAL },
		{ "sysfs 4294967296 a", -EINVAL },
		{ "sysfs 0 absent", -ENODEV },
		{ "sysfs 0 gpu1/x", -ENODEV },
		{ "sysfs 0 /1", 0 },
		{ "sysfs 9 gpu1", 0 },
	};
	char text[65536];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(ibsa_server_command(server_address(*state),
						     cases[i].line, text,
						     sizeof(text), NULL),
				 cases[i].err);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_files_have_their_directories),
		cmocka_unit_test(wrong_commands_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
