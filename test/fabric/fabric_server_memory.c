/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server with the n-th allocation failing, for every n: it reports an
 * error, or disconnects its client, and serves the next one.
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibsa/types.h>
#include <ibsa/server.h>

#include "../support/fail_alloc.h"
#include "remote/protocol.h"
#include "wire/mad.h"

static const char two_hosts[] = "Switch 4 \"s\"\n"
				"[1] \"a\"[1]\n"
				"[2] \"b\"[1]\n"
				"Ca 1 \"a\"\n"
				"Ca 1 \"b\"\n";

enum { NOTE_BYTES = 256 };

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

struct rig {
	struct ibsa_fabric *fabric;
	struct ibsa_fabric_server *server;
	char folder[64];
	struct sockaddr_un address;
};

static void serve(const struct rig *rig)
{
	for (int i = 0; i < 3; i++)
		assert_int_equal(ibsa_fabric_server_wait(rig->server, 0), 0);
}

/*
 * Receive data, and the descriptor that comes with it or -1. False: nothing
 * came.
 */
static bool receive(int fd, void *to, size_t len, int *out_fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec part = { .iov_base = to, .iov_len = len };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};

	if (recvmsg(fd, &message, MSG_DONTWAIT) <= 0)
		return false;
	if (message.msg_controllen)
		memcpy(out_fd, CMSG_DATA(&control.head), sizeof(*out_fd));
	return true;
}

/* Whether the answer has no error. */
static bool exchange(const struct rig *rig, int fd, uint32_t type,
		     const void *body, size_t len, int *out_fd)
{
	struct {
		struct remote_head head;
		char body[1024];
	} frame = { .head = { .length = (uint32_t)len, .type = type } };

	if (len)
		memcpy(frame.body, body, len);
	if (send(fd, &frame, sizeof(frame.head) + len, MSG_NOSIGNAL) < 0)
		return false;
	serve(rig);
	return receive(fd, &frame, sizeof(frame), out_fd) && !frame.head.err;
}

/* Send a request to the SA in two parts. Return: whether it is answered. */
static bool exchange_sa(const struct rig *rig, int data, uint32_t id)
{
	struct packet packet = {
		.header = { .id = id, .timeout_ms = 1000, .retries = 1 },
		.mad = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION,
			 IBSA_METHOD_GET_TABLE },
	};
	const size_t half = sizeof(packet) / 2;
	int none = -1;

	packet.header.length = sizeof(packet);
	ibsa_put_be16((uint8_t *)&packet.header.lid, 1);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, 0x0011);
	if (send(data, &packet, half, MSG_NOSIGNAL) < 0)
		return false;
	serve(rig);
	if (send(data, (char *)&packet + half, half, MSG_NOSIGNAL) < 0)
		return false;
	serve(rig);
	return receive(data, &packet, sizeof(packet), &none) &&
	       !packet.header.status && !ibsa_be16(packet.mad + MAD_STATUS);
}

static bool use_port(const struct rig *rig, int fd)
{
	const struct umad_agent_request2 agent = {
		.qpn = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = IBSA_CLASS_VERSION,
		.rmpp_version = 1,
	};
	const struct remote_hello hello = { .version = REMOTE_VERSION };
	const uint32_t issm = 0;
	int none = -1;
	int data = -1;
	bool is_fine =
		exchange(rig, fd, REMOTE_HELLO, &hello, sizeof(hello), &none) &&
		exchange(rig, fd, REMOTE_ATTACH, NULL, 0, &data) &&
		exchange(rig, fd, REMOTE_REGISTER, &agent, sizeof(agent),
			 &none) &&
		exchange_sa(rig, data, 0) &&
		exchange(rig, fd, REMOTE_ISSM, &issm, sizeof(issm), &none);

	if (data >= 0)
		close(data);
	return is_fine;
}

/*
 * Connect a client, send requests, close. Return: whether all requests
 * succeeded.
 */
static bool client_visit(const struct rig *rig)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_fine;

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&rig->address,
				 sizeof(rig->address)),
			 0);
	serve(rig);
	is_fine = use_port(rig, fd);
	close(fd);
	serve(rig);
	return is_fine;
}

static bool open_server(struct rig *rig)
{
	struct ibsa_error error = { .text = "" };
	int err = ibsa_fabric_server_open(rig->fabric, rig->address.sun_path,
					  NULL, &error, &rig->server);

	if (!err)
		return true;
	assert_int_equal(err, -ENOMEM);
	assert_non_null(strstr(error.text, "memory"));
	return false;
}

static void every_allocation_may_fail(void **state)
{
	struct rig *rig = *state;
	bool is_fine = false;

	for (long n = 0; !is_fine; n++) {
		fail_alloc_after(n);
		if (open_server(rig)) {
			is_fine = client_visit(rig);
			fail_alloc_after(-1);
			assert_true(client_visit(rig));
			ibsa_fabric_server_close(rig->server);
		}
		fail_alloc_after(-1);
		assert_true(n < 1000);
	}
}

/* Connect a client that can use rings, and send its hello. */
static int greet(const struct rig *rig)
{
	const struct remote_hello hello = { .version = REMOTE_VERSION,
					    .features = REMOTE_HAS_RINGS };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int none = -1;

	assert_int_equal(connect(fd, (const struct sockaddr *)&rig->address,
				 sizeof(rig->address)),
			 0);
	serve(rig);
	assert_true(
		exchange(rig, fd, REMOTE_HELLO, &hello, sizeof(hello), &none));
	return fd;
}

/* The client may try again. No descriptor is passed or stays open. */
static void attaching_without_memory_is_refused(void **state)
{
	const struct remote_head request = { .type = REMOTE_ATTACH };
	struct rig *rig = *state;
	struct remote_head answer;
	int passed = -1;
	int next;
	int fd;

	assert_true(open_server(rig));
	fd = greet(rig);
	next = dup(fd);
	close(next);
	fail_alloc_after(0);
	assert_int_equal(send(fd, &request, sizeof(request), 0),
			 sizeof(request));
	serve(rig);
	fail_alloc_after(-1);
	assert_true(receive(fd, &answer, sizeof(answer), &passed));
	assert_int_equal(answer.type, REMOTE_ATTACH);
	assert_int_equal(answer.err, -ENOMEM);
	assert_int_equal(passed, -1);
	assert_int_equal(dup(fd), next);
	close(next);
	assert_true(exchange(rig, fd, REMOTE_ATTACH, NULL, 0, &passed));
	close(passed);
	close(fd);
	serve(rig);
	ibsa_fabric_server_close(rig->server);
}

/* Open a umad file at the first port. */
static int attach(const struct rig *rig, int *control)
{
	const struct remote_hello hello = { .version = REMOTE_VERSION };
	int data = -1;

	*control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(*control,
				 (const struct sockaddr *)&rig->address,
				 sizeof(rig->address)),
			 0);
	serve(rig);
	assert_true(exchange(rig, *control, REMOTE_HELLO, &hello, sizeof(hello),
			     &data));
	assert_true(exchange(rig, *control, REMOTE_ATTACH, NULL, 0, &data));
	return data;
}

/* Send the first @count bytes of a packet whose header says @length. */
static void send_part(const struct rig *rig, int data, uint32_t length,
		      size_t count)
{
	static uint8_t zeroes[1 << 16];
	struct umad_header header = { .length = length };
	size_t sent = sizeof(header);

	assert_int_equal(send(data, &header, sizeof(header), 0), sent);
	while (sent < count) {
		const size_t left = count - sent;
		const ssize_t some =
			send(data, zeroes,
			     left < sizeof(zeroes) ? left : sizeof(zeroes),
			     MSG_DONTWAIT | MSG_NOSIGNAL);

		if (some > 0)
			sent += (size_t)some;
		else
			assert_int_equal(errno, EAGAIN);
		serve(rig);
	}
	for (int i = 0; i < 100; i++)
		serve(rig);
}

/*
 * An announced length costs no memory; received bytes cost at most twice their
 * size.
 */
static void a_packet_takes_memory_as_it_arrives(void **state)
{
	static const struct {
		uint32_t length;
		size_t sent;
		size_t allocated;
	} parts[] = {
		{ REMOTE_PACKET_MAX, 1 << 20, (2 << 20) + (1 << 16) },
		{ 3 << 20, (3 << 20) - 1, 3 << 20 },
	};
	struct rig *rig = *state;
	struct ibsa_fabric_server_stats stats;

	assert_true(open_server(rig));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int control;
		const int data = attach(rig, &control);

		fail_alloc_above(parts[i].allocated);
		send_part(rig, data, parts[i].length, parts[i].sent);
		fail_alloc_above(0);
		close(data);
		close(control);
		serve(rig);
	}
	ibsa_fabric_server_stats_get(rig->server, &stats);
	assert_int_equal(stats.disconnected, 0);
	ibsa_fabric_server_close(rig->server);
}

static void note_take(const char *text, void *arg)
{
	snprintf(arg, NOTE_BYTES, "%s", text);
}

/* A client over TCP is told why it is refused, and so is the log. */
static void a_stranger_without_memory_is_refused(void **state)
{
	struct rig *rig = *state;
	char token[sizeof(rig->folder) + 8];
	char note[NOTE_BYTES] = "";
	const struct ibsa_fabric_server_options options = {
		.report = note_take,
		.arg = note,
		.listen = "tcp:0",
		.token = token,
	};
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct remote_head answer;
	int none = -1;

	snprintf(token, sizeof(token), "%s/token", rig->folder);
	assert_int_equal(ibsa_fabric_server_open(rig->fabric,
						 rig->address.sun_path,
						 &options, NULL, &rig->server),
			 0);
	address.sin_port = htons(ibsa_fabric_server_port(rig->server));
	assert_int_equal(connect(fd, (const struct sockaddr *)&address,
				 sizeof(address)),
			 0);
	fail_alloc_after(0);
	serve(rig);
	fail_alloc_after(-1);
	assert_string_equal(note, "refused a client: out of memory");
	assert_true(receive(fd, &answer, sizeof(answer), &none));
	assert_int_equal(answer.err, -ENOMEM);
	close(fd);
	ibsa_fabric_server_close(rig->server);
	assert_int_equal(unlink(token), 0);
}

static int start(void **state)
{
	const struct ibsa_fabric_options options = { .latency_us = 0 };
	static struct rig rig;

	strcpy(rig.folder, "/tmp/ibsa-memory-XXXXXX");
	if (!mkdtemp(rig.folder))
		return -1;
	rig.address.sun_family = AF_UNIX;
	snprintf(rig.address.sun_path, sizeof(rig.address.sun_path), "%s/s",
		 rig.folder);
	*state = &rig;
	return ibsa_fabric_parse(two_hosts, strlen(two_hosts), &options, NULL,
				 &rig.fabric);
}

static int stop(void **state)
{
	struct rig *rig = *state;

	ibsa_fabric_put(rig->fabric);
	return rmdir(rig->folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			attaching_without_memory_is_refused, start, stop),
		cmocka_unit_test_setup_teardown(every_allocation_may_fail,
						start, stop),
		cmocka_unit_test_setup_teardown(
			a_packet_takes_memory_as_it_arrives, start, stop),
		cmocka_unit_test_setup_teardown(
			a_stranger_without_memory_is_refused, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
