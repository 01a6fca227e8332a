/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cancelled and expired requests do not prevent others from being sent: on the
 * embedded fabric, at a fabric server, and on a transport that holds requests
 * as the kernel does.
 */
#include <endian.h>
#include <errno.h>

#include <ibsa/ib_sa.h>

#include "ib_sa/state.h"
#include "test/client/port_selection.h"

enum { WINDOW = 16, MANY = 2000, TIMEOUT_MS = 1000 };

static struct ibsa_client *client_open(struct test_port *test_port,
				       unsigned int window)
{
	test_port->options.window = window;
	test_port->options.no_sharing = true;
	return test_port_open(test_port);
}

struct seen {
	int calls;
	int err;
	unsigned int tries;
	char text[256];
};

static void note(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_error error;
	struct seen *seen = arg;

	seen->calls++;
	seen->err = reply->err;
	seen->tries = reply->tries;
	ibsa_reply_explain(reply, &error);
	snprintf(seen->text, sizeof(seen->text), "%s", error.text);
}

static uint64_t query_submit(struct ibsa_client *client,
			     unsigned int deadline_ms, struct seen *seen)
{
	const struct ibsa_path match = { .slid = 1, .dlid = 2 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
		.deadline_ms = deadline_ms,
	};
	uint64_t id = 0;

	assert_int_equal(ibsa_query_start(client, &query, note, seen, &id), 0);
	return id;
}

static void run(struct ibsa_client *client, const struct seen *seen)
{
	while (!seen->calls)
		assert_int_equal(ibsa_wait(client, -1), 0);
}

/*
 * Fill the window with requests, cancel them, and send a request that the SA
 * answers; do all this twice.
 */
static void cancelled_leave_room(struct test_port *test_port,
				 unsigned int window)
{
	struct ibsa_client *client = client_open(test_port, window);
	struct seen given_up = { 0 }, live = { 0 };
	uint64_t ids[WINDOW];

	for (unsigned int round = 0; round < 2; round++) {
		test_port_silence(test_port, true);
		for (unsigned int i = 0; i < window; i++)
			ids[i] = query_submit(client, 60000, &given_up);
		for (unsigned int i = 0; i < window; i++)
			assert_int_equal(ibsa_cancel(client, ids[i]), 0);
		test_port_silence(test_port, false);
		live.calls = 0;
		query_submit(client, TIMEOUT_MS, &live);
		run(client, &live);
		assert_int_equal(live.err, 0);
		assert_int_equal(live.tries, 1);
	}
	assert_int_equal(given_up.calls, 2 * (int)window);
	assert_int_equal(ibsa_close(client), 0);
}

/* Like cancelled_leave_room(), with requests whose deadline has passed. */
static void expired_leave_room(struct test_port *test_port)
{
	struct ibsa_client *client = client_open(test_port, WINDOW);
	struct seen given_up = { 0 }, live = { 0 };

	test_port_silence(test_port, true);
	for (int i = 0; i < WINDOW; i++)
		query_submit(client, 100, &given_up);
	while (given_up.calls < WINDOW)
		assert_int_equal(ibsa_wait(client, -1), 0);
	assert_int_equal(given_up.err, -ETIMEDOUT);
	test_port_silence(test_port, false);
	query_submit(client, 100, &live);
	run(client, &live);
	assert_int_equal(live.err, 0);
	assert_int_equal(live.tries, 1);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * If the deadline starts with the call, it also ends a query that was never
 * sent, and ibsa_reply_explain() tells that it was not sent.
 */
static void unsent_is_told(struct test_port *test_port)
{
	struct ibsa_client *client = client_open(test_port, 1);
	struct seen first = { 0 }, unsent = { 0 };

	test_port_silence(test_port, true);
	query_submit(client, 300, &first);
	query_submit(client, 100, &unsent);
	run(client, &unsent);
	assert_int_equal(unsent.err, -ETIMEDOUT);
	assert_int_equal(unsent.tries, 0);
	assert_non_null(strstr(unsent.text, "was not sent"));
	run(client, &first);
	assert_int_equal(first.tries, 1);
	assert_null(strstr(first.text, "was not sent"));
	assert_int_equal(ibsa_close(client), 0);
}

static void given_up_leave_room(struct test_port test_port)
{
	cancelled_leave_room(&test_port, WINDOW);
	if (test_port.holding)
		test_port = test_port_holding();
	cancelled_leave_room(&test_port, 1);
	if (test_port.holding)
		test_port = test_port_holding();
	expired_leave_room(&test_port);
	if (test_port.holding)
		test_port = test_port_holding();
	unsent_is_told(&test_port);
	test_port_end(&test_port);
}

static void room_on_the_embedded_fabric(void **state)
{
	(void)state;
	given_up_leave_room(test_port_embedded());
}

static void room_at_a_fabric_server(void **state)
{
	(void)state;
	given_up_leave_room(test_port_at_server());
}

static void room_on_a_transport_that_holds(void **state)
{
	(void)state;
	given_up_leave_room(test_port_holding());
	assert_int_equal(test_port_held.refused, 0);
}

/* Open the port of a device on the transport. */
static void device_plug(struct ib_device *device, struct test_port *test_port)
{
	struct ibsa_options options = ibsa__sa_client_options(device);
	struct sa_port *port;

	options.on = NULL;
	options.port = 1;
	options.transport = test_port->options.transport;
	assert_int_equal(ibsa__sa_port_new(device, &options, &port), 0);
	pthread_mutex_lock(&device->sa->lock);
	assert_int_equal(ibsa__sa_loop_add(device, port), 0);
	pthread_mutex_unlock(&device->sa->lock);
}

/*
 * 2,000 queries of 1 s at an SA that takes 20 ms for each: the last ones wait
 * for the window longer than their timeout, which runs from the first send.
 */
static void many_are_answered(struct test_port test_port)
{
	struct ibsa_fabric *spare = test_port.holding ? test_port_fabric(true)
						      : NULL;
	const struct ibsa_ib_device_options options = {
		.name = test_port.options.device,
		.fabric = test_port.options.fabric,
		.on = spare ? spare : test_port.options.on,
		.window = WINDOW,
		.no_thread = true,
	};
	struct ib_sa_client client = { 0 };
	struct ib_device *device = NULL;
	struct ib_sa_query *query;
	struct sa_path_rec rec = { .numb_path = 1 };
	struct path_replies told = { 0 };

	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	if (test_port.holding)
		device_plug(device, &test_port);
	ib_sa_register_client(&client);
	rec.ib.slid = htobe16(1);
	for (unsigned int i = 0; i < MANY; i++) {
		rec.ib.dlid = htobe16((uint16_t)(1 + i));
		assert_true(ib_sa_path_rec_get(&client, device, 1, &rec,
					       IB_SA_PATH_REC_SLID |
						       IB_SA_PATH_REC_DLID,
					       TIMEOUT_MS, 0, path_reply_note,
					       &told, &query) >= 0);
	}
	while (told.calls < MANY)
		assert_int_equal(ibsa_ib_device_wait(device, -1), 0);
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
	ibsa_fabric_put(spare);
	test_port_end(&test_port);
	assert_int_equal(told.answered, MANY);
}

static void many_on_the_embedded_fabric(void **state)
{
	(void)state;
	many_are_answered(test_port_embedded());
}

static void many_at_a_fabric_server(void **state)
{
	(void)state;
	many_are_answered(test_port_at_server());
}

static void many_on_a_transport_that_holds(void **state)
{
	(void)state;
	many_are_answered(test_port_holding());
	assert_int_equal(test_port_held.sent, MANY);
	/* First tries of the kernel's names do not wait for the window. */
	assert_int_equal(test_port_held.most_held, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_on_the_embedded_fabric),
		cmocka_unit_test(room_at_a_fabric_server),
		cmocka_unit_test(room_on_a_transport_that_holds),
		cmocka_unit_test(many_on_the_embedded_fabric),
		cmocka_unit_test(many_at_a_fabric_server),
		cmocka_unit_test(many_on_a_transport_that_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
