/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A server, or a client of one, in a program that forks. The child has copies
 * of all descriptors, so files stay open when the program closes them.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../support/child.h"
#include "../support/inherited.h"
#include "remote/file.h"
#include "../support/server_rig.h"

/* A child that holds all descriptors until it is ended. */
struct services {
	pid_t child;
	int end;
};

/* The server, in this program, has the sockets with a name. */
static void named_sockets_close(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		struct sockaddr_un name;
		socklen_t len = sizeof(name);

		if (!getsockname(fd, (struct sockaddr *)&name, &len) &&
		    name.sun_family == AF_UNIX && len > sizeof(sa_family_t))
			close(fd);
	}
}

static struct services holder_start(bool has_server)
{
	struct services services;
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	services.child = fork();
	if (!services.child) {
		close(ends[1]);
		if (!has_server)
			named_sockets_close();
		_exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(ends[0]);
	services.end = ends[1];
	return services;
}

static void holder_end(const struct services *services)
{
	close(services->end);
	child_end(services->child);
}

/* The memory of a client that has gone must not be used for events. */
static void server_forgets_closed_clients(void **state)
{
	struct server_rig *server = server_start(server_pair);
	const int fd = server_connect(server, "left");
	const struct services services = holder_start(true);

	(void)state;
	shutdown(fd, SHUT_RDWR);
	for (int i = 0; i < 5; i++)
		assert_int_equal(ibsa_close(server_client(server, "right")), 0);
	close(fd);
	holder_end(&services);
	server_stop(server);
}

static void wait_readable(int fd)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&file, 1, 10000), 1);
}

static void end_is_seen(int fd)
{
	char byte;

	wait_readable(fd);
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
}

/* Both sockets of a client's port end with the server. */
static void clients_see_that_the_server_ends(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct remote_file port;
	struct services services;

	(void)state;
	assert_int_equal(server_file_open(server, "right", &port), 0);
	services = holder_start(true);
	server_end(server);
	end_is_seen(port.connection.fd);
	end_is_seen(port.shared->data.fd);
	ibsa__remote_file_close(&port);
	holder_end(&services);
	server_restart(server);
	server_stop(server);
}

/* The descriptor is readable only when there is something to do. */
static void client_waits_for_the_next_server(void **state)
{
	enum { ATTEMPTS = 20, ATTEMPT_MS = 5 };
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, "right");
	struct pollfd file = { .fd = ibsa_fd(client), .events = POLLIN };
	const struct services services = holder_start(false);
	int ready = 0;

	(void)state;
	server_end(server);
	for (int i = 0; i < ATTEMPTS; i++) {
		(void)!ibsa_dispatch(client);
		ready += poll(&file, 1, ATTEMPT_MS) == 1;
	}
	/* The client tries to connect ten times a second. */
	assert_in_range(ready, 0, ATTEMPTS / 2);
	assert_int_equal(ibsa_close(client), 0);
	holder_end(&services);
	server_restart(server);
	server_stop(server);
}

/* A child ends while it holds the lock, after it has sent @len bytes. */
static void child_dies_locked(pthread_mutex_t *lock, int fd, const void *bytes,
			      size_t len)
{
	const pid_t child = fork();

	if (!child) {
		pthread_mutex_lock(lock);
		_exit(len && send(fd, bytes, len, MSG_NOSIGNAL) < 0);
	}
	child_end(child);
}

/*
 * The child may have sent a part of a packet: the server would take the next
 * packet for the rest of it.
 */
static void a_file_refuses_packets_after_its_writer_died(void **state)
{
	const uint8_t packet[UMAD_HEADER_BYTES + 256] = { 0 };
	struct server_rig *server = server_start(server_pair);
	struct remote_file file;

	(void)state;
	assert_int_equal(server_file_open(server, "right", &file), 0);
	child_dies_locked(&file.shared->writing, -1, NULL, 0);
	assert_int_equal(ibsa__remote_file_write(&file, packet, sizeof(packet)),
			 -EIO);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

/* The child may have received a part of the packet that comes next. */
static void a_file_has_no_packets_after_its_reader_died(void **state)
{
	struct server_rig *server = server_start(server_pair);
	uint8_t packet[UMAD_HEADER_BYTES + 256] = { 0 };
	struct remote_file file;

	(void)state;
	assert_int_equal(server_file_open(server, "right", &file), 0);
	assert_int_equal(ibsa__remote_file_write(&file, packet, sizeof(packet)),
			 0);
	wait_readable(file.shared->data.fd);
	child_dies_locked(&file.shared->reading, -1, NULL, 0);
	assert_int_equal(ibsa__remote_file_read(&file, packet, sizeof(packet)),
			 -EIO);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

/* The answer that comes next is that to the child's request. */
static void a_file_has_no_answers_after_a_request_died(void **state)
{
	struct umad_agent_request2 request = { .qpn = 1 };
	const struct {
		struct remote_head head;
		struct umad_agent_request2 body;
	} frame = {
		.head = { .length = sizeof(frame.body),
			  .type = REMOTE_REGISTER },
		.body = { .qpn = 1 },
	};
	struct server_rig *server = server_start(server_pair);
	struct remote_file file;

	(void)state;
	assert_int_equal(server_file_open(server, "right", &file), 0);
	child_dies_locked(&file.shared->requesting, file.connection.fd, &frame,
			  sizeof(frame));
	wait_readable(file.connection.fd);
	assert_int_equal(file.base.ops->register_agent2(&file.base, &request),
			 -ENODEV);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

/* Every call by the child is refused, and does not affect the parent. */
static void child_cannot_use_a_client(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct inherited inherited;
	pid_t child;

	(void)state;
	inherited_start(server_client(server, "right"), &inherited);
	fflush(NULL);
	child = fork();
	if (!child) {
		named_sockets_close();
		_exit(!inherited_is_refused(&inherited));
	}
	child_end(child);
	inherited_finish(&inherited);
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(server_forgets_closed_clients),
		cmocka_unit_test(clients_see_that_the_server_ends),
		cmocka_unit_test(client_waits_for_the_next_server),
		cmocka_unit_test(a_file_refuses_packets_after_its_writer_died),
		cmocka_unit_test(a_file_has_no_packets_after_its_reader_died),
		cmocka_unit_test(a_file_has_no_answers_after_a_request_died),
		cmocka_unit_test(child_cannot_use_a_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
