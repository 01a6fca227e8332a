/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which queries the manager of an Omni-Path port supports, and which calls wait
 * for that.
 */
#include <pthread.h>

#include "test/ib_sa/rig.h"

/* The SA at LID 1, and node2 with a LID of more than 16 bits. */
static const char text[] = "Switch 4 \"switch1\"\n"
			   "[1] \"node1\"[1]\n"
			   "[2] \"node2\"[1]\n"
			   "Ca 1 \"node1\"\n"
			   "Ca 1 \"node2\"\n"
			   "[1] \"switch1\"[2] # lid 70000\n";

static void start(struct rig *rig, const struct ibsa_fabric_options *options,
		  bool no_thread)
{
	struct ibsa_fabric_options opa = *options;

	memset(rig, 0, sizeof(*rig));
	opa.opa = true;
	assert_int_equal(ibsa_fabric_parse(text, sizeof(text) - 1, &opa, NULL,
					   &rig->fabric),
			 0);
	rig->device = rig_open(rig->fabric, "node1", no_thread);
	ib_sa_register_client(&rig->client);
}

static enum opa_pr_supported possible(struct rig *rig)
{
	return (enum opa_pr_supported)opa_pr_query_possible(
		&rig->client, rig->device, 1, NULL);
}

static uint64_t requests(const struct rig *rig)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(rig->fabric, &stats);
	return stats.requests;
}

static void open_port(struct rig *rig)
{
	struct ib_sa_query *query;

	assert_true(rig_query_on(&rig->client, rig->device, 1, 1, 10, NULL,
				 NULL, &query) >= 0);
}

/* If opening waited for the reply, the library would send four tries. */
static void opening_does_not_wait_for_a_silent_manager(void **state)
{
	const struct ibsa_fabric_options real = { 0 };
	struct rig rig;

	(void)state;
	start(&rig, &real, false);
	rig_silence(&rig, true);
	open_port(&rig);
	assert_in_range(requests(&rig), 1, 3);
	rig_stop(&rig);
}

/* A call that depends on the ClassPortInfo waits for the reply. */
static void call_that_needs_the_reply_waits(void **state)
{
	const struct ibsa_fabric_options slow = { .latency_us = 50000 };
	struct rig rig;

	(void)state;
	start(&rig, &slow, false);
	assert_int_equal(possible(&rig), PR_OPA_SUPPORTED);
	rig_stop(&rig);
	start(&rig, &slow, false);
	open_port(&rig);
	assert_int_equal(possible(&rig), PR_OPA_SUPPORTED);
	rig_stop(&rig);
}

/*
 * Calls wait until the first ClassPortInfo query has timed out; later calls do
 * not wait.
 */
static void timeout_is_waited_for_once(void **state)
{
	const struct ibsa_fabric_options timeless = { .virtual_clock = true };
	struct rig rig;

	(void)state;
	for (int no_thread = 0; no_thread < 2; no_thread++) {
		start(&rig, &timeless, no_thread);
		rig_silence(&rig, true);
		assert_int_equal(possible(&rig), PR_IB_SUPPORTED);
		assert_true(requests(&rig) >= 4);
		assert_int_equal(possible(&rig), PR_IB_SUPPORTED);
		rig_stop(&rig);
	}
}

/* Without a worker, only the caller's thread can receive the reply. */
static void device_without_a_thread_queries_when_opened(void **state)
{
	const struct ibsa_fabric_options timeless = { .virtual_clock = true };
	struct rig rig;

	(void)state;
	start(&rig, &timeless, true);
	open_port(&rig);
	assert_int_equal(possible(&rig), PR_OPA_SUPPORTED);
	rig_stop(&rig);
}

/* A call that is made inside a callback, and its result. */
struct inside {
	struct rig *rig;
	pthread_mutex_t lock;
	pthread_cond_t told;
	bool is_told;
	enum opa_pr_supported result;
};

static void query_inside(int status, struct sa_path_rec *resp, void *context)
{
	struct inside *inside = context;
	const enum opa_pr_supported result = possible(inside->rig);

	(void)status;
	(void)resp;
	pthread_mutex_lock(&inside->lock);
	inside->result = result;
	inside->is_told = true;
	pthread_cond_signal(&inside->told);
	pthread_mutex_unlock(&inside->lock);
}

/*
 * The thread of this callback is also the thread that would receive the reply.
 */
static void callback_is_told_what_is_known(void **state)
{
	const struct ibsa_fabric_options real = { 0 };
	struct rig rig;
	struct inside inside = {
		.rig = &rig,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.told = PTHREAD_COND_INITIALIZER,
	};
	struct ib_sa_query *query;

	(void)state;
	start(&rig, &real, false);
	rig_silence(&rig, true);
	assert_true(rig_query_on(&rig.client, rig.device, 1, 1, 10,
				 query_inside, &inside, &query) >= 0);
	pthread_mutex_lock(&inside.lock);
	while (!inside.is_told)
		pthread_cond_wait(&inside.told, &inside.lock);
	pthread_mutex_unlock(&inside.lock);
	assert_int_equal(inside.result, PR_IB_SUPPORTED);
	assert_in_range(requests(&rig), 1, 4);
	rig_stop(&rig);
}

static void stop_at_lock(int status, struct sa_path_rec *resp, void *context)
{
	(void)status;
	(void)resp;
	pthread_mutex_lock(context);
	pthread_mutex_unlock(context);
}

/*
 * While a callback waits for the caller, the end of the query cannot be
 * received: the caller no longer waits.
 */
static void callback_that_waits_for_the_caller_does_not_hold_it(void **state)
{
	const struct ibsa_fabric_options real = { 0 };
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ib_sa_query *query;
	struct rig rig;

	(void)state;
	start(&rig, &real, false);
	rig_silence(&rig, true);
	pthread_mutex_lock(&lock);
	assert_true(rig_query_on(&rig.client, rig.device, 1, 1, 10,
				 stop_at_lock, &lock, &query) >= 0);
	assert_int_equal(possible(&rig), PR_IB_SUPPORTED);
	pthread_mutex_unlock(&lock);
	rig_stop(&rig);
}

static void count_call(int status, struct sa_path_rec *resp, void *context)
{
	(void)status;
	(void)resp;
	++*(unsigned int *)context;
}

/* The ClassPortInfo is also read after many queries without a reply. */
static void many_silent_queries_do_not_prevent_it(void **state)
{
	enum { WINDOW = 16, TIMEOUT_MS = 10000 };
	const struct ibsa_fabric_options timeless = { .virtual_clock = true };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_REREGISTER,
	};
	struct ib_sa_query *query;
	unsigned int calls = 0;
	struct rig rig;

	(void)state;
	start(&rig, &timeless, true);
	open_port(&rig);
	assert_int_equal(possible(&rig), PR_OPA_SUPPORTED);
	rig_silence(&rig, true);
	for (uint16_t i = 0; i < 2 * WINDOW; i++)
		assert_true(rig_query_on(&rig.client, rig.device, 1,
					 (uint16_t)(100 + i), TIMEOUT_MS,
					 count_call, &calls, &query) >= 0);
	assert_int_equal(ibsa_fabric_port_set(rig.fabric, "node1", 1, &change),
			 0);
	while (calls < 2 * WINDOW)
		assert_int_equal(ibsa_ib_device_wait(rig.device, -1), 0);
	assert_int_equal(possible(&rig), PR_IB_SUPPORTED);
	rig_silence(&rig, false);
	for (int i = 0; i < 10; i++)
		assert_int_equal(ibsa_ib_device_wait(rig.device, 1000), 0);
	assert_int_equal(possible(&rig), PR_OPA_SUPPORTED);
	rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_does_not_wait_for_a_silent_manager),
		cmocka_unit_test(call_that_needs_the_reply_waits),
		cmocka_unit_test(timeout_is_waited_for_once),
		cmocka_unit_test(device_without_a_thread_queries_when_opened),
		cmocka_unit_test(callback_is_told_what_is_known),
		cmocka_unit_test(
			callback_that_waits_for_the_caller_does_not_hold_it),
		cmocka_unit_test(many_silent_queries_do_not_prevent_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
