/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A server, or a client of one, in a program that forks. The child has copies
 * of all descriptors, so files stay open when the program closes them.
 */
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../support/child.h"
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

static void end_is_seen(int fd)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };
	char byte;

	assert_int_equal(poll(&file, 1, 10000), 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(server_forgets_closed_clients),
		cmocka_unit_test(clients_see_that_the_server_ends),
		cmocka_unit_test(client_waits_for_the_next_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
