/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls from other threads, and from callbacks, while callbacks of workers run.
 */
#include <pthread.h>

#include "test/ib_sa/tally.h"

/* A callback that blocks until it is released. */
struct held {
	struct tally tally;
	atomic_int inside;
	atomic_int release;
	struct rig *rig;
	void (*run)(struct held *held);
};

static void callback_hold(int status, struct sa_path_rec *resp, void *context)
{
	struct held *held = context;

	(void)resp;
	atomic_store(&held->inside, 1);
	tally_await(&held->release, 1);
	if (held->run)
		held->run(held);
	tally_note(&held->tally, status);
}

/* A query whose callback runs is not affected by a cancel in another thread. */
static void cancel_while_the_callback_runs(void **state)
{
	struct ib_sa_query *query;
	struct held held = { 0 };
	struct rig rig;
	int id;

	(void)state;
	rig_start_worker(&rig);
	id = rig_query_on(&rig.client, rig.device, 1, 2, LONG_MS, callback_hold,
			  &held, &query);
	tally_await(&held.inside, 1);
	ib_sa_cancel_query(id, query);
	atomic_store(&held.release, 1);
	tally_await(&held.tally.calls, 1);
	ib_sa_unregister_client(&rig.client);
	assert_int_equal(atomic_load(&held.tally.calls), 1);
	assert_int_equal(atomic_load(&held.tally.good), 1);
	rig_stop(&rig);
}

static void *device_put_thread(void *device)
{
	ibsa_device_put(device);
	return NULL;
}

/*
 * ibsa_device_put() waits for the callback that runs; queries that were started
 * later end.
 */
static void put_while_the_callback_runs(void **state)
{
	struct ib_sa_query *query;
	struct tally tally = { 0 };
	struct held held = { 0 };
	pthread_t thread;
	struct rig rig;

	(void)state;
	rig_start_worker(&rig);
	assert_true(rig_query_on(&rig.client, rig.device, 1, 2, LONG_MS,
				 callback_hold, &held, &query) >= 0);
	tally_await(&held.inside, 1);
	for (int i = 0; i < 100; i++)
		assert_true(rig_query_on(&rig.client, rig.device, 1, 3, LONG_MS,
					 tally_path, &tally, &query) >= 0);
	assert_int_equal(pthread_create(&thread, NULL, device_put_thread,
					rig.device),
			 0);
	atomic_store(&held.release, 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(atomic_load(&held.tally.good), 1);
	assert_int_equal(atomic_load(&tally.calls), 100);
	rig.device = NULL;
	rig_stop(&rig);
}

static void put_own(struct held *held)
{
	ibsa_device_put(held->rig->device);
}

/*
 * A worker's callback puts its device with queries in flight: they end, and the
 * worker ends by itself.
 */
static void worker_puts_its_device(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct ib_sa_query *query;
		struct tally tally = { 0 };
		struct held held = { .run = put_own };
		struct rig rig;

		rig_start_worker(&rig);
		held.rig = &rig;
		assert_true(rig_query_on(&rig.client, rig.device, 1, 2, LONG_MS,
					 callback_hold, &held, &query) >= 0);
		tally_await(&held.inside, 1);
		rig_silence(&rig, true);
		assert_true(rig_query_on(&rig.client, rig.device, 1, 3, LONG_MS,
					 tally_path, &tally, &query) >= 0);
		atomic_store(&held.release, 1);
		ib_sa_unregister_client(&rig.client);
		assert_int_equal(atomic_load(&held.tally.good), 1);
		assert_int_equal(atomic_load(&tally.interrupted), 1);
		rig.device = NULL;
		rig_stop(&rig);
	}
}

static void unregister_own(struct held *held)
{
	ib_sa_unregister_client(&held->rig->client);
}

/*
 * A worker's callback unregisters with queries on two devices: it does not
 * wait, and the other callbacks run later.
 */
static void worker_unregisters_with_two_devices(void **state)
{
	struct held held = { .run = unregister_own };
	struct ib_sa_query *query;
	struct tally tally = { 0 };
	struct ib_device *other;
	struct rig rig;

	(void)state;
	rig_start_worker(&rig);
	other = rig_open(rig.fabric, "node2", false);
	held.rig = &rig;
	assert_true(rig_query_on(&rig.client, rig.device, 1, 2, LONG_MS,
				 callback_hold, &held, &query) >= 0);
	tally_await(&held.inside, 1);
	rig_silence(&rig, true);
	assert_true(rig_query_on(&rig.client, other, 1, 3, LONG_MS, tally_path,
				 &tally, &query) >= 0);
	assert_true(rig_query_on(&rig.client, rig.device, 1, 3, LONG_MS,
				 tally_path, &tally, &query) >= 0);
	atomic_store(&held.release, 1);
	tally_await(&held.tally.calls, 1);
	assert_null(rig.client.sa);
	ibsa_device_put(other);
	ibsa_device_put(rig.device);
	assert_int_equal(atomic_load(&tally.interrupted), 2);
	rig.device = NULL;
	rig_stop(&rig);
}

/* Two workers whose callbacks put each other's devices at the same time. */
struct cross {
	pthread_barrier_t barrier;
	struct ib_device *devices[2];
	struct ib_device *puts[2];
	atomic_int done;
};

struct cross_end {
	struct cross *cross;
	int index;
};

static void put_the_other(int status, struct sa_path_rec *resp, void *context)
{
	struct cross_end *cross_end = context;

	(void)status;
	(void)resp;
	pthread_barrier_wait(&cross_end->cross->barrier);
	ibsa_device_put(cross_end->cross->devices[!cross_end->index]);
	atomic_fetch_add(&cross_end->cross->done, 1);
}

static void workers_put_each_others_devices(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct ib_sa_query *query;
		struct cross cross = { .done = 0 };
		struct cross_end ends[2] = { { &cross, 0 }, { &cross, 1 } };
		struct rig rig;

		rig_start_worker(&rig);
		pthread_barrier_init(&cross.barrier, NULL, 2);
		cross.devices[0] = rig.device;
		cross.devices[1] = rig_open(rig.fabric, "node2", false);
		for (int n = 0; n < 2; n++)
			assert_true(rig_query_on(&rig.client, cross.devices[n],
						 1, 2, LONG_MS, put_the_other,
						 &ends[n], &query) >= 0);
		ib_sa_unregister_client(&rig.client);
		assert_int_equal(atomic_load(&cross.done), 2);
		pthread_barrier_destroy(&cross.barrier);
		rig.device = NULL;
		rig_stop(&rig);
	}
}

static void open_in_callback(struct held *held)
{
	struct ib_sa_query *query;
	int id = rig_query_on(&held->rig->client, held->rig->device, 2, 3,
			      LONG_MS, tally_path, &held->tally, &query);

	if (id < 0) {
		assert_int_equal(id, -ENODEV);
		tally_note(&held->tally, 0);
	}
}

/*
 * A worker's callback opens a port while another thread closes the device: the
 * port is opened and closed, or refused.
 */
static void port_is_opened_while_the_device_closes(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		struct held held = { .run = open_in_callback };
		struct ib_sa_query *query;
		pthread_t thread;
		struct rig rig;

		rig_start_worker(&rig);
		held.rig = &rig;
		assert_true(rig_query_on(&rig.client, rig.device, 1, 2, LONG_MS,
					 callback_hold, &held, &query) >= 0);
		tally_await(&held.inside, 1);
		if (i % 2)
			atomic_store(&held.release, 1);
		assert_int_equal(pthread_create(&thread, NULL,
						device_put_thread, rig.device),
				 0);
		atomic_store(&held.release, 1);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(atomic_load(&held.tally.calls), 2);
		rig.device = NULL;
		rig_stop(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cancel_while_the_callback_runs),
		cmocka_unit_test(put_while_the_callback_runs),
		cmocka_unit_test(worker_puts_its_device),
		cmocka_unit_test(worker_unregisters_with_two_devices),
		cmocka_unit_test(workers_put_each_others_devices),
		cmocka_unit_test(port_is_opened_while_the_device_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
