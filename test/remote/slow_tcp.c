/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections over TCP that are established late, as on a slow network: a client
 * sends its first bytes as soon as its socket is writable. Here, a full backlog
 * makes the kernel drop the first SYN, which it repeats after a second.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "remote/file.h"
#include "remote/link.h"
#include "test/support/server_rig.h"

enum { LIMIT_MS = 10000, PORT_LEN = sizeof("tcp:127.0.0.1:") - 1 };

/* A program that listens at the port of a fabric server that has ended. */
struct slow {
	struct server_rig *rig;
	struct sockaddr_in name;
	int listener;
	int filler; /* fills the backlog */
};

static int socket_at(const struct sockaddr_in *name,
		     int (*use)(int, const struct sockaddr *, socklen_t))
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int on = 1;

	assert_true(fd >= 0);
	assert_int_equal(
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(use(fd, (const struct sockaddr *)name, sizeof(*name)),
			 0);
	return fd;
}

static void backlog_fill(struct slow *slow)
{
	slow->filler = socket_at(&slow->name, connect);
}

/* The server ends, and a program that does not accept takes its port. */
static void slow_begin(struct slow *slow)
{
	const char *port = server_address(slow->rig) + PORT_LEN;

	slow->name = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	server_end(slow->rig);
	slow->listener = socket_at(&slow->name, bind);
	assert_int_equal(listen(slow->listener, 0), 0);
	backlog_fill(slow);
}

static void slow_end(struct slow *slow)
{
	close(slow->listener);
	server_stop(slow->rig);
}

static int one_accept(const struct slow *slow)
{
	struct pollfd end = { .fd = slow->listener, .events = POLLIN };

	assert_int_equal(poll(&end, 1, LIMIT_MS), 1);
	return accept4(slow->listener, NULL, NULL, SOCK_CLOEXEC);
}

/* Accept what fills the backlog, and then the client. Return: its socket. */
static int client_accept(const struct slow *slow)
{
	close(one_accept(slow));
	close(slow->filler);
	return one_accept(slow);
}

static bool is_readable(int fd)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

/* No timer continues what waits for a socket. */
static void timer_stop(int fd)
{
	const struct itimerspec never = { 0 };

	assert_int_equal(timerfd_settime(fd, 0, &never, NULL), 0);
}

/* A client that connects again, and what its program calls. */
struct again {
	int fd; /* that the program polls */
	int timer_fd;
	struct remote_link *link;
	struct remote_file *file;
};

static void again_call(const struct again *again)
{
	struct ibsa_port_state state;
	struct ibsa_transport *transport;
	struct umad_file *next = NULL;

	if (again->link) {
		transport = &again->link->transport.base;
		(void)!transport->ops->port(transport, &state, sizeof(state));
		return;
	}
	(void)!again->file->base.ops->reopen(&again->file->base, &next);
	assert_null(next);
}

static bool is_waiting(const struct again *again)
{
	if (again->link)
		return again->link->step == LINK_CONNECTING ||
		       again->link->step == LINK_JOINING;
	return again->file->portid->attempt.step == STEP_CONNECTING;
}

/* Wait as a program does, until the client waits for a socket. */
static void again_until_waiting(const struct again *again)
{
	struct pollfd end = { .fd = again->fd, .events = POLLIN };

	do {
		assert_int_equal(poll(&end, 1, LIMIT_MS), 1);
		again_call(again);
	} while (!is_waiting(again));
	timer_stop(again->timer_fd);
}

/* Receive a frame of @type, as soon as the client's descriptor is readable. */
static void frame_take(const struct again *again, int fd, uint32_t type)
{
	struct pollfd end = { .fd = again->fd, .events = POLLIN };
	struct {
		struct remote_head head;
		uint8_t body[sizeof(struct remote_greeting)];
	} frame;

	while (!is_readable(fd)) {
		assert_int_equal(poll(&end, 1, LIMIT_MS), 1);
		again_call(again);
	}
	assert_int_equal(recv(fd, &frame.head, sizeof(frame.head), MSG_WAITALL),
			 sizeof(frame.head));
	assert_int_equal(frame.head.type, type);
	assert_true(frame.head.length <= sizeof(frame.body));
	if (frame.head.length)
		assert_int_equal(recv(fd, frame.body, frame.head.length,
				      MSG_WAITALL),
				 frame.head.length);
}

static void answer_send(int fd, uint32_t type, const void *body, size_t len)
{
	const struct remote_head head = { .length = (uint32_t)len,
					  .type = type };
	size_t sent = 0;

	assert_int_equal(ibsa__remote_send(fd, &head, sizeof(head), body, len,
					   &sent),
			 0);
}

/* The hello, and the ticket of the data socket, are sent at once. */
static void a_client_sends_when_it_is_connected(void **state)
{
	const struct remote_hello hello = { .version = REMOTE_VERSION };
	const uint8_t ticket[REMOTE_TICKET_BYTES] = { 0 };
	const struct remote_state port = { 0 };
	struct slow slow = { .rig = server_start(server_pair) };
	struct ibsa_transport *transport = server_transport(slow.rig, "right");
	struct remote_link *link =
		(struct remote_link *)(void *)((char *)transport -
					       offsetof(struct remote_link,
							transport.base));
	struct again again = { .link = link };
	int fd, data;

	(void)state;
	again.fd = transport->ops->fd(transport);
	again.timer_fd = link->timer_fd;
	slow_begin(&slow);
	again_until_waiting(&again);
	fd = client_accept(&slow);
	frame_take(&again, fd, REMOTE_HELLO);
	backlog_fill(&slow);
	answer_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	answer_send(fd, REMOTE_ATTACH, ticket, sizeof(ticket));
	answer_send(fd, REMOTE_WATCH, &port, sizeof(port));
	again_until_waiting(&again);
	data = client_accept(&slow);
	frame_take(&again, data, REMOTE_JOIN);
	close(data);
	close(fd);
	transport->ops->close(transport);
	slow_end(&slow);
}

static void a_umad_file_sends_when_it_is_connected(void **state)
{
	struct slow slow = { .rig = server_start(server_pair) };
	struct remote_address address;
	struct remote_file file;
	struct again again = { .file = &file };
	int fd;

	(void)state;
	assert_int_equal(ibsa__remote_address_find(server_address(slow.rig),
						   "right", NULL, 0, NULL,
						   &address),
			 0);
	address.reopen_s = 60;
	assert_int_equal(ibsa__remote_file_open(&address, NULL, &file), 0);
	again.fd = file.portid->set_fd;
	again.timer_fd = file.portid->timer_fd;
	slow_begin(&slow);
	assert_int_equal(file.base.ops->unregister_agent(&file.base, 0),
			 -EINVAL);
	again_until_waiting(&again);
	fd = client_accept(&slow);
	frame_take(&again, fd, REMOTE_HELLO);
	close(fd);
	ibsa__remote_file_close(&file);
	slow_end(&slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_sends_when_it_is_connected),
		cmocka_unit_test(a_umad_file_sends_when_it_is_connected),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	setenv("IBSA_TEST_TCP", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
