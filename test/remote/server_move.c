/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SM of a fabric in another process moves under queries on their way. */
#include <ibsa/records.h>
#include <ibsa/sa.h>

#include "../support/server_rig.h"

enum { IN_FLIGHT = 16, MOVES = 40, EACH = 64 };

static const char three[] = "Switch 4 \"S\"\n"
			    "[1] \"H1\"[1]\n[2] \"H2\"[1]\n[3] \"H3\"[1]\n"
			    "Ca 1 \"H1\" # \"one\"\n[1] \"S\"[1]\n"
			    "Ca 1 \"H2\" # \"two\"\n[1] \"S\"[2]\n"
			    "Ca 1 \"H3\" # \"asker\"\n[1] \"S\"[3]\n";

/* A client that is kept busy: each answer asks the next question. */
struct asker {
	struct ibsa_client *client;
	unsigned int asked, answered, most;
	unsigned int failed, refused, wrong;
};

static void ask(struct asker *asker);

static void note(const struct ibsa_reply *reply, void *arg)
{
	struct asker *asker = arg;

	asker->answered++;
	if (reply->err)
		asker->failed++;
	else if (ibsa_outcome(reply) == IBSA_OUTCOME_REFUSED)
		asker->refused++;
	else if (reply->count != 1)
		asker->wrong++;
	if (asker->asked < asker->most)
		ask(asker);
}

/* No two questions on their way are the same, so that none joins another. */
static void ask(struct asker *asker)
{
	const struct ibsa_path want = {
		.slid = 3,
		.dlid = 1,
		.service_id = ++asker->asked,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid) |
			IBSA_PATH_CM(service_id),
	};

	assert_int_equal(ibsa_query(asker->client, &query, note, asker, NULL),
			 0);
}

static void await(struct asker *asker, unsigned int answered)
{
	while (asker->answered < answered)
		assert_int_equal(ibsa_wait(asker->client, -1), 0);
}

/*
 * While some are on their way the SM moves, and more go to where it was, which
 * is there and knows no SA.
 */
static void no_query_ends_as_refused(void **state)
{
	struct server_rig *server = server_start(three);
	struct asker asker = { .client = server_client(server, "asker") };
	struct ibsa_stats stats;

	(void)state;
	for (unsigned int move = 0; move < MOVES; move++) {
		asker.most += EACH;
		for (int i = 0; i < IN_FLIGHT / 2; i++)
			ask(&asker);
		server_command(server,
			       move % 2 ? "sm move one" : "sm move two");
		for (int i = 0; i < IN_FLIGHT / 2; i++)
			ask(&asker);
		await(&asker, asker.most);
	}
	ibsa_stats_get(asker.client, &stats);
	assert_int_equal(asker.answered, MOVES * EACH);
	assert_int_equal(asker.failed, 0);
	assert_int_equal(asker.refused, 0);
	assert_int_equal(asker.wrong, 0);
	assert_int_equal(stats.timeouts, 0);
	assert_true(stats.retargeted >= MOVES);
	assert_int_equal(ibsa_close(asker.client), 0);
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_query_ends_as_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
