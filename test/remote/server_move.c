/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SM of a fabric in another process moves while queries are in flight. */
#include <ibsa/records.h>
#include <ibsa/types.h>

#include "../support/server_rig.h"

enum { IN_FLIGHT = 16, MOVES = 40, EACH = 64 };

static const char three[] = "Switch 4 \"S\"\n"
			    "[1] \"H1\"[1]\n[2] \"H2\"[1]\n[3] \"H3\"[1]\n"
			    "Ca 1 \"H1\" # \"one\"\n[1] \"S\"[1]\n"
			    "Ca 1 \"H2\" # \"two\"\n[1] \"S\"[2]\n"
			    "Ca 1 \"H3\" # \"asker\"\n[1] \"S\"[3]\n";

/* A client that sends a query from each reply. */
struct busy_client {
	struct ibsa_client *client;
	unsigned int asked, answered, most;
	unsigned int failed, refused, wrong;
};

static void next_query_submit(struct busy_client *busy_client);

static void note(const struct ibsa_reply *reply, void *arg)
{
	struct busy_client *busy_client = arg;

	busy_client->answered++;
	if (reply->err)
		busy_client->failed++;
	else if (ibsa_reply_outcome(reply) == IBSA_OUTCOME_REFUSED)
		busy_client->refused++;
	else if (reply->count != 1)
		busy_client->wrong++;
	if (busy_client->asked < busy_client->most)
		next_query_submit(busy_client);
}

/* Each query is different, so that none is shared. */
static void next_query_submit(struct busy_client *busy_client)
{
	const struct ibsa_path want = {
		.slid = 3,
		.dlid = 1,
		.service_id = ++busy_client->asked,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid) |
			IBSA_PATH_CM(service_id),
	};

	assert_int_equal(ibsa_query_start(busy_client->client, &query, note,
					  busy_client, NULL),
			 0);
}

static void await(struct busy_client *busy_client, unsigned int answered)
{
	while (busy_client->answered < answered)
		assert_int_equal(ibsa_wait(busy_client->client, -1), 0);
}

/*
 * The SM moves while queries are in flight, and more are sent to its old LID,
 * which then has no SA.
 */
static void no_query_ends_as_refused(void **state)
{
	struct server_rig *server = server_start(three);
	struct busy_client busy_client = { .client = server_client(server,
								   "asker") };
	struct ibsa_stats stats;

	(void)state;
	for (unsigned int move = 0; move < MOVES; move++) {
		busy_client.most += EACH;
		for (int i = 0; i < IN_FLIGHT / 2; i++)
			next_query_submit(&busy_client);
		server_command(server,
			       move % 2 ? "sm move one" : "sm move two");
		for (int i = 0; i < IN_FLIGHT / 2; i++)
			next_query_submit(&busy_client);
		await(&busy_client, busy_client.most);
	}
	ibsa_stats_get(busy_client.client, &stats);
	assert_int_equal(busy_client.answered, MOVES * EACH);
	assert_int_equal(busy_client.failed, 0);
	assert_int_equal(busy_client.refused, 0);
	assert_int_equal(busy_client.wrong, 0);
	assert_int_equal(stats.timeouts, 0);
	assert_true(stats.retargeted >= MOVES);
	assert_int_equal(ibsa_close(busy_client.client), 0);
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_query_ends_as_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
