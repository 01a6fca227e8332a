/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: umad-interrupt COUNT socket
 *        umad-interrupt COUNT DEVICE LID|GID
 *
 * Interrupts calls of libibumad: COUNT times by fork() in a program with
 * threads, COUNT times by pthread_cancel(), and ten times as often by a signal
 * whose handler calls libibumad itself. These handlers also interrupt malloc(),
 * while another thread forks COUNT times. The output is the same with
 * rdma-core's libibumad and with ibsa's.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../support/descriptors.h"
#include "umad_port.h"

enum {
	THREADS = 3,
	CHILD_S = 60, /* with much else on the machine */
	LIMIT_S = 120,
	WAIT_MS = 10000,
	SIGNALS = 10, /* for each fork */
	INTERVAL_NS = 200000,
	MALLOC_BYTES = 2000, /* more than a thread's own cache keeps */
	/* longest pause, in reads of a flag, between two interruptions */
	PAUSES = 4096,
};

static struct port port;
static int count;
static atomic_bool is_over;
static atomic_int handled;
static atomic_int failures;
static timer_t timer;

/*
 * Make all calls once. Return: whether they succeed; umad_recv() may or may not
 * find a packet.
 */
static bool all_calls(void)
{
	const bool is_sent = !port_send(&port);
	const int polled = umad_poll(port.portid, 0);
	/* A signal ends poll() even if it does not wait. */
	const bool is_polled = !polled || polled == -ETIMEDOUT ||
			       errno == EINTR;
	const int agent = port_recv(&port, 0);

	return port_agent(&port) && is_sent && is_polled &&
	       (agent == port.agent || agent == -EWOULDBLOCK);
}

static void *calls_repeat(void *arg)
{
	(void)arg;
	while (!atomic_load(&is_over)) {
		if (!all_calls())
			atomic_fetch_add(&failures, 1);
	}
	return NULL;
}

static int child(void)
{
	const pid_t pid = fork();

	if (!pid) {
		_exit(!all_calls());
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
	printf("fork: %d children, %d ended well, %d failures beside them\n",
	       count, good, atomic_load(&failures));
	return 0;
}

static void handler(int number)
{
	const int saved = errno;

	(void)number;
	if (!all_calls())
		atomic_fetch_add(&failures, 1);
	errno = saved;
	atomic_fetch_add(&handled, 1);
}

static void handler_install(void (*handle)(int number))
{
	const struct sigaction action = { .sa_handler = handle,
					  .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
}

/*
 * Pause for a random time, so that each interruption meets the calls at another
 * place.
 */
static void pause_at_random(void)
{
	for (int reads = rand() % PAUSES; reads; reads--)
		atomic_load(&is_over);
}

static void timer_arm(void)
{
	const struct itimerspec once = { .it_value.tv_nsec = INTERVAL_NS };

	if (timer_settime(timer, 0, &once, NULL))
		_exit(2);
}

/*
 * The timer is armed again at the end of its handler: if the handler took longer
 * than the interval of a periodic timer, the interrupted call would never end.
 */
static void handler_timer(int number)
{
	handler(number);
	timer_arm();
}

/* Create a timer whose signals interrupt this thread, wherever it is. */
static void timer_start(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGUSR1,
		._sigev_un._tid = gettid(),
	};

	handler_install(handler_timer);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		exit(2);
	timer_arm();
}

static int signals(void *arg)
{
	(void)arg;
	timer_start();
	while (atomic_load(&handled) < count * SIGNALS) {
		if (!all_calls())
			atomic_fetch_add(&failures, 1);
	}
	timer_delete(timer);
	printf("signal: all handled, %d failures\n", atomic_load(&failures));
	return 0;
}

static void *malloc_repeat(void *arg)
{
	while (!atomic_load(&is_over)) {
		void *volatile memory = malloc(MALLOC_BYTES);

		free(memory);
	}
	return arg;
}

/*
 * A handler has interrupted malloc(), which may hold a lock that fork() waits
 * for. So the calls in the handler must not wait for the thread that forks.
 */
static int mallocs(void *arg)
{
	pthread_t threads[THREADS];
	int good = 0;

	(void)arg;
	handler_install(handler);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, malloc_repeat, NULL);
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < THREADS; j++)
			pthread_kill(threads[j], SIGUSR1);
		good += child() == 0;
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("malloc: %d children, %d ended well, %d failures beside them\n",
	       count, good, atomic_load(&failures));
	return 0;
}

/*
 * Receive in a loop, as OpenSM does. Every second thread also sends, so that
 * there is something to receive.
 */
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

static bool receiver_cancel(bool sends)
{
	pthread_t thread;
	void *result;

	atomic_store(&is_over, true);
	pthread_create(&thread, NULL, receiver_run, &sends);
	while (atomic_load(&is_over))
		sched_yield();
	pause_at_random();
	pthread_cancel(thread);
	pthread_join(thread, &result);
	return result == PTHREAD_CANCELED;
}

static int cancellations(void *arg)
{
	const unsigned int before = descriptors_count();
	int cancelled = 0;
	int received = 0;
	int agents = 0;

	(void)arg;
	for (int i = 0; i < count; i++) {
		cancelled += receiver_cancel(i % 2);
		port_drain(&port);
		port_send(&port);
		received += port_recv(&port, WAIT_MS) == port.agent;
		agents += port_agent(&port);
	}
	printf("cancel: %d cancelled, %d received and %d registered after it, "
	       "%d descriptors left\n",
	       cancelled, received, agents,
	       (int)(descriptors_count() - before));
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
	failed |= run("malloc", mallocs);
	failed |= run("cancel", cancellations);
	umad_close_port(port.portid);
	return failed;
}
