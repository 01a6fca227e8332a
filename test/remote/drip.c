/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long a read of the umad file takes if a fabric server sends a packet one
 * byte at a time. The clock is the test's, and advances in poll().
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "umad/header.h"
#include "remote/file.h"

enum { BYTES = UMAD_HEADER_BYTES + 256, LIMIT_MS = 10000 };

/*
 * The simulated clock, and the bytes that the server sends while it advances.
 */
static struct drip {
	uint64_t now_ms;
	uint64_t pause_ms; /* between two bytes */
	int fd;
	size_t sent;
	uint8_t packet[BYTES];
} drip;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	*out = (struct timespec){
		.tv_sec = (time_t)(drip.now_ms / 1000),
		.tv_nsec = (long)(drip.now_ms % 1000) * 1000000,
	};
	return 0;
}

/*
 * Replaces poll(): the next byte arrives after a pause, which may be longer
 * than the timeout.
 */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	const uint64_t due_ms = drip.now_ms / drip.pause_ms * drip.pause_ms +
				drip.pause_ms;

	(void)count;
	assert_true(timeout_ms > 0);
	if (drip.now_ms + (uint64_t)timeout_ms < due_ms) {
		drip.now_ms += (uint64_t)timeout_ms;
		return 0;
	}
	drip.now_ms = due_ms;
	assert_true(drip.sent < BYTES);
	assert_int_equal(send(drip.fd, drip.packet + drip.sent++, 1, 0), 1);
	fds->revents = fds->events & POLLIN;
	return fds->revents ? 1 : 0;
}

/*
 * Read a packet of which @first bytes have arrived. Return: its length or an
 * error.
 */
static ssize_t read_drip(size_t first, uint64_t pause_ms)
{
	const struct umad_header header = { .length = BYTES };
	struct remote_shared shared = { .is_lost = false };
	struct remote_file file = { .shared = &shared };
	uint8_t packet[BYTES];
	int fds[2];
	ssize_t len;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	drip = (struct drip){ .pause_ms = pause_ms, .fd = fds[0] };
	memcpy(drip.packet, &header, sizeof(header));
	assert_int_equal(send(fds[0], drip.packet, first, 0), first);
	drip.sent = first;
	pthread_mutex_init(&shared.reading, NULL);
	remote_data_init(&shared.data);
	shared.data.fd = fds[1];
	len = ibsa__remote_file_read(&file, packet, sizeof(packet));
	pthread_mutex_destroy(&shared.reading);
	close(fds[0]);
	close(fds[1]);
	return len;
}

static void bytes_that_arrive_do_not_extend_the_wait(void **state)
{
	(void)state;
	assert_int_equal(read_drip(UMAD_HEADER_BYTES, 3000), -EIO);
	assert_in_range(drip.now_ms, LIMIT_MS - 1, LIMIT_MS + 1);
	assert_int_equal(read_drip(1, 3000), -EIO);
	assert_in_range(drip.now_ms, LIMIT_MS - 1, LIMIT_MS + 1);
}

/* The time limit of the packet includes the time for its header. */
static void header_and_mad_have_one_deadline(void **state)
{
	(void)state;
	assert_int_equal(read_drip(1, 150), -EIO);
	assert_in_range(drip.now_ms, LIMIT_MS - 1, LIMIT_MS + 1);
}

static void a_packet_in_time_is_read(void **state)
{
	(void)state;
	assert_int_equal(read_drip(1, 20), BYTES);
	assert_in_range(drip.now_ms, 1, LIMIT_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_that_arrive_do_not_extend_the_wait),
		cmocka_unit_test(header_and_mad_have_one_deadline),
		cmocka_unit_test(a_packet_in_time_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
