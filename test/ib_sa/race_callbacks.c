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
	ibsa_ib_device_put(device);
	return NULL;
}

/*
 * ibsa_ib_device_put() waits for the callback that runs; queries that were
 * started later end.
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
	ibsa_ib_device_put(held->rig->device);
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
	ibsa_ib_device_put(other);
	ibsa_ib_device_put(rig.device);
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
	ibsa_ib_device_put(cross_end->cross->devices[!cross_end->index]);
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

/*
 * Two devices of one port. The watch of rig.device is subscribed, so that a
 * watch of @other ends with -EBUSY. It also shows when the client unregisters:
 * the call ends it.
 */
struct ending {
	struct rig rig;
	struct ib_device *other;
	struct held held; /* for the callback of what ends by itself */
	atomic_int subscribed;
	atomic_int ended;
	atomic_int err;
};

static void watch_note(const struct ibsa_event *event, void *arg)
{
	struct ending *ending = arg;

	if (event->kind == IBSA_EVENT_SUBSCRIBED)
		atomic_store(&ending->subscribed, 1);
	if (event->kind == IBSA_EVENT_ENDED)
		atomic_store(&ending->ended, 1);
}

static void ending_start(struct ending *ending, void (*run)(struct held *))
{
	struct ibsa_device_watch *watch;

	*ending = (struct ending){ .held.run = run };
	rig_start_worker(&ending->rig);
	ending->held.rig = &ending->rig;
	ending->other = rig_open(ending->rig.fabric, "node1", false);
	assert_int_equal(ibsa_device_watch_start(&ending->rig.client,
						 ending->rig.device, 1, NULL,
						 watch_note, ending, &watch),
			 0);
	tally_await(&ending->subscribed, 1);
}

static void ending_stop(struct ending *ending)
{
	ibsa_ib_device_put(ending->other);
	rig_stop(&ending->rig);
}

static void ended_hold(const struct ibsa_event *event, void *arg)
{
	struct ending *ending = arg;

	atomic_store(&ending->err, event->err);
	callback_hold(event->kind == IBSA_EVENT_ENDED ? 0 : -1, NULL,
		      &ending->held);
}

static void released_hold(const struct ibsa_registration_report *report,
			  void *arg)
{
	struct ending *ending = arg;

	atomic_store(&ending->err, report->err);
	callback_hold(report->event == IBSA_REGISTRATION_RELEASED ? 0 : -1,
		      NULL, &ending->held);
}

/* Start a watch that ends with -EBUSY. */
static void watch_in_vain(struct ending *ending)
{
	struct ibsa_device_watch *watch;

	assert_int_equal(ibsa_device_watch_start(&ending->rig.client,
						 ending->other, 1, NULL,
						 ended_hold, ending, &watch),
			 0);
}

/* Register a service twice; the second registration ends with -EEXIST. */
static void register_in_vain(struct ending *ending)
{
	const struct ib_sa_service_rec rec = { .id = htobe64(1) };
	struct ibsa_rec_registration *registration;

	for (int i = 0; i < 2; i++)
		assert_int_equal(ibsa_service_rec_register(
					 &ending->rig.client, ending->other, 1,
					 &rec, IB_SA_SERVICE_REC_SERVICE_ID,
					 i ? released_hold : NULL, ending,
					 &registration),
				 0);
}

static void *unregister_thread(void *client)
{
	ib_sa_unregister_client(client);
	return NULL;
}

/*
 * Unregister the client in another thread while the last callback of what ended
 * by itself runs: the call waits for the callback.
 */
static void unregister_meets_the_end(void (*begin)(struct ending *), int err)
{
	struct ending ending;
	pthread_t thread;

	ending_start(&ending, NULL);
	begin(&ending);
	tally_await(&ending.held.inside, 1);
	assert_int_equal(pthread_create(&thread, NULL, unregister_thread,
					&ending.rig.client),
			 0);
	tally_await(&ending.ended, 1);
	atomic_store(&ending.held.release, 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(atomic_load(&ending.held.tally.good), 1);
	assert_int_equal(atomic_load(&ending.err), err);
	ending_stop(&ending);
	assert_int_equal(atomic_load(&ending.held.tally.calls), 1);
}

static void unregister_while_a_watch_ends(void **state)
{
	(void)state;
	unregister_meets_the_end(watch_in_vain, -EBUSY);
}

static void unregister_while_a_registration_ends(void **state)
{
	(void)state;
	unregister_meets_the_end(register_in_vain, -EEXIST);
}

/* The same, but in the callback, where the call does not wait. */
static void unregister_in_the_end(void (*begin)(struct ending *))
{
	struct ending ending;

	ending_start(&ending, unregister_own);
	atomic_store(&ending.held.release, 1);
	begin(&ending);
	tally_await(&ending.held.tally.calls, 1);
	tally_await(&ending.ended, 1);
	ending_stop(&ending);
	assert_int_equal(atomic_load(&ending.held.tally.calls), 1);
}

static void watch_that_ends_unregisters(void **state)
{
	(void)state;
	unregister_in_the_end(watch_in_vain);
}

static void registration_that_ends_unregisters(void **state)
{
	(void)state;
	unregister_in_the_end(register_in_vain);
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
		cmocka_unit_test(unregister_while_a_watch_ends),
		cmocka_unit_test(unregister_while_a_registration_ends),
		cmocka_unit_test(watch_that_ends_unregisters),
		cmocka_unit_test(registration_that_ends_unregisters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
