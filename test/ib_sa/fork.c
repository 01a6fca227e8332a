/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices and clients after fork(), in the child and in the parent. */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ib_sa/state.h"
#include "test/support/child.h"
#include "test/ib_sa/rig.h"

enum { LONG_MS = 60000 };

static void count(int status, struct sa_path_rec *resp, void *context)
{
	(void)resp;
	if (!status)
		atomic_fetch_add((atomic_int *)context, 1);
}

/* Send a query, and wait for a good reply. */
static bool is_answered(struct ib_sa_client *client, struct ib_device *device)
{
	atomic_int good = 0;
	struct ib_sa_query *query;

	if (rig_query_on(client, device, 1, 2, LONG_MS, count, &good, &query) <
	    0)
		return false;
	while (!atomic_load(&good))
		sched_yield();
	return true;
}

/* In the child: queries by inherited objects are refused, new ones work. */
static int child(struct ib_sa_client *inherited, struct ib_device *device)
{
	struct ib_sa_client client;
	struct ib_sa_query *query;
	struct ib_device *mine;
	bool good;

	ib_sa_cancel_query(0, (struct ib_sa_query *)(uintptr_t)1);
	if (ibsa_ib_device_get("node1", &mine))
		return 1;
	ib_sa_register_client(&client);
	good = mine != device && is_answered(&client, mine) &&
	       rig_query_on(&client, device, 1, 2, 1, NULL, NULL, &query) ==
		       -EINVAL &&
	       rig_query_on(inherited, mine, 1, 2, 1, NULL, NULL, &query) ==
		       -EINVAL;
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(mine);
	ib_sa_unregister_client(inherited);
	ibsa_ib_device_put(device);
	return good ? 0 : 2;
}

/* Objects of the parent, which the forked child tries to use. */
struct family {
	struct ib_sa_client client;
	struct ib_device *device;
	struct ib_device *polled; /* without a worker */
	/* Descriptors of @device's port and of @polled. */
	int port_fd, polled_fd;
	struct ib_sa_multicast *multicast;
	struct ibsa_device_watch *watch;
	const struct ib_gid_attr *gid;
};

static int joined(int status, struct ib_sa_multicast *multicast)
{
	(void)multicast;
	return status == -EINTR;
}

static void happened(const struct ibsa_event *event, void *arg)
{
	(void)event;
	(void)arg;
}

/*
 * Each step of the child has a number; the number of a failed step is its exit
 * status.
 */
#define STEP(number, is_good)          \
	do {                           \
		if (!(is_good))        \
			return number; \
	} while (0)

static bool is_refused(const void *pointer)
{
	return ibsa_is_err(pointer) && ibsa_ptr_err(pointer) == -EINVAL;
}

/*
 * Calls that start something fail, and none waits for a lock of the parent's.
 */
static int child_asks(struct family *family)
{
	struct ib_sa_mcmember_rec rec = { .join_state = 1 };
	struct ib_sa_service_rec service = { 0 };
	struct ib_sa_guidinfo_rec guid_info = { 0 };
	struct ib_sa_client *client = &family->client;
	struct ib_device *device = family->device;
	struct ibsa_device_watch *watch;
	struct sa_path_rec path = { 0 };
	struct rdma_ah_attr attr;
	union ib_gid gid = { .raw = { 0xff, 0x12, [15] = 1 } };

	STEP(10, rig_query_on(client, device, 1, 2, 1, NULL, NULL, NULL) ==
			 -EINVAL);
	STEP(11, ib_sa_service_rec_query(client, device, 1, 1, &service, 0, 1,
					 0, NULL, NULL, NULL) == -EINVAL);
	STEP(12, ib_sa_mcmember_rec_query(client, device, 1, 1, &rec, 0, 1, 0,
					  NULL, NULL, NULL) == -EINVAL);
	STEP(13, ib_sa_guid_info_rec_query(client, device, 1, &guid_info, 0, 1,
					   1, 0, NULL, NULL, NULL) == -EINVAL);
	STEP(14, is_refused(ib_sa_join_multicast(client, device, 1, &rec, 0, 0,
						 joined, NULL)));
	STEP(15, ibsa_device_watch_start(client, device, 1, NULL, happened,
					 NULL, &watch) == -EINVAL);
	STEP(16, opa_pr_query_possible(client, device, 1, NULL) ==
			 PR_NOT_SUPPORTED);
	STEP(17, ib_sa_get_mcmember_rec(device, 1, &gid, &rec) == -EINVAL);
	STEP(18, is_refused(rdma_get_gid_attr(device, 1, 0)));
	STEP(19, is_refused(rdma_find_gid_by_port(device, &family->gid->gid,
						  IB_GID_TYPE_IB, 1, 0)));
	STEP(20, ib_init_ah_attr_from_path(device, 1, &path, &attr, NULL) ==
			 -EINVAL);
	STEP(21, ibsa_init_ah_attr_from_path(device, 1, &path, &attr, NULL) ==
			 -EINVAL);
	return 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* A device cannot be dispatched; calls that release something may be made. */
static int child_lets_go(struct family *family)
{
	struct ib_device *polled = family->polled;

	STEP(30, ibsa_ib_device_fd(polled) == -1);
	STEP(31, ibsa_ib_device_timeout_ms(polled) == -1);
	STEP(32, ibsa_ib_device_dispatch(polled) == -EINVAL);
	STEP(33, ibsa_ib_device_wait(polled, -1) == -EINVAL);
	STEP(34, !ibsa_last_reply(polled));
	ib_sa_cancel_query(0, (struct ib_sa_query *)(uintptr_t)1);
	ibsa_device_watch_stop(family->watch);
	ib_sa_free_multicast(family->multicast);
	rdma_hold_gid_attr(family->gid);
	rdma_put_gid_attr(family->gid);
	rdma_put_gid_attr(family->gid);
	ib_sa_unregister_client(&family->client);
	STEP(35, !family->client.sa);
	STEP(36, is_open(family->port_fd) && is_open(family->polled_fd));
	ibsa_ib_device_put(polled);
	ibsa_ib_device_put(family->device);
	STEP(37, !is_open(family->port_fd) && !is_open(family->polled_fd));
	return 0;
}

static int child_tries_all(struct family *family)
{
	int step;

	alarm(20);
	step = child_asks(family);
	return step ? step : child_lets_go(family);
}

static void family_start(struct family *family)
{
	const struct ibsa_ib_device_options polled = { .name = "node1",
						       .no_thread = true };
	struct ib_sa_mcmember_rec rec = { .join_state = 1 };

	rec.mgid.raw[0] = 0xff;
	rec.mgid.raw[1] = 0x12;
	rec.mgid.raw[15] = 1;
	ib_sa_register_client(&family->client);
	assert_int_equal(ibsa_ib_device_get("node1", &family->device), 0);
	assert_int_equal(ibsa_ib_device_open(&polled, NULL, &family->polled),
			 0);
	assert_true(is_answered(&family->client, family->device));
	family->port_fd = ibsa_fd(family->device->ports[0]->client);
	family->polled_fd = ibsa_ib_device_fd(family->polled);
	family->multicast = ib_sa_join_multicast(
		&family->client, family->device, 1, &rec,
		IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
			IB_SA_MCMEMBER_REC_JOIN_STATE,
		0, joined, NULL);
	assert_false(ibsa_is_err(family->multicast));
	assert_int_equal(
		ibsa_device_watch_start(&family->client, family->device, 1,
					NULL, happened, NULL, &family->watch),
		0);
	family->gid = rdma_get_gid_attr(family->device, 1, 0);
	assert_false(ibsa_is_err(family->gid));
}

static void family_stop(struct family *family)
{
	rdma_put_gid_attr(family->gid);
	ib_sa_free_multicast(family->multicast);
	ibsa_device_watch_stop(family->watch);
	ib_sa_unregister_client(&family->client);
	ibsa_ib_device_put(family->polled);
	ibsa_ib_device_put(family->device);
}

/*
 * No page allows that a child uses objects of its parent. It neither hangs nor
 * sends a query, whether another thread holds the process-wide lock or not.
 */
static void child_with_inherited_objects_does_not_hang(void **state)
{
	struct family family;

	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC", FABRIC, 1), 0);
	family_start(&family);
	for (int is_held = 0; is_held < 2; is_held++) {
		struct ibsa__sa *sa = family.client.sa;
		pid_t pid;

		if (is_held)
			pthread_mutex_lock(&sa->lock);
		pid = fork();
		if (!pid)
			_exit(child_tries_all(&family));
		if (is_held)
			pthread_mutex_unlock(&sa->lock);
		child_end(pid);
	}
	family_stop(&family);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
}

/*
 * The child is forked whatever the worker does, except during the worker's
 * first query, which allocates memory: AddressSanitizer cannot do that in such
 * a child.
 */
static void child_and_parent_go_on(void **state)
{
	struct ib_sa_client client;
	struct ib_sa_query *query;
	struct ib_device *device;
	atomic_int good = 0;

	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC", FABRIC, 1), 0);
	ib_sa_register_client(&client);
	assert_int_equal(ibsa_ib_device_get("node1", &device), 0);
	assert_true(is_answered(&client, device));
	for (int i = 1; i <= 20; i++) {
		pid_t pid;

		assert_true(rig_query_on(&client, device, 1, 2, LONG_MS, count,
					 &good, &query) >= 0);
		pid = fork();
		if (!pid)
			_exit(child(&client, device));
		child_end(pid);
		assert_true(is_answered(&client, device));
		while (atomic_load(&good) < i)
			sched_yield();
	}
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
}

/*
 * A child that exits, running its exit handlers, does not end any object of
 * its parent.
 */
static void child_just_exits(void **state)
{
	struct ib_sa_client client;
	struct ib_device *device;
	pid_t pid;

	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC", FABRIC, 1), 0);
	ib_sa_register_client(&client);
	assert_int_equal(ibsa_ib_device_get("node1", &device), 0);
	assert_true(is_answered(&client, device));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		ibsa_ib_device_put(device);
		exit(0);
	}
	child_end(pid);
	assert_true(is_answered(&client, device));
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_and_parent_go_on),
		cmocka_unit_test(child_just_exits),
		cmocka_unit_test(child_with_inherited_objects_does_not_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
