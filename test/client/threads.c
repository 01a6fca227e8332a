/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients of one fabric in several threads, and wake-ups between threads. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/ibsa.h>

enum { THREADS = 4, QUERIES = 300 };

struct worker {
	pthread_t thread;
	int answered;
};

static void count(const struct ibsa_reply *reply, void *arg)
{
	*(int *)arg += ibsa_reply_outcome(reply) == IBSA_OUTCOME_OK;
}

/* Open, query, close, repeatedly: the shared fabric is created and freed. */
static void *work(void *arg)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct worker *worker = arg;

	for (int i = 0; i < QUERIES; i++) {
		struct ibsa_client *client;

		if (ibsa_open(&options, NULL, &client))
			return NULL;
		if (ibsa_query_wait(client, &query, count, &worker->answered))
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
		assert_int_equal(workers[i].answered, QUERIES);
	}
}

static void *wake(void *client)
{
	ibsa_wake(client);
	return NULL;
}

/* A wake-up ends the current wait of the client, or its next one. */
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

static void *open_slowly(void *path)
{
	const struct ibsa_options options = { .fabric = path };
	struct ibsa_client *client;

	return (void *)(intptr_t)ibsa_open(&options, NULL, &client);
}

/*
 * Reading a slow file, here a FIFO, does not delay other fabrics or a fork, but
 * only calls that open the same file.
 */
static void slow_file_does_not_delay_others(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	char folder[] = "/tmp/ibsa-test-XXXXXX";
	struct ibsa_client *client;
	pthread_t threads[2];
	char path[64];
	void *result;
	int fd;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fabric", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&threads[0], NULL, open_slowly, path),
			 0);
	/* open() returns when the library has opened the FIFO for reading. */
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	alarm(20);
	assert_int_equal(pthread_create(&threads[1], NULL, open_slowly, path),
			 0);
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(ibsa_close(client), 0);
	alarm(0);
	assert_int_equal(unlink(path), 0);
	close(fd);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_true((intptr_t)result < 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_a_fabric),
		cmocka_unit_test(wake_ends_a_wait),
		cmocka_unit_test(slow_file_does_not_delay_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
