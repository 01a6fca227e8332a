/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fabric servers that send events without end and no answers, or packets with a
 * wrong length, or that stop while a client connects. Opening a client ends all
 * the same, an incomplete packet times out, and no call waits for its rest.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibsa/ibsa.h>

#include "remote/link.h"
#include "remote/protocol.h"
#include "remote/transport.h"
#include "test/support/descriptors.h"

enum {
	PATIENCE_MS = 200,
	PAUSE_MS = 50,	/* between two events */
	END_MS = 20000, /* the server then stops */
	LATE_MS = 9000, /* limit on a busy machine */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct hostile {
	char folder[32];
	char name[64];
	struct sockaddr_un address;
	int listener;
	int data;
	uint8_t link; /* of the port */
	bool lies;    /* about a packet's length */
	/*
	 * A server that ends the first connection, and answers only the hello
	 * on the second connection.
	 */
	bool stops;
	bool refuses;	     /* rejects agents with EINVAL */
	atomic_bool is_open; /* the client has its first connection */
	atomic_bool has_stopped;
	uint64_t end_ms;
	atomic_bool is_over;
	pthread_t thread;
};

static bool is_due(const struct hostile *hostile)
{
	return now_ms() < hostile->end_ms && !atomic_load(&hostile->is_over);
}

static void pause_make(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

	nanosleep(&pause, NULL);
}

static void answer(int fd, uint32_t type, const void *body, uint32_t length)
{
	const struct remote_head head = { .length = length, .type = type };

	if (send(fd, &head, sizeof(head), MSG_NOSIGNAL) > 0 && length)
		(void)!send(fd, body, length, MSG_NOSIGNAL);
}

static void refuse(int fd, uint32_t type)
{
	const struct remote_head head = { .type = type, .err = -EINVAL };

	(void)!send(fd, &head, sizeof(head), MSG_NOSIGNAL);
}

/* The answer carries the data socket. */
static void answer_attach(struct hostile *hostile, int fd)
{
	const struct remote_head head = { .type = REMOTE_ATTACH };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	(void)!descriptors_pass(fd, &head, sizeof(head), &ends[1], 1);
	close(ends[1]);
	hostile->data = ends[0];
}

static struct remote_state state_of(const struct hostile *hostile)
{
	return (struct remote_state){
		.port = { .lid = 2,
			  .sm_lid = 1,
			  .port_state = 4,
			  .link = hostile->link,
			  .port_num = 1 },
	};
}

static void send_events(struct hostile *hostile, int fd)
{
	const struct remote_head head = { .length = sizeof(struct remote_state),
					  .type = REMOTE_EVENT };
	const struct remote_state state = state_of(hostile);
	char event[sizeof(head) + sizeof(state)];

	memcpy(event, &head, sizeof(head));
	memcpy(event + sizeof(head), &state, sizeof(state));
	while (is_due(hostile) &&
	       send(fd, event, sizeof(event), MSG_NOSIGNAL) > 0)
		pause_make();
}

/* Send a packet whose header has a much larger length, then others. */
static void send_packets(struct hostile *hostile)
{
	char packet[UMAD_HEADER_BYTES + 256] = { 0 };
	struct umad_header header = { .length = 1 << 19 };

	for (; is_due(hostile); pause_make()) {
		memcpy(packet, &header, sizeof(header));
		if (send(hostile->data, packet, sizeof(packet), MSG_NOSIGNAL) <
		    0)
			break;
		header.length = sizeof(packet);
	}
}

/* Answer a hello. The node in the answer is the node in the request. */
static void answer_hello(int fd, const void *body)
{
	struct remote_hello hello;

	memcpy(&hello, body, sizeof(hello));
	hello.port = 1;
	answer(fd, REMOTE_HELLO, &hello, sizeof(hello));
}

static void serve_one(struct hostile *hostile, int fd,
		      const struct remote_head *head, const void *body)
{
	const struct remote_state state = state_of(hostile);

	switch (head->type) {
	case REMOTE_HELLO:
		answer_hello(fd, body);
		break;
	case REMOTE_ATTACH:
		answer_attach(hostile, fd);
		break;
	case REMOTE_WATCH:
		answer(fd, REMOTE_WATCH, &state, sizeof(state));
		if (!hostile->lies && !hostile->stops && !hostile->refuses)
			send_events(hostile, fd);
		break;
	case REMOTE_REGISTER:
		if (hostile->refuses)
			refuse(fd, REMOTE_REGISTER);
		else
			answer(fd, REMOTE_REGISTER, body, head->length);
		if (hostile->lies)
			send_packets(hostile);
		break;
	default:
		answer(fd, head->type, body, head->length);
		break;
	}
}

/*
 * Serve requests until the request @last was answered, or no more requests
 * come.
 */
static void serve_until(struct hostile *hostile, int fd, uint32_t last)
{
	struct remote_head head = { .type = REMOTE_EVENT };
	char body[512];

	while (head.type != last &&
	       recv(fd, &head, sizeof(head), MSG_WAITALL) == sizeof(head) &&
	       head.length <= sizeof(body) &&
	       (!head.length ||
		recv(fd, body, head.length, MSG_WAITALL) == head.length))
		serve_one(hostile, fd, &head, body);
}

static void serve_and_stop(struct hostile *hostile)
{
	int fd = accept(hostile->listener, NULL, NULL);

	serve_until(hostile, fd, REMOTE_REGISTER);
	while (is_due(hostile) && !atomic_load(&hostile->is_open))
		pause_make();
	close(fd);
	fd = accept(hostile->listener, NULL, NULL);
	serve_until(hostile, fd, REMOTE_HELLO);
	atomic_store(&hostile->has_stopped, true);
	while (is_due(hostile))
		pause_make();
	close(fd);
}

static void *serve(void *arg)
{
	struct hostile *hostile = arg;
	int fd;

	if (hostile->stops) {
		serve_and_stop(hostile);
		return NULL;
	}
	fd = accept(hostile->listener, NULL, NULL);
	serve_until(hostile, fd, REMOTE_TYPES);
	close(fd);
	return NULL;
}

static void hostile_start(struct hostile *hostile)
{
	strcpy(hostile->folder, "/tmp/ibsa-XXXXXX");
	assert_non_null(mkdtemp(hostile->folder));
	snprintf(hostile->name, sizeof(hostile->name), "unix:%s/s",
		 hostile->folder);
	hostile->address.sun_family = AF_UNIX;
	strcpy(hostile->address.sun_path, hostile->name + strlen("unix:"));
	hostile->data = -1;
	hostile->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(hostile->listener,
			      (struct sockaddr *)&hostile->address,
			      sizeof(hostile->address)),
			 0);
	assert_int_equal(listen(hostile->listener, 4), 0);
	hostile->end_ms = now_ms() + END_MS;
	assert_int_equal(pthread_create(&hostile->thread, NULL, serve, hostile),
			 0);
}

static void hostile_stop(struct hostile *hostile)
{
	atomic_store(&hostile->is_over, true);
	pthread_join(hostile->thread, NULL);
	if (hostile->data >= 0)
		close(hostile->data);
	close(hostile->listener);
	assert_int_equal(unlink(hostile->address.sun_path), 0);
	assert_int_equal(rmdir(hostile->folder), 0);
}

static int client_open(const struct hostile *hostile,
		       struct ibsa_client **out_client)
{
	const struct ibsa_options options = { .fabric = hostile->name,
					      .deadline_ms = PATIENCE_MS };

	return ibsa_open(&options, NULL, out_client);
}

/* Opening waits for the agent of OPA. Events must not restart the timeout. */
static void events_do_not_prolong_the_wait_for_an_answer(void **state)
{
	struct hostile hostile = { .link = IBSA_LINK_OPA };
	struct ibsa_client *client = NULL;
	uint64_t start_ms;
	uint64_t took_ms;
	int err;

	(void)state;
	hostile_start(&hostile);
	start_ms = now_ms();
	err = client_open(&hostile, &client);
	took_ms = now_ms() - start_ms;
	print_message("opening ended with %d after %u ms\n", err,
		      (unsigned int)took_ms);
	ibsa_close(client);
	hostile_stop(&hostile);
	assert_int_equal(err, -ETIMEDOUT);
	assert_in_range(took_ms, PATIENCE_MS, LATE_MS - 1);
}

static struct ibsa_transport *transport_open(const struct hostile *hostile)
{
	struct ibsa_transport *transport = NULL;
	struct remote_address address;

	assert_int_equal(ibsa__remote_address_find(hostile->name, NULL, NULL, 0,
						   NULL, &address),
			 0);
	assert_int_equal(ibsa__remote_open(&address, 1 << 20, NULL, &transport),
			 0);
	return transport;
}

/*
 * If reading the incomplete packet had no timeout, all further packets would be
 * taken as its rest.
 */
static void a_packet_that_does_not_end_is_given_up(void **state)
{
	struct hostile hostile = { .lies = true };
	struct ibsa_transport *transport;
	struct ibsa_message message;
	uint64_t start_ms;
	uint64_t took_ms;
	int got = 0;

	(void)state;
	hostile_start(&hostile);
	transport = transport_open(&hostile);
	link_of(umad_of(transport)->file)->connection.patience_ms = PATIENCE_MS;
	start_ms = now_ms();
	while (!got && is_due(&hostile)) {
		assert_int_equal(transport->ops->wait(transport, 1000), 0);
		got = transport->ops->recv(transport, &message);
	}
	took_ms = now_ms() - start_ms;
	print_message("receiving ended with %d after %u ms\n", got,
		      (unsigned int)took_ms);
	transport->ops->close(transport);
	hostile_stop(&hostile);
	assert_int_equal(got, -ENODEV);
	assert_in_range(took_ms, 0, LATE_MS - 1);
}

/* The server is stopped by a signal while a client reconnects. */
static void calls_do_not_wait_while_a_connection_is_made(void **state)
{
	struct hostile hostile = { .stops = true };
	struct ibsa_transport *transport;
	struct ibsa_port_state port;
	struct ibsa_message message;
	uint64_t most_ms = 0;
	int after = 0;

	(void)state;
	hostile_start(&hostile);
	transport = transport_open(&hostile);
	atomic_store(&hostile.is_open, true);
	while (after < 5 && is_due(&hostile)) {
		const uint64_t start_ms = now_ms();
		uint64_t took_ms;

		after += atomic_load(&hostile.has_stopped);
		(void)!transport->ops->wait(transport, PAUSE_MS);
		(void)!transport->ops->recv(transport, &message);
		(void)!transport->ops->port(transport, &port, sizeof(port));
		took_ms = now_ms() - start_ms;
		most_ms = took_ms > most_ms ? took_ms : most_ms;
	}
	print_message("calls took %u ms at most\n", (unsigned int)most_ms);
	transport->ops->close(transport);
	hostile_stop(&hostile);
	assert_int_equal(after, 5);
	assert_in_range(most_ms, 0, LATE_MS - 1);
}

/*
 * The request that the server rejects is the library's, not the program's, so
 * EINVAL would be misleading.
 */
static void a_rejected_agent_is_not_einval(void **state)
{
	struct hostile hostile = { .refuses = true };
	const struct ibsa_options options = { .fabric = hostile.name };
	struct ibsa_client *client = NULL;
	int err;

	(void)state;
	hostile_start(&hostile);
	err = ibsa_open(&options, NULL, &client);
	ibsa_close(client);
	hostile_stop(&hostile);
	assert_int_equal(err, -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_do_not_prolong_the_wait_for_an_answer),
		cmocka_unit_test(a_packet_that_does_not_end_is_given_up),
		cmocka_unit_test(calls_do_not_wait_while_a_connection_is_made),
		cmocka_unit_test(a_rejected_agent_is_not_einval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
