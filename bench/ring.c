/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lower bound of B11, B12 and B26: processes that only exchange packets of
 * a MAD's size with a server process, through rings in shared memory. A process
 * that finds its ring empty sleeps on an eventfd; only then does its peer write
 * to the eventfd.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum {
	PACKET_BYTES = 320,
	RING_PACKETS = 64,
	CLIENTS = 50,
	ALL_CORES = -1,
	LINE = 64, /* bytes of a cache line */
};

/* One writer, one reader. */
struct ring {
	_Alignas(LINE) _Atomic uint64_t written;
	_Alignas(LINE) _Atomic uint64_t taken;
	_Alignas(LINE) uint8_t packets[RING_PACKETS][PACKET_BYTES];
};

/* A process that can be woken. */
struct sleeper {
	_Alignas(LINE) atomic_bool sleeps;
	int fd;
};

struct link {
	struct ring requests;
	struct ring answers;
	struct sleeper client;
};

struct server {
	struct sleeper sleeper;
	unsigned int clients;
	struct link links[CLIENTS];
};

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

static void run_on(int core)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (core == ALL_CORES || core == i)
			CPU_SET(i, &cores);
	/* If the machine has only one core, all processes run on it. */
	(void)sched_setaffinity(0, sizeof(cores), &cores);
}

static bool ring_is_empty(struct ring *ring)
{
	return atomic_load_explicit(&ring->written, memory_order_acquire) ==
	       atomic_load_explicit(&ring->taken, memory_order_relaxed);
}

/* The window of each client is at most RING_PACKETS, so the ring has room. */
static void ring_put(struct ring *ring, const uint8_t *packet)
{
	uint64_t at = atomic_load_explicit(&ring->written,
					   memory_order_relaxed);

	memcpy(ring->packets[at % RING_PACKETS], packet, PACKET_BYTES);
	atomic_store_explicit(&ring->written, at + 1, memory_order_release);
}

static void ring_take(struct ring *ring, uint8_t *out)
{
	uint64_t at = atomic_load_explicit(&ring->taken, memory_order_relaxed);

	memcpy(out, ring->packets[at % RING_PACKETS], PACKET_BYTES);
	atomic_store_explicit(&ring->taken, at + 1, memory_order_release);
}

static void sleeper_wake(struct sleeper *sleeper)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&sleeper->sleeps) &&
	    atomic_exchange(&sleeper->sleeps, false))
		must(!eventfd_write(sleeper->fd, 1), "eventfd");
}

/* Sleep, unless something has arrived since the rings were found empty. */
static void sleeper_sleep(struct sleeper *sleeper, bool (*is_idle)(void *arg),
			  void *arg)
{
	eventfd_t count;

	atomic_store(&sleeper->sleeps, true);
	atomic_thread_fence(memory_order_seq_cst);
	if (is_idle(arg) || !atomic_exchange(&sleeper->sleeps, false))
		must(!eventfd_read(sleeper->fd, &count), "eventfd");
}

static bool server_is_idle(void *arg)
{
	struct server *server = arg;

	for (unsigned int i = 0; i < server->clients; i++)
		if (!ring_is_empty(&server->links[i].requests))
			return false;
	return true;
}

static bool link_answer(struct link *link)
{
	uint8_t packet[PACKET_BYTES];

	if (ring_is_empty(&link->requests))
		return false;
	while (!ring_is_empty(&link->requests)) {
		ring_take(&link->requests, packet);
		ring_put(&link->answers, packet);
	}
	sleeper_wake(&link->client);
	return true;
}

static void server_run(struct server *server)
{
	for (;;) {
		bool has_answered = false;

		for (unsigned int i = 0; i < server->clients; i++)
			has_answered |= link_answer(&server->links[i]);
		if (!has_answered)
			sleeper_sleep(&server->sleeper, server_is_idle, server);
	}
}

static bool client_is_idle(void *arg)
{
	const struct link *link = arg;

	return ring_is_empty((struct ring *)&link->answers);
}

static void client_run(struct server *server, struct link *link, uint64_t count,
		       uint64_t window)
{
	uint8_t packet[PACKET_BYTES] = { 0 };
	uint64_t sent = 0, got = 0;

	while (got < count) {
		const uint64_t before = sent;

		for (; sent < count && sent < got + window; sent++)
			ring_put(&link->requests, packet);
		if (sent > before)
			sleeper_wake(&server->sleeper);
		while (ring_is_empty(&link->answers))
			sleeper_sleep(&link->client, client_is_idle, link);
		for (; !ring_is_empty(&link->answers); got++)
			ring_take(&link->answers, packet);
	}
}

static pid_t fork_on(int core)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (!pid) {
		must(!prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
		run_on(core);
	}
	return pid;
}

static struct server *server_new(unsigned int clients)
{
	struct server *server = mmap(NULL, sizeof(*server),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	must(server != MAP_FAILED, "mmap");
	server->clients = clients;
	server->sleeper.fd = eventfd(0, 0);
	must(server->sleeper.fd >= 0, "eventfd");
	for (unsigned int i = 0; i < clients; i++) {
		server->links[i].client.fd = eventfd(0, 0);
		must(server->links[i].client.fd >= 0, "eventfd");
	}
	return server;
}

static void server_free(struct server *server)
{
	close(server->sleeper.fd);
	for (unsigned int i = 0; i < server->clients; i++)
		close(server->links[i].client.fd);
	munmap(server, sizeof(*server));
}

/* Exchange @count packets of all clients together. */
static void exchange(uint64_t count, unsigned int clients, uint64_t window,
		     int client_core, int server_core)
{
	struct server *server = server_new(clients);
	pid_t pids[CLIENTS], pid = fork_on(server_core);
	int status;

	if (!pid)
		server_run(server);
	for (unsigned int i = 0; i < clients; i++) {
		pids[i] = fork_on(client_core);
		if (pids[i])
			continue;
		client_run(server, &server->links[i], count / clients, window);
		_exit(EXIT_SUCCESS);
	}
	for (unsigned int i = 0; i < clients; i++)
		must(waitpid(pids[i], &status, 0) == pids[i] && !status,
		     "client");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	server_free(server);
}

/* One packet at a time, both processes on the first core. */
static void round_trip(uint64_t count)
{
	exchange(count, 1, 1, 0, 0);
}

static void window(uint64_t count)
{
	exchange(count, 1, 64, 0, 1);
}

static void many(uint64_t count)
{
	exchange(count, CLIENTS, 4, ALL_CORES, 1);
}

static const struct bench_case cases[] = {
	{ "ring-round-trip", round_trip, 20000 },
	{ "ring-window", window, 100000 },
	{ "ring-many", many, CLIENTS * 4000 },
};

int main(int argc, char **argv)
{
	return bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
