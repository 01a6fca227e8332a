/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One thread calls setenv() all the time while open objects of each transport
 * are in use: none of them reads the environment. Reads by secure_getenv() are
 * counted; each of them also reads a plain variable that this thread writes, so
 * that ThreadSanitizer reports it.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <ibsa/types.h>
#include <ibsa/ib_sa.h>
#include <ibsa/verbs.h>
#include <infiniband/umad.h>

#include "test/support/device_tree.h"
#include "test/support/server_rig.h"
#include "wire/mad.h"

enum { ROUNDS = 20, FABRICS = 3, MAD_BYTES = 256 };

static struct {
	pthread_t thread;
	atomic_bool ends;
	atomic_uint reads;
	/*
	 * Version of the environment, which @thread increases before each
	 * change. It is not atomic on purpose: ThreadSanitizer must report a
	 * concurrent read.
	 */
	unsigned int version;
	struct ib_sa_client asker;
	struct tree tree;
	struct server_rig *server;
	char file[64];
} world;

char *__real_secure_getenv(const char *name);
char *__wrap_secure_getenv(const char *name);

char *__wrap_secure_getenv(const char *name)
{
	if (world.version != UINT32_MAX)
		atomic_fetch_add(&world.reads, 1);
	return __real_secure_getenv(name);
}

static void *setenv_loop(void *arg)
{
	char name[32];

	(void)arg;
	for (unsigned int i = 0; !atomic_load(&world.ends); i++) {
		snprintf(name, sizeof(name), "VARIABLE_%u", i % 512);
		world.version++;
		setenv(name, "one", 1);
		setenv("IBSA_FABRIC", name, 1);
		setenv("SYSFS_PATH", name, 1);
		if (i % 3 == 0)
			unsetenv(name);
		usleep(50);
	}
	return NULL;
}

static void loop_start(void)
{
	atomic_store(&world.ends, false);
	atomic_store(&world.reads, 0);
	assert_int_equal(pthread_create(&world.thread, NULL, setenv_loop, NULL),
			 0);
}

static void loop_stop(void)
{
	atomic_store(&world.ends, true);
	pthread_join(world.thread, NULL);
	unsetenv("IBSA_FABRIC");
	unsetenv("SYSFS_PATH");
	assert_int_equal(atomic_load(&world.reads), 0);
}

static int setup(void **state)
{
	FILE *file;

	(void)state;
	world.server = server_start(server_pair);
	tree_make(&world.tree);
	tree_add_device(&world.tree, "mlx5_0");
	snprintf(world.file, sizeof(world.file), "/tmp/environment-%d.net",
		 (int)getpid());
	file = fopen(world.file, "w");
	assert_non_null(file);
	assert_true(fputs(server_pair, file) >= 0);
	assert_int_equal(fclose(file), 0);
	ib_sa_register_client(&world.asker);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ib_sa_unregister_client(&world.asker);
	unlink(world.file);
	setenv("SYSFS_PATH", world.tree.path, 1);
	tree_remove(&world.tree);
	server_stop(world.server);
	return 0;
}

/* Return: the value of IBSA_FABRIC for an embedded fabric, a server or a device
 * tree. */
static const char *fabric_value(unsigned int index)
{
	const char *const fabrics[FABRICS] = { world.file,
					       server_address(world.server),
					       "" };

	return fabrics[index];
}

static const char *device_at(unsigned int index)
{
	return *fabric_value(index) ? "left" : "mlx5_0";
}

static void note_path(int status, struct sa_path_rec *rec, void *arg)
{
	(void)status;
	(void)rec;
	sem_post(arg);
}

/*
 * The device tree's port has no MAD device: ib_sa_path_rec_get() fails for it,
 * and then no callback is awaited.
 */
static void path_query(struct ib_device *device, const struct ibsa_gid *gid)
{
	struct sa_path_rec wanted = { .numb_path = 1 };
	struct ib_sa_query *query;
	sem_t told;
	int id;

	memcpy(&wanted.sgid, gid, sizeof(wanted.sgid));
	memcpy(&wanted.dgid, gid, sizeof(wanted.dgid));
	sem_init(&told, 0, 0);
	id = ib_sa_path_rec_get(&world.asker, device, 1, &wanted,
				IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID |
					IB_SA_PATH_REC_NUMB_PATH,
				2000, 0, note_path, &told, &query);
	while (id >= 0 && sem_wait(&told))
		;
	sem_destroy(&told);
}

static void device_use(struct ib_device *device)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(device, 1, 0);
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB,
				   .hop_limit = 1 };
	struct rdma_ah_attr ah;

	assert_false(ibsa_is_err(attr));
	memcpy(&rec.sgid, &attr->gid, sizeof(rec.sgid));
	assert_int_equal(ib_init_ah_attr_from_path(device, 1, &rec, &ah, NULL),
			 0);
	rdma_destroy_ah_attr(&ah);
	path_query(device, (const struct ibsa_gid *)&attr->gid);
	rdma_put_gid_attr(attr);
}

static void devices_do_not_read_it(void **state)
{
	struct ib_device *devices[FABRICS];

	(void)state;
	setenv("SYSFS_PATH", world.tree.path, 1);
	for (unsigned int i = 0; i < FABRICS; i++) {
		const struct ibsa_ib_device_options options = {
			.name = device_at(i),
			.fabric = fabric_value(i),
		};

		assert_int_equal(
			ibsa_ib_device_open(&options, NULL, &devices[i]), 0);
	}
	loop_start();
	for (unsigned int i = 0; i < ROUNDS * FABRICS; i++)
		device_use(devices[i % FABRICS]);
	loop_stop();
	for (unsigned int i = 0; i < FABRICS; i++)
		ibsa_ib_device_put(devices[i]);
}

static void context_use(struct ibv_context *context, bool has_sa)
{
	struct ibv_gid_entry entries[4];
	struct ibv_gid_entry entry;

	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	assert_true(ibsa_query_gid_table(context, entries, 4, 0) >= 1);
	if (!has_sa)
		return;
	assert_int_equal(ibv_gid_reachable(context, 0, &entry.gid, 0), 0);
	assert_int_equal(ibv_register_sm_events(context, IBV_SM_EVENT_UGID_ALL,
						0, NULL),
			 0);
	assert_int_equal(ibv_unregister_sm_events(
				 context, IBV_SM_EVENT_UGID_ALL, 0, NULL),
			 0);
}

static void contexts_do_not_read_it(void **state)
{
	struct ibv_context *contexts[FABRICS];

	(void)state;
	setenv("SYSFS_PATH", world.tree.path, 1);
	for (unsigned int i = 0; i < FABRICS; i++) {
		const struct ibsa_options options = {
			.device = device_at(i),
			.fabric = fabric_value(i),
		};

		assert_int_equal(ibsa_verbs_open(&options, NULL, &contexts[i]),
				 0);
	}
	loop_start();
	for (unsigned int i = 0; i < ROUNDS * FABRICS; i++)
		context_use(contexts[i % FABRICS], *fabric_value(i % FABRICS));
	loop_stop();
	for (unsigned int i = 0; i < FABRICS; i++)
		assert_int_equal(ibsa_close_device(contexts[i]), 0);
}

static void client_use(struct ibsa_client *client)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct ibsa_gid_entry entry;
	struct ibsa_port_state port;
	uint16_t pkey;

	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), 0);
	assert_int_equal(ibsa_port_get(client, true, &port), 0);
	assert_int_equal(ibsa_gid_get(client, 0, &entry), 0);
	assert_int_equal(ibsa_pkey_get(client, 0, &pkey), 0);
}

static bool server_becomes(struct ibsa_client *client, bool is_available)
{
	struct ibsa_port_state port;
	bool seen = !is_available;

	for (int i = 0; i < 1000 && seen != is_available; i++) {
		(void)!ibsa_wait(client, 10);
		seen = !ibsa_port_get(client, true, &port);
	}
	return seen == is_available;
}

static void clients_do_not_read_it(void **state)
{
	struct ibsa_client *clients[FABRICS - 1];

	(void)state;
	for (unsigned int i = 0; i < FABRICS - 1; i++) {
		const struct ibsa_options options = {
			.device = device_at(i),
			.fabric = fabric_value(i),
		};

		assert_int_equal(ibsa_open(&options, NULL, &clients[i]), 0);
	}
	loop_start();
	for (unsigned int i = 0; i < ROUNDS * (FABRICS - 1); i++)
		client_use(clients[i % (FABRICS - 1)]);
	/* A client finds its server again after the server's restart. */
	server_end(world.server);
	assert_true(server_becomes(clients[1], false));
	/* Opening a server reads the environment. */
	loop_stop();
	server_restart(world.server);
	loop_start();
	assert_true(server_becomes(clients[1], true));
	loop_stop();
	for (unsigned int i = 0; i < FABRICS - 1; i++)
		assert_int_equal(ibsa_close(clients[i]), 0);
}

static void port_use(int portid, int agent)
{
	_Alignas(8) uint8_t packet[512] = { 0 };
	uint8_t *mad = umad_get_mad(packet);
	int length = MAD_BYTES;

	/* Get(ClassPortInfo) */
	mad[MAD_BASE_VERSION] = 1;
	mad[MAD_CLASS] = IBSA_CLASS_SA;
	mad[MAD_CLASS_VERSION] = 2;
	mad[MAD_METHOD] = IBSA_METHOD_GET;
	ibsa_put_be16(mad + MAD_ATTRIBUTE, 1);
	assert_int_equal(umad_set_addr(packet, 1, 1, 0, IBSA_QKEY_GSI), 0);
	assert_int_equal(umad_send(portid, agent, packet, MAD_BYTES, 1000, 3),
			 0);
	assert_int_equal(umad_recv(portid, packet, &length, 10000), agent);
	assert_int_equal(umad_status(packet), 0);
}

static void umad_ports_do_not_read_it(void **state)
{
	int portid;
	int agent;

	(void)state;
	setenv("IBSA_FABRIC", server_address(world.server), 1);
	portid = umad_open_port(NULL, 0);
	assert_true(portid >= 0);
	agent = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	assert_true(agent >= 0);
	loop_start();
	for (unsigned int i = 0; i < ROUNDS; i++)
		port_use(portid, agent);
	loop_stop();
	assert_int_equal(umad_close_port(portid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_do_not_read_it),
		cmocka_unit_test(contexts_do_not_read_it),
		cmocka_unit_test(clients_do_not_read_it),
		cmocka_unit_test(umad_ports_do_not_read_it),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
