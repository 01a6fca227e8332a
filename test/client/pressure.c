/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server that cannot accept a request's first send yet, or rejects
 * it.
 */
#include <endian.h>
#include <errno.h>

#include <ibsa/ib_sa.h>

#include "base/clock.h"
#include "test/client/port_selection.h"

enum { MANY = 20000, WINDOW = 16384, TIMEOUT_MS = 20000 };

/*
 * More requests are sent than the server's socket accepts at once: all are
 * answered in the end.
 */
static void full_socket_is_waited_for(void **state)
{
	struct test_port test_port = test_port_at_server();
	const struct ibsa_ib_device_options options = {
		.name = test_port.options.device,
		.fabric = test_port.options.fabric,
		.window = WINDOW,
		.no_thread = true,
	};
	struct sa_path_rec rec = { .ib.slid = htobe16(2) };
	struct ib_sa_client client = { 0 };
	struct ib_device *device = NULL;
	struct path_replies told = { 0 };
	const uint64_t start_ns = clock_now_ns();

	(void)state;
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	ib_sa_register_client(&client);
	for (unsigned int i = 0; i < MANY; i++) {
		rec.ib.dlid = htobe16((uint16_t)(1 + i));
		assert_true(ib_sa_path_rec_get(&client, device, 1, &rec,
					       IB_SA_PATH_REC_SLID |
						       IB_SA_PATH_REC_DLID,
					       TIMEOUT_MS, 0, path_reply_note,
					       &told, NULL) >= 0);
	}
	while (told.calls < MANY)
		assert_int_equal(ibsa_ib_device_wait(device, -1), 0);
	print_message(
		"%u of %u were answered, in %llu ms\n", told.answered,
		told.calls,
		(unsigned long long)((clock_now_ns() - start_ns) / NS_PER_MS));
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
	test_port_end(&test_port);
	assert_int_equal(told.answered, MANY);
}

struct seen {
	int calls;
	int err;
	unsigned int tries;
	uint64_t at_ns;
};

static void note(const struct ibsa_reply *reply, void *arg)
{
	struct seen *seen = arg;

	seen->calls++;
	seen->err = reply->err;
	seen->tries = reply->tries;
	seen->at_ns = clock_now_ns();
}

static int query_submit(struct ibsa_client *client, struct seen *seen)
{
	const struct ibsa_path match = { .slid = 1, .dlid = 2 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
		.deadline_ms = TIMEOUT_MS,
	};

	return ibsa_query_start(client, &query, note, seen, NULL);
}

static void grh_need(struct test_port *test_port, bool needs_grh)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_NEEDS_GRH,
		.needs_grh = needs_grh,
	};

	assert_int_equal(ibsa_fabric_port_set(test_port->fabric, "right", 1,
					      &change),
			 0);
}

/*
 * A port that requires a GRH rejects requests without one: the query ends with
 * that error at once. The client still works.
 */
static void refused_first_try_ends_the_query(void **state)
{
	struct test_port test_port = test_port_at_server();
	const uint64_t start_ns = clock_now_ns();
	struct ibsa_client *client;
	struct seen seen = { 0 };

	(void)state;
	test_port.options.access.grh = IBSA_GRH_NEVER;
	client = test_port_open(&test_port);
	grh_need(&test_port, true);
	assert_int_equal(query_submit(client, &seen), 0);
	while (!seen.calls)
		assert_int_equal(ibsa_wait(client, -1), 0);
	print_message("the query ended with %d\n", seen.err);
	assert_int_equal(seen.err, -EINVAL);
	assert_int_equal(seen.tries, 0);
	assert_in_range(seen.at_ns - start_ns, 0, TIMEOUT_MS / 2 * NS_PER_MS);
	grh_need(&test_port, false);
	assert_int_equal(query_submit(client, &seen), 0);
	while (seen.calls < 2)
		assert_int_equal(ibsa_wait(client, -1), 0);
	assert_int_equal(seen.err, 0);
	assert_int_equal(ibsa_close(client), 0);
	test_port_end(&test_port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_socket_is_waited_for),
		cmocka_unit_test(refused_first_try_ends_the_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
