/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The socket of a fabric server takes a part of a packet, and nothing more for
 * a while. No call of a client waits, and the rest is sent when the socket is
 * writable.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include <ibsa/records.h>

#include "base/clock.h"
#include "remote/link.h"
#include "remote/transport.h"
#include "../support/server_rig.h"
#include "umad/header.h"

enum {
	PART = 100, /* bytes that the data socket accepts of a packet */
	PATIENCE_MS = 300,
	LATE_MS = 9000, /* limit on a busy machine */
};

/*
 * State of the simulated data socket, and how many sends it has refused.
 */
static struct {
	bool cuts;	 /* the data socket accepts a part of the next packet */
	int fd;		 /* socket that accepts nothing more, or -1 */
	uint64_t end_ns; /* when @fd accepts again; 0: never by itself */
	unsigned int refused;
} world = { .fd = -1 };

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);

static bool is_refused(int fd)
{
	if (fd != world.fd)
		return false;
	if (world.end_ns && clock_now_ns() >= world.end_ns) {
		world.fd = -1;
		return false;
	}
	world.refused++;
	errno = EAGAIN;
	return true;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct iovec parts[2];
	struct msghdr cut = { .msg_iov = parts, .msg_iovlen = 2 };

	if (is_refused(fd))
		return -1;
	if (!world.cuts || message->msg_iovlen != 2 ||
	    message->msg_iov[0].iov_len != UMAD_HEADER_BYTES)
		return __real_sendmsg(fd, message, flags);
	world.cuts = false;
	world.fd = fd;
	memcpy(parts, message->msg_iov, sizeof(parts));
	parts[1].iov_len = PART - UMAD_HEADER_BYTES;
	return __real_sendmsg(fd, &cut, flags);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
	return is_refused(fd) ? -1 : __real_send(fd, bytes, len, flags);
}

struct seen {
	unsigned int calls;
	int err;
	unsigned int tries;
};

static void note(const struct ibsa_reply *reply, void *arg)
{
	struct seen *seen = arg;

	seen->calls++;
	seen->err = reply->err;
	seen->tries = reply->tries;
}

/* Opening has the default timeout; all later calls have @patience_ms. */
static struct ibsa_client *client_open(const struct server_rig *server,
				       unsigned int patience_ms)
{
	struct ibsa_options options = { .deadline_ms = 1000 };
	struct ibsa_client *client = NULL;
	struct remote_address address;

	assert_int_equal(ibsa__remote_address_find(server_address(server),
						   "right", NULL, 0, NULL,
						   &address),
			 0);
	assert_int_equal(ibsa__remote_open(&address, 1 << 20, NULL,
					   &options.transport),
			 0);
	link_of(umad_of(options.transport)->file)->connection.patience_ms =
		patience_ms;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	return client;
}

/* Submit a query whose request is sent only once before its deadline. */
static void query_submit(struct ibsa_client *client, struct seen *seen)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
		.deadline_ms = 4 * LATE_MS,
		.first_interval_ms = 3 * LATE_MS,
		.max_interval_ms = 3 * LATE_MS,
	};

	*seen = (struct seen){ .calls = 0 };
	world.cuts = true;
	world.refused = 0;
	assert_int_equal(ibsa_query_start(client, &query, note, seen, NULL), 0);
	assert_false(world.cuts);
	assert_true(world.fd >= 0);
}

static uint64_t since_ms(uint64_t start_ns)
{
	return (clock_now_ns() - start_ns) / NS_PER_MS;
}

/*
 * If the socket accepts only a part of a packet, several short waits end
 * without a reply, and a later wait sends the rest.
 */
static void the_rest_of_a_packet_is_sent_later(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = client_open(server, 2 * LATE_MS);
	const uint64_t start_ns = clock_now_ns();
	struct seen seen;

	(void)state;
	world.end_ns = 0;
	query_submit(client, &seen);
	for (int i = 0; i < 5; i++)
		assert_int_equal(ibsa_wait(client, 10), 0);
	print_message("query and five waits took %u ms\n",
		      (unsigned int)since_ms(start_ns));
	assert_in_range(since_ms(start_ns), 0, LATE_MS - 1);
	assert_true(world.refused > 0);
	assert_int_equal(seen.calls, 0);
	world.fd = -1;
	while (!seen.calls)
		assert_int_equal(ibsa_wait(client, -1), 0);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.tries, 1);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

/*
 * A connection on which a part of a packet was sent is renewed: on the old one,
 * the server would take the next packet for the rest of the first.
 */
static void a_connection_with_half_a_packet_is_renewed(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = client_open(server, PATIENCE_MS);
	const uint64_t start_ns = clock_now_ns();
	struct ibsa_port_state before;
	struct ibsa_port_state after;
	struct seen seen;
	int err;

	(void)state;
	assert_int_equal(ibsa_port_get(client, true, &before), 0);
	world.end_ns = start_ns + 2 * PATIENCE_MS * NS_PER_MS;
	query_submit(client, &seen);
	while (!seen.calls)
		(void)!ibsa_wait(client, -1);
	print_message("ended with %d after %u ms\n", seen.err,
		      (unsigned int)since_ms(start_ns));
	assert_int_equal(seen.err, -ENODEV);
	assert_in_range(since_ms(start_ns), PATIENCE_MS, LATE_MS - 1);
	do
		err = ibsa_wait(client, 100);
	while (!err && ibsa_port_get(client, true, &after) == -ENODEV);
	assert_true(after.reregisters != before.reregisters);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
	world.fd = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rest_of_a_packet_is_sent_later),
		cmocka_unit_test(a_connection_with_half_a_packet_is_renewed),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	/* A ring accepts a packet as a whole or not at all. */
	setenv("IBSA_RING", "0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
