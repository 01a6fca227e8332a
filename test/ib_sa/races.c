/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's calls from several threads at once. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/ib_sa/tally.h"

enum { THREADS = 8, QUERIES = 2000 };

static void *unregister(void *client)
{
	ib_sa_unregister_client(client);
	return NULL;
}

/*
 * One thread unregisters a client, and thereby dispatches a device without a
 * worker. Another thread puts the device. The query has one callback, and
 * ib_sa_unregister_client() returns.
 */
static void put_ends_unregistering(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		struct told told = { 0 };
		struct ib_sa_query *query;
		pthread_t thread;
		struct rig rig;

		rig_start_on(&rig, rig_fabric(i % 2));
		rig_silence(&rig, true);
		assert_true(rig_query_on(&rig.client, rig.device, 1, 2, 1000000,
					 told_path, &told, &query) >= 0);
		assert_int_equal(pthread_create(&thread, NULL, unregister,
						&rig.client),
				 0);
		if (i % 3)
			sched_yield();
		ibsa_ib_device_put(rig.device);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(told.calls, 1);
		rig.device = NULL;
		rig_stop(&rig);
	}
}

/* One of THREADS, and what they share. */
struct crew {
	struct rig rig;
	struct tally tally;
	struct ib_device *devices[THREADS];
	pthread_barrier_t barrier;
	atomic_int next;
};

static void crew_run(struct crew *crew, void *(*work)(void *))
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&crew->barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, crew),
				 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&crew->barrier);
}

/* Every third query is cancelled; both ports are used. */
static void *query_and_cancel(void *arg)
{
	struct crew *crew = arg;

	for (int i = 0; i < QUERIES; i++) {
		struct ib_sa_query *query;
		int id = rig_query_on(&crew->rig.client, crew->rig.device,
				      (uint8_t)(1 + i % 2),
				      (uint16_t)(1 + i % 3), LONG_MS,
				      tally_path, &crew->tally, &query);

		assert_true(id >= 0);
		if (i % 3)
			continue;
		ib_sa_cancel_query(id, query);
		ib_sa_cancel_query(id, query);
	}
	return NULL;
}

/*
 * All threads send queries through two ports of one device: each query has one
 * callback, with a reply or -EINTR, and unregistering waits for the last
 * callback.
 */
static void threads_share_a_device(void **state)
{
	static struct crew crew;

	(void)state;
	rig_start_worker(&crew.rig);
	crew_run(&crew, query_and_cancel);
	ib_sa_unregister_client(&crew.rig.client);
	assert_int_equal(atomic_load(&crew.tally.calls), THREADS * QUERIES);
	assert_int_equal(atomic_load(&crew.tally.good) +
				 atomic_load(&crew.tally.interrupted),
			 THREADS * QUERIES);
	rig_stop(&crew.rig);
}

enum { MEMBERSHIPS = 200, NODE1_PORT1 = 0x100001 };

/* IPoIB's broadcast group. */
static struct ib_sa_mcmember_rec broadcast(uint8_t states)
{
	struct ib_sa_mcmember_rec rec = { .join_state = states };

	rec.mgid.global.subnet_prefix = htobe64(UINT64_C(0xff12401bffff0000));
	rec.mgid.global.interface_id = htobe64(0xffffffff);
	rec.port_gid.global.subnet_prefix = htobe64(UINT64_C(0xfe80) << 48);
	rec.port_gid.global.interface_id = htobe64(NODE1_PORT1);
	return rec;
}

/* Every third callback frees its member, and no other call does. */
static int tally_member(int status, struct ib_sa_multicast *multicast)
{
	tally_note(multicast->context, status);
	return multicast->rec.join_state == 2 ? -1 : 0;
}

static void *join_and_leave(void *arg)
{
	struct crew *crew = arg;

	for (int i = 0; i < MEMBERSHIPS; i++) {
		const uint8_t states = (uint8_t)(1 << i % 3);
		struct ib_sa_mcmember_rec rec = broadcast(states);
		struct ib_sa_multicast *multicast = ib_sa_join_multicast(
			&crew->rig.client, crew->rig.device, 1, &rec,
			IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
				IB_SA_MCMEMBER_REC_JOIN_STATE,
			0, tally_member, &crew->tally);

		assert_false(ibsa_is_err(multicast));
		if (i % 5 == 0)
			sched_yield();
		if (states != 2)
			ib_sa_free_multicast(multicast);
	}
	return NULL;
}

/*
 * All threads join and leave while the SA replies: no member has two callbacks,
 * and a later join succeeds.
 */
static void threads_share_a_group(void **state)
{
	static struct crew crew;
	struct ib_sa_mcmember_rec rec = broadcast(1);
	struct ib_sa_multicast *multicast;
	struct tally tally = { 0 };

	(void)state;
	rig_start_worker(&crew.rig);
	crew_run(&crew, join_and_leave);
	multicast = ib_sa_join_multicast(
		&crew.rig.client, crew.rig.device, 1, &rec,
		IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
			IB_SA_MCMEMBER_REC_JOIN_STATE,
		0, tally_member, &tally);
	tally_await(&tally.calls, 1);
	assert_int_equal(atomic_load(&tally.good), 1);
	ib_sa_free_multicast(multicast);
	rig_stop(&crew.rig);
	assert_int_equal(atomic_load(&crew.tally.calls),
			 atomic_load(&crew.tally.good));
	assert_true(atomic_load(&crew.tally.calls) <= THREADS * MEMBERSHIPS);
}

static void *get_by_name(void *arg)
{
	struct crew *crew = arg;
	const int mine = atomic_fetch_add(&crew->next, 1);
	struct ib_sa_query *query;

	pthread_barrier_wait(&crew->barrier);
	assert_int_equal(ibsa_ib_device_get("node1", &crew->devices[mine]), 0);
	assert_true(rig_query_on(&crew->rig.client, crew->devices[mine], 1, 2,
				 LONG_MS, tally_path, &crew->tally,
				 &query) >= 0);
	pthread_barrier_wait(&crew->barrier);
	if (mine)
		assert_ptr_equal(crew->devices[mine], crew->devices[0]);
	pthread_barrier_wait(&crew->barrier);
	ibsa_ib_device_put(crew->devices[mine]);
	return NULL;
}

/*
 * Several threads open a device by one name at the same time: they get one
 * device, and the last put closes it.
 */
static void name_is_opened_once(void **state)
{
	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC", FABRIC, 1), 0);
	for (int i = 0; i < 50; i++) {
		struct crew crew = { .next = 0 };

		ib_sa_register_client(&crew.rig.client);
		crew_run(&crew, get_by_name);
		assert_int_equal(atomic_load(&crew.tally.calls), THREADS);
		ib_sa_unregister_client(&crew.rig.client);
	}
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
}

static void *open_second_port(void *arg)
{
	struct crew *crew = arg;
	struct ib_sa_query *query;

	pthread_barrier_wait(&crew->barrier);
	assert_true(rig_query_on(
			    &crew->rig.client, crew->rig.device,
			    (uint8_t)(1 + atomic_fetch_add(&crew->next, 1) % 2),
			    3, LONG_MS, tally_path, &crew->tally, &query) >= 0);
	return NULL;
}

/*
 * Many threads open the ports of a device at the same time: each port is opened
 * once. The device is then closed with queries in flight.
 */
static void ports_are_opened_once(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct crew crew = { .next = 0 };

		rig_start_worker(&crew.rig);
		rig_silence(&crew.rig, i % 2);
		crew_run(&crew, open_second_port);
		ibsa_ib_device_put(crew.rig.device);
		assert_int_equal(atomic_load(&crew.tally.calls), THREADS);
		crew.rig.device = NULL;
		rig_stop(&crew.rig);
	}
}

static volatile sig_atomic_t alarms;
static pthread_t alarmed;

static void on_signal(int signal)
{
	(void)signal;
	alarmed = pthread_self();
	alarms++;
}

/* Signals are delivered to the program's threads, never to a worker. */
static void worker_takes_no_signals(void **state)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct tally tally = { 0 };
	struct sigaction before;
	struct ib_sa_query *query;
	struct rig rig;

	(void)state;
	rig_start_worker(&rig);
	assert_true(rig_query_on(&rig.client, rig.device, 1, 2, LONG_MS,
				 tally_path, &tally, &query) >= 0);
	tally_await(&tally.calls, 1);
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	for (int i = 1; i <= 100; i++) {
		assert_int_equal(kill(getpid(), SIGUSR1), 0);
		while (alarms < i)
			sched_yield();
		assert_true(pthread_equal(alarmed, pthread_self()));
	}
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	rig_stop(&rig);
}

/* Poll as in the manual page, until stopped. */
static void *poll_and_dispatch(void *arg)
{
	struct crew *crew = arg;
	struct ib_device *device = crew->rig.device;

	while (!atomic_load(&crew->next)) {
		struct pollfd fd = { .fd = ibsa_ib_device_fd(device),
				     .events = POLLIN };
		const int ms = ibsa_ib_device_timeout_ms(device);

		poll(&fd, 1, ms < 0 || ms > 10 ? 10 : ms);
		(void)ibsa_ib_device_dispatch(device);
	}
	return NULL;
}

/* A thread unregisters, and thereby dispatches, while another one polls. */
static void unregister_beside_a_polling_thread(void **state)
{
	static struct crew crew;
	pthread_t thread;

	(void)state;
	rig_start_on(&crew.rig, rig_fabric(false));
	ib_sa_unregister_client(&crew.rig.client);
	assert_int_equal(
		pthread_create(&thread, NULL, poll_and_dispatch, &crew), 0);
	for (int i = 0; i < 300; i++) {
		struct ib_sa_query *query;

		ib_sa_register_client(&crew.rig.client);
		for (uint16_t lid = 1; lid <= 3; lid++)
			assert_true(rig_query_on(&crew.rig.client,
						 crew.rig.device, 1, lid,
						 LONG_MS, tally_path,
						 &crew.tally, &query) >= 0);
		ib_sa_unregister_client(&crew.rig.client);
	}
	atomic_store(&crew.next, 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(atomic_load(&crew.tally.good), 900);
	rig_stop(&crew.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put_ends_unregistering),
		cmocka_unit_test(threads_share_a_device),
		cmocka_unit_test(threads_share_a_group),
		cmocka_unit_test(name_is_opened_once),
		cmocka_unit_test(ports_are_opened_once),
		cmocka_unit_test(worker_takes_no_signals),
		cmocka_unit_test(unregister_beside_a_polling_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
