/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A batch of ten thousand hosts, on a fabric of that size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <ibsa/reach.h>
#include <ibsa/fabric.h>

/*
 * FABRIC is the path of a topology file with this many hosts, defined by the
 * build.
 */
enum { HOSTS = 10000, DEFAULT_WINDOW = IBSA_DEFAULT_WINDOW };

static struct ibsa_fabric *fabric;
static struct ibsa_gid gids[HOSTS];

/*
 * The test reads the large topology once. It uses the real clock, since each
 * wait on a virtual clock advances to the next reply.
 */
static int load(void **state)
{
	const struct ibsa_fabric_options options = { .latency_us = 20 };
	struct ibsa_fabric_port port;

	(void)state;
	assert_int_equal(ibsa_fabric_load(FABRIC, &options, NULL, &fabric), 0);
	for (size_t i = 0; i < HOSTS; i++) {
		assert_int_equal(ibsa_fabric_port_at(fabric, i, &port), 0);
		gids[i] = port.state.gid;
	}
	return 0;
}

static int unload(void **state)
{
	(void)state;
	ibsa_fabric_put(fabric);
	return 0;
}

struct tally {
	size_t told;
	size_t yes;
	uint8_t times[HOSTS];
};

static void count(const struct ibsa_reach_answer *answer, void *arg)
{
	struct tally *tally = arg;

	tally->told++;
	tally->times[answer->index]++;
	tally->yes += answer->reach == IBSA_REACH_YES;
}

/*
 * The window does not adapt: how far it grows depends on the time that replies
 * take, and thus on the load of the machine. test/engine/adapt.c has a clock of
 * its own for that.
 */
static void check_all(unsigned int window, struct tally *tally)
{
	const struct ibsa_options options = {
		.on = fabric,
		.window = window,
		.window_min = window ? window : DEFAULT_WINDOW,
	};
	struct ibsa_client *client;

	*tally = (struct tally){ 0 };
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_reach_start(client, NULL, gids, HOSTS, count,
					  tally, NULL),
			 0);
	while (tally->told < HOSTS)
		assert_int_equal(ibsa_wait(client, -1), 0);
	assert_int_equal(ibsa_close(client), 0);
	for (size_t i = 0; i < HOSTS; i++)
		assert_int_equal(tally->times[i], 1);
}

static uint64_t most_in_flight(void)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(fabric, &stats);
	return stats.most_in_flight;
}

/* The number of queries in flight reaches the window and does not exceed it. */
static void every_host_is_checked_within_the_window(void **state)
{
	struct tally tally;

	(void)state;
	check_all(0, &tally);
	assert_int_equal(tally.yes, HOSTS);
	assert_int_equal(most_in_flight(), DEFAULT_WINDOW);
	check_all(300, &tally);
	assert_int_equal(tally.yes, HOSTS);
	assert_int_equal(most_in_flight(), 300);
}

static void removed_hosts_are_found(void **state)
{
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK
	};
	struct tally tally;

	(void)state;
	assert_int_equal(ibsa_fabric_port_set(fabric, "Hca77", 1, &down), 0);
	assert_int_equal(ibsa_fabric_port_set(fabric, "Hca9999", 1, &down), 0);
	check_all(0, &tally);
	assert_int_equal(tally.yes, HOSTS - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_host_is_checked_within_the_window),
		cmocka_unit_test(removed_hosts_are_found),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
