/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transports at a fabric server that listen for Reports. A call returns after a
 * quarter of a second without the server's answer, and a busy machine may not run
 * the server within that time. Here time stands still: each call waits for the
 * answer, unless the server is paused.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <time.h>

#include "remote/connection.h"
#include "remote/transport.h"
#include "../support/server_rig.h"

enum { SLOW_MS = 300 }; /* longer than a call waits */

static atomic_bool is_slow, is_paused; /* the server */

int __real_epoll_wait(int fd, struct epoll_event *events, int room,
		      int timeout_ms);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int room,
		      int timeout_ms);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int __wrap_epoll_wait(int fd, struct epoll_event *events, int room,
		      int timeout_ms)
{
	const int count = __real_epoll_wait(fd, events, room, timeout_ms);

	if (atomic_load(&is_slow))
		(void)!poll(NULL, 0, SLOW_MS);
	return count;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	const bool waits = count && !atomic_load(&is_paused);

	return __real_poll(fds, count, waits ? -1 : timeout_ms);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	*out = (struct timespec){ .tv_sec = 1 };
	return 0;
}

static void one_listens(struct ibsa_transport *one, struct ibsa_transport *two)
{
	assert_int_equal(one->ops->listen(one, true), 0);
	assert_int_equal(one->ops->listen(one, true), 0);
	assert_int_equal(two->ops->listen(two, true), -EBUSY);
	assert_int_equal(one->ops->listen(one, false), 0);
	assert_int_equal(two->ops->listen(two, true), 0);
	assert_int_equal(two->ops->listen(two, false), 0);
}

static void one_listens_at_a_time(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *one = server_transport(server, "right");
	struct ibsa_transport *two = server_transport(server, "right");

	(void)state;
	for (int i = 0; i < 200; i++)
		one_listens(one, two);
	atomic_store(&is_slow, true);
	one_listens(one, two);
	one_listens(one, two);
	atomic_store(&is_slow, false);
	one->ops->close(one);
	two->ops->close(two);
	server_stop(server);
}

/* Each call of listen waits for the server's answer to the call before. */
static void listening_begins_again_at_once(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *one = server_transport(server, "right");
	struct ibsa_transport *two = server_transport(server, "right");

	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(one->ops->listen(one, true), 0);
		assert_int_equal(one->ops->listen(one, false), 0);
		assert_int_equal(one->ops->listen(one, true), 0);
		assert_int_equal(two->ops->listen(two, true), -EBUSY);
		assert_int_equal(two->ops->listen(two, false), 0);
		assert_int_equal(one->ops->listen(one, false), 0);
	}
	one->ops->close(one);
	two->ops->close(two);
	server_stop(server);
}

/*
 * Let @one receive what has arrived until the server lets @two listen. Return:
 * whether it does within ten seconds.
 */
static bool other_may_listen(struct ibsa_transport *one,
			     struct ibsa_transport *two)
{
	struct ibsa_message message;
	int err = -EBUSY;

	for (int i = 0; i < 1000 && err == -EBUSY; i++, poll(NULL, 0, 10)) {
		assert_int_equal(one->ops->recv(one, &message), 0);
		err = two->ops->listen(two, true);
	}
	return !err;
}

/*
 * A transport ends listening, or ends it, begins it and ends it again, while
 * the server does not answer. Its agent does not stay registered.
 */
static void listening_ends_at_a_paused_server(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *one = server_transport(server, "right");
	struct ibsa_transport *two = server_transport(server, "right");

	(void)state;
	for (int calls = 1; calls <= 3; calls += 2) {
		assert_int_equal(one->ops->listen(one, true), 0);
		assert_int_equal(two->ops->listen(two, true), -EBUSY);
		(void)server_pause(server);
		atomic_store(&is_paused, true);
		for (int i = 0; i < calls; i++)
			assert_int_equal(one->ops->listen(one, i % 2), 0);
		atomic_store(&is_paused, false);
		server_resume(server);
		assert_true(other_may_listen(one, two));
		assert_int_equal(two->ops->listen(two, false), 0);
	}
	one->ops->close(one);
	two->ops->close(two);
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_listens_at_a_time),
		cmocka_unit_test(listening_begins_again_at_once),
		cmocka_unit_test(listening_ends_at_a_paused_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
