/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lower limit of B11 and B12 for any fabric behind a Unix socket: two
 * threads that only exchange packets of 320 bytes, the size of a umad header
 * and a MAD.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum { PACKET_BYTES = 320, WINDOW = 64 };

struct echo {
	int ends[2];
	int core;
	pthread_t thread;
};

static void must(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

/* Thread: send each packet back until a packet of one byte comes. */
static void *send_back(void *arg)
{
	const struct echo *echo = arg;
	char packet[PACKET_BYTES];
	cpu_set_t cores;
	ssize_t len;

	CPU_ZERO(&cores);
	CPU_SET(echo->core, &cores);
	/* If the machine has only one core, both threads run on it. */
	(void)pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
	while ((len = recv(echo->ends[1], packet, sizeof(packet), 0)) > 1)
		must(send(echo->ends[1], packet, (size_t)len, 0) == len,
		     "send");
	return NULL;
}

static void echo_start(struct echo *echo, int type, int core)
{
	echo->core = core;
	must(!socketpair(AF_UNIX, type, 0, echo->ends), "socketpair");
	must(!pthread_create(&echo->thread, NULL, send_back, echo), "thread");
}

static void echo_end(struct echo *echo)
{
	must(send(echo->ends[0], "", 1, 0) == 1, "send");
	pthread_join(echo->thread, NULL);
	close(echo->ends[0]);
	close(echo->ends[1]);
}

static void exchange(struct echo *echo, uint64_t count, uint64_t window)
{
	char packet[PACKET_BYTES] = { 0 };
	uint64_t sent = 0;

	for (uint64_t got = 0; got < count; got++) {
		for (; sent < count && sent < got + window; sent++)
			must(send(echo->ends[0], packet, sizeof(packet), 0) ==
				     sizeof(packet),
			     "send");
		must(recv(echo->ends[0], packet, sizeof(packet), 0) ==
			     sizeof(packet),
		     "recv");
	}
}

/*
 * Exchange one packet at a time, with both threads on the first core, so that
 * no other core must be woken.
 */
static void round_trip(uint64_t count)
{
	struct echo echo;

	echo_start(&echo, SOCK_DGRAM, 0);
	exchange(&echo, count, 1);
	echo_end(&echo);
}

static void window(uint64_t count)
{
	struct echo echo;

	echo_start(&echo, SOCK_SEQPACKET, 1);
	exchange(&echo, count, WINDOW);
	echo_end(&echo);
}

static const struct bench_case cases[] = {
	{ "socket-round-trip", round_trip, 20000 },
	{ "socket-window", window, 100000 },
};

int main(int argc, char **argv)
{
	return bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
