/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits for one client of a fabric server: rounds, time, memory, connections.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "remote/file.h"
#include "../support/server_rig.h"
#include "wire/mad.h"

enum { NODE_RECORD = 0x0011, NOWHERE = 99 };

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

static void attach(struct server_rig *server, struct remote_file *file)
{
	assert_int_equal(server_file_open(server, "left", file), 0);
	assert_int_equal(server_agent_register(file), 0);
}

/* Send a GetTable request to @lid, by the first agent of the file. */
static int table_request_write(struct remote_file *file, uint16_t lid,
			       uint32_t tid, uint32_t timeout_ms)
{
	struct packet packet = {
		.header = { .timeout_ms = timeout_ms },
		.mad = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION,
			 IBSA_METHOD_GET_TABLE },
	};

	ibsa_put_be16((uint8_t *)&packet.header.lid, lid);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	ibsa_put_be32(packet.mad + MAD_TID_LOW, tid);
	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, NODE_RECORD);
	return ibsa__remote_file_write(file, &packet, sizeof(packet));
}

static void send_table_request(struct remote_file *file, uint16_t lid,
			       uint32_t tid, uint32_t timeout_ms)
{
	assert_int_equal(table_request_write(file, lid, tid, timeout_ms), 0);
}

/*
 * Process the events of the server until its descriptor has not been readable
 * for 50 ms. Return: false if this does not happen within 10000 rounds, because
 * the server is always ready to do something.
 */
static bool server_becomes_idle(struct ibsa_fabric_server *server)
{
	struct pollfd fd = { .fd = ibsa_fabric_server_fd(server),
			     .events = POLLIN };

	for (int i = 0; i < 10000; i++) {
		if (!poll(&fd, 1, 50))
			return true;
		assert_int_equal(ibsa_fabric_server_wait(server, 0), 0);
	}
	return false;
}

/*
 * Due events are processed even if their results cannot be sent; otherwise, the
 * server would never become idle.
 */
static void client_that_does_not_read_takes_no_rounds(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_fabric_server *paused;
	struct remote_file file;

	(void)state;
	attach(server, &file);
	for (uint32_t i = 0; i < 2000; i++)
		send_table_request(&file, 1, i + 1, 1000);
	send_table_request(&file, NOWHERE, 1, 1);
	paused = server_pause(server);
	assert_true(server_becomes_idle(paused));
	server_resume(server);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

static const struct ibsa_fabric_server_options impatient = {
	.patience_ms = 250,
};

/* The server closes the connection. */
static void check_ended(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

static void check_server_works(const struct server_rig *server)
{
	struct ibsa_client *client = server_client(server, "right");

	assert_int_equal(ibsa_close(client), 0);
}

/*
 * A client has to send its hello in time. Afterwards, a client without an
 * incomplete request or packet may be silent forever.
 */
static void client_without_a_hello_in_time_is_disconnected(void **state)
{
	struct server_rig *server = server_start_with(server_pair, &impatient);
	const struct remote_head head = { .type = REMOTE_WATCH };
	const char *why = server_is_over_tcp() ? "no valid token"
					       : "did not send its hello";
	const int silent = server_connect(server, "left");
	int fd = server_connect(server, NULL);
	struct remote_head answer;

	(void)state;
	assert_true(server_has_noted(server, why));
	check_ended(fd);
	fd = server_connect(server, NULL);
	assert_int_equal(send(fd, "?", 1, MSG_NOSIGNAL), 1);
	check_ended(fd);
	/* Over TCP, one note a second is about strangers. */
	if (!server_is_over_tcp())
		assert_true(server_has_noted(server, why));
	assert_int_equal(send(silent, &head, sizeof(head), MSG_NOSIGNAL),
			 sizeof(head));
	assert_int_equal(recv(silent, &answer, sizeof(answer), MSG_WAITALL),
			 sizeof(answer));
	assert_int_equal(answer.err, 0);
	close(silent);
	check_server_works(server);
	server_stop(server);
}

static void
client_that_does_not_complete_a_request_is_disconnected(void **state)
{
	struct server_rig *server = server_start_with(server_pair, &impatient);
	const struct remote_head head = { .type = REMOTE_FILE, .length = 9 };
	int fd = server_connect(server, "left");

	(void)state;
	assert_int_equal(send(fd, &head, 5, MSG_NOSIGNAL), 5);
	assert_true(server_has_noted(server, "did not complete its request"));
	check_ended(fd);
	fd = server_connect(server, "left");
	assert_int_equal(send(fd, &head, sizeof(head), MSG_NOSIGNAL),
			 sizeof(head));
	assert_int_equal(send(fd, "class", 5, MSG_NOSIGNAL), 5);
	assert_true(server_has_noted(server, "did not complete its request"));
	check_ended(fd);
	check_server_works(server);
	server_stop(server);
}

static void client_that_does_not_complete_a_packet_is_disconnected(void **state)
{
	struct server_rig *server = server_start_with(server_pair, &impatient);
	const struct umad_header header = { .length = 1 << 20 };
	static const size_t parts[] = { 1, sizeof(header) };

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct remote_file file;

		attach(server, &file);
		server_send_bytes(&file, &header, parts[i]);
		assert_true(server_has_noted(server,
					     "did not complete its packet"));
		ibsa__remote_file_close(&file);
	}
	check_server_works(server);
	server_stop(server);
}

/* Check that a further client is refused, with the limit as the reason. */
static void check_full(struct server_rig *server)
{
	const struct ibsa_options options = {
		.fabric = server_address(server),
		.device = "left",
	};
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client;

	assert_int_equal(ibsa_open(&options, &error, &client), -EUSERS);
	assert_non_null(strstr(error.text, "connections"));
	assert_true(server_has_noted(server, "limit of connections"));
}

/*
 * Send as many of the bytes as the server has room for. Return: false: the
 * server has disconnected the client.
 */
static bool bytes_offer(struct remote_file *file, const void *bytes, size_t len)
{
	struct remote_data *data = &file->shared->data;
	size_t sent = 0;

	return ibsa__data_send(data, bytes, len, NULL, 0, &sent) != -EIO &&
	       !ibsa__data_is_lost(data);
}

/*
 * Of the clients that use more memory together than the server may, the one
 * that uses most is disconnected: for a packet that is incomplete, and for
 * replies that it does not read.
 */
static void client_that_uses_most_memory_is_disconnected(void **state)
{
	static const struct ibsa_fabric_server_options frugal = {
		.memory_mb = 1,
	};
	static char bytes[32768];
	struct server_rig *server = server_start_with(server_pair, &frugal);
	const struct umad_header header = { .length = 64 << 20 };
	struct remote_file small, large;
	uint32_t tid = 0;

	(void)state;
	assert_int_equal(server_file_open(server, "right", &small), 0);
	assert_int_equal(server_agent_register(&small), 0);
	server_send_bytes(&small, &header, sizeof(header));
	server_send_bytes(&small, bytes, sizeof(bytes));
	attach(server, &large);
	server_send_bytes(&large, &header, sizeof(header));
	while (bytes_offer(&large, bytes, sizeof(bytes)))
		;
	assert_true(server_has_noted(server, "largest part of the memory"));
	ibsa__remote_file_close(&large);
	attach(server, &large);
	while (!table_request_write(&large, 1, ++tid, 1000))
		;
	assert_true(server_has_noted(server, "largest part of the memory"));
	assert_int_equal(small.base.ops->unregister_agent(&small.base, 0), 0);
	check_server_works(server);
	ibsa__remote_file_close(&large);
	ibsa__remote_file_close(&small);
	server_stop(server);
}

static void one_connection_too_many_is_refused(void **state)
{
	const struct ibsa_fabric_server_options two = { .connections = 2 };
	struct server_rig *server = server_start_with(server_pair, &two);
	const int one = server_connect(server, "left");
	const int other = server_connect(server, "left");
	const struct ibsa_options options = {
		.fabric = server_address(server),
	};
	struct ibsa_client *client;

	(void)state;
	check_full(server);
	close(one);
	while (ibsa_open(&options, NULL, &client))
		;
	assert_int_equal(ibsa_close(client), 0);
	close(other);
	server_stop(server);
}

/*
 * Each connection may need three descriptors; some are left for other uses, and
 * for connections over TCP that have sent no token yet.
 */
static void there_are_no_more_connections_than_descriptors(void **state)
{
	struct rlimit all, few;
	struct server_rig *server;
	int one, other;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	few.rlim_cur = 64 + 2 * 3 + 2 + (server_is_over_tcp() ? 128 : 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	server = server_start(server_pair);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	one = server_connect(server, "left");
	other = server_connect(server, "left");
	check_full(server);
	close(one);
	close(other);
	server_stop(server);
}

static void note_reply(const struct ibsa_reply *reply, void *arg)
{
	*(int *)arg = reply->err ? reply->err : 1;
}

/*
 * Poll @fd until the client is connected again, which refuses queries until
 * then, and has the reply to a query.
 */
static void check_loop_works(struct ibsa_client *client, int fd)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record
	};
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	int result = 0;

	while (ibsa_query_start(client, &query, note_reply, &result, NULL)) {
		assert_int_equal(poll(&readable, 1, 10000), 1);
		(void)ibsa_dispatch(client);
	}
	while (!result) {
		assert_int_equal(poll(&readable, 1, 10000), 1);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
	assert_int_equal(result, 1);
}

/*
 * The client closes its connection to have a descriptor for the program, and
 * connects again when there are descriptors.
 */
static void client_without_free_descriptors_has_an_fd_to_poll(void **state)
{
	enum { ALL = 64 };
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, "right");
	int used[ALL];
	int count = 0;
	struct rlimit all, few;
	int fd;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	few.rlim_cur = ALL;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((used[count] = dup(STDIN_FILENO)) >= 0)
		count++;
	fd = ibsa_fd(client);
	assert_true(fd >= 0);
	assert_int_equal(ibsa_fd(client), fd);
	while (count)
		close(used[--count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	check_loop_works(client, fd);
	assert_int_equal(ibsa_fd(client), fd);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(client_that_does_not_read_takes_no_rounds),
		cmocka_unit_test(client_that_uses_most_memory_is_disconnected),
		cmocka_unit_test(
			client_without_a_hello_in_time_is_disconnected),
		cmocka_unit_test(
			client_that_does_not_complete_a_request_is_disconnected),
		cmocka_unit_test(
			client_that_does_not_complete_a_packet_is_disconnected),
		cmocka_unit_test(one_connection_too_many_is_refused),
		cmocka_unit_test(
			there_are_no_more_connections_than_descriptors),
		cmocka_unit_test(
			client_without_free_descriptors_has_an_fd_to_poll),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
