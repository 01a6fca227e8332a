/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients of one fabric in threads of their own, and waking across them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/ibsa.h>

enum { THREADS = 4, QUESTIONS = 300 };

struct worker {
	pthread_t thread;
	int answered;
};

static void count(const struct ibsa_reply *reply, void *arg)
{
	*(int *)arg += ibsa_outcome(reply) == IBSA_OUTCOME_OK;
}

/* Open, ask, close, again and again: the shared fabric comes and goes. */
static void *work(void *arg)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct worker *worker = arg;

	for (int i = 0; i < QUESTIONS; i++) {
		struct ibsa_client *client;

		if (ibsa_open(&options, NULL, &client))
			return NULL;
		if (ibsa_ask(client, &query, count, &worker->answered))
			return NULL;
		ibsa_close(client);
	}
	return NULL;
}

static void threads_share_a_fabric(void **state)
{
	struct worker workers[THREADS] = { 0 };

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work,
						&workers[i]),
				 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_int_equal(workers[i].answered, QUESTIONS);
	}
}

static void *wake(void *client)
{
	ibsa_wake(client);
	return NULL;
}

/* A wake ends the wait that runs, or the next one. */
static void wake_ends_a_wait(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct ibsa_client *client;
	pthread_t thread;

	(void)state;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(pthread_create(&thread, NULL, wake, client), 0);
	assert_int_equal(ibsa_wait(client, -1), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_a_fabric),
		cmocka_unit_test(wake_ends_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
