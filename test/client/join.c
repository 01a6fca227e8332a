/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries that share one request. A query that joins a request in flight must
 * be answered no later than it would be with a request of its own, and the
 * first query no later than without the second. The tests run at a fabric
 * server and on a transport that holds requests; both refuse a TransactionID
 * that is in use.
 */
#include <errno.h>

#include "base/clock.h"
#include "test/client/port_selection.h"

enum {
	INTERVAL_MS = 100, /* tries at 0, 100, 300, 700 and 1500 ms */
	BACK_MS = 1000,	   /* when the SA begins to answer; a try may be late */
	JOIN_MS = 1050,
	LAST_TRY_MS = 1500,
	SLACK_MS = 400, /* for a busy machine */
};

struct asker {
	struct ibsa_client *client;
	struct ibsa_transport *clock; /* or NULL: the system's clock */
	uint64_t start_ns;
	int calls;
	int err;
	unsigned int at_ms;
};

static uint64_t now_ns(const struct asker *asker)
{
	return asker->clock ? asker->clock->ops->now_ns(asker->clock)
			    : clock_now_ns();
}

static unsigned int passed_ms(const struct asker *asker)
{
	return (unsigned int)((now_ns(asker) - asker->start_ns) / NS_PER_MS);
}

static void note(const struct ibsa_reply *reply, void *arg)
{
	struct asker *asker = arg;

	asker->calls++;
	asker->err = reply->err;
	asker->at_ms = passed_ms(asker);
}

static void query_submit(struct asker *asker, unsigned int deadline_ms)
{
	const struct ibsa_path match = { .slid = 1, .dlid = 2 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
		.deadline_ms = deadline_ms,
		.first_interval_ms = INTERVAL_MS,
		.jitter_percent = -1,
	};

	assert_int_equal(
		ibsa_query_start(asker->client, &query, note, asker, NULL), 0);
}

static void run_until(const struct asker *asker, unsigned int ms)
{
	while (passed_ms(asker) < ms)
		assert_int_equal(ibsa_wait(asker->client,
					   (int)(ms - passed_ms(asker))),
				 0);
}

/*
 * The SA is silent for a while. The first query is between two tries that are
 * far apart when the second starts the same query with a short timeout.
 */
static void second_does_not_wait_for_the_first(struct test_port test_port)
{
	struct asker first = { .clock = test_port.options.transport };
	struct asker second;

	first.client = test_port_open(&test_port);
	first.start_ns = now_ns(&first);
	second = first;
	test_port_silence(&test_port, true);
	query_submit(&first, 10000);
	run_until(&first, BACK_MS);
	test_port_silence(&test_port, false);
	run_until(&first, JOIN_MS);
	query_submit(&second, 250);
	while (!first.calls || !second.calls)
		assert_int_equal(ibsa_wait(first.client, -1), 0);
	print_message("the second ends at %u ms with %d, the first at %u ms\n",
		      second.at_ms, second.err, first.at_ms);
	assert_int_equal(ibsa_close(first.client), 0);
	test_port_end(&test_port);
	assert_int_equal(first.err, 0);
	assert_int_equal(second.err, 0);
	assert_in_range(second.at_ms, JOIN_MS, JOIN_MS + SLACK_MS);
	assert_in_range(first.at_ms, LAST_TRY_MS, LAST_TRY_MS + SLACK_MS);
}

static void joiner_at_a_fabric_server(void **state)
{
	(void)state;
	second_does_not_wait_for_the_first(test_port_at_server());
}

static void joiner_on_a_transport_that_holds(void **state)
{
	(void)state;
	second_does_not_wait_for_the_first(test_port_holding());
	assert_int_equal(test_port_held.refused, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joiner_at_a_fabric_server),
		cmocka_unit_test(joiner_on_a_transport_that_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
