/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server that ends while a program opens a port at it: the program
 * must not take the server for one of another version.
 */
#include "../support/server_rig.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

enum { KILLS = 25 };

/* What the server has done with a client's connection when it ends. */
enum stage { CONNECTED, ACCEPTED, READ, ANSWERED };

struct meeting {
	char folder[32];
	char name[64];
	struct sockaddr_un address;
};

static void meeting_make(struct meeting *meeting)
{
	*meeting = (struct meeting){ .folder = "/tmp/ibsa-XXXXXX",
				     .address.sun_family = AF_UNIX };
	assert_non_null(mkdtemp(meeting->folder));
	snprintf(meeting->name, sizeof(meeting->name), "unix:%s/s",
		 meeting->folder);
	strcpy(meeting->address.sun_path, meeting->name + strlen("unix:"));
	setenv("IBSA_FABRIC", meeting->name, 1);
}

static void meeting_remove(const struct meeting *meeting)
{
	unsetenv("IBSA_FABRIC");
	unlink(meeting->address.sun_path);
	assert_int_equal(rmdir(meeting->folder), 0);
}

/* Take one connection up to @stage, and end as the system ends a process. */
static void serve_until(int listener, enum stage stage)
{
	struct pollfd wanted = { .fd = listener, .events = POLLIN };
	char bytes[512];
	int fd;

	poll(&wanted, 1, -1);
	fd = stage > CONNECTED ? accept(listener, NULL, NULL) : -1;
	wanted.fd = fd;
	if (stage > CONNECTED)
		poll(&wanted, 1, -1);
	if (stage > ACCEPTED)
		(void)!recv(fd, bytes, sizeof(bytes), 0);
	if (stage > READ)
		(void)!send(fd, "x", 1, MSG_NOSIGNAL);
	_exit(0);
}

static pid_t stage_start(const struct meeting *meeting, enum stage stage)
{
	const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t child;

	unlink(meeting->address.sun_path);
	assert_int_equal(bind(listener,
			      (const struct sockaddr *)&meeting->address,
			      sizeof(meeting->address)),
			 0);
	assert_int_equal(listen(listener, 4), 0);
	child = fork();
	if (!child)
		serve_until(listener, stage);
	close(listener);
	return child;
}

static int client_open(void)
{
	struct ibsa_client *client;
	int err = ibsa_open(NULL, NULL, &client);

	if (!err)
		ibsa_close(client);
	return err;
}

static int command_send(void)
{
	return ibsa_server_command(NULL, "stats", NULL, 0, NULL);
}

static int port_open(void)
{
	const int portid = umad_open_port(NULL, 0);

	if (portid >= 0)
		umad_close_port(portid);
	return portid < 0 ? portid : 0;
}

static int (*const openers[])(void) = { client_open, command_send, port_open };
enum { OPENERS = sizeof(openers) / sizeof(openers[0]) };

static void check_stage(enum stage stage, int expected)
{
	struct meeting meeting;

	meeting_make(&meeting);
	for (size_t i = 0; i < OPENERS; i++) {
		const pid_t child = stage_start(&meeting, stage);

		assert_int_equal(openers[i](), expected);
		assert_int_equal(waitpid(child, NULL, 0), child);
	}
	meeting_remove(&meeting);
}

/* The kernel reports a reset, or end of file if the server has read all. */
static void a_server_that_ends_before_it_answers_gives_enodev(void **state)
{
	(void)state;
	check_stage(CONNECTED, -ENODEV);
	check_stage(ACCEPTED, -ENODEV);
	check_stage(READ, -ENODEV);
}

static void a_part_of_an_answer_is_another_version(void **state)
{
	(void)state;
	check_stage(ANSWERED, -EPROTO);
}

static void server_run(const struct meeting *meeting)
{
	struct ibsa_fabric_server *server = NULL;
	struct ibsa_fabric *fabric;

	if (ibsa_fabric_parse(server_pair, strlen(server_pair), NULL, NULL,
			      &fabric) ||
	    ibsa_fabric_server_open(fabric, meeting->address.sun_path, NULL,
				    NULL, &server))
		_exit(1);
	while (!ibsa_fabric_server_wait(server, -1))
		;
	_exit(1);
}

static pid_t server_fork(const struct meeting *meeting)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	const pid_t child = fork();

	if (!child)
		server_run(meeting);
	while (client_open())
		nanosleep(&pause, NULL);
	return child;
}

/*
 * Open ports until the server has been killed. umad_open_port() reads several
 * files first, and has libibumad's errors for a file that cannot be read.
 */
static void open_until(const struct meeting *meeting, unsigned int round)
{
	const struct timespec life = { .tv_nsec = 1000 * (long)(round * 97) };
	const pid_t server = server_fork(meeting);
	const pid_t killer = fork();
	int err = 0;

	if (!killer) {
		nanosleep(&life, NULL);
		kill(server, round % 2 ? SIGKILL : SIGTERM);
		_exit(0);
	}
	while (!err)
		err = openers[round % OPENERS]();
	if (openers[round % OPENERS] == port_open)
		assert_int_not_equal(err, -EPROTO);
	else
		assert_int_equal(err, -ENODEV);
	assert_int_equal(waitpid(killer, NULL, 0), killer);
	assert_int_equal(waitpid(server, NULL, 0), server);
}

static void opens_beside_kills_fail_with_enodev(void **state)
{
	struct meeting meeting;

	(void)state;
	meeting_make(&meeting);
	for (unsigned int round = 0; round < KILLS; round++)
		open_until(&meeting, round);
	meeting_remove(&meeting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_server_that_ends_before_it_answers_gives_enodev),
		cmocka_unit_test(a_part_of_an_answer_is_another_version),
		cmocka_unit_test(opens_beside_kills_fail_with_enodev),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
