/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets that a client sends before its last request, or before its end, are
 * not lost; over TCP, they arrive through another connection than the end.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "remote/file.h"
#include "remote/transport.h"
#include "test/support/server_rig.h"
#include "wire/mad.h"

enum { PACKETS = 3, NODE_RECORD = 0x0011, LIMIT_MS = 10000 };

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* A request of agent 0 to the SA. */
static struct packet request_make(uint32_t tid)
{
	struct packet packet = {
		.header = { .length = sizeof(packet), .timeout_ms = 1000 },
		.mad = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION,
			 IBSA_METHOD_GET },
	};

	ibsa_put_be16((uint8_t *)&packet.header.lid, 1);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	ibsa_put_be32(packet.mad + MAD_TID_LOW, tid);
	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, NODE_RECORD);
	return packet;
}

static struct remote_address address_of(const char *fabric)
{
	struct remote_address address;

	assert_int_equal(ibsa__remote_address_find(fabric, "left", NULL, 0,
						   NULL, &address),
			 0);
	return address;
}

/* The packets from clients that the server has read. */
static uint64_t packets_in(struct server_rig *rig)
{
	struct ibsa_fabric_server_stats stats;

	ibsa_fabric_server_stats_get(server_pause(rig), &stats);
	server_resume(rig);
	return stats.packets_in;
}

/* One connection of a client to a server, whose packets arrive late. */
struct pipe {
	int client;
	int server;
	int late_ms;
};

/* Copy what has arrived. Return: false: the sender has ended. */
static bool bytes_copy(int from, int to, int late_ms)
{
	char bytes[4096];
	const ssize_t got = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		return true;
	poll(NULL, 0, late_ms);
	if (got > 0)
		return send(to, bytes, (size_t)got, MSG_NOSIGNAL) == got;
	shutdown(to, SHUT_WR);
	return false;
}

static void *pipe_run(void *arg)
{
	struct pipe *pipe = arg;
	struct pollfd ends[] = {
		{ .fd = pipe->client, .events = POLLIN },
		{ .fd = pipe->server, .events = POLLIN },
	};

	while (ends[0].fd >= 0 || ends[1].fd >= 0) {
		assert_true(poll(ends, 2, -1) > 0);
		if (ends[0].revents &&
		    !bytes_copy(pipe->client, pipe->server, pipe->late_ms))
			ends[0].fd = -1;
		if (ends[1].revents &&
		    !bytes_copy(pipe->server, pipe->client, 0))
			ends[1].fd = -1;
	}
	close(pipe->client);
	close(pipe->server);
	return NULL;
}

/* A network on which the data socket is slower than the connection. */
struct network {
	struct remote_address server;
	int listener;
	char name[160];
	pthread_t acceptor;
};

static void *network_run(void *arg)
{
	const struct network *network = arg;
	struct pipe pipes[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		const union tcp_name *name = &network->server.tcp;

		pipes[i] = (struct pipe){
			.client = accept(network->listener, NULL, NULL),
			.server = socket(AF_INET, SOCK_STREAM, 0),
			.late_ms = i ? 50 : 0,
		};
		assert_int_equal(connect(pipes[i].server, &name->any,
					 tcp_name_len(name)),
				 0);
		assert_int_equal(pthread_create(&threads[i], NULL, pipe_run,
						&pipes[i]),
				 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return NULL;
}

static void network_start(struct network *network, struct server_rig *rig)
{
	const char *server = server_address(rig);
	union tcp_name name = { .in = { .sin_family = AF_INET } };
	socklen_t len = sizeof(name);

	network->server = address_of(server);
	name.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	network->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(network->listener, &name.any, sizeof(name.in)),
			 0);
	assert_int_equal(listen(network->listener, 2), 0);
	assert_int_equal(getsockname(network->listener, &name.any, &len), 0);
	snprintf(network->name, sizeof(network->name), "tcp:127.0.0.1:%d%s",
		 ntohs(name.in.sin_port), strchr(server, ','));
	assert_int_equal(pthread_create(&network->acceptor, NULL, network_run,
					network),
			 0);
}

static void network_end(struct network *network)
{
	pthread_join(network->acceptor, NULL);
	close(network->listener);
}

/* The packets of a umad file that is closed are sent into the fabric. */
static void packets_before_the_end_of_a_umad_file_are_read(void **state)
{
	struct server_rig *rig = server_start(server_pair);
	struct remote_address address;
	struct ibsa_fabric_server_stats stats;
	struct remote_file file;
	struct network network;
	uint32_t agent;

	(void)state;
	network_start(&network, rig);
	address = address_of(network.name);
	assert_int_equal(ibsa__remote_file_open(&address, NULL, &file), 0);
	agent = server_agent_register(&file);
	for (uint32_t i = 0; i < PACKETS; i++) {
		const struct packet packet = request_make(i + 1);

		assert_int_equal(ibsa__remote_file_write(&file, &packet,
							 sizeof(packet)),
				 0);
	}
	assert_int_equal(file.base.ops->unregister_agent(&file.base, agent), 0);
	ibsa__remote_file_close(&file);
	ibsa_fabric_server_stats_get(server_pause(rig), &stats);
	server_resume(rig);
	assert_int_equal(stats.packets_in, PACKETS);
	assert_int_equal(stats.packets_refused, 0);
	network_end(&network);
	server_stop(rig);
}

/*
 * When a client that receives Reports is closed, its agent has ended, and the
 * server has read its packets.
 */
static void packets_before_the_end_of_a_client_are_read(void **state)
{
	struct server_rig *rig = server_start(server_pair);
	const struct ibsa_address sa = { .lid = 1, .qpn = IBSA_QPN_GSI };
	struct ibsa_transport *transport = NULL;
	struct remote_address address;
	struct network network;
	uint64_t before;

	(void)state;
	network_start(&network, rig);
	address = address_of(network.name);
	assert_int_equal(ibsa__remote_open(&address, 1 << 20, NULL, &transport),
			 0);
	assert_int_equal(transport->ops->listen(transport, true), 0);
	before = packets_in(rig);
	for (uint32_t i = 0; i < PACKETS; i++) {
		const struct packet packet = request_make(i + 1);

		assert_int_equal(transport->ops->send(transport, &sa,
						      packet.mad,
						      sizeof(packet.mad), 1000),
				 0);
	}
	transport->ops->close(transport);
	assert_int_equal(packets_in(rig), before + PACKETS);
	network_end(&network);
	server_stop(rig);
}

/* Serve until the server has nothing to do. */
static void serve_all(struct ibsa_fabric_server *server)
{
	struct pollfd fd = { .fd = ibsa_fabric_server_fd(server),
			     .events = POLLIN };

	while (poll(&fd, 1, 20) > 0)
		assert_int_equal(ibsa_fabric_server_wait(server, 0), 0);
}

/*
 * The kernel closes both connections of a process that ends, and the packets
 * arrive last.
 */
static void packets_of_a_client_that_has_ended_are_read(void **state)
{
	struct server_rig *rig = server_start(server_pair);
	struct ibsa_fabric_server *server;
	struct remote_address address = address_of(server_address(rig));
	struct ibsa_fabric_server_stats stats;
	struct remote_file file;

	(void)state;
	assert_int_equal(ibsa__remote_file_open(&address, NULL, &file), 0);
	server_agent_register(&file);
	server = server_pause(rig);
	serve_all(server);
	ibsa__remote_disconnect(&file.connection);
	serve_all(server);
	for (uint32_t i = 0; i < PACKETS; i++) {
		const struct packet packet = request_make(i + 1);

		assert_int_equal(ibsa__remote_file_write(&file, &packet,
							 sizeof(packet)),
				 0);
		serve_all(server);
	}
	ibsa__data_close(&file.shared->data);
	serve_all(server);
	ibsa_fabric_server_stats_get(server, &stats);
	assert_int_equal(stats.packets_in, PACKETS);
	assert_int_equal(stats.clients, 0);
	server_resume(rig);
	ibsa__remote_file_close(&file);
	server_stop(rig);
}

/*
 * The server reads all packets that have arrived before a request, however many
 * they are: here, those for which a paused server's Unix socket has room.
 */
static void packets_before_a_request_are_read(void **state)
{
	static const struct remote_head detach = { .type = REMOTE_DETACH };
	static struct {
		struct packet packet;
		uint8_t rest[4096];
	} large;
	struct ibsa_fabric_server_stats stats;
	struct ibsa_fabric_server *server;
	struct remote_address address;
	struct server_rig *rig;
	struct remote_file file;
	uint64_t sent = 0;
	size_t done = 0;

	(void)state;
	unsetenv("IBSA_TEST_TCP");
	setenv("IBSA_RING", "0", 1);
	rig = server_start(server_pair);
	address = address_of(server_address(rig));
	assert_int_equal(ibsa__remote_file_open(&address, NULL, &file), 0);
	server_agent_register(&file);
	server = server_pause(rig);
	serve_all(server);
	large.packet = request_make(1);
	large.packet.header.length = sizeof(large);
	while (!ibsa__data_send(&file.shared->data, &large, sizeof(large), NULL,
				0, &done)) {
		done = 0;
		sent++;
	}
	/* The rest of the last packet does not come. */
	assert_true(sent * sizeof(large) > 65536);
	assert_int_equal(send(file.connection.fd, &detach, sizeof(detach),
			      MSG_NOSIGNAL),
			 sizeof(detach));
	serve_all(server);
	ibsa_fabric_server_stats_get(server, &stats);
	assert_int_equal(stats.packets_in, sent);
	server_resume(rig);
	ibsa__remote_file_close(&file);
	server_stop(rig);
	unsetenv("IBSA_RING");
	setenv("IBSA_TEST_TCP", "1", 1);
}

static void early_request_send(const struct remote_file *file, int packets)
{
	const struct remote_head head = { .type = REMOTE_WATCH,
					  .err = packets };

	assert_int_equal(send(file->connection.fd, &head, sizeof(head),
			      MSG_NOSIGNAL),
			 sizeof(head));
}

/*
 * A request waits for the packets that its client has sent before; meanwhile,
 * the server is idle.
 */
static void a_request_waits_for_packets(void **state)
{
	struct server_rig *rig = server_start(server_pair);
	struct remote_address address = address_of(server_address(rig));
	const struct packet packet = request_make(1);
	struct pollfd answer = { .events = POLLIN };
	struct ibsa_fabric_server *server;
	struct remote_file file;

	(void)state;
	assert_int_equal(ibsa__remote_file_open(&address, NULL, &file), 0);
	server_agent_register(&file);
	answer.fd = file.connection.fd;
	server = server_pause(rig);
	serve_all(server);
	for (int i = 0; i < PACKETS; i++) {
		early_request_send(&file, PACKETS);
		serve_all(server);
		assert_int_equal(poll(&answer, 1, 0), 0);
		assert_int_equal(ibsa__remote_file_write(&file, &packet,
							 sizeof(packet)),
				 0);
	}
	serve_all(server);
	assert_int_equal(poll(&answer, 1, 0), 1);
	server_resume(rig);
	ibsa__remote_file_close(&file);
	server_stop(rig);
}

static void a_client_that_does_not_send_its_packets_ends(void **state)
{
	const struct ibsa_fabric_server_options impatient = { .patience_ms =
								      100 };
	struct server_rig *rig = server_start_with(server_pair, &impatient);
	struct remote_address address = address_of(server_address(rig));
	struct remote_file file;

	(void)state;
	assert_int_equal(ibsa__remote_file_open(&address, NULL, &file), 0);
	early_request_send(&file, 1);
	assert_true(server_has_noted(rig, "did not complete its request"));
	ibsa__remote_file_close(&file);
	server_stop(rig);
}

/* A client whose data socket does not end is disconnected in time. */
static void a_data_socket_without_a_connection_ends(void **state)
{
	const struct ibsa_fabric_server_options impatient = { .patience_ms =
								      100 };
	struct server_rig *rig = server_start_with(server_pair, &impatient);
	struct remote_address address = address_of(server_address(rig));
	struct remote_file file;
	struct pollfd end;

	(void)state;
	assert_int_equal(ibsa__remote_file_open(&address, NULL, &file), 0);
	ibsa__remote_disconnect(&file.connection);
	end = (struct pollfd){ .fd = file.shared->data.fd,
			       .events = POLLRDHUP };
	assert_int_equal(poll(&end, 1, LIMIT_MS), 1);
	ibsa__remote_file_close(&file);
	server_stop(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_before_a_request_are_read),
		cmocka_unit_test(
			packets_before_the_end_of_a_umad_file_are_read),
		cmocka_unit_test(packets_before_the_end_of_a_client_are_read),
		cmocka_unit_test(packets_of_a_client_that_has_ended_are_read),
		cmocka_unit_test(a_request_waits_for_packets),
		cmocka_unit_test(a_client_that_does_not_send_its_packets_ends),
		cmocka_unit_test(a_data_socket_without_a_connection_ends),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	setenv("IBSA_TEST_TCP", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
