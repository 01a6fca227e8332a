/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device files of a fabric server, one by one and as the text of its command
 * sysfs.
 */
#include "test/support/server_rig.h"

#include <errno.h>
#include <sys/wait.h>

#include <ibsa/records.h>
#include <ibsa/server.h>

#include "device/device.h"
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

/* Whether the node type can be read. */
static bool type_is_read(struct device_files *files)
{
	struct ibsa__file_text text;

	return !ibsa__file_read(files, &text, "class/infiniband/mlx5_2/%s",
				"node_type") &&
	       !strcmp(text.bytes, "1: CA\n");
}

/* Return: how many connections the server has accepted so far. */
static uint64_t accepted(struct server_rig *server)
{
	struct ibsa_fabric_server_stats stats;

	ibsa_fabric_server_stats_get(server_pause(server), &stats);
	server_resume(server);
	return stats.accepted;
}

/*
 * A forked child that uses the files of its parent has a connection of its own,
 * on which no answers of the parent arrive.
 */
static void child_reads_files_by_its_own_connection(void **state)
{
	struct device_files *files;
	uint64_t before;
	pid_t child;
	int status;

	assert_int_equal(ibsa__remote_files_open(server_address(*state), NULL,
						 "gpu1", &files),
			 0);
	assert_true(type_is_read(files));
	before = accepted(*state);
	child = fork();
	if (!child)
		_exit(!type_is_read(files));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(accepted(*state), before + 1);
	assert_true(type_is_read(files));
	assert_int_equal(accepted(*state), before + 1);
	ibsa__files_put(files);
}

/* Programs find the verbs devices by their numbers, as in the rendered /sys. */
static void verbs_devices_have_names(void **state)
{
	struct device_files *files;
	struct ibsa__file_text text;

	assert_int_equal(ibsa__remote_files_open(server_address(*state), NULL,
						 "gpu1", &files),
			 0);
	check_folder(files, "class/infiniband_verbs", "uverbs0 uverbs1 ");
	assert_int_equal(
		ibsa__file_read(files, &text, "%s",
				"class/infiniband_verbs/uverbs1/ibdev"),
		0);
	assert_string_equal(text.bytes, "mlx5_2\n");
	for (size_t i = 0; i < 3; i++) {
		static const char *const absent[] = { "uverbs2/ibdev",
						      "uverbs1/dev", "x" };

		assert_int_equal(ibsa__file_read(files, &text,
						 "class/infiniband_verbs/%s",
						 absent[i]),
				 -ENOENT);
	}
	ibsa__files_put(files);
}

/* Read a record of port 2 of mlx5_2, which the file @name has. */
static void check_info(struct device_files *files, const char *name,
		       const struct ibsa_record *record, void *out, size_t size)
{
	struct ibsa__file_text text;
	uint8_t wire[128];

	assert_int_equal(ibsa__file_read(files, &text,
					 "class/infiniband/mlx5_2/ports/2/%s",
					 name),
			 0);
	assert_int_equal(strlen(text.bytes), 2 * record->size + 1);
	for (size_t i = 0; i < record->size; i++)
		assert_int_equal(sscanf(text.bytes + 2 * i, "%2hhx", &wire[i]),
				 1);
	assert_int_equal(
		ibsa_record_decode(record, wire, record->size, out, size), 0);
}

/* What a verbs device tells of a port agrees with sysfs. */
static void port_has_its_attributes(void **state)
{
	struct device_files *files;
	struct ibsa_port_info port;
	struct ibsa_node node;
	uint64_t guid;

	assert_int_equal(ibsa__remote_files_open(server_address(*state), NULL,
						 "gpu1", &files),
			 0);
	check_info(files, "port_info", &ibsa_port_info_record, &port,
		   sizeof(port));
	check_info(files, "node_info", &ibsa_node_record, &node, sizeof(node));
	assert_int_equal(port.port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(port.local_port_num, 2);
	assert_int_equal(ibsa__guid_read(files, "mlx5_2", "node_guid", &guid),
			 0);
	assert_int_equal(node.node_guid, guid);
	assert_int_equal(node.num_ports, 2);
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
		cmocka_unit_test(child_reads_files_by_its_own_connection),
		cmocka_unit_test(verbs_devices_have_names),
		cmocka_unit_test(port_has_its_attributes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
