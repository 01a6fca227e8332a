/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * B30: calls of libibumad on an open umad file of the kernel, by the drop-in
 * and by the system's libibumad. No device is needed: the descriptor is a
 * socket that is connected to itself, which both libraries use as they use any
 * descriptor.
 *
 * usage: bench-umad-calls [-r ROUNDS]
 */
#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "bench.h"

/* Path of the drop-in libibumad, relative to the directory of this program. */
#define DROPIN "/../libibumad/dropin/libibumad.so.3"

enum { COUNT = 2000, MAD_BYTES = 256, WAIT_MS = 1000 };

struct library {
	__typeof__(umad_send) *send;
	__typeof__(umad_recv) *recv;
	__typeof__(umad_poll) *poll;
};

static struct library ours;
static struct library theirs;
static int portid;
static uint64_t packet[(64 + MAD_BYTES) / sizeof(uint64_t)];

static void fail(const char *what)
{
	fprintf(stderr, "bench-umad-calls: %s\n", what);
	exit(EXIT_FAILURE);
}

static void poll_repeat(const struct library *library, uint64_t count)
{
	while (count--) {
		if (!library->poll(portid, 0))
			fail("there is something to receive");
	}
}

static void recv_nothing_repeat(const struct library *library, uint64_t count)
{
	while (count--) {
		int length = MAD_BYTES;

		if (library->recv(portid, packet, &length, 0) >= 0)
			fail("something was received");
	}
}

static void packet_repeat(const struct library *library, uint64_t count)
{
	while (count--) {
		int length = MAD_BYTES;

		if (library->send(portid, 1, packet, MAD_BYTES, 0, 0) ||
		    library->recv(portid, packet, &length, WAIT_MS) != 1)
			fail("a sent packet was not received");
	}
}

/* The lower bound: the system calls alone. */
static int floor_poll(int fd, int timeout_ms)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return poll(&one, 1, timeout_ms) > 0 ? 0 : -1;
}

static int floor_recv(int fd, void *umad, int *length, int timeout_ms)
{
	(void)length;
	(void)timeout_ms;
	return read(fd, umad, sizeof(packet)) > 0 ? 1 : -1;
}

static int floor_send(int fd, int agent, void *umad, int length, int timeout_ms,
		      int retries)
{
	(void)agent;
	(void)length;
	(void)timeout_ms;
	(void)retries;
	return write(fd, umad, sizeof(packet)) == sizeof(packet) ? 0 : -1;
}

static const struct library calls = {
	.send = floor_send,
	.recv = floor_recv,
	.poll = floor_poll,
};

#define EACH(call)                                \
	static void call##_ours(uint64_t count)   \
	{                                         \
		call##_repeat(&ours, count);      \
	}                                         \
	static void call##_theirs(uint64_t count) \
	{                                         \
		call##_repeat(&theirs, count);    \
	}                                         \
	static void call##_floor(uint64_t count)  \
	{                                         \
		call##_repeat(&calls, count);     \
	}
/* clang-format off */
EACH(poll)
EACH(recv_nothing)
EACH(packet)
/* clang-format on */

static void library_open(struct library *library, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		fail(dlerror());
	*(void **)&library->send = dlsym(handle, "umad_send");
	*(void **)&library->recv = dlsym(handle, "umad_recv");
	*(void **)&library->poll = dlsym(handle, "umad_poll");
	if (!library->send || !library->recv || !library->poll)
		fail("a library without the calls");
}

static void dropin_open(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path,
			       sizeof(path) - sizeof(DROPIN));
	char *slash;

	if (len < 0)
		fail("where is this program?");
	path[len] = '\0';
	slash = strrchr(path, '/');
	memcpy(slash, DROPIN, sizeof(DROPIN));
	library_open(&ours, path);
	if (ours.send == theirs.send)
		fail("both libraries are the same");
}

static void socket_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(address);

	portid = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (portid < 0 || bind(portid, (void *)&address, sizeof(sa_family_t)) ||
	    getsockname(portid, (void *)&address, &len) ||
	    connect(portid, (void *)&address, len))
		fail("no socket");
}

int main(int argc, char **argv)
{
	static const struct bench_case cases[] = {
		{ "umad-poll-ours", poll_ours, COUNT },
		{ "umad-poll-theirs", poll_theirs, COUNT },
		{ "umad-poll-floor", poll_floor, COUNT },
		{ "umad-recv-ours", recv_nothing_ours, COUNT },
		{ "umad-recv-theirs", recv_nothing_theirs, COUNT },
		{ "umad-recv-floor", recv_nothing_floor, COUNT },
		{ "umad-packet-ours", packet_ours, COUNT },
		{ "umad-packet-theirs", packet_theirs, COUNT },
		{ "umad-packet-floor", packet_floor, COUNT },
	};

	library_open(&theirs, "libibumad.so.3");
	dropin_open();
	socket_open();
	return bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
