/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What callbacks may do, on a device without a worker: nearly everything. */
#include <pthread.h>
#include <time.h>

#include "test/ib_sa/rig.h"

/* A callback that does one thing more. */
struct act {
	struct told told;
	struct rig *rig;
	void (*run)(struct act *act);
	int result;
	struct told other;
	struct ib_sa_query *query;
	struct ib_device *device;
	int id;
};

static void act_path(int status, struct sa_path_rec *resp, void *context)
{
	struct act *act = context;

	told_path(status, resp, &act->told);
	act->run(act);
}

/* Send a query, and call @run in its callback. */
static void act_on(struct rig *rig, struct act *act, void (*run)(struct act *))
{
	act->rig = rig;
	act->run = run;
	assert_true(rig_query_on(&rig->client, rig->device, 1, 2,
				 RIG_TIMEOUT_MS, act_path, act,
				 &act->query) >= 0);
}

static void query_again(struct act *act)
{
	act->result = rig_query(act->rig, 3, &act->other, &act->query);
}

/*
 * A callback starts a query, which gets another id: its own is in use until it
 * returns.
 */
static void callback_asks(void **state)
{
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	act_on(&rig, &act, query_again);
	rig_run(&rig, &act.told);
	assert_int_equal(act.result, 1);
	rig_run(&rig, &act.other);
	assert_int_equal(act.other.status, 0);
	rig_stop(&rig);
}

static void cancel_own(struct act *act)
{
	ib_sa_cancel_query(0, act->query);
}

/* A query whose callback runs has ended: cancelling it does nothing. */
static void callback_cancels_itself(void **state)
{
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	act_on(&rig, &act, cancel_own);
	rig_run(&rig, &act.told);
	assert_int_equal(ibsa_ib_device_dispatch(rig.device), 0);
	assert_int_equal(act.told.calls, 1);
	assert_int_equal(act.told.status, 0);
	rig_stop(&rig);
}

static void cancel_other(struct act *act)
{
	ib_sa_cancel_query(act->id, act->query);
}

/*
 * Both replies have arrived when the first callback cancels the second query.
 * The second query has one callback, with the reply or with -EINTR.
 */
static void callback_cancels_another(void **state)
{
	struct act act = { 0 };
	struct ib_sa_query *query;
	struct rig rig;

	(void)state;
	rig_start(&rig);
	act_on(&rig, &act, cancel_other);
	act.id = rig_query(&rig, 3, &act.other, &query);
	act.query = query;
	rig_run(&rig, &act.told);
	if (!act.other.calls)
		rig_run(&rig, &act.other);
	assert_int_equal(ibsa_ib_device_dispatch(rig.device), 0);
	assert_int_equal(act.other.calls, 1);
	assert_true(!act.other.status || act.other.status == -EINTR);
	rig_stop(&rig);
}

static void dispatch_own(struct act *act)
{
	act->result = ibsa_ib_device_dispatch(act->rig->device);
	if (act->result == -EBUSY)
		act->result = ibsa_ib_device_wait(act->rig->device, 0);
}

/* A callback cannot dispatch its own device: -EBUSY. */
static void callback_cannot_dispatch(void **state)
{
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	act_on(&rig, &act, dispatch_own);
	rig_run(&rig, &act.told);
	assert_int_equal(act.result, -EBUSY);
	rig_stop(&rig);
}

static void unregister(struct act *act)
{
	ib_sa_unregister_client(&act->rig->client);
}

/*
 * Inside a callback, unregistering does not wait: the callbacks of queries in
 * flight on the client's two devices run later.
 */
static void callback_unregisters(void **state)
{
	struct told one = { 0 }, two = { 0 };
	struct ib_device *device;
	struct ib_sa_query *query;
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	device = rig_open(rig.fabric, "node2", true);
	act_on(&rig, &act, unregister);
	rig_silence(&rig, true);
	assert_int_equal(rig_query_on(&rig.client, device, 1, 2, RIG_TIMEOUT_MS,
				      told_path, &two, &query),
			 1);
	rig_silence(&rig, false);
	while (!act.told.calls)
		assert_int_equal(ibsa_ib_device_dispatch(rig.device), 0);
	assert_null(rig.client.sa);
	assert_int_equal(rig_query(&rig, 2, &one, &query), -EINVAL);
	assert_null(query);
	ibsa_ib_device_put(device);
	assert_int_equal(two.calls, 1);
	assert_int_equal(two.status, -EINTR);
	rig_stop(&rig);
}

static void *unregister_thread(void *client)
{
	ib_sa_unregister_client(client);
	return NULL;
}

static void unregister_elsewhere(struct act *act)
{
	pthread_t thread;

	assert_int_equal(act->other.calls, 1);
	assert_int_equal(pthread_create(&thread, NULL, unregister_thread,
					&act->rig->client),
			 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/*
 * A callback waits until another thread has unregistered a client whose only
 * callback has returned in the same dispatch.
 */
static void callback_waits_for_unregistering(void **state)
{
	struct act act = { 0 };
	struct ib_sa_client other;
	struct rig rig;

	(void)state;
	rig_start(&rig);
	ib_sa_register_client(&other);
	act.rig = &rig;
	act.run = unregister_elsewhere;
	assert_int_equal(rig_query(&rig, 3, &act.other, &act.query), 0);
	assert_int_equal(rig_query_on(&other, rig.device, 1, 2, RIG_TIMEOUT_MS,
				      act_path, &act, &act.query),
			 1);
	rig_run(&rig, &act.told);
	assert_null(rig.client.sa);
	ib_sa_unregister_client(&other);
	rig_stop(&rig);
}

static void put_own(struct act *act)
{
	ibsa_ib_device_put(act->rig->device);
	act->result = act->other.calls;
	act->rig->device = NULL;
}

/*
 * A device that its own callback puts is closed when the callback has returned.
 */
static void callback_puts_its_device(void **state)
{
	struct ib_device *device;
	struct ib_sa_query *query;
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	device = rig.device;
	rig_silence(&rig, true);
	assert_true(rig_query(&rig, 3, &act.other, &query) >= 0);
	assert_int_equal(ibsa_ib_device_dispatch(device), 0);
	rig_silence(&rig, false);
	act_on(&rig, &act, put_own);
	while (!act.told.calls)
		assert_int_equal(ibsa_ib_device_wait(device, -1), 0);
	assert_int_equal(act.result, 0);
	assert_int_equal(act.other.calls, 1);
	assert_int_equal(act.other.status, -EINTR);
	rig_stop(&rig);
}

/* Send a query on a second device. */
static void node2_query(struct rig *rig, struct act *act)
{
	struct ib_sa_query *query;

	act->device = rig_open(rig->fabric, "node2", true);
	assert_int_equal(rig_query_on(&rig->client, act->device, 1, 2,
				      RIG_TIMEOUT_MS, told_path, &act->other,
				      &query),
			 0);
}

static void put_other(struct act *act)
{
	ibsa_ib_device_put(act->device);
	act->result = act->other.calls;
}

/* A device that the callback of another device puts is closed at once. */
static void callback_puts_another_device(void **state)
{
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	node2_query(&rig, &act);
	act_on(&rig, &act, put_other);
	rig_run(&rig, &act.told);
	assert_int_equal(act.result, 1);
	assert_int_equal(act.other.status, -EINTR);
	rig_stop(&rig);
}

static void dispatch_other(struct act *act)
{
	while (!act->other.calls)
		assert_int_equal(ibsa_ib_device_wait(act->device, -1), 0);
}

/* A callback can wait for another device. */
static void callback_dispatches_another_device(void **state)
{
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	node2_query(&rig, &act);
	act_on(&rig, &act, dispatch_other);
	rig_run(&rig, &act.told);
	assert_int_equal(act.other.status, 0);
	assert_int_equal(act.told.status, 0);
	ibsa_ib_device_put(act.device);
	rig_stop(&rig);
}

static void again_query(struct act *act)
{
	act->result = rig_query(act->rig, 3, &act->other, &act->query);
	assert_null(act->query);
}

/* Callbacks of a device that is being closed cannot start queries. */
static void closing_device_takes_no_queries(void **state)
{
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	act_on(&rig, &act, again_query);
	ibsa_ib_device_put(rig.device);
	rig.device = NULL;
	assert_int_equal(act.told.status, -EINTR);
	assert_int_equal(act.result, -ENODEV);
	assert_int_equal(act.other.calls, 0);
	rig_stop(&rig);
}

static void other_port_query(struct act *act)
{
	act->result = rig_query_on(&act->rig->client, act->rig->device, 2, 3,
				   RIG_TIMEOUT_MS, told_path, &act->other,
				   &act->query);
}

/*
 * In callbacks of a device that is closing, another port cannot be opened: it
 * would stay open.
 */
static void closing_device_opens_no_port(void **state)
{
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start_on(&rig, rig_fabric(false));
	act_on(&rig, &act, other_port_query);
	ibsa_ib_device_put(rig.device);
	rig.device = NULL;
	assert_int_equal(act.told.status, -EINTR);
	assert_int_equal(act.result, -ENODEV);
	rig_stop(&rig);
}

static void sleep_long(struct act *act)
{
	assert_int_equal(ibsa_fabric_advance(act->rig->fabric,
					     UINT64_C(3600000000000)),
			 0);
}

/*
 * A reply that has arrived is not replaced by a timeout because a callback
 * takes long.
 */
static void slow_callback_loses_nothing(void **state)
{
	struct told told[10] = { 0 };
	struct ib_sa_query *query;
	struct act act = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	act_on(&rig, &act, sleep_long);
	for (uint16_t i = 0; i < 10; i++)
		assert_true(rig_query(&rig, 90 + i, &told[i], &query) >= 0);
	rig_run(&rig, &act.told);
	for (int i = 0; i < 10; i++) {
		if (!told[i].calls)
			rig_run(&rig, &told[i]);
		assert_int_equal(told[i].calls, 1);
		assert_int_equal(told[i].status, -EINVAL);
	}
	rig_stop(&rig);
}

/*
 * Two ports with a clock that advances only in a wait cannot be waited for
 * together: the second is refused, and the first still works.
 */
static void second_port_on_a_virtual_clock_is_refused(void **state)
{
	struct ib_sa_query *query;
	struct told told = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	assert_int_equal(rig_query(&rig, 2, &told, &query), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rig_query_on(&rig.client, rig.device, 2, 3,
					      RIG_TIMEOUT_MS, told_path, &told,
					      &query),
				 -EOPNOTSUPP);
		assert_null(query);
	}
	rig_run(&rig, &told);
	assert_int_equal(told.status, 0);
	rig_stop(&rig);
}

/*
 * A query that ends before it is sent counts as an event: a wait without a
 * timeout returns, and so does unregistering.
 */
static void wait_ends_with_what_was_never_sent(void **state)
{
	(void)state;
	for (int real = 0; real < 2; real++) {
		struct ib_sa_query *query;
		struct told told = { 0 };
		struct rig rig;
		int id;

		rig_start_on(&rig, rig_fabric(!real));
		id = rig_query(&rig, 2, &told, &query);
		ib_sa_cancel_query(id, query);
		assert_int_equal(ibsa_ib_device_wait(rig.device, -1), 0);
		assert_int_equal(told.status, -EINTR);
		assert_false(told.has_reply);
		id = rig_query(&rig, 2, &told, &query);
		ib_sa_cancel_query(id, query);
		ib_sa_unregister_client(&rig.client);
		assert_int_equal(told.calls, 2);
		rig_stop(&rig);
	}
}

/*
 * CPU time that unregistering takes for @count queries, which end one after
 * another.
 */
static double unregister_s(unsigned int count)
{
	struct timespec start, end;
	struct told told = { 0 };
	struct ib_sa_query *query;
	struct rig rig;

	rig_start(&rig);
	rig_silence(&rig, true);
	for (unsigned int i = 0; i < count; i++)
		assert_true(rig_query_on(&rig.client, rig.device, 1, 2, i + 1,
					 told_path, &told, &query) >= 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	ib_sa_unregister_client(&rig.client);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	assert_int_equal(told.calls, count);
	rig_stop(&rig);
	return (double)(end.tv_sec - start.tv_sec) +
	       (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

/*
 * The time per query must not grow with their number. On a busy machine, it may
 * be longer for a while.
 */
static void unregistering_takes_linear_time(void **state)
{
	enum { FEW = 4096, TIMES = 16 };
	bool is_linear = false;

	(void)state;
	for (int i = 0; i < 5 && !is_linear; i++)
		is_linear = unregister_s(TIMES * FEW) <
			    3 * TIMES * unregister_s(FEW);
	assert_true(is_linear);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callback_asks),
		cmocka_unit_test(callback_cancels_itself),
		cmocka_unit_test(callback_cancels_another),
		cmocka_unit_test(callback_cannot_dispatch),
		cmocka_unit_test(callback_unregisters),
		cmocka_unit_test(callback_waits_for_unregistering),
		cmocka_unit_test(callback_puts_its_device),
		cmocka_unit_test(callback_puts_another_device),
		cmocka_unit_test(callback_dispatches_another_device),
		cmocka_unit_test(closing_device_takes_no_queries),
		cmocka_unit_test(closing_device_opens_no_port),
		cmocka_unit_test(slow_callback_loses_nothing),
		cmocka_unit_test(second_port_on_a_virtual_clock_is_refused),
		cmocka_unit_test(wait_ends_with_what_was_never_sent),
		cmocka_unit_test(unregistering_takes_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
