/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reachability on an embedded fabric: results, and the end of a batch. */
#include <errno.h>
#include <string.h>

#include "test/client/reach_support.h"

enum { MS = 1000000 };

static struct rig rig;

static int start(void **state)
{
	(void)state;
	rig_start(&rig, NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	rig_stop(&rig);
	return 0;
}

static void set_link(const char *node, bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	assert_int_equal(ibsa_fabric_port_set(rig.fabric, node, 1, &change), 0);
}

static void set_fault(enum ibsa_fault_kind kind, double percent)
{
	const struct ibsa_fault fault = { .kind = kind, .percent = percent };

	assert_int_equal(ibsa_fabric_fault(rig.fabric, &fault), 0);
}

/* Query one GID and wait. */
static struct ibsa_reach_answer reach(const struct ibsa_gid *gid)
{
	struct ibsa_reach_answer answer;

	assert_int_equal(ibsa_reach_wait(rig.client, NULL, gid, &answer), 0);
	assert_memory_equal(&answer.gid, gid, sizeof(*gid));
	assert_int_equal(answer.left, 0);
	return answer;
}

static void all_hosts_are_told_of_within_the_window(void **state)
{
	struct ibsa_fabric_stats stats;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(rig_each(&rig, HOSTS, &seen), 0);
	assert_int_equal(seen.told, 0);
	rig_finish(&seen);
	assert_int_equal(told_as(&seen, IBSA_REACH_YES), HOSTS);
	for (size_t i = 0; i < HOSTS; i++) {
		assert_int_equal(seen.answers[i].err, 0);
		assert_int_equal(seen.answers[i].tries, 1);
		assert_int_equal(seen.answers[i].rtt_ns, 100000);
	}
	ibsa_fabric_stats_get(rig.fabric, &stats);
	assert_int_equal(stats.most_in_flight, WINDOW);
	assert_int_equal(stats.requests, HOSTS);
}

static void unplugged_host_cannot_be_reached(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	set_link("host7", false);
	assert_int_equal(rig_each(&rig, HOSTS, &seen), 0);
	rig_finish(&seen);
	assert_int_equal(told_as(&seen, IBSA_REACH_YES), HOSTS - 1);
	assert_int_equal(seen.answers[6].reach, IBSA_REACH_NO);
	assert_int_equal(seen.answers[6].err, 0);
	assert_int_equal(seen.answers[6].status, IBSA_STATUS_NO_RECORDS);
	assert_int_equal(reach(&rig.gids[6]).reach, IBSA_REACH_NO);
	set_link("host7", true);
	assert_int_equal(reach(&rig.gids[6]).reach, IBSA_REACH_YES);
}

/*
 * The client's own GID is reachable. A GID that no port has, a GID of another
 * subnet, and a multicast GID without a group are not.
 */
static void each_kind_of_gid_has_its_result(void **state)
{
	struct ibsa_gid gid = rig.gids[0];

	(void)state;
	assert_int_equal(reach(&gid).reach, IBSA_REACH_YES);
	gid.raw[15] ^= 0x80;
	assert_int_equal(reach(&gid).reach, IBSA_REACH_NO);
	gid = rig.gids[1];
	gid.raw[0] = 0x20;
	assert_int_equal(reach(&gid).reach, IBSA_REACH_NO);
	gid.raw[0] = 0xff;
	assert_int_equal(reach(&gid).reach, IBSA_REACH_NO);
}

static void source_may_be_another_port(void **state)
{
	struct ibsa_reach_options options = { .from = rig.gids[3] };
	struct ibsa_reach_answer answer;

	(void)state;
	assert_int_equal(ibsa_reach_wait(rig.client, &options, &rig.gids[5],
					 &answer),
			 0);
	assert_int_equal(answer.reach, IBSA_REACH_YES);
	set_link("host4", false);
	assert_int_equal(ibsa_reach_wait(rig.client, &options, &rig.gids[5],
					 &answer),
			 0);
	assert_int_equal(answer.reach, IBSA_REACH_NO);
	assert_int_equal(reach(&rig.gids[5]).reach, IBSA_REACH_YES);
}

static void without_an_sm_nothing_is_known(void **state)
{
	struct seen seen = { 0 };
	struct ibsa_port_state port;

	(void)state;
	ibsa_fabric_sa_set(rig.fabric, false);
	assert_int_equal(ibsa_port_get(rig.client, true, &port), 0);
	assert_int_equal(reach(&rig.gids[1]).reach, IBSA_REACH_UNKNOWN);
	assert_int_equal(reach(&rig.gids[1]).err, -EAGAIN);
	assert_int_equal(rig_each(&rig, HOSTS, &seen), 0);
	assert_int_equal(seen.told, 0);
	rig_finish(&seen);
	assert_int_equal(told_as(&seen, IBSA_REACH_UNKNOWN), HOSTS);
	assert_int_equal(seen.answers[HOSTS - 1].err, -EAGAIN);
	assert_int_equal(seen.answers[HOSTS - 1].tries, 0);
}

/* The timeout of each GID starts when its own query is sent. */
static void silence_times_out_each_in_its_turn(void **state)
{
	const struct ibsa_reach_options options = { .timeout_ms = 100 };
	struct seen seen = { .rig = &rig, .count = 3 * WINDOW };

	(void)state;
	set_fault(IBSA_FAULT_SILENCE, 100);
	assert_int_equal(ibsa_reach_start(rig.client, &options, rig.gids,
					  seen.count, note, &seen, NULL),
			 0);
	for (size_t turn = 1; turn <= 3; turn++) {
		assert_int_equal(ibsa_fabric_advance(rig.fabric, 99 * MS), 0);
		assert_int_equal(ibsa_dispatch(rig.client), 0);
		assert_int_equal(seen.told, (turn - 1) * WINDOW);
		assert_int_equal(ibsa_fabric_advance(rig.fabric, MS), 0);
		assert_int_equal(ibsa_dispatch(rig.client), 0);
		assert_int_equal(seen.told, turn * WINDOW);
	}
	for (size_t i = 0; i < seen.count; i++) {
		assert_int_equal(seen.answers[i].reach, IBSA_REACH_UNKNOWN);
		assert_int_equal(seen.answers[i].err, -ETIMEDOUT);
	}
}

static void busy_is_not_known(void **state)
{
	const struct ibsa_reach_options options = { .timeout_ms = 100 };
	struct ibsa_reach_answer answer;

	(void)state;
	set_fault(IBSA_FAULT_BUSY, 100);
	assert_int_equal(ibsa_reach_wait(rig.client, &options, &rig.gids[1],
					 &answer),
			 0);
	assert_int_equal(answer.reach, IBSA_REACH_UNKNOWN);
	assert_int_equal(answer.err, 0);
	assert_int_equal(answer.status, IBSA_STATUS_BUSY);
}

/*
 * Replies that arrive late, twice, or after a retry are reported once for each
 * GID.
 */
static void faults_of_the_way_change_no_answer(void **state)
{
	static const enum ibsa_fault_kind kinds[] = {
		IBSA_FAULT_LOSE,    IBSA_FAULT_DELAY, IBSA_FAULT_DUPLICATE,
		IBSA_FAULT_REORDER, IBSA_FAULT_BUSY,  IBSA_FAULT_SILENCE,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct seen seen = { 0 };

		set_fault(kinds[i], 20);
		assert_int_equal(rig_each(&rig, HOSTS, &seen), 0);
		rig_finish(&seen);
		assert_int_equal(told_as(&seen, IBSA_REACH_YES), HOSTS);
		set_fault(kinds[i], 0);
	}
}

/*
 * Corrupted MADs may change the result of a GID, but each GID is reported
 * once.
 */
static void corrupt_messages_are_told_once_too(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	set_fault(IBSA_FAULT_CORRUPT, 50);
	assert_int_equal(rig_each(&rig, HOSTS, &seen), 0);
	rig_finish(&seen);
	assert_int_equal(seen.told, HOSTS);
}

/*
 * GIDs that were reported before ibsa_reach_stop() have a result; all others
 * are reported as cancelled.
 */
static void expect_stopped(const struct seen *seen, size_t after)
{
	size_t canceled = 0;

	assert_int_equal(seen->told, HOSTS);
	assert_int_equal(told_as(seen, IBSA_REACH_YES), after);
	for (size_t i = 0; i < HOSTS; i++)
		canceled += seen->answers[i].err == -ECANCELED;
	assert_int_equal(canceled, HOSTS - after);
}

static void callback_may_stop_its_batch_at_any_point(void **state)
{
	(void)state;
	for (size_t after = 1; after <= HOSTS; after++) {
		struct seen seen = { .stop_after = after };

		assert_int_equal(rig_each(&rig, HOSTS, &seen), 0);
		rig_finish(&seen);
		expect_stopped(&seen, after);
		assert_int_equal(seen.stop_err, after == HOSTS ? -EALREADY : 0);
	}
}

static void batch_can_be_stopped_between_dispatches(void **state)
{
	(void)state;
	for (size_t after = 0; after < HOSTS; after += WINDOW) {
		struct seen seen = { 0 };

		assert_int_equal(rig_each(&rig, HOSTS, &seen), 0);
		while (seen.told < after)
			assert_int_equal(ibsa_wait(rig.client, -1), 0);
		assert_int_equal(seen.told, after);
		assert_int_equal(ibsa_reach_stop(seen.batch), 0);
		assert_int_equal(ibsa_reach_stop(seen.batch), -EALREADY);
		assert_int_equal(seen.told, after);
		assert_int_equal(ibsa_dispatch(rig.client), 0);
		expect_stopped(&seen, after);
		/*
		 * The umad file still holds the cancelled requests, which
		 * occupy places in the window.
		 */
		assert_int_equal(ibsa_wait(rig.client, 1), 0);
		assert_int_equal(ibsa_wait(rig.client, 1), 0);
	}
}

/* The batch has no query in flight, because the port has no SM. */
static void batch_that_has_asked_nothing_can_be_stopped(void **state)
{
	struct seen seen = { 0 };
	struct ibsa_port_state port;

	(void)state;
	ibsa_fabric_sa_set(rig.fabric, false);
	assert_int_equal(ibsa_port_get(rig.client, true, &port), 0);
	assert_int_equal(rig_each(&rig, HOSTS, &seen), 0);
	assert_int_equal(ibsa_reach_stop(seen.batch), 0);
	assert_int_equal(seen.told, 0);
	rig_finish(&seen);
	expect_stopped(&seen, 0);
}

static void close_ends_a_batch_at_any_point(void **state)
{
	(void)state;
	for (size_t after = 0; after < HOSTS; after += WINDOW) {
		struct seen seen = { 0 };
		struct rig mine;

		rig_start(&mine, NULL);
		assert_int_equal(rig_each(&mine, HOSTS, &seen), 0);
		while (seen.told < after)
			assert_int_equal(ibsa_wait(mine.client, -1), 0);
		rig_stop(&mine);
		expect_stopped(&seen, after);
	}
}

static void close_ends_a_batch_without_queries(void **state)
{
	struct seen seen[2] = { { 0 } };
	struct ibsa_port_state port;
	struct rig mine;

	(void)state;
	rig_start(&mine, NULL);
	ibsa_fabric_sa_set(mine.fabric, false);
	assert_int_equal(ibsa_port_get(mine.client, true, &port), 0);
	assert_int_equal(rig_each(&mine, HOSTS, &seen[0]), 0);
	assert_int_equal(rig_each(&mine, HOSTS, &seen[1]), 0);
	rig_stop(&mine);
	expect_stopped(&seen[0], 0);
	expect_stopped(&seen[1], 0);
}

/*
 * Results of the calls that a callback of a batch makes. The callback also
 * starts a second batch with one GID; the result for this GID is stored, too.
 */
struct nested {
	int reach_err, close_err, each_err;
	struct seen second;
};

static void start_another(const struct ibsa_reach_answer *answer, void *arg)
{
	struct nested *nested = arg;
	struct ibsa_reach_answer out;

	nested->reach_err = ibsa_reach_wait(rig.client, NULL, &answer->gid,
					    &out);
	nested->close_err = ibsa_close(rig.client);
	if (!answer->index)
		nested->each_err = rig_each(&rig, HOSTS, &nested->second);
}

static void callback_may_start_another_batch(void **state)
{
	struct nested nested = { .second.count = 1 };

	(void)state;
	assert_int_equal(ibsa_reach_start(rig.client, NULL, rig.gids, 2,
					  start_another, &nested, NULL),
			 0);
	rig_finish(&(struct seen){ .rig = &rig });
	while (nested.second.told < nested.second.count)
		assert_int_equal(ibsa_wait(rig.client, -1), 0);
	assert_int_equal(nested.reach_err, -EBUSY);
	assert_int_equal(nested.close_err, -EBUSY);
	assert_int_equal(nested.each_err, 0);
	assert_int_equal(told_as(&nested.second, IBSA_REACH_YES), HOSTS);
}

static void note_each_err(const struct ibsa_reach_answer *answer, void *arg)
{
	struct nested *nested = arg;
	struct seen seen = { 0 };

	assert_int_equal(answer->err, -ECANCELED);
	nested->each_err = rig_each(nested->second.rig, 1, &seen);
}

static void closing_client_takes_no_batch(void **state)
{
	struct nested nested = { 0 };
	struct rig mine;

	(void)state;
	rig_start(&mine, NULL);
	nested.second.rig = &mine;
	assert_int_equal(ibsa_reach_start(mine.client, NULL, mine.gids, HOSTS,
					  note_each_err, &nested, NULL),
			 0);
	rig_stop(&mine);
	assert_int_equal(nested.each_err, -ESHUTDOWN);
}

static void misuse_is_refused_and_nothing_asked(void **state)
{
	const struct ibsa_gid zero = { { 0 } };
	struct ibsa_gid gids[2] = { rig.gids[1], zero };
	struct ibsa_reach_answer answer = { .index = 77 };
	struct ibsa_client *client = rig.client;
	struct ibsa_stats stats;

	(void)state;
	assert_int_equal(ibsa_reach_wait(client, NULL, NULL, &answer), -EINVAL);
	assert_int_equal(ibsa_reach_wait(client, NULL, &zero, &answer),
			 -EINVAL);
	assert_int_equal(answer.index, 77);
	assert_int_equal(ibsa_reach_start(client, NULL, NULL, 1, note, NULL,
					  NULL),
			 -EINVAL);
	assert_int_equal(ibsa_reach_start(client, NULL, gids, 0, note, NULL,
					  NULL),
			 -EINVAL);
	assert_int_equal(ibsa_reach_start(client, NULL, gids, 2, note, NULL,
					  NULL),
			 -EINVAL);
	assert_int_equal(ibsa_reach_start(client, NULL, gids, 1, NULL, NULL,
					  NULL),
			 -EINVAL);
	ibsa_stats_get(client, &stats);
	assert_int_equal(stats.queries, 0);
}

/* Queries in flight at the same time share one request. */
static void same_gid_many_times_is_told_each_time(void **state)
{
	struct ibsa_gid same[HOSTS];
	struct ibsa_fabric_stats stats;
	struct rig mine = rig;
	struct seen seen = { .rig = &mine, .count = HOSTS };

	(void)state;
	for (size_t i = 0; i < HOSTS; i++)
		same[i] = rig.gids[9];
	memcpy(mine.gids, same, sizeof(same));
	assert_int_equal(ibsa_reach_start(rig.client, NULL, same, HOSTS, note,
					  &seen, NULL),
			 0);
	rig_finish(&seen);
	assert_int_equal(told_as(&seen, IBSA_REACH_YES), HOSTS);
	ibsa_fabric_stats_get(rig.fabric, &stats);
	assert_true(stats.requests < HOSTS);
}

static void batches_run_side_by_side(void **state)
{
	struct seen seen[3] = { { 0 } };
	struct ibsa_fabric_stats stats;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(rig_each(&rig, HOSTS, &seen[i]), 0);
	for (size_t i = 0; i < 3; i++)
		rig_finish(&seen[i]);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(told_as(&seen[i], IBSA_REACH_YES), HOSTS);
	ibsa_fabric_stats_get(rig.fabric, &stats);
	assert_int_equal(stats.most_in_flight, WINDOW);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_hosts_are_told_of_within_the_window),
		TEST(unplugged_host_cannot_be_reached),
		TEST(each_kind_of_gid_has_its_result),
		TEST(source_may_be_another_port),
		TEST(without_an_sm_nothing_is_known),
		TEST(silence_times_out_each_in_its_turn),
		TEST(busy_is_not_known),
		TEST(faults_of_the_way_change_no_answer),
		TEST(corrupt_messages_are_told_once_too),
		TEST(callback_may_stop_its_batch_at_any_point),
		TEST(batch_can_be_stopped_between_dispatches),
		TEST(batch_that_has_asked_nothing_can_be_stopped),
		cmocka_unit_test(close_ends_a_batch_at_any_point),
		cmocka_unit_test(close_ends_a_batch_without_queries),
		TEST(callback_may_start_another_batch),
		cmocka_unit_test(closing_client_takes_no_batch),
		TEST(misuse_is_refused_and_nothing_asked),
		TEST(same_gid_many_times_is_told_each_time),
		TEST(batches_run_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
