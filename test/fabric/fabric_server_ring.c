/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients of a fabric server that use rings. */
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "remote/file.h"
#include "../support/server_rig.h"
#include "wire/mad.h"

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

static struct ibsa_fabric_server_stats stats_get(struct server_rig *server)
{
	struct ibsa_fabric_server_stats stats;

	ibsa_fabric_server_stats_get(server_pause(server), &stats);
	server_resume(server);
	return stats;
}

/* Open a umad file with an agent for SA replies. */
static uint32_t file_open(struct server_rig *server, struct remote_file *file)
{
	assert_int_equal(server_file_open(server, "left", file), 0);
	assert_non_null(file->shared->data.rings.memory);
	return server_agent_register(file);
}

/*
 * Write packets to the ring without waking the server, as if it were not idle.
 * The first @skip bytes of the first packet were sent before.
 */
static void packets_write(struct remote_file *file, uint32_t id, size_t count,
			  size_t skip)
{
	struct ring_end *out = &file->shared->data.rings.out;
	struct packet packet = {
		.header = { .id = id, .length = sizeof(packet) },
		.mad = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION,
			 IBSA_METHOD_GET },
	};

	ibsa_put_be16((uint8_t *)&packet.header.lid, 1);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	for (size_t i = 0; i < count; i++, skip = 0) {
		const char *at = (const char *)&packet + skip;
		const size_t len = sizeof(packet) - skip;

		assert_int_equal(ibsa__ring_write(out, at, len), len);
	}
	(void)!ibsa__ring_publish(out);
}

/* A packet that was sent before its agent was unregistered has an agent. */
static void packets_are_read_before_a_later_request(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct remote_file file;
	struct ibsa_fabric_server_stats stats;
	uint32_t id = file_open(server, &file);

	(void)state;
	packets_write(&file, id, 3, 0);
	assert_int_equal(file.base.ops->unregister_agent(&file.base, id), 0);
	stats = stats_get(server);
	assert_int_equal(stats.packets_in, 3);
	assert_int_equal(stats.packets_refused, 0);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

/*
 * The server has read the first bytes of a packet when the client sends the
 * rest and ends: it closes its file, the data socket or the connection.
 */
static void packets_are_read_before_the_end(void **state)
{
	struct server_rig *server = server_start(server_pair);
	const struct umad_header header = { .length = sizeof(struct packet) };

	(void)state;
	for (size_t part = 0; part < 3; part++) {
		const uint64_t earlier = stats_get(server).packets_in;
		struct remote_file file;
		uint32_t id = file_open(server, &file);

		server_send_bytes(&file, &header, part * 32);
		stats_get(server);
		stats_get(server);
		packets_write(&file, id, 100, part * 32);
		if (part == 2)
			shutdown(file.connection.fd, SHUT_RDWR);
		if (part == 1)
			shutdown(file.shared->data.fd, SHUT_RDWR);
		ibsa__remote_file_close(&file);
		server_command(server, "stats");
		assert_int_equal(stats_get(server).packets_in, earlier + 100);
	}
	server_stop(server);
}

enum { NO_AGENT = 31 }; /* The server returns the packets of this agent. */

/* A client that writes a packet whenever the server wakes one; or NULL. */
static struct remote_file *busy;

ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
	uint64_t count;

	if (busy) {
		const struct remote_data *data = &busy->shared->data;

		packets_write(busy, NO_AGENT, 1, 0);
		(void)!read(data->bell_fd, &count, sizeof(count));
		atomic_store(&data->rings.memory->to_client.is_idle, 1);
	}
	return __real_send(fd, bytes, len, flags);
}

/*
 * A client sets the counter of its eventfd to 0, so that the server cannot use
 * the eventfd to wake itself, and always has packets. Either the server has
 * announced to the other client that it waits, or its fd is readable.
 */
static void a_cleared_eventfd_delays_no_other_client(void **state)
{
	const struct packet packet = { .header = { .id = NO_AGENT,
						   .length = sizeof(packet) } };
	struct server_rig *server = server_start(server_pair);
	struct ibsa_fabric_server *paused;
	struct remote_file hostile;
	struct remote_file other;
	struct pollfd end = { .events = POLLIN };

	(void)state;
	file_open(server, &hostile);
	file_open(server, &other);
	paused = server_pause(server);
	server_send_bytes(&hostile, &packet, sizeof(packet));
	server_send_bytes(&other, &packet, sizeof(packet));
	busy = &hostile;
	assert_int_equal(ibsa_fabric_server_wait(paused, 0), 0);
	busy = NULL;
	end.fd = ibsa_fabric_server_fd(paused);
	assert_true(ibsa__ring_is_idle(&other.shared->data.rings.out) ||
		    poll(&end, 1, 0) == 1);
	server_resume(server);
	ibsa__remote_file_close(&hostile);
	ibsa__remote_file_close(&other);
	server_stop(server);
}

/*
 * A client that writes more bytes of its packet without waking the server does
 * not complete the packet, either.
 */
static void bytes_without_a_wake_up_do_not_extend_the_deadline(void **state)
{
	const struct ibsa_fabric_server_options limits = { .patience_ms = 200 };
	struct server_rig *server = server_start_with(server_pair, &limits);
	const struct umad_header header = { .length = sizeof(struct packet) };
	struct remote_file file;
	struct ring_end *out;

	(void)state;
	file_open(server, &file);
	out = &file.shared->data.rings.out;
	server_send_bytes(&file, &header, 32);
	stats_get(server);
	stats_get(server);
	assert_int_equal(ibsa__ring_write(out, "x", 1), 1);
	(void)!ibsa__ring_publish(out);
	assert_true(server_has_noted(server, "did not complete its packet"));
	ibsa__remote_file_close(&file);
	server_stop(server);
}

/* Close @fd, and open an empty file that gets its number. */
static void number_take(int fd)
{
	const int file = memfd_create("test", MFD_CLOEXEC);

	assert_true(file >= 0);
	assert_int_equal(dup2(file, fd), fd);
	close(file);
}

static bool file_is_empty(int fd)
{
	return lseek(fd, 0, SEEK_END) == 0;
}

/*
 * A program closes all of its descriptors, as a daemon does, and opens other
 * files. Packets that it sends do not go to these files.
 */
static void a_number_of_another_file_is_not_written_to(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct packet packet = { .header = { .length = sizeof(packet) } };
	struct remote_file file;

	(void)state;
	file_open(server, &file);
	const int fds[] = { file.connection.fd, file.shared->data.fd,
			    file.shared->data.bell_fd };

	for (int i = 0; i < 3; i++)
		number_take(fds[i]);
	for (int i = 0; i < 3; i++)
		(void)!ibsa__remote_file_write(&file, &packet, sizeof(packet));
	ibsa__remote_file_close(&file);
	for (int i = 0; i < 3; i++) {
		assert_true(file_is_empty(fds[i]));
		close(fds[i]);
	}
	server_stop(server);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * While nothing arrives, client and server sleep. A sanitizer may have a thread
 * of its own.
 */
static void an_idle_client_and_server_take_no_time(void **state)
{
	enum { IDLE_MS = 500, LIMIT_NS = 5000000 };
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, "right");
	uint64_t start_ns;

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL),
				 0);
	start_ns = cpu_ns();
	assert_int_equal(ibsa_wait(client, IDLE_MS), 0);
	assert_true(cpu_ns() - start_ns < LIMIT_NS);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_read_before_a_later_request),
		cmocka_unit_test(packets_are_read_before_the_end),
		cmocka_unit_test(a_cleared_eventfd_delays_no_other_client),
		cmocka_unit_test(
			bytes_without_a_wake_up_do_not_extend_the_deadline),
		cmocka_unit_test(a_number_of_another_file_is_not_written_to),
		cmocka_unit_test(an_idle_client_and_server_take_no_time),
	};

	setenv("IBSA_RING", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
