/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel transport in detail: replies of any size, the kernel's reports of
 * timeouts, the window, and losses that are not reported.
 *
 * usage: vm-transport REPORTER
 */
#include <stdlib.h>
#include <unistd.h>

#include <ibsa/device.h>
#include <ibsa/types.h>

#include "test/support/device_now.h"
#include "test/vm/sa_rig.h"
#include "umad_dev/umad.h"
#include "wire/mad.h"
#include "wire/request.h"

enum {
	WINDOW = 16,
	REPLY_BYTES = 4096,
	HELD_MAX = 256,
};

/*
 * A request that the kernel holds. For some earlier tries of it, the kernel has
 * reported a timeout that was not read yet.
 */
struct held {
	uint32_t tid;
	unsigned int unread;
};

/*
 * A transport in front of the kernel's that counts the requests which the
 * kernel holds.
 */
struct counter {
	struct ibsa_transport base;
	struct ibsa_transport *kernel;
	struct held at[HELD_MAX];
	unsigned int held;
	unsigned int most;
	unsigned int errors;  /* timeouts that the kernel reported */
	bool tells_no_errors; /* not passed to the engine */
	bool loses_answers;
};

static struct held *held_find(struct counter *counter, uint32_t tid)
{
	for (unsigned int i = 0; i < counter->held; i++) {
		if (counter->at[i].tid == tid)
			return &counter->at[i];
	}
	return NULL;
}

/*
 * Note a request that the kernel holds: the kernel does not accept a second
 * request with its id.
 */
static void held_add(struct counter *counter, uint32_t tid)
{
	struct held *held = held_find(counter, tid);

	if (held) {
		held->unread++;
		return;
	}
	assert_true(counter->held < HELD_MAX);
	counter->at[counter->held++] = (struct held){ .tid = tid };
	if (counter->held > counter->most)
		counter->most = counter->held;
}

static void held_remove(struct counter *counter, uint32_t tid, bool answered)
{
	struct held *held = held_find(counter, tid);

	assert_non_null(held);
	if (held->unread && !answered)
		held->unread--;
	else
		*held = counter->at[--counter->held];
}

static struct counter *of(struct ibsa_transport *transport)
{
	return (struct counter *)transport;
}

static uint64_t counter_now(struct ibsa_transport *transport)
{
	return of(transport)->kernel->ops->now_ns(of(transport)->kernel);
}

static int counter_send(struct ibsa_transport *transport,
			const struct ibsa_address *to, const uint8_t *mad,
			size_t len, unsigned int timeout_ms)
{
	struct counter *counter = of(transport);
	int err = counter->kernel->ops->send(counter->kernel, to, mad, len,
					     timeout_ms);

	if (err)
		return err;
	held_add(counter, ibsa_be32(mad + MAD_TID_LOW));
	return 0;
}

static bool counter_holds(struct ibsa_transport *transport)
{
	return of(transport)->kernel->ops->holds(of(transport)->kernel);
}

static int counter_recv(struct ibsa_transport *transport,
			struct ibsa_message *out)
{
	struct counter *counter = of(transport);

	for (;;) {
		int got = counter->kernel->ops->recv(counter->kernel, out);

		if (got <= 0)
			return got;
		held_remove(counter, ibsa_be32(out->mad + MAD_TID_LOW),
			    !out->err);
		counter->errors += out->err != 0;
		if (!(out->err ? counter->tells_no_errors
			       : counter->loses_answers))
			return 1;
	}
}

static int counter_fd(struct ibsa_transport *transport)
{
	return of(transport)->kernel->ops->fd(of(transport)->kernel);
}

static int counter_wait(struct ibsa_transport *transport, int timeout_ms)
{
	return of(transport)->kernel->ops->wait(of(transport)->kernel,
						timeout_ms);
}

static void counter_wake(struct ibsa_transport *transport)
{
	of(transport)->kernel->ops->wake(of(transport)->kernel);
}

static int counter_port(struct ibsa_transport *transport,
			struct ibsa_port_state *out, size_t size)
{
	return of(transport)->kernel->ops->port(of(transport)->kernel, out,
						size);
}

static void counter_close(struct ibsa_transport *transport)
{
	of(transport)->kernel->ops->close(of(transport)->kernel);
}

static const struct ibsa_transport_ops counter_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = counter_now,
	.send = counter_send,
	.holds = counter_holds,
	.recv = counter_recv,
	.fd = counter_fd,
	.wait = counter_wait,
	.wake = counter_wake,
	.port = counter_port,
	.close = counter_close,
};

static struct ibsa_transport *kernel_open(void)
{
	struct ibsa_transport *transport;

	assert_int_equal(
		now_umad_open("rxe0", 1, REPLY_BYTES, NULL, &transport), 0);
	return transport;
}

static void assert_refused(const char *device, unsigned int port, int err)
{
	const struct ibsa_options options = { .device = device, .port = port };
	struct ibsa_gid_list *gids;
	struct ibsa_client *client;

	assert_int_equal(ibsa_open(&options, NULL, &client), err);
	assert_int_equal(ibsa_gids_read(device, port, &gids), err);
}

static void wrong_names_and_wrong_ports_are_told_apart(void **state)
{
	(void)state;
	assert_refused("rxe7", 1, -ENODEV);
	assert_refused("rxe7", 2, -ENODEV);
	assert_refused("rxe0", 2, -ENXIO);
	assert_refused("rxe0", 254, -ENXIO);
}

static struct ibsa_client *counted_client(const struct sa *sa,
					  struct counter *counter)
{
	*counter = (struct counter){ .base.ops = &counter_ops,
				     .kernel = kernel_open() };
	return sa_client(sa,
			 &(struct ibsa_options){ .transport = &counter->base,
						 .window = WINDOW,
						 .window_min = WINDOW });
}

static void request_make(uint32_t tid, uint64_t service, uint8_t *mad)
{
	const struct ibsa_service match = { .service_id = service };
	const struct ibsa__request request = {
		.record = &ibsa_service_record,
		.match = &match,
		.mask = IBSA_SERVICE_CM(service_id),
		.method = IBSA_METHOD_GET,
		.transaction_id = tid,
	};

	assert_int_equal(ibsa__request_encode(&request, mad), 0);
}

static void message_await(struct ibsa_transport *transport,
			  struct ibsa_message *out)
{
	int got;

	while (!(got = transport->ops->recv(transport, out)))
		assert_int_equal(transport->ops->wait(transport, -1), 0);
	assert_int_equal(got, 1);
}

/*
 * Send with the 64-byte header that has a P_Key index: without this index, the
 * kernel would read the fields 8 bytes off.
 */
static void answer_comes_with_its_sender(void **state)
{
	const struct sa *sa = *state;
	struct ibsa_transport *kernel = kernel_open();
	uint8_t mad[IBSA_MAD_BYTES];
	struct ibsa_message message;

	request_make(7, sa_service('A', 0), mad);
	assert_int_equal(kernel->ops->send(kernel, &sa->address, mad,
					   sizeof(mad), 1000),
			 0);
	message_await(kernel, &message);
	assert_int_equal(message.err, 0);
	assert_int_equal(message.len, IBSA_MAD_BYTES);
	assert_int_equal(message.from.qpn, IBSA_QPN_GSI);
	assert_int_equal(message.from.pkey_index, 0);
	assert_true(message.from.has_grh);
	assert_memory_equal(message.from.gid.raw, sa->address.gid.raw, 16);
	assert_int_equal(ibsa_be32(message.mad + MAD_TID_LOW), 7);
	kernel->ops->close(kernel);
}

/*
 * If there is no reply, the kernel returns 24 bytes of the request. Until then,
 * it rejects a second request with the same id.
 */
static void silence_comes_back_as_the_head_of_the_request(void **state)
{
	const struct sa *sa = *state;
	struct ibsa_transport *kernel = kernel_open();
	const uint64_t start_ms = sa_now_ms();
	uint8_t mad[IBSA_MAD_BYTES];
	struct ibsa_message message;

	request_make(9, sa_service('S', 0), mad);
	assert_int_equal(kernel->ops->send(kernel, &sa->address, mad,
					   sizeof(mad), 300),
			 0);
	assert_int_equal(kernel->ops->send(kernel, &sa->address, mad,
					   sizeof(mad), 300),
			 -EALREADY);
	message_await(kernel, &message);
	assert_true(sa_now_ms() - start_ms < 5000);
	assert_int_equal(message.err, -ETIMEDOUT);
	assert_int_equal(message.len, MAD_HEADER_BYTES);
	assert_int_equal(message.mad[MAD_METHOD], IBSA_METHOD_GET);
	assert_int_equal(ibsa_be32(message.mad + MAD_TID_LOW), 9);
	/* And the id is free again. */
	assert_int_equal(kernel->ops->send(kernel, &sa->address, mad,
					   sizeof(mad), 100),
			 0);
	kernel->ops->close(kernel);
}

/*
 * If a reply does not fit, the kernel returns ENOSPC, and the reply's length in
 * the header.
 */
static void tables_of_any_size_arrive_whole(void **state)
{
	static const uint32_t counts[] = { 0, 1, 2, 11, 12, 300, 3000, 5 };
	const struct sa *sa = *state;
	struct ibsa_client *client = sa_client(sa, NULL);
	struct sa_seen seen;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		assert_int_equal(sa_query_submit(client,
						 sa_service('T', counts[i]),
						 IBSA_METHOD_GET_TABLE, 9000,
						 4000, &seen),
				 0);
		sa_wait(client, &seen);
		assert_int_equal(seen.err, 0);
		assert_int_equal(seen.count, counts[i]);
		assert_true(seen.in_order);
	}
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * A table that is larger than the client accepts ends its query with -EMSGSIZE,
 * and does not block the next reply.
 */
static void table_above_the_limit_is_got_rid_of(void **state)
{
	const struct sa *sa = *state;
	struct ibsa_client *client = sa_client(
		sa, &(struct ibsa_options){ .reply_bytes = REPLY_BYTES });
	struct sa_seen seen;

	assert_int_equal(sa_query_submit(client, sa_service('T', 300),
					 IBSA_METHOD_GET_TABLE, 9000, 4000,
					 &seen),
			 0);
	sa_wait(client, &seen);
	assert_int_equal(seen.err, -EMSGSIZE);
	sa_assert_answers(client);
	assert_int_equal(ibsa_close(client), 0);
}

static void clients_at_one_port_have_their_own_answers(void **state)
{
	const struct sa *sa = *state;
	struct ibsa_client *clients[3];
	struct sa_seen seen[3];

	for (uint32_t i = 0; i < 3; i++) {
		clients[i] = sa_client(sa, NULL);
		assert_int_equal(
			sa_query_submit(clients[i], sa_service('T', i + 1),
					IBSA_METHOD_GET_TABLE, 0, 0, &seen[i]),
			0);
	}
	for (uint32_t i = 0; i < 3; i++) {
		sa_wait(clients[i], &seen[i]);
		assert_int_equal(seen[i].err, 0);
		assert_int_equal(seen[i].count, i + 1);
		assert_int_equal(ibsa_close(clients[i]), 0);
	}
}

/*
 * The reply to the first try is accepted while the second is in flight: they
 * have one id.
 */
static void late_answer_counts(void **state)
{
	const struct sa *sa = *state;
	struct ibsa_client *client = sa_client(sa, NULL);
	struct sa_seen seen;

	assert_int_equal(sa_query_submit(client, sa_service('L', 600),
					 IBSA_METHOD_GET, 5000, 400, &seen),
			 0);
	sa_wait(client, &seen);
	assert_int_equal(seen.err, 0);
	assert_true(seen.tries > 1);
	/* The reply to the second try is ignored. */
	sa_assert_answers(client);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(ibsa_close(client), 0);
}

static void answer_that_comes_twice_is_told_once(void **state)
{
	const struct sa *sa = *state;
	struct ibsa_client *client = sa_client(sa, NULL);
	struct sa_seen seen;

	assert_int_equal(sa_query_submit(client, sa_service('D', 0),
					 IBSA_METHOD_GET, 0, 0, &seen),
			 0);
	sa_wait(client, &seen);
	assert_int_equal(seen.err, 0);
	sa_assert_answers(client);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(ibsa_close(client), 0);
}

/* Many requests at once to an SA that is silent, then to one that answers. */
static void kernel_holds_no_more_than_the_window(void **state)
{
	enum { MANY = 4 * WINDOW };
	const struct sa *sa = *state;
	struct counter counter;
	struct ibsa_client *client = counted_client(sa, &counter);
	struct sa_seen seen[2][MANY];

	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(sa_query_submit(client, sa_service('S', i),
						 IBSA_METHOD_GET, 700, 300,
						 &seen[0][i]),
				 0);
	assert_int_equal(counter.most, WINDOW);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(sa_query_submit(client, sa_service('A', i),
						 IBSA_METHOD_GET, 9000, 0,
						 &seen[1][i]),
				 0);
	for (uint32_t i = 0; i < MANY; i++) {
		sa_wait(client, &seen[0][i]);
		assert_int_equal(seen[0][i].err, -ETIMEDOUT);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		sa_wait(client, &seen[1][i]);
		assert_int_equal(seen[1][i].err, 0);
	}
	/* The kernel may report a timeout after the next requests. */
	assert_in_range(counter.most, WINDOW, 2 * WINDOW);
	assert_true(counter.errors >= WINDOW);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * The kernel still holds cancelled requests. They take at most half of the
 * window, so the next request does not wait for them.
 */
static void cancelled_requests_leave_half_of_the_window(void **state)
{
	const struct sa *sa = *state;
	struct counter counter;
	struct ibsa_client *client = counted_client(sa, &counter);
	const uint64_t start_ms = sa_now_ms();
	struct sa_seen given_up[WINDOW], seen;

	for (uint32_t i = 0; i < WINDOW; i++) {
		assert_int_equal(sa_query_submit(client, sa_service('S', i),
						 IBSA_METHOD_GET, 9000, 800,
						 &given_up[i]),
				 0);
		assert_int_equal(ibsa_cancel(client, i + 1), 0);
	}
	assert_int_equal(sa_query_submit(client, sa_service('A', 0),
					 IBSA_METHOD_GET, 9000, 0, &seen),
			 0);
	sa_wait(client, &seen);
	assert_int_equal(seen.err, 0);
	assert_true(sa_now_ms() - start_ms < 700);
	for (uint32_t i = 0; i < WINDOW; i++)
		assert_int_equal(given_up[i].err, -ECANCELED);
	assert_int_equal(counter.most, WINDOW + 1);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * A query ends at its deadline although the kernel reports no timeouts and
 * replies are lost.
 */
static void unreported_losses_end_in_time(void **state)
{
	const struct sa *sa = *state;
	struct counter counter;
	struct ibsa_client *client = counted_client(sa, &counter);
	const uint64_t start_ms = sa_now_ms();
	struct sa_seen seen;

	counter.tells_no_errors = true;
	counter.loses_answers = true;
	assert_int_equal(sa_query_submit(client, sa_service('A', 0),
					 IBSA_METHOD_GET, 1000, 200, &seen),
			 0);
	sa_wait(client, &seen);
	assert_int_equal(seen.err, -ETIMEDOUT);
	assert_true(seen.tries > 1);
	assert_true(sa_now_ms() - start_ms >= 1000);
	counter.loses_answers = false;
	assert_int_equal(sa_query_submit(client, sa_service('S', 0),
					 IBSA_METHOD_GET, 1000, 200, &seen),
			 0);
	sa_wait(client, &seen);
	assert_int_equal(seen.err, -ETIMEDOUT);
	sa_assert_answers(client);
	assert_int_equal(ibsa_close(client), 0);
}

#define WITH_AN_SA(test) \
	cmocka_unit_test_setup_teardown(test, sa_setup, sa_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WITH_AN_SA(answer_comes_with_its_sender),
		WITH_AN_SA(silence_comes_back_as_the_head_of_the_request),
		WITH_AN_SA(tables_of_any_size_arrive_whole),
		WITH_AN_SA(table_above_the_limit_is_got_rid_of),
		WITH_AN_SA(clients_at_one_port_have_their_own_answers),
		WITH_AN_SA(late_answer_counts),
		WITH_AN_SA(answer_that_comes_twice_is_told_once),
		WITH_AN_SA(kernel_holds_no_more_than_the_window),
		WITH_AN_SA(cancelled_requests_leave_half_of_the_window),
		WITH_AN_SA(unreported_losses_end_in_time),
		cmocka_unit_test(wrong_names_and_wrong_ports_are_told_apart),
	};

	if (!reporter_is_named(argc, argv))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
