/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The places for connections to a fabric server: the share of one process, the
 * places for commands; and the connections of a server in a forked child.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibsa/records.h>

#include "base/clock.h"
#include "remote/connection.h"
#include "../support/child.h"
#include "../support/server_rig.h"

enum { SHARE_MIN = 8, COMMANDS_OF_ONE = 4, COMMANDS = 16 };

static int command_send(const struct server_rig *server)
{
	return ibsa_server_command(server_address(server), "stats", NULL, 0,
				   NULL);
}

static int open_once(const struct server_rig *server, struct ibsa_error *error)
{
	const struct ibsa_options options = {
		.fabric = server_address(server),
	};
	struct ibsa_client *client = NULL;
	const int err = ibsa_open(&options, error, &client);

	return err ? err : ibsa_close(client);
}

/* Open a connection as the commands do, without sending one. */
static int command_connect(const struct server_rig *server,
			   struct remote_connection *out)
{
	struct remote_address address;

	assert_int_equal(ibsa__remote_address_find(server_address(server), "",
						   NULL, 0, NULL, &address),
			 0);
	address.is_control = true;
	return ibsa__remote_connect(out, &address, NULL);
}

static int read_file(struct remote_connection *connection)
{
	static const char path[] = "class/infiniband/ibsa0/node_type";
	char text[64];
	struct remote_request request = {
		.type = REMOTE_FILE,
		.body = path,
		.len = strlen(path),
		.answer = text,
		.room = sizeof(text),
	};

	return ibsa__remote_request(connection, &request, NULL);
}

static void fill(const struct server_rig *server, int *fds, int count)
{
	for (int i = 0; i < count; i++)
		fds[i] = server_connect(server, "left");
}

static void close_all(const int *fds, int count)
{
	for (int i = 0; i < count; i++)
		close(fds[i]);
}

/* At the limit, commands pass, and no other request does. */
static void commands_have_places_of_their_own(void **state)
{
	const struct ibsa_fabric_server_options two = { .connections = 2 };
	struct server_rig *server = server_start_with(server_pair, &two);
	struct remote_connection connection;
	struct ibsa_error error = { .text = "" };
	int fds[2];

	(void)state;
	fill(server, fds, 2);
	for (int i = 0; i < 3 * COMMANDS; i++) {
		assert_int_equal(open_once(server, &error), -EUSERS);
		assert_int_equal(command_send(server), 0);
	}
	assert_non_null(strstr(error.text, "server has reached its limit"));
	assert_int_equal(command_connect(server, &connection), 0);
	assert_int_equal(read_file(&connection), -EUSERS);
	ibsa__remote_disconnect(&connection);
	close_all(fds, 2);
	server_stop(server);
}

static void check_commands_of_child(const struct server_rig *server)
{
	const pid_t child = fork();

	if (!child)
		_exit(command_send(server) ? 1 : 0);
	child_end(child);
}

/*
 * One process cannot hold all places for commands, and cannot hold its part of
 * them for longer than the time in which a message has to arrive.
 */
static void places_for_commands_are_shared(void **state)
{
	const struct ibsa_fabric_server_options one = { .connections = 1,
							.patience_ms = 500 };
	struct server_rig *server = server_start_with(server_pair, &one);
	struct remote_connection idle[COMMANDS_OF_ONE];
	int fd;

	(void)state;
	fill(server, &fd, 1);
	for (int i = 0; i < COMMANDS_OF_ONE; i++)
		assert_int_equal(command_connect(server, &idle[i]), 0);
	assert_int_equal(command_send(server), -EUSERS);
	check_commands_of_child(server);
	while (command_send(server))
		;
	for (int i = 0; i < COMMANDS_OF_ONE; i++)
		ibsa__remote_disconnect(&idle[i]);
	close(fd);
	server_stop(server);
}

static void check_opens_of_child(const struct server_rig *server)
{
	const pid_t child = fork();

	if (!child)
		_exit(open_once(server, NULL) ? 1 : 0);
	child_end(child);
}

static void check_share(uint32_t connections, int share)
{
	const struct ibsa_fabric_server_options options = {
		.connections = connections,
	};
	struct server_rig *server = server_start_with(server_pair, &options);
	struct ibsa_error error = { .text = "" };
	int fds[64];

	fill(server, fds, share);
	assert_int_equal(open_once(server, &error), -EUSERS);
	assert_non_null(strstr(error.text, "this process"));
	assert_int_equal(command_send(server), 0);
	check_opens_of_child(server);
	close(fds[0]);
	while (open_once(server, NULL))
		;
	close_all(fds + 1, share - 1);
	server_stop(server);
}

static void one_process_has_a_quarter_of_the_places(void **state)
{
	(void)state;
	check_share(48, 12);
	check_share(16, SHARE_MIN);
	check_share(9, SHARE_MIN);
}

/* A process that connects in a loop must not fill the log. */
static void refusals_are_noted_once_a_second(void **state)
{
	const struct ibsa_fabric_server_options one = { .connections = 1 };
	const uint64_t start_ns = clock_now_ns();
	struct server_rig *server = server_start_with(server_pair, &one);
	struct ibsa_fabric_server_stats stats;
	uint64_t took_s;
	int fd;

	(void)state;
	fill(server, &fd, 1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(open_once(server, NULL), -EUSERS);
	took_s = (clock_now_ns() - start_ns) / NS_PER_S;
	assert_in_range(server_note_count(server), 1, took_s + 2);
	ibsa_fabric_server_stats_get(server_pause(server), &stats);
	server_resume(server);
	assert_int_equal(stats.disconnected, 100);
	close(fd);
	server_stop(server);
}

/* What a forked child does with its parent's server and fabric. */
static bool child_is_refused(struct ibsa_fabric_server *server,
			     struct ibsa_fabric *fabric)
{
	const struct ibsa_options options = { .on = fabric };
	struct ibsa_error error = { .text = "" };
	struct ibsa_fabric_server *other;
	struct ibsa_transport *transport;
	struct ibsa_client *client;

	if (ibsa_fabric_server_wait(server, 0) != -EINVAL ||
	    ibsa_fabric_server_fd(server) != -1 ||
	    ibsa_fabric_server_command(server, "stats", NULL, 0, &error) !=
		    -EINVAL ||
	    ibsa_fabric_server_open(fabric, "/nonexistent/s", NULL, &error,
				    &other) != -EINVAL ||
	    ibsa_fabric_attach(fabric, NULL, 0, &transport) != -EINVAL ||
	    ibsa_open(&options, &error, &client) != -EINVAL ||
	    !strstr(error.text, "parent"))
		return false;
	ibsa_fabric_server_wake(server);
	ibsa_fabric_server_close(server);
	ibsa_fabric_put(fabric);
	return true;
}

/* The parent's server, its socket and its clients do not change. */
static void a_child_closes_its_copy(void **state)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct server_rig *rig = server_start(server_pair);
	struct ibsa_client *client = server_client(rig, "right");
	struct ibsa_fabric_server *server = server_pause(rig);
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(!child_is_refused(server, server_fabric(rig)));
	child_end(child);
	server_resume(rig);
	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
	client = server_client(rig, "left");
	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_have_places_of_their_own),
		cmocka_unit_test(places_for_commands_are_shared),
		cmocka_unit_test(one_process_has_a_quarter_of_the_places),
		cmocka_unit_test(refusals_are_noted_once_a_second),
		cmocka_unit_test(a_child_closes_its_copy),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
