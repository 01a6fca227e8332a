/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's calls on an embedded fabric: ids, cancels, callbacks, devices
 * with and without a worker.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/ib_sa.h>
#include <ibsa/fabric.h>

enum { WAIT_MS = 5000, SECOND_NS = 1000000000 };

struct seen {
	int calls;
	int status;
	bool has_resp;
	struct sa_path_rec path;
	struct ibsa_reply reply;
};

struct bench {
	struct ibsa_fabric *fabric;
	struct ib_device *device;
	struct ib_sa_client client;
};

/* A device without a worker, with a clock that advances only in waits. */
static struct bench *start(void **state)
{
	static struct bench bench;
	const struct ibsa_fabric_options virtual = { .virtual_clock = true };
	struct ibsa_ib_device_options options = { .no_thread = true };

	(void)state;
	memset(&bench, 0, sizeof(bench));
	assert_int_equal(
		ibsa_fabric_load(FABRIC, &virtual, NULL, &bench.fabric), 0);
	options.on = bench.fabric;
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &bench.device), 0);
	ib_sa_register_client(&bench.client);
	return &bench;
}

static void stop(struct bench *bench)
{
	ib_sa_unregister_client(&bench->client);
	ibsa_ib_device_put(bench->device);
	ibsa_fabric_put(bench->fabric);
}

static void note(int status, struct sa_path_rec *resp, void *context)
{
	struct seen *seen = context;

	seen->calls++;
	seen->status = status;
	seen->has_resp = resp != NULL;
	if (resp && !status)
		seen->path = *resp;
}

static int bench_query(struct bench *bench, uint16_t dlid, struct seen *seen,
		       struct ib_sa_query **query)
{
	struct sa_path_rec rec = { .numb_path = 1 };

	rec.ib.slid = htobe16(1);
	rec.ib.dlid = htobe16(dlid);
	return ib_sa_path_rec_get(&bench->client, bench->device, 1, &rec,
				  IB_SA_PATH_REC_SLID | IB_SA_PATH_REC_DLID |
					  IB_SA_PATH_REC_NUMB_PATH,
				  1000, 0, note, seen, query);
}

static void run(struct bench *bench, const struct seen *seen)
{
	while (!seen->calls)
		assert_int_equal(ibsa_ib_device_wait(bench->device, WAIT_MS),
				 0);
}

/* 0 is a valid id. */
static void ids_begin_at_zero(void **state)
{
	struct bench *bench = start(state);
	struct ib_sa_query *query;
	struct seen seen = { 0 };

	assert_int_equal(bench_query(bench, 2, &seen, &query), 0);
	assert_non_null(query);
	assert_int_equal(seen.calls, 0);
	run(bench, &seen);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, 0);
	assert_int_equal(be16toh(seen.path.ib.dlid), 2);
	assert_int_equal(seen.path.rec_type, SA_PATH_REC_TYPE_IB);
	stop(bench);
}

/*
 * If the SA's reply has an error status, the callback gets -EINVAL, and its
 * record has no meaning.
 */
static void refusal_is_einval(void **state)
{
	struct bench *bench = start(state);
	struct ib_sa_query *query;
	struct seen seen = { 0 };

	assert_true(bench_query(bench, 99, &seen, &query) >= 0);
	run(bench, &seen);
	assert_int_equal(seen.status, -EINVAL);
	assert_true(seen.has_resp);
	stop(bench);
}

/*
 * A query that is cancelled before or after it was sent has one callback, with
 * -EINTR.
 */
static void canceled_query_is_interrupted(void **state)
{
	const struct ibsa_fault silence = { .kind = IBSA_FAULT_SILENCE,
					    .percent = 100 };
	struct bench *bench = start(state);
	struct ib_sa_query *query;
	struct seen seen = { 0 };
	int id;

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &silence), 0);
	for (int sent = 0; sent < 2; sent++) {
		seen.calls = 0;
		id = bench_query(bench, 2, &seen, &query);
		assert_true(id >= 0);
		if (sent)
			assert_int_equal(ibsa_ib_device_dispatch(bench->device),
					 0);
		ib_sa_cancel_query(id, query);
		ib_sa_cancel_query(id, query);
		assert_int_equal(seen.calls, 0);
		run(bench, &seen);
		assert_int_equal(seen.status, -EINTR);
		assert_false(seen.has_resp);
		ib_sa_cancel_query(id, query);
		assert_int_equal(ibsa_ib_device_dispatch(bench->device), 0);
		assert_int_equal(seen.calls, 1);
	}
	stop(bench);
}

/* Ids are reused, tickets are not: a late cancel has no effect. */
static void late_cancel_has_no_effect(void **state)
{
	struct bench *bench = start(state);
	struct ib_sa_query *first;
	struct ib_sa_query *second;
	struct seen seen = { 0 };
	int id = bench_query(bench, 2, &seen, &first);

	run(bench, &seen);
	seen.calls = 0;
	assert_int_equal(bench_query(bench, 2, &seen, &second), id);
	assert_ptr_not_equal(first, second);
	ib_sa_cancel_query(id, first);
	run(bench, &seen);
	assert_int_equal(seen.status, 0);
	stop(bench);
}

/* Without a reply, the query ends exactly at its timeout. */
static void silence_ends_at_the_timeout(void **state)
{
	const struct ibsa_fault silence = { .kind = IBSA_FAULT_SILENCE,
					    .percent = 100 };
	struct bench *bench = start(state);
	struct ib_sa_query *query;
	struct seen seen = { 0 };

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &silence), 0);
	assert_true(bench_query(bench, 2, &seen, &query) >= 0);
	run(bench, &seen);
	assert_int_equal(seen.status, -ETIMEDOUT);
	assert_false(seen.has_resp);
	stop(bench);
}

/*
 * Calls that start a query detect an SM that has come back, although no query
 * is in flight.
 */
static void idle_device_sees_the_sm(void **state)
{
	struct bench *bench = start(state);
	struct ib_sa_query *query;
	struct seen seen = { 0 };

	assert_true(bench_query(bench, 2, &seen, &query) >= 0);
	run(bench, &seen);
	for (int running = 0; running < 2; running++) {
		const int wanted = running ? 0 : -EAGAIN;

		ibsa_fabric_sa_set(bench->fabric, running);
		assert_in_range(ibsa_ib_device_timeout_ms(bench->device), 0,
				1000);
		assert_int_equal(ibsa_fabric_advance(bench->fabric, SECOND_NS),
				 0);
		assert_int_equal(ibsa_ib_device_dispatch(bench->device), 0);
		assert_int_equal(bench_query(bench, 2, &seen, &query), wanted);
		assert_int_equal(query == NULL, !running);
	}
	stop(bench);
}

/* Putting the device ends the queries in flight with -EINTR. */
static void put_ends_queries_with_eintr(void **state)
{
	struct bench *bench = start(state);
	struct ib_sa_query *query;
	struct seen seen = { 0 };

	assert_true(bench_query(bench, 2, &seen, &query) >= 0);
	ibsa_ib_device_put(bench->device);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, -EINTR);
	bench->device = NULL;
	stop(bench);
}

/* Unregistering dispatches a device that no other thread dispatches. */
static void unregister_waits_for_callbacks(void **state)
{
	struct bench *bench = start(state);
	struct ib_sa_query *query;
	struct seen seen = { 0 };

	assert_true(bench_query(bench, 2, &seen, &query) >= 0);
	ib_sa_unregister_client(&bench->client);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, 0);
	assert_int_equal(bench_query(bench, 2, &seen, &query), -EINVAL);
	stop(bench);
}

/*
 * The number of replies that are still missing. count_down() runs on the worker
 * thread of the device; the thread of the test waits until @left is 0.
 */
struct ended {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	struct bench *bench;
	int left;
};

static void count_down(int status, struct sa_path_rec *resp, void *context)
{
	struct ended *ended = context;

	(void)status;
	(void)resp;
	pthread_mutex_lock(&ended->lock);
	ended->left--;
	pthread_cond_signal(&ended->cond);
	pthread_mutex_unlock(&ended->lock);
}

/* With a worker, replies arrive without dispatching. */
static void worker_answers(void **state)
{
	const struct ibsa_ib_device_options options = { .fabric = FABRIC };
	struct ended ended = { PTHREAD_MUTEX_INITIALIZER,
			       PTHREAD_COND_INITIALIZER, NULL, 1000 };
	struct sa_path_rec rec = { .numb_path = 1 };
	struct ib_sa_client client;
	struct ib_sa_query *query;
	struct ib_device *device;

	(void)state;
	rec.ib.slid = htobe16(1);
	rec.ib.dlid = htobe16(2);
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	ib_sa_register_client(&client);
	for (int i = 0; i < 1000; i++)
		assert_true(ib_sa_path_rec_get(&client, device, 1, &rec,
					       IB_SA_PATH_REC_SLID |
						       IB_SA_PATH_REC_DLID,
					       WAIT_MS, 0, count_down, &ended,
					       &query) >= 0);
	pthread_mutex_lock(&ended.lock);
	while (ended.left)
		pthread_cond_wait(&ended.cond, &ended.lock);
	pthread_mutex_unlock(&ended.lock);
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_begin_at_zero),
		cmocka_unit_test(refusal_is_einval),
		cmocka_unit_test(canceled_query_is_interrupted),
		cmocka_unit_test(late_cancel_has_no_effect),
		cmocka_unit_test(silence_ends_at_the_timeout),
		cmocka_unit_test(idle_device_sees_the_sm),
		cmocka_unit_test(put_ends_queries_with_eintr),
		cmocka_unit_test(unregister_waits_for_callbacks),
		cmocka_unit_test(worker_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
