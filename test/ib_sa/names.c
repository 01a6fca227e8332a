/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices that ibsa_ib_device_get() finds by different names of one node: they
 * are one device, in a topology file and at a fabric server.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "test/ib_sa/tally.h"
#include "test/support/server_rig.h"

static const char text[] = "Switch 4 \"S1\" # \"switch\"\n"
			   "[1] \"H0\"[1]\n"
			   "[2] \"H1\"[1]\n"
			   "[3] \"H2\"[1]\n"
			   "Ca 1 \"H0\" # \"host0 mlx5_0\"\n"
			   "Ca 1 \"H1\" # \"host1 mlx5_0\"\n"
			   "Ca 1 \"H2\" # \"host1 mlx5_1\"\n";

static const char *const names_of_h0[] = {
	NULL, "H0", "host0", "host0 mlx5_0", "host0/mlx5_0", "HOST0",
};

enum { NAMES = sizeof(names_of_h0) / sizeof(names_of_h0[0]) };

static struct ib_device *device_get(const char *name)
{
	struct ib_device *device;

	assert_int_equal(ibsa_ib_device_get(name, &device), 0);
	return device;
}

static void watch_note(const struct ibsa_event *event, void *arg)
{
	struct tally *tally = arg;

	if (event->kind == IBSA_EVENT_SUBSCRIBED)
		tally_note(tally, 0);
	if (event->kind == IBSA_EVENT_ENDED)
		tally_note(tally, -ECANCELED);
}

/* Both watches receive Reports. */
static void both_watch(struct ib_sa_client *client, struct ib_device *first,
		       struct ib_device *second)
{
	struct ibsa_device_watch *watches[2];
	struct tally tally = { 0 };

	assert_int_equal(ibsa_device_watch_start(client, first, 1, NULL,
						 watch_note, &tally,
						 &watches[0]),
			 0);
	assert_int_equal(ibsa_device_watch_start(client, second, 1, NULL,
						 watch_note, &tally,
						 &watches[1]),
			 0);
	tally_await(&tally.calls, 2);
	assert_int_equal(atomic_load(&tally.good), 2);
	ibsa_device_watch_stop(watches[0]);
	ibsa_device_watch_stop(watches[1]);
	tally_await(&tally.calls, 4);
}

static int member_note(int status, struct ib_sa_multicast *multicast)
{
	tally_note(multicast->context, status);
	return 0;
}

static const union ib_gid group = { .raw = { 0xff, 0x12, [15] = 1 } };

#define GROUP_MASK                                               \
	(IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID | \
	 IB_SA_MCMEMBER_REC_JOIN_STATE)

static struct ib_sa_multicast *member_join(struct ib_sa_client *client,
					   struct ib_device *device,
					   const union ib_gid *port)
{
	struct ib_sa_mcmember_rec rec = {
		.mgid = group,
		.port_gid = *port,
		.qkey = htobe32(1),
		.pkey = htobe16(0xffff),
		.join_state = 1,
	};
	struct tally tally = { 0 };
	struct ib_sa_multicast *multicast = ib_sa_join_multicast(
		client, device, 1, &rec,
		GROUP_MASK | IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_PKEY |
			IB_SA_MCMEMBER_REC_TRAFFIC_CLASS |
			IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL,
		0, member_note, &tally);

	assert_false(ibsa_is_err(multicast));
	tally_await(&tally.calls, 1);
	assert_int_equal(atomic_load(&tally.good), 1);
	return multicast;
}

static void group_note(int status, struct ib_sa_mcmember_rec *rec, void *arg)
{
	(void)rec;
	tally_note(arg, status);
}

/* Whether the SA still has the group. */
static bool group_exists(struct ib_sa_client *client, struct ib_device *device)
{
	struct ib_sa_mcmember_rec rec = { .mgid = group };
	struct tally tally = { 0 };

	assert_true(ib_sa_mcmember_rec_query(client, device, 1,
					     IB_MGMT_METHOD_GET, &rec,
					     IB_SA_MCMEMBER_REC_MGID, LONG_MS,
					     0, group_note, &tally, NULL) >= 0);
	tally_await(&tally.calls, 1);
	return atomic_load(&tally.good);
}

/* The first member leaves, and the group stays for the second one. */
static void both_join(struct ib_sa_client *client, struct ib_device *first,
		      struct ib_device *second)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(first, 1, 0);
	struct ib_sa_multicast *one, *two;

	assert_false(ibsa_is_err(attr));
	one = member_join(client, first, &attr->gid);
	two = member_join(client, second, &attr->gid);
	ib_sa_free_multicast(one);
	assert_true(group_exists(client, second));
	ib_sa_free_multicast(two);
	rdma_put_gid_attr(attr);
}

static void names_share(void)
{
	struct ib_device *devices[NAMES];
	struct ib_device *other = device_get("host1");
	struct ib_sa_client client;

	ib_sa_register_client(&client);
	for (size_t i = 0; i < NAMES; i++)
		devices[i] = device_get(names_of_h0[i]);
	for (size_t i = 1; i < NAMES; i++) {
		both_watch(&client, devices[0], devices[i]);
		both_join(&client, devices[0], devices[i]);
		assert_ptr_equal(devices[0], devices[i]);
	}
	assert_ptr_not_equal(devices[0], other);
	ib_sa_unregister_client(&client);
	for (size_t i = 0; i < NAMES; i++)
		ibsa_ib_device_put(devices[i]);
	ibsa_ib_device_put(other);
}

static void names_of_a_file_share(void **state)
{
	char path[] = "/tmp/ibsa-names-XXXXXX";
	const int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(setenv("IBSA_FABRIC", path, 1), 0);
	names_share();
	unlink(path);
}

static void names_at_a_server_share(void **state)
{
	struct server_rig *server = server_start(text);

	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC", server_address(server), 1), 0);
	names_share();
	server_stop(server);
}

/*
 * The same name in another fabric is another device, and IBSA_NODE is a name,
 * too.
 */
static void names_of_two_fabrics_are_apart(void **state)
{
	struct server_rig *servers[2] = { server_start(text),
					  server_start(text) };
	struct ib_device *devices[3];

	(void)state;
	for (int i = 0; i < 2; i++) {
		setenv("IBSA_FABRIC", server_address(servers[i]), 1);
		devices[i] = device_get("host0");
	}
	assert_ptr_not_equal(devices[0], devices[1]);
	setenv("IBSA_NODE", "H0/1", 1);
	devices[2] = device_get(NULL);
	unsetenv("IBSA_NODE");
	assert_ptr_equal(devices[1], devices[2]);
	for (int i = 0; i < 3; i++)
		ibsa_ib_device_put(devices[i]);
	for (int i = 0; i < 2; i++)
		server_stop(servers[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_a_file_share),
		cmocka_unit_test(names_at_a_server_share),
		cmocka_unit_test(names_of_two_fabrics_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
