/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Descriptors that a fabric server passes for the packets of a port. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "remote/link.h"

/*
 * Open a port with these descriptors: its data socket, and the file that wakes
 * the server.
 */
static int data_open_at(struct remote_data *data, int data_fd, int bell_fd)
{
	struct remote_fds fds = remote_fds_none();
	struct rings server;
	int err;

	assert_int_equal(ibsa__rings_new(&server, &fds.fd[REMOTE_FD_MEMORY]),
			 0);
	fds.fd[REMOTE_FD_DATA] = data_fd;
	fds.fd[REMOTE_FD_BELL] = bell_fd;
	remote_data_init(data);
	err = ibsa__data_open(data, &fds, sizeof(struct ring_memory), NULL);
	ibsa__remote_fds_close(&fds);
	ibsa__rings_close(&server);
	return err;
}

static int data_open(struct remote_data *data, int bell_fd)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	close(ends[1]);
	return data_open_at(data, ends[0], bell_fd);
}

static void an_eventfd_is_accepted(void **state)
{
	struct remote_data data;

	(void)state;
	assert_int_equal(data_open(&data, eventfd(0, EFD_NONBLOCK)), 0);
	assert_non_null(data.rings.memory);
	ibsa__data_close(&data);
}

/* A write to a pipe without a reader would end the process. */
static void another_file_is_rejected(void **state)
{
	struct remote_data data;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(data_open(&data, ends[1]), -EPROTO);
	assert_int_equal(data.fd, -1);
	assert_null(data.rings.memory);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	close(ends[0]);
	assert_int_equal(data_open(&data, ends[1]), -EPROTO);
	assert_int_equal(data_open(&data, -1), -EPROTO);
}

/* A write to a blocking eventfd whose counter is full would wait. */
static void a_blocking_eventfd_is_rejected(void **state)
{
	struct remote_data data;

	(void)state;
	assert_int_equal(data_open(&data, eventfd(0, 0)), -EPROTO);
	assert_null(data.rings.memory);
}

static void a_data_socket_is_a_socket(void **state)
{
	struct remote_data data;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(data_open_at(&data, ends[0], eventfd(0, EFD_NONBLOCK)),
			 -EPROTO);
	assert_int_equal(data.fd, -1);
	assert_null(data.rings.memory);
	close(ends[1]);
}

/* Send the answer to REMOTE_WATCH, which is the last of a new connection. */
static void watch_answer(int fd)
{
	const struct {
		struct remote_head head;
		struct remote_state state;
	} frame = { .head = { .length = sizeof(frame.state),
			      .type = REMOTE_WATCH } };

	assert_int_equal(send(fd, &frame, sizeof(frame), MSG_NOSIGNAL),
			 sizeof(frame));
}

/*
 * A server sends a data socket without memory for the rings, and keeps a copy
 * of the socket: closing it does not remove it from the epoll set.
 */
static void a_refused_data_socket_is_not_polled(void **state)
{
	struct remote_link link = {
		.step = LINK_OPENING,
		.transport.is_open = true,
		.join_fd = -1,
		.epoll_fd = -1,
		.timer_fd = -1,
	};
	struct pollfd end = { .events = POLLIN };
	int control[2];
	int data[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, data), 0);
	ibsa__control_init(&link.control);
	remote_data_init(&link.data);
	assert_int_equal(ibsa__remote_link_wait_init(&link), 0);
	link.connection.fd = control[0];
	end.fd = ibsa__remote_link_fd(&link.base);
	assert_true(end.fd >= 0);
	link.control.asked = REMOTE_WATCH;
	link.control.ring_bytes = sizeof(struct ring_memory);
	link.control.fds.fd[REMOTE_FD_DATA] = dup(data[0]);
	watch_answer(control[1]);
	assert_int_equal(ibsa__remote_link_up_go(&link, NULL), -EPROTO);
	ibsa__remote_link_down(&link);
	assert_int_equal(send(data[1], "x", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(poll(&end, 1, 0), 0);
	ibsa__control_free(&link.control);
	ibsa__remote_link_wait_done(&link);
	close(control[1]);
	close(data[0]);
	close(data[1]);
}

/* A server that changes the length of a packet while a client reads it. */
struct changer {
	struct ring_end out;
	atomic_bool ends;
};

/* Write the length again and again, so that it is there for a while. */
static void length_set(struct changer *changer, uint32_t length)
{
	uint8_t *at = changer->out.bytes + offsetof(struct umad_header, length);

	for (int i = 0; i < 50; i++)
		*(volatile uint32_t *)at = length;
}

enum { LENGTH = 1000 };

static void *length_change(void *arg)
{
	struct changer *changer = arg;

	while (!atomic_load(&changer->ends)) {
		length_set(changer, 0);
		length_set(changer, LENGTH);
	}
	return NULL;
}

/* The length that was checked is the length that the caller gets. */
static void a_length_is_read_once(void **state)
{
	enum { WAIT_MS = 300 };
	struct remote_shared shared = {
		.reading = PTHREAD_MUTEX_INITIALIZER,
	};
	struct remote_file file = { .shared = &shared };
	struct rings server;
	struct changer changer = { .ends = false };
	uint8_t bytes[UMAD_HEADER_BYTES + IBSA_MAD_BYTES] = { 0 };
	const uint64_t start_ns = clock_now_ns();
	struct umad_header header;
	unsigned int reads = 0;
	pthread_t thread;
	int fds[2];
	int fd;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(ibsa__rings_new(&server, &fd), 0);
	remote_data_init(&shared.data);
	shared.data.fd = fds[0];
	assert_int_equal(ibsa__rings_open(&shared.data.rings, fd), 0);
	close(fd);
	changer.out = server.out;
	assert_int_equal(ibsa__ring_write(&server.out, bytes, sizeof(bytes)),
			 sizeof(bytes));
	(void)!ibsa__ring_publish(&server.out);
	length_set(&changer, LENGTH);
	pthread_create(&thread, NULL, length_change, &changer);
	while (ibsa__clock_left_ms(WAIT_MS, start_ns)) {
		if (ibsa__remote_file_read(&file, bytes, sizeof(bytes)) == -EIO)
			continue;
		memcpy(&header, bytes, sizeof(header));
		assert_int_equal(header.length, LENGTH);
		reads++;
	}
	assert_true(reads > 0);
	atomic_store(&changer.ends, true);
	pthread_join(thread, NULL);
	ibsa__rings_close(&server);
	ibsa__data_close(&shared.data);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_eventfd_is_accepted),
		cmocka_unit_test(another_file_is_rejected),
		cmocka_unit_test(a_blocking_eventfd_is_rejected),
		cmocka_unit_test(a_data_socket_is_a_socket),
		cmocka_unit_test(a_refused_data_socket_is_not_polled),
		cmocka_unit_test(a_length_is_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
