/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: umad-interrupt COUNT socket
 *        umad-interrupt COUNT DEVICE LID|GID
 *
 * Calls of libibumad that are interrupted: by fork() in a program with
 * threads, by a signal whose handler makes such calls itself, and by
 * pthread_cancel(), each COUNT times. Run it with one library and with
 * another: it prints the same.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "umad_port.h"

enum {
	THREADS = 3,
	CHILD_S = 8,
	LIMIT_S = 60,
	WAIT_MS = 10000,
	PAUSES = 4096, /* a cancellation comes after at most so many looks */
};

static struct port port;
static int count;
static atomic_bool is_over;
static atomic_int handled;

static void all_calls(void)
{
	port_send(&port);
	umad_poll(port.portid, 0);
	port_recv(&port, 0);
	port_agent(&port);
}

static void *calls_repeat(void *arg)
{
	(void)arg;
	while (!atomic_load(&is_over))
		all_calls();
	return NULL;
}

static int child(void)
{
	const pid_t pid = fork();

	if (!pid) {
		all_calls();
		_exit(0);
	}
	return child_wait(pid, CHILD_S);
}

static int forks(void *arg)
{
	pthread_t threads[THREADS];
	int good = 0;

	(void)arg;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, calls_repeat, NULL);
	for (int i = 0; i < count; i++)
		good += child() == 0;
	atomic_store(&is_over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("fork: %d children, %d ended by themselves\n", count, good);
	return 0;
}

static void handler(int number)
{
	const int saved = errno;

	(void)number;
	all_calls();
	errno = saved;
	atomic_fetch_add(&handled, 1);
}

static void *signals_send(void *arg)
{
	const pthread_t *to = arg;

	for (int i = 0; i < count; i++) {
		pthread_kill(*to, SIGUSR1);
		while (atomic_load(&handled) <= i)
			sched_yield();
	}
	atomic_store(&is_over, true);
	return NULL;
}

static int signals(void *arg)
{
	const struct sigaction action = { .sa_handler = handler,
					  .sa_flags = SA_RESTART };
	pthread_t self = pthread_self();
	pthread_t sender;

	(void)arg;
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&sender, NULL, signals_send, &self);
	calls_repeat(NULL);
	pthread_join(sender, NULL);
	printf("signal: %d handled\n", atomic_load(&handled));
	return 0;
}

/* As OpenSM receives. Every second thread sends, so that there is something. */
static void *receiver_run(void *arg)
{
	const bool *sends = arg;

	atomic_store(&is_over, false);
	for (;;) {
		if (*sends)
			port_send(&port);
		port_recv(&port, -1);
	}
	return NULL;
}

static bool receiver_cancel(bool sends, int pauses)
{
	pthread_t thread;
	void *result;

	atomic_store(&is_over, true);
	pthread_create(&thread, NULL, receiver_run, &sends);
	while (atomic_load(&is_over))
		sched_yield();
	for (int i = 0; i < pauses; i++)
		atomic_load(&is_over);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	return result == PTHREAD_CANCELED;
}

static int cancellations(void *arg)
{
	const unsigned int before = descriptors();
	int cancelled = 0;
	int received = 0;

	(void)arg;
	for (int i = 0; i < count; i++) {
		cancelled += receiver_cancel(i % 2, rand() % PAUSES);
		port_drain(&port);
		port_send(&port);
		received += port_recv(&port, WAIT_MS) == port.agent;
		port_agent(&port);
	}
	printf("cancel: %d cancelled, %d received after it, %d descriptors "
	       "left\n",
	       cancelled, received, (int)(descriptors() - before));
	return 0;
}

static int run(const char *name, int (*body)(void *arg))
{
	const int status = run_limited(body, NULL, LIMIT_S);

	if (status)
		printf("%s: status %d\n", name, status);
	return status != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 3)
		return 2;
	count = atoi(argv[1]);
	port_open(&port, argv[2], argc > 3 ? argv[3] : "");
	failed |= run("fork", forks);
	failed |= run("signal", signals);
	failed |= run("cancel", cancellations);
	umad_close_port(port.portid);
	return failed;
}
