/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server sends descriptors of sockets whose last close() waits
 * (SO_LINGER, unsent data), or makes its eventfd block. The client does not
 * wait.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "remote/data.h"
#include "test/support/descriptors.h"

enum {
	LINGER_S = 10,	/* how long the last close() waits */
	LATE_MS = 6000, /* limit on a busy machine */
	FDS = 10,
};

/* Return: a connected socket; the listener has the other end. */
static int linger_socket(int listener)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char bytes[1 << 16];
	struct sockaddr_in name;
	socklen_t len = sizeof(name);

	assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &len),
			 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&name, len), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger,
				    sizeof(linger)),
			 0);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

static int listener_open(void)
{
	const struct sockaddr_in name = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&name, sizeof(name)),
			 0);
	assert_int_equal(listen(fd, FDS), 0);
	return fd;
}

/* Send a byte with @count sockets, of which no other copy remains. */
static void sockets_pass(int to, int listener, size_t count)
{
	int fds[FDS] = { -1 };

	for (size_t i = 0; i < count; i++)
		fds[i] = linger_socket(listener);
	assert_true(descriptors_pass(to, "", 1, fds, count));
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

/*
 * Receive a message with @count sockets, or none of it, and close what was
 * received and the connection.
 */
static void check_message(size_t count, bool is_received)
{
	const int listener = listener_open();
	struct remote_connection connection;
	struct remote_fds fds = remote_fds_none();
	uint64_t start_ns;
	char byte;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	connection.fd = ends[0];
	sockets_pass(ends[1], listener, count);
	start_ns = clock_now_ns();
	if (is_received)
		assert_int_equal(ibsa__remote_recv(ends[0], &byte, 1, &fds),
				 count <= REMOTE_FDS ? 1 : -1);
	ibsa__remote_fds_close(&fds);
	ibsa__remote_disconnect(&connection);
	assert_true(ibsa__clock_left_ms(LATE_MS, start_ns));
	close(ends[1]);
	close(listener);
}

static void received_sockets_are_closed_without_waiting(void **state)
{
	(void)state;
	check_message(1, true);
}

static void excess_sockets_are_closed_without_waiting(void **state)
{
	(void)state;
	check_message(FDS, true);
}

static void unread_sockets_are_closed_without_waiting(void **state)
{
	(void)state;
	check_message(1, false);
}

/* No descriptors pass through the data socket. */
static void sockets_with_packets_are_closed_without_waiting(void **state)
{
	const int listener = listener_open();
	struct remote_data data;
	uint64_t start_ns;
	char byte;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	remote_data_init(&data);
	data.fd = ends[0];
	sockets_pass(ends[1], listener, 1);
	start_ns = clock_now_ns();
	assert_int_equal(ibsa__data_recv(&data, &byte, 1), -EIO);
	ibsa__data_close(&data);
	assert_true(ibsa__clock_left_ms(LATE_MS, start_ns));
	close(ends[1]);
	close(listener);
}

/*
 * The server makes its eventfd blocking, and its counter full, after the client
 * has checked it. The alarm ends a write that waits.
 */
static void a_full_eventfd_is_not_waited_for(void **state)
{
	const uint64_t most = UINT64_MAX - 1;
	const int bell_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct remote_fds fds = remote_fds_none();
	struct rings server;
	struct remote_data data;
	size_t sent = 0;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(ibsa__rings_new(&server, &fds.fd[REMOTE_FD_MEMORY]),
			 0);
	fds.fd[REMOTE_FD_DATA] = ends[0];
	fds.fd[REMOTE_FD_BELL] = dup(bell_fd);
	remote_data_init(&data);
	assert_int_equal(ibsa__data_open(&data, &fds,
					 sizeof(struct ring_memory), NULL),
			 0);
	assert_int_equal(write(bell_fd, &most, sizeof(most)), sizeof(most));
	assert_int_equal(fcntl(bell_fd, F_SETFL, 0), 0);
	alarm(LATE_MS / 1000);
	assert_int_equal(ibsa__data_send(&data, "packet", 6, NULL, 0, &sent),
			 0);
	alarm(0);
	ibsa__data_close(&data);
	ibsa__rings_close(&server);
	close(bell_fd);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(received_sockets_are_closed_without_waiting),
		cmocka_unit_test(excess_sockets_are_closed_without_waiting),
		cmocka_unit_test(unread_sockets_are_closed_without_waiting),
		cmocka_unit_test(
			sockets_with_packets_are_closed_without_waiting),
		cmocka_unit_test(a_full_eventfd_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
