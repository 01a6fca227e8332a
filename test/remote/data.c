/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Descriptors that a fabric server passes for the packets of a port. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "remote/data.h"

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
	assert_int_equal(data_open_at(&data, ends[0],
				      eventfd(0, EFD_NONBLOCK)),
			 -EPROTO);
	assert_int_equal(data.fd, -1);
	assert_null(data.rings.memory);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_eventfd_is_accepted),
		cmocka_unit_test(another_file_is_rejected),
		cmocka_unit_test(a_blocking_eventfd_is_rejected),
		cmocka_unit_test(a_data_socket_is_a_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
