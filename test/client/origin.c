/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each object uses the fabric that it was opened on. The options name a server,
 * while the environment names nothing, a file, or another server with other
 * GIDs; or the options name a real device, while the environment names a
 * server.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/types.h>
#include <ibsa/ib_sa.h>
#include <ibsa/records.h>
#include <ibsa/fabric.h>
#include <ibsa/verbs.h>
#include <infiniband/umad.h>

#include "test/support/descriptors.h"
#include "test/support/device_tree.h"
#include "test/support/server_rig.h"

/*
 * Another topology with the node names and LIDs of server_pair. The two nodes
 * before these take the GUIDs that the nodes of server_pair have.
 */
static const char other_pair[] = "Switch 6 \"S\"\n[1] \"H1\"[1]\n"
				 "[2] \"H2\"[1]\n[3] \"A\"[1]\n[4] \"B\"[1]\n"
				 "Ca 1 \"A\" # \"first\"\n[1] \"S\"[3]\n"
				 "Ca 1 \"B\" # \"second\"\n[1] \"S\"[4]\n"
				 "Ca 1 \"H1\" # \"left\"\n[1] \"S\"[1]\n"
				 "Ca 1 \"H2\" # \"right\"\n[1] \"S\"[2]\n";

struct world {
	struct server_rig *here;
	struct server_rig *elsewhere;
	struct ibsa_gid left; /* GIDs of the fabric at @here */
	struct ibsa_gid right;
	char file[64];
};

static struct world world;

static struct ibsa_gid gid_of(const struct server_rig *server, const char *node)
{
	struct ibsa_fabric_port at;

	for (size_t i = 0; !ibsa_fabric_port_at(server_fabric(server), i, &at);
	     i++) {
		if (!strcmp(at.node, node))
			return at.state.gid;
	}
	fail_msg("there is no node %s", node);
	return (struct ibsa_gid){ { 0 } };
}

static void file_write(void)
{
	FILE *file;

	snprintf(world.file, sizeof(world.file), "/tmp/origin-%d.net",
		 (int)getpid());
	file = fopen(world.file, "w");
	assert_non_null(file);
	assert_true(fputs(other_pair, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
	struct ibsa_gid left;

	(void)state;
	world.here = server_start(server_pair);
	world.elsewhere = server_start(other_pair);
	world.left = gid_of(world.here, "left");
	world.right = gid_of(world.here, "right");
	left = gid_of(world.elsewhere, "left");
	assert_memory_not_equal(&left, &world.left, sizeof(left));
	file_write();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unsetenv("IBSA_FABRIC");
	unlink(world.file);
	server_stop(world.elsewhere);
	server_stop(world.here);
	return 0;
}

/* Values of IBSA_FABRIC in the rounds of each test; NULL: it is unset. */
enum { ROUNDS = 4 };

static void environment_set(unsigned int round)
{
	const char *const fabrics[ROUNDS] = {
		NULL,
		world.file,
		server_address(world.elsewhere),
		"unix:/nonexistent",
	};

	if (fabrics[round])
		setenv("IBSA_FABRIC", fabrics[round], 1);
	else
		unsetenv("IBSA_FABRIC");
}

static struct ib_device *device_open(void)
{
	const struct ibsa_ib_device_options options = {
		.name = "left",
		.fabric = server_address(world.here),
	};
	struct ib_device *device;

	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	return device;
}

static void gid_is(const struct ib_gid_attr *attr, const struct ibsa_gid *gid)
{
	if (ibsa_is_err(attr))
		fail_msg("no GID: %ld", (long)ibsa_ptr_err(attr));
	assert_memory_equal(&attr->gid, gid, sizeof(*gid));
	rdma_put_gid_attr(attr);
}

static void address_handle_has_the_gid(struct ib_device *device)
{
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.hop_limit = 1,
	};
	struct rdma_ah_attr ah;

	memcpy(&rec.sgid, &world.left, sizeof(rec.sgid));
	memcpy(&rec.dgid, &world.right, sizeof(rec.dgid));
	assert_int_equal(ib_init_ah_attr_from_path(device, 1, &rec, &ah, NULL),
			 0);
	assert_memory_equal(&ah.grh.sgid_attr->gid, &world.left,
			    sizeof(world.left));
	rdma_destroy_ah_attr(&ah);
}

static void device_reads_its_own_fabric(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 2 * ROUNDS; round++) {
		struct ib_device *device;
		union ib_gid left;

		environment_set(round % ROUNDS);
		device = device_open();
		/*
		 * A later change of IBSA_FABRIC has no effect on the open
		 * device.
		 */
		environment_set((round + round / ROUNDS) % ROUNDS);
		memcpy(&left, &world.left, sizeof(left));
		gid_is(rdma_get_gid_attr(device, 1, 0), &world.left);
		gid_is(rdma_find_gid_by_port(device, &left, IB_GID_TYPE_IB, 1,
					     0),
		       &world.left);
		address_handle_has_the_gid(device);
		ibsa_ib_device_put(device);
	}
}

static struct ibv_context *context_open(void)
{
	const struct ibsa_options options = {
		.device = "left",
		.fabric = server_address(world.here),
	};
	struct ibv_context *context;

	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	return context;
}

static void table_is_of_its_fabric(struct ibv_context *context)
{
	struct ibv_gid_entry entries[4];

	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, entries, 0), 0);
	assert_memory_equal(&entries->gid, &world.left, sizeof(world.left));
	memset(entries, 0, sizeof(entries));
	assert_int_equal(ibsa_query_gid_table(context, entries, 4, 0), 1);
	assert_memory_equal(&entries->gid, &world.left, sizeof(world.left));
}

static void context_reads_its_own_fabric(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 2 * ROUNDS; round++) {
		struct ibv_context *context;
		union ibv_gid right;

		environment_set(round % ROUNDS);
		context = context_open();
		environment_set((round + round / ROUNDS) % ROUNDS);
		memcpy(&right, &world.right, sizeof(right));
		table_is_of_its_fabric(context);
		assert_int_equal(ibv_gid_reachable(context, 0, &right, 0), 0);
		assert_int_equal(ibv_gid_reachable(context, 1, &right, 0), 0);
		assert_int_equal(ibv_register_sm_events(context,
							IBV_SM_EVENT_UGID_ALL,
							0, NULL),
				 0);
		assert_int_equal(ibsa_close_device(context), 0);
	}
}

static void client_reads_its_own_fabric(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct ibsa_gid_entry entry;
		struct ibsa_port_state port;
		struct ibsa_client *client;
		uint16_t pkey;

		environment_set(round);
		client = server_client(world.here, "left");
		environment_set((round + 1) % ROUNDS);
		assert_int_equal(ibsa_port_get(client, true, &port), 0);
		assert_memory_equal(&port.gid, &world.left, sizeof(port.gid));
		assert_int_equal(ibsa_gid_get(client, 0, &entry), 0);
		assert_memory_equal(&entry.gid, &world.left, sizeof(entry.gid));
		assert_int_equal(ibsa_pkey_get(client, 0, &pkey), 0);
		assert_int_equal(pkey, IBSA_PKEY_DEFAULT);
		assert_int_equal(ibsa_close(client), 0);
	}
}

/* IBSA_NODE, when a device or context is opened, determines its node. */
static void node_is_that_of_the_opening(void **state)
{
	struct ib_device *device;
	struct ibv_context *context;
	struct ibv_gid_entry entry;

	(void)state;
	setenv("IBSA_FABRIC", server_address(world.here), 1);
	setenv("IBSA_NODE", "right", 1);
	assert_int_equal(ibsa_ib_device_open(NULL, NULL, &device), 0);
	assert_int_equal(ibsa_verbs_open(NULL, NULL, &context), 0);
	setenv("IBSA_NODE", "left", 1);
	setenv("IBSA_FABRIC", server_address(world.elsewhere), 1);
	gid_is(rdma_get_gid_attr(device, 1, 0), &world.right);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	assert_memory_equal(&entry.gid, &world.right, sizeof(world.right));
	assert_int_equal(ibsa_close_device(context), 0);
	ibsa_ib_device_put(device);
	unsetenv("IBSA_NODE");
}

static void file_open_fails(int expected)
{
	struct ibsa_client *client;
	struct ibv_context *context;
	struct ib_device *device;

	assert_int_equal(ibsa_open(NULL, NULL, &client), expected);
	assert_int_equal(ibsa_ib_device_open(NULL, NULL, &device), expected);
	assert_int_equal(ibsa_verbs_open(NULL, NULL, &context), expected);
}

/* IBSA_NODE chooses the node of a topology file too. */
static void node_is_chosen_in_a_file(void **state)
{
	const struct ibsa_options named = { .device = "left" };
	const struct ibsa_gid right = gid_of(world.elsewhere, "right");
	const struct ibsa_gid left = gid_of(world.elsewhere, "left");
	char long_name[100] = "";
	struct ibsa_port_state port;
	struct ibv_context *context;
	struct ibsa_client *client;
	struct ibv_gid_entry entry;
	struct ib_device *device;

	(void)state;
	setenv("IBSA_FABRIC", world.file, 1);
	setenv("IBSA_NODE", "right/1", 1);
	assert_int_equal(ibsa_open(NULL, NULL, &client), 0);
	assert_int_equal(ibsa_ib_device_open(NULL, NULL, &device), 0);
	assert_int_equal(ibsa_verbs_open(NULL, NULL, &context), 0);
	setenv("IBSA_NODE", "second", 1);
	assert_int_equal(ibsa_port_get(client, true, &port), 0);
	assert_memory_equal(&port.gid, &right, sizeof(right));
	gid_is(rdma_get_gid_attr(device, 1, 0), &right);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	assert_memory_equal(&entry.gid, &right, sizeof(right));
	assert_int_equal(ibsa_close_device(context), 0);
	ibsa_ib_device_put(device);
	assert_int_equal(ibsa_close(client), 0);
	/* The option has precedence. */
	assert_int_equal(ibsa_open(&named, NULL, &client), 0);
	assert_int_equal(ibsa_port_get(client, true, &port), 0);
	assert_memory_equal(&port.gid, &left, sizeof(left));
	assert_int_equal(ibsa_close(client), 0);
	setenv("IBSA_NODE", "nobody", 1);
	file_open_fails(-ENODEV);
	setenv("IBSA_NODE", "right/2", 1);
	file_open_fails(-ENXIO);
	memset(long_name, 'x', sizeof(long_name) - 1);
	setenv("IBSA_NODE", long_name, 1);
	file_open_fails(-EINVAL);
	unsetenv("IBSA_NODE");
}

/*
 * When a server ends, the device of its context is gone; it exists again when
 * a server is started at the path. The context at the other server is not
 * affected.
 */
static void context_is_gone_with_its_server(void **state)
{
	const struct ibsa_options options = {
		.device = "left",
		.fabric = server_address(world.elsewhere),
	};
	const unsigned int fds = descriptors_count();
	struct ibv_context *context = context_open();
	struct ibv_gid_entry entries[4];
	struct ibv_context *other;

	(void)state;
	assert_int_equal(ibsa_verbs_open(&options, NULL, &other), 0);
	for (int round = 0; round < 3; round++) {
		table_is_of_its_fabric(context);
		server_end(world.here);
		assert_int_equal(ibsa_query_gid_ex(context, 1, 0, entries, 0),
				 EIO);
		assert_int_equal(ibsa_query_gid_table(context, entries, 4, 0),
				 -EIO);
		assert_int_equal(ibsa_query_gid_table(other, entries, 4, 0), 1);
		server_restart(world.here);
	}
	table_is_of_its_fabric(context);
	assert_int_equal(ibsa_close_device(context), 0);
	assert_int_equal(ibsa_close_device(other), 0);
	/*
	 * The servers are in this process, too: they close their sockets soon
	 * after the clients.
	 */
	for (int i = 0; i < 1000 && descriptors_count() > fds; i++)
		poll(NULL, 0, 10);
	assert_in_range(descriptors_count(), 0, fds);
}

static void empty_name_is_a_real_device(void **state)
{
	const struct ibsa_gid of_the_tree = { { 0xfe, 0x80, [9] = 0x02, 0xc9,
						0x03, [15] = 0x01 } };
	const struct ibsa_ib_device_options named = { .name = "mlx5_0",
						      .fabric = "" };
	const struct ibsa_options options = { .device = "mlx5_0",
					      .fabric = "" };
	struct ibsa_error error = { .text = "" };
	struct ibv_gid_entry entry;
	struct ibv_context *context;
	struct ibsa_client *client;
	struct ib_device *device;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	setenv("IBSA_FABRIC", server_address(world.here), 1);
	assert_int_equal(ibsa_ib_device_open(&named, NULL, &device), 0);
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	/*
	 * The device of the sysfs tree has no umad file: the error shows that
	 * ibsa_open() used this tree and not the server.
	 */
	assert_int_equal(ibsa_open(&options, &error, &client), -ENOSYS);
	assert_non_null(strstr(error.text, "ib_umad"));
	unsetenv("SYSFS_PATH");
	gid_is(rdma_get_gid_attr(device, 1, 0), &of_the_tree);
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	assert_memory_equal(&entry.gid, &of_the_tree, sizeof(of_the_tree));
	assert_int_equal(ibsa_close_device(context), 0);
	ibsa_ib_device_put(device);
	setenv("SYSFS_PATH", tree.path, 1);
	tree_remove(&tree);
}

/*
 * A portid stays connected to the server at which it was opened; the next
 * portid is opened at the other server.
 */
static void umad_port_stays_at_its_server(void **state)
{
	umad_port_t port;
	int portid;

	(void)state;
	setenv("IBSA_NODE", "left", 1);
	setenv("IBSA_FABRIC", server_address(world.here), 1);
	portid = umad_open_port(NULL, 0);
	assert_true(portid >= 0);
	setenv("IBSA_FABRIC", server_address(world.elsewhere), 1);
	assert_int_equal(umad_get_port(NULL, 0, &port), 0);
	assert_memory_not_equal(&port.port_guid, world.left.raw + 8, 8);
	assert_int_equal(umad_release_port(&port), 0);
	assert_true(umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL) >= 0);
	assert_int_equal(umad_close_port(portid), 0);
	unsetenv("IBSA_NODE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_reads_its_own_fabric),
		cmocka_unit_test(context_reads_its_own_fabric),
		cmocka_unit_test(client_reads_its_own_fabric),
		cmocka_unit_test(node_is_that_of_the_opening),
		cmocka_unit_test(node_is_chosen_in_a_file),
		cmocka_unit_test(context_is_gone_with_its_server),
		cmocka_unit_test(empty_name_is_a_real_device),
		cmocka_unit_test(umad_port_stays_at_its_server),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
