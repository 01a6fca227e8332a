/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients of several users, and their quotas. Each client is a child of the
 * test, which runs the server's loop until the child ends.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "owner.h"

enum { ALICE = 65533, BOB = 65534, ROOT = 0, SERVER_MS = 10 };

/* What a child does. Return: its result, at least 0 and below 256. */
typedef int client_fn(const struct owner *owner);

static int client_connect(const struct owner *owner)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, owner->path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		_exit(255);
	return fd;
}

/*
 * Send a request, and wait for its answer. @data_fd: receives the data socket,
 * or NULL. Return: the errno in the answer; 254: the server has closed the
 * connection.
 */
static int request(int fd, uint32_t type, const void *body, size_t len,
		   int *data_fd)
{
	struct remote_head head = { .type = type, .length = (uint32_t)len };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int) * REMOTE_FDS)];
	} control;
	struct iovec part = { &head, sizeof(head) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	char text[REMOTE_BODY_MAX];

	(void)!send(fd, &head, sizeof(head), MSG_NOSIGNAL);
	(void)!send(fd, body, len, MSG_NOSIGNAL);
	if (recvmsg(fd, &message, MSG_WAITALL) != sizeof(head))
		return 254;
	if (data_fd && message.msg_controllen)
		memcpy(data_fd, CMSG_DATA(&control.head), sizeof(*data_fd));
	if (head.length)
		(void)!recv(fd, text, head.length, MSG_WAITALL);
	return -head.err;
}

static int hello(int fd)
{
	const struct remote_hello body = { .version = REMOTE_VERSION,
					   .port = 1 };

	return request(fd, REMOTE_HELLO, &body, sizeof(body), NULL);
}

static pid_t client_start(const struct owner *owner, uid_t user, client_fn *run)
{
	const pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(setresuid(user, user, user) ? 253 : run(owner));
	return child;
}

/* Serve until the child ends. Return: its result. */
static int client_await(struct owner *owner, pid_t child)
{
	int status;

	while (!waitpid(child, &status, WNOHANG))
		assert_int_equal(ibsa__server_wait(owner->server, SERVER_MS),
				 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int client_run(struct owner *owner, uid_t user, client_fn *run)
{
	return client_await(owner, client_start(owner, user, run));
}

static int once(const struct owner *owner)
{
	return hello(client_connect(owner));
}

static void other_users_are_served_if_permitted(void **state)
{
	const struct serve_limits quotas[SERVE_QUOTAS] = { 0 };
	struct owner owner;
	struct stat file;

	(void)state;
	owner_start_for_users(&owner, quotas, 0);
	assert_int_equal(stat(owner.path, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0666);
	assert_int_equal(client_run(&owner, BOB, once), 0);
	owner_stop(&owner);

	owner_start(&owner, 0, true);
	assert_int_equal(stat(owner.path, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0600);
	assert_int_equal(chmod(owner.folder, 0755), 0);
	assert_int_equal(chmod(owner.path, 0666), 0);
	assert_int_equal(client_run(&owner, BOB, once), EACCES);
	assert_int_equal(client_run(&owner, ROOT, once), 0);
	owner_stop(&owner);
}

/* Return: how many connections the server accepts before it refuses one. */
static int connect_until_refused(const struct owner *owner)
{
	int count = 0;
	int err;

	do
		err = hello(client_connect(owner));
	while (!err && ++count < 7);
	return err && err != EUSERS ? 252 : count;
}

static void users_have_quotas_of_connections(void **state)
{
	const struct serve_limits quotas[SERVE_QUOTAS] = {
		[SERVE_CONNECTIONS] = { .one = 5 },
	};
	struct owner owner;

	(void)state;
	owner_start_for_users(&owner, quotas, 0);
	assert_int_equal(client_run(&owner, BOB, connect_until_refused), 5);
	assert_int_equal(client_run(&owner, ROOT, connect_until_refused), 7);
	owner_stop(&owner);
}

static int wait_pipe[2];

/* Connect once, and hold the connection until the parent writes. */
static int stay(const struct owner *owner)
{
	const int err = hello(client_connect(owner));
	char byte;

	if (!err)
		(void)!read(wait_pipe[0], &byte, 1);
	return err;
}

static void clients_await(struct owner *owner, unsigned int count)
{
	while (ibsa__server_stats(owner->server).clients != count)
		assert_int_equal(ibsa__server_wait(owner->server, SERVER_MS),
				 0);
}

static void total_is_divided_among_users(void **state)
{
	const struct serve_limits quotas[SERVE_QUOTAS] = {
		[SERVE_CONNECTIONS] = { .one = 5, .all = 6 },
	};
	struct owner owner;
	pid_t alice;

	(void)state;
	assert_int_equal(pipe(wait_pipe), 0);
	owner_start_for_users(&owner, quotas, 0);
	alice = client_start(&owner, ALICE, stay);
	clients_await(&owner, 1);
	assert_int_equal(client_run(&owner, BOB, connect_until_refused), 3);
	clients_await(&owner, 1);
	assert_int_equal(owner.left, 1);
	assert_int_equal(owner.last_left, BOB);
	assert_int_equal(write(wait_pipe[1], "", 1), 1);
	assert_int_equal(client_await(&owner, alice), 0);
	clients_await(&owner, 0);
	assert_int_equal(owner.left, 2);
	assert_int_equal(owner.last_left, ALICE);
	assert_int_equal(client_run(&owner, BOB, connect_until_refused), 5);
	owner_stop(&owner);
	close(wait_pipe[0]);
	close(wait_pipe[1]);
}

/* Connect until the server refuses it, and hold the connections. */
static int stay_many(const struct owner *owner)
{
	char byte;

	while (!hello(client_connect(owner)))
		continue;
	(void)!read(wait_pipe[0], &byte, 1);
	return 0;
}

/* Many users have more than their total: each has its share when it comes. */
static void users_leave_connections_to_root(void **state)
{
	enum { CONNECTIONS = 32, USERS = 6 };
	const struct serve_limits quotas[SERVE_QUOTAS] = {
		[SERVE_CONNECTIONS] = { .all = 24 },
	};
	struct owner owner;
	pid_t users[USERS];
	uint64_t refused = 0;

	(void)state;
	assert_int_equal(pipe(wait_pipe), 0);
	owner_start_for_users(&owner, quotas, CONNECTIONS);
	for (uid_t i = 0; i < USERS; i++) {
		users[i] = client_start(&owner, ALICE - i, stay_many);
		while (ibsa__server_stats(owner.server).disconnected == refused)
			assert_int_equal(
				ibsa__server_wait(owner.server, SERVER_MS), 0);
		refused++;
	}
	assert_int_equal(ibsa__server_stats(owner.server).clients, 28);
	assert_int_equal(client_run(&owner, ROOT, once), 0);
	for (int i = 0; i < USERS; i++)
		assert_int_equal(write(wait_pipe[1], "", 1), 1);
	for (int i = 0; i < USERS; i++)
		assert_int_equal(client_await(&owner, users[i]), 0);
	owner_stop(&owner);
	close(wait_pipe[0]);
	close(wait_pipe[1]);
}

enum { RATE = 100, SENT = 150 };

/* Return: the time of @SENT requests, the hello included, in 10 ms. */
static int send_many(const struct owner *owner)
{
	const int fd = client_connect(owner);
	const uint64_t start_ns = clock_now_ns();
	int err = hello(fd);

	for (int i = 1; i < SENT && !err; i++)
		err = request(fd, REMOTE_FILE, "a", 1, NULL);
	return err ? 252 : (int)((clock_now_ns() - start_ns) / NS_PER_MS / 10);
}

static void requests_above_the_quota_wait(void **state)
{
	const struct serve_limits quotas[SERVE_QUOTAS] = {
		[SERVE_REQUESTS] = { .one = RATE },
	};
	struct owner owner;
	pid_t bob;

	(void)state;
	owner_start_for_users(&owner, quotas, 0);
	bob = client_start(&owner, BOB, send_many);
	clients_await(&owner, 1);
	/* Another user does not wait, and root has no quota. */
	assert_int_equal(client_run(&owner, ALICE, once), 0);
	assert_in_range(client_await(&owner, bob), 49, 250);
	assert_in_range(client_run(&owner, ROOT, send_many), 0, 40);
	owner_stop(&owner);
}

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* Return: the data socket of a client with a umad file. */
static int data_open(int fd)
{
	int data_fd = -1;

	if (hello(fd) || request(fd, REMOTE_ATTACH, NULL, 0, &data_fd))
		_exit(251);
	return data_fd;
}

static int packet_exchange(int data_fd, uint32_t retries, uint16_t attribute)
{
	struct packet packet = { .header = { .length = sizeof(packet),
					     .retries = retries } };
	struct pollfd readable = { .fd = data_fd, .events = POLLIN };

	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, attribute);
	(void)!send(data_fd, &packet, sizeof(packet), MSG_NOSIGNAL);
	(void)!poll(&readable, 1, -1);
	if (recv(data_fd, &packet, UMAD_HEADER_BYTES, MSG_WAITALL) !=
	    UMAD_HEADER_BYTES)
		return 250;
	if (!packet.header.status)
		(void)!recv(data_fd, packet.mad, sizeof(packet.mad),
			    MSG_WAITALL);
	return (int)packet.header.status;
}

/* A packet with 49 retries counts as 50: three of them exceed the quota. */
static int send_with_retries(const struct owner *owner)
{
	const int data_fd = data_open(client_connect(owner));
	const uint64_t start_ns = clock_now_ns();

	for (int i = 0; i < 4; i++)
		if (packet_exchange(data_fd, 49, 1))
			return 250;
	return (int)((clock_now_ns() - start_ns) / NS_PER_MS / 10);
}

static void retries_count_as_requests(void **state)
{
	const struct serve_limits quotas[SERVE_QUOTAS] = {
		[SERVE_REQUESTS] = { .one = RATE },
	};
	struct owner owner;

	(void)state;
	owner_start_for_users(&owner, quotas, 0);
	assert_in_range(client_run(&owner, BOB, send_with_retries), 45, 200);
	owner_stop(&owner);
}

/* Return: how many MADs the owner lets be in flight before it refuses one. */
static int send_until_refused(const struct owner *owner)
{
	const int data_fd = data_open(client_connect(owner));
	int count = 0;
	int err;

	do
		err = packet_exchange(data_fd, 0, OWNER_COUNTED);
	while (!err && ++count < 9);
	return err && err != ENOBUFS ? 252 : count;
}

static void owner_counts_what_is_in_flight(void **state)
{
	const struct serve_limits quotas[SERVE_QUOTAS] = {
		[SERVE_IN_FLIGHT] = { .one = 3, .all = 30 },
	};
	struct owner owner;

	(void)state;
	owner_start_for_users(&owner, quotas, 0);
	assert_int_equal(client_run(&owner, BOB, send_until_refused), 3);
	assert_int_equal(client_run(&owner, BOB, send_until_refused), 3);
	assert_int_equal(client_run(&owner, ROOT, send_until_refused), 9);
	owner_stop(&owner);
}

/* Return: whether the server has ended the connection. */
static int send_a_large_part(const struct owner *owner)
{
	static const char bytes[1 << 18];
	struct umad_header header = { .length = sizeof(bytes) };
	const int fd = client_connect(owner);
	const int data_fd = data_open(fd);
	char byte;

	(void)!send(data_fd, &header, sizeof(header), MSG_NOSIGNAL);
	(void)!send(data_fd, bytes, sizeof(bytes) - 100, MSG_NOSIGNAL);
	return recv(fd, &byte, 1, 0) == 0;
}

static void memory_of_a_user_is_limited(void **state)
{
	const struct serve_limits quotas[SERVE_QUOTAS] = {
		[SERVE_BYTES] = { .one = 100000 },
	};
	struct owner owner;

	(void)state;
	owner_start_for_users(&owner, quotas, 0);
	assert_int_equal(client_run(&owner, BOB, send_a_large_part), 1);
	owner_stop(&owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_users_are_served_if_permitted),
		cmocka_unit_test(users_have_quotas_of_connections),
		cmocka_unit_test(total_is_divided_among_users),
		cmocka_unit_test(users_leave_connections_to_root),
		cmocka_unit_test(requests_above_the_quota_wait),
		cmocka_unit_test(retries_count_as_requests),
		cmocka_unit_test(owner_counts_what_is_in_flight),
		cmocka_unit_test(memory_of_a_user_is_limited),
	};

	if (geteuid()) {
		fprintf(stderr, "skipped: only root can run other users\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
