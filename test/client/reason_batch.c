/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why there is no path to the GIDs of a batch. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/reach.h>
#include <ibsa/fabric.h>

#include "reason_support.h"

enum { HOSTS = 6 };

/* The results of a batch with reasons. */
struct told {
	size_t count;
	struct ibsa_reach_batch *batch;
	bool stops;
	struct ibsa_reach_answer answers[HOSTS];
};

static void note(const struct ibsa_reach_answer *answer, void *arg)
{
	struct told *told = arg;

	told->answers[answer->index] = *answer;
	told->count++;
	if (told->stops && answer->left)
		(void)ibsa_reach_stop(told->batch);
}

static void batch_start(struct told *told, int why)
{
	const struct ibsa_reach_options options = { .why = why };
	struct ibsa_gid gids[HOSTS] = {
		gid_of(0x2001), gid_of(0xdead), gid_of(0x3001),
		gid_of(0x5002), gid_of(0xbeef), gid_of(0x4001),
	};

	gids[4].raw[0] = 0x20;
	set_link("e", 2, false);
	assert_int_equal(ibsa_reach_start(clients[0], &options, gids, HOSTS,
					  note, told, &told->batch),
			 0);
}

static void batch_gives_reasons_within_the_window(void **state)
{
	struct ibsa_fabric_stats stats;
	struct told told = { 0 };

	(void)state;
	batch_start(&told, IBSA_WHY_ALWAYS);
	while (told.count < HOSTS)
		assert_int_equal(ibsa_wait(clients[0], -1), 0);
	assert_int_equal(told.answers[0].reach, IBSA_REACH_YES);
	assert_int_equal(told.answers[0].reason, IBSA_REASON_NONE);
	assert_string_equal(told.answers[0].detail, "");
	assert_int_equal(told.answers[1].reason, IBSA_REASON_UNKNOWN_PORT);
	assert_int_equal(told.answers[3].reason, IBSA_REASON_FAR_PORT_DOWN);
	assert_false(told.answers[3].is_certain);
	assert_int_equal(told.answers[4].reason, IBSA_REASON_OTHER_SUBNET);
	ibsa_fabric_stats_get(fabric, &stats);
	assert_int_equal(stats.most_in_flight, 2);
	assert_in_range(stats.requests, HOSTS + 4, HOSTS + 6);
}

static void note_count(const struct ibsa_reach_answer *answer, void *arg)
{
	size_t *count = arg;

	assert_int_equal(answer->reach, IBSA_REACH_NO);
	assert_int_equal(answer->reason, IBSA_REASON_UNKNOWN_PORT);
	(*count)++;
}

static void reasons_of_thousands_stay_within_the_window(void **state)
{
	enum { THOUSANDS = 5000 };
	const struct ibsa_reach_options options = { .why = IBSA_WHY_ALWAYS };
	static struct ibsa_gid gids[THOUSANDS];
	struct ibsa_reach_batch *batch;
	struct ibsa_fabric_stats stats;
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < THOUSANDS; i++)
		gids[i] = gid_of(0xdead0000 + 16 * i);
	assert_int_equal(ibsa_reach_start(clients[0], &options, gids, THOUSANDS,
					  note_count, &count, &batch),
			 0);
	while (count < THOUSANDS)
		assert_int_equal(ibsa_wait(clients[0], -1), 0);
	ibsa_fabric_stats_get(fabric, &stats);
	assert_int_equal(stats.most_in_flight, 2);
	assert_in_range(stats.requests, THOUSANDS,
			THOUSANDS * (1 + IBSA_REASON_QUERIES));
}

static void batch_gives_no_reasons_by_default(void **state)
{
	struct told told = { 0 };

	(void)state;
	batch_start(&told, IBSA_WHY_DEFAULT);
	while (told.count < HOSTS)
		assert_int_equal(ibsa_wait(clients[0], -1), 0);
	assert_int_equal(told.answers[1].reach, IBSA_REACH_NO);
	assert_int_equal(told.answers[1].reason, IBSA_REASON_NONE);
	assert_int_equal(requests(), HOSTS);
}

/* If the batch is stopped during the search for a reason, the GIDs without a
 * result end with -ECANCELED. */
static void batch_can_be_stopped_in_a_search(void **state)
{
	struct told told = { .stops = true };

	(void)state;
	batch_start(&told, IBSA_WHY_ALWAYS);
	while (told.count < HOSTS)
		assert_int_equal(ibsa_wait(clients[0], -1), 0);
	assert_int_equal(told.answers[0].reach, IBSA_REACH_YES);
	assert_int_equal(told.answers[1].reach, IBSA_REACH_UNKNOWN);
	assert_int_equal(told.answers[1].err, -ECANCELED);
	assert_int_equal(told.answers[HOSTS - 1].err, -ECANCELED);
}

static void client_can_be_closed_in_a_search(void **state)
{
	const struct ibsa_options options = { .on = fabric, .device = "a" };
	struct told told = { 0 };

	(void)state;
	batch_start(&told, IBSA_WHY_ALWAYS);
	while (requests() < 3)
		assert_int_equal(ibsa_wait(clients[0], -1), 0);
	assert_int_equal(ibsa_close(clients[0]), 0);
	assert_int_equal(told.count, HOSTS);
	assert_int_equal(ibsa_open(&options, NULL, &clients[0]), 0);
}

static void one_gid_has_its_reason(void **state)
{
	const struct ibsa_reach_options never = { .why = IBSA_WHY_NEVER };
	const struct ibsa_gid gid = gid_of(0xdead);
	struct ibsa_reach_answer answer;

	(void)state;
	assert_int_equal(ibsa_reach_wait(clients[0], NULL, &gid, &answer), 0);
	assert_int_equal(answer.reach, IBSA_REACH_NO);
	assert_int_equal(answer.reason, IBSA_REASON_UNKNOWN_PORT);
	assert_true(answer.is_certain);
	assert_non_null(strstr(answer.detail, "fe80::dead"));
	assert_int_equal(ibsa_reach_wait(clients[0], &never, &gid, &answer), 0);
	assert_int_equal(answer.reach, IBSA_REACH_NO);
	assert_int_equal(answer.reason, IBSA_REASON_NONE);
	assert_string_equal(answer.detail, "");
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, reason_start, reason_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(batch_gives_reasons_within_the_window),
		TEST(reasons_of_thousands_stay_within_the_window),
		TEST(batch_gives_no_reasons_by_default),
		TEST(batch_can_be_stopped_in_a_search),
		TEST(client_can_be_closed_in_a_search),
		TEST(one_gid_has_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
