/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port at a fabric server in a process that forks: calls during a fork, and a
 * forked child that has no memory.
 */
#include "../support/child.h"
#include "../support/fail_alloc.h"
#include "rig.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <ibsa/types.h>
#include <ibsa/records.h>

#include "wire/mad.h"

enum {
	LIMIT_S = 20,
	FD_MAX = 256,
	TURNS = 500,
};

/* A fork in progress, and the thread that makes calls meanwhile. */
static struct {
	bool is_on;
	sem_t forking;
	sem_t called;
	bool is_late;
	int portid;
	int agent;
} during;

/*
 * Prepare handlers run in reverse order of registration, so this one runs when
 * those of the library have returned. It waits as fork() then waits for the
 * locks of malloc(), which a thread that a signal handler has interrupted holds
 * until the handler's calls have returned.
 */
static void fork_wait(void)
{
	struct timespec until;

	if (!during.is_on)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LIMIT_S;
	sem_post(&during.forking);
	during.is_late = sem_timedwait(&during.called, &until);
}

__attribute__((constructor(101))) static void fork_wait_install(void)
{
	pthread_atfork(fork_wait, NULL, NULL);
}

/* Whether all functions that a signal handler may call succeed. */
static bool calls_succeed(int portid, int agent)
{
	struct umad_packet packet = sa_request(
		IBSA_METHOD_GET, ibsa_class_port_info_record.attribute);
	int other = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	int length = MAD_BYTES;

	return other >= 0 && !umad_unregister(portid, other) &&
	       !umad_send(portid, agent, packet.bytes, MAD_BYTES, 1000, 0) &&
	       !umad_poll(portid, 10000) &&
	       umad_recv(portid, packet.bytes, &length, 0) == agent;
}

static void *calls_run(void *arg)
{
	bool *succeed = arg;

	sem_wait(&during.forking);
	*succeed = calls_succeed(during.portid, during.agent);
	sem_post(&during.called);
	return NULL;
}

static void calls_do_not_wait_for_a_fork(void **state)
{
	bool succeed = false;
	pthread_t thread;
	pid_t child;

	(void)state;
	during.portid = port_open(&during.agent);
	assert_int_equal(sem_init(&during.forking, 0, 0), 0);
	assert_int_equal(sem_init(&during.called, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, calls_run, &succeed), 0);
	during.is_on = true;
	child = fork();
	if (!child)
		_exit(!calls_succeed(during.portid, during.agent));
	during.is_on = false;
	child_end(child);
	pthread_join(thread, NULL);
	assert_false(during.is_late);
	assert_true(succeed);
	port_close(during.portid);
}

/*
 * Make calls as in a signal handler that has interrupted malloc(): the calls
 * must not allocate memory.
 */
static void a_child_needs_no_memory(void **state)
{
	pid_t child;
	int agent;
	int portid;

	(void)state;
	portid = port_open(&agent);
	child = fork();
	if (!child) {
		fail_alloc_after(0);
		_exit(!calls_succeed(portid, agent) || umad_close_port(portid));
	}
	child_end(child);
	assert_true(calls_succeed(portid, agent));
	port_close(portid);
}

/* Send a request and receive its reply, or one of the other process. */
static bool is_answered(int portid, int agent, uint16_t tid)
{
	struct umad_packet packet = sa_request(
		IBSA_METHOD_GET, ibsa_class_port_info_record.attribute);
	uint8_t *mad = umad_get_mad(packet.bytes);
	int length = MAD_BYTES;

	ibsa_put_be16(mad + MAD_TID + 6, tid);
	return !umad_send(portid, agent, packet.bytes, MAD_BYTES, 10000, 0) &&
	       umad_recv(portid, packet.bytes, &length, 10000) == agent &&
	       !umad_status(packet.bytes) && length == MAD_BYTES;
}

/*
 * Use the port in turns with the other process, and then at the same time. @tid
 * is even in one process and odd in the other.
 */
static bool turns_succeed(int portid, int agent, int other, uint16_t tid)
{
	char byte = 0;

	for (int i = 0; i < 2 * TURNS; i++, tid += 2) {
		if (i < TURNS && read(other, &byte, 1) != 1)
			return false;
		if (!is_answered(portid, agent, tid))
			return false;
		if (i < TURNS && write(other, &byte, 1) != 1)
			return false;
	}
	return true;
}

/* Both send and receive more bytes than the rings have. */
static void parent_and_child_take_turns(void **state)
{
	pid_t child;
	int ends[2];
	int agent;
	int portid = port_open(&agent);

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	child = fork();
	if (!child)
		_exit(!turns_succeed(portid, agent, ends[1], 1));
	assert_true(turns_succeed(portid, agent, ends[0], 2));
	child_end(child);
	assert_true(calls_succeed(portid, agent));
	close(ends[0]);
	close(ends[1]);
	port_close(portid);
}

/*
 * Run the checks in a child. Return: the number of the check that has failed,
 * or 0.
 */
static int child_with_files_run(int portid)
{
	char byte;
	int ends[2];

	for (int fd = STDERR_FILENO + 1; fd < FD_MAX; fd++)
		if (fd != portid)
			close(fd);
	/*
	 * Descriptors that the child has closed, up to the highest descriptor
	 * of the port.
	 */
	do
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			return 1;
	while (ends[1] < FD_MAX / 2);
	if (umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL) >= 0)
		return 2;
	for (int fd = STDERR_FILENO + 1; fd < ends[1]; fd++)
		if (fd != portid &&
		    (recv(fd, &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN))
			return 3;
	return 0;
}

/*
 * The child closes all descriptors but the portid, and opens other files, as a
 * daemon does.
 */
static void files_of_a_child_are_left_alone(void **state)
{
	pid_t child;
	int agent;
	int portid;

	(void)state;
	portid = port_open(&agent);
	child = fork();
	if (!child)
		_exit(child_with_files_run(portid));
	child_end(child);
	assert_true(calls_succeed(portid, agent));
	port_close(portid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_of_a_child_are_left_alone,
						libibumad_at_right,
						libibumad_tear_down),
		cmocka_unit_test_setup_teardown(calls_do_not_wait_for_a_fork,
						libibumad_at_right,
						libibumad_tear_down),
		cmocka_unit_test_setup_teardown(parent_and_child_take_turns,
						libibumad_at_right,
						libibumad_tear_down),
		cmocka_unit_test_setup_teardown(a_child_needs_no_memory,
						libibumad_at_right,
						libibumad_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
