/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links of a running fabric go down and come up. */
#include <errno.h>

#include "change_rig.h"

static void dead_link_is_reported_and_carries_nothing(void **state)
{
	struct bench *bench = *state;
	struct bench other = *bench;

	assert_int_equal(
		ibsa_fabric_attach(bench->fabric, "c", 0, &other.transport), 0);
	bench_set_link(bench, "b", 1, false);
	assert_int_equal(bench_port(bench).port_state, IBSA_PORT_DOWN);
	assert_int_equal(bench_port(bench).phys_state, 2);
	assert_int_equal(bench_port(bench).lid, 2);
	assert_int_equal(count_nodes(bench), -1);

	assert_int_equal(count_nodes(&other), 4);
	assert_int_equal(query_path(&other, 3, 2), S(NO_RECORDS));
	assert_int_equal(query_path(&other, 3, 1), 0);
	bench_request(&other, IBSA_METHOD_GET_TABLE, 0x0035, 0);
	assert_int_equal(bench_exchange(&other), 0);
	assert_int_equal(bench_count(&other), 4 * 4);
	assert_int_equal(bench_port(&other).lid, 3);
	assert_int_equal(bench_port(&other).reregisters, 0);
	other.transport->ops->close(other.transport);
}

static void link_that_comes_up_is_configured_again(void **state)
{
	struct bench *bench = *state;

	set_service(bench);
	subscribe(bench);
	bench_set_link(bench, "b", 1, false);
	bench_set_link(bench, "b", 1, false);
	assert_int_equal(bench_port(bench).reregisters, 0);
	bench_set_link(bench, "b", 1, true);
	bench_set_link(bench, "b", 1, true);
	assert_int_equal(bench_port(bench).port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(bench_port(bench).phys_state, 5);
	assert_int_equal(bench_port(bench).lid, 2);
	assert_int_equal(bench_port(bench).reregisters, 1);
	assert_int_equal(bench_port_at(bench, "c").reregisters, 0);
	assert_int_equal(count_nodes(bench), 5);
	/*
	 * As OpenSM, the SA keeps the services and subscriptions of a port
	 * whose link comes back.
	 */
	assert_int_equal(count_services(bench), 1);
	assert_int_equal(count_subscriptions(bench), 1);
}

/* A link can be named by either of its ends. */
static void link_of_a_switch_takes_down_what_is_behind(void **state)
{
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK,
	};
	const struct ibsa_fabric_port_change up = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = true,
	};
	struct bench *bench = *state;

	bench_set_port(bench, "s", 2, down);
	assert_int_equal(bench_port(bench).port_state, IBSA_PORT_DOWN);
	bench_set_port(bench, "b", 1, up);
	assert_int_equal(bench_port(bench).port_state, IBSA_PORT_ACTIVE);

	/*
	 * If the link of the switches s and t is down, port c behind it is up,
	 * but there is no route to it.
	 */
	assert_int_equal(query_path(bench, 2, 3), 0);
	bench_set_port(bench, "s", 3, down);
	assert_int_equal(count_nodes(bench), 3);
	assert_int_equal(query_path(bench, 2, 3), S(NO_RECORDS));
	assert_int_equal(bench_port_at(bench, "c").port_state,
			 IBSA_PORT_ACTIVE);
	bench_set_port(bench, "t", 1, up);
	assert_int_equal(count_nodes(bench), 5);
	assert_int_equal(query_path(bench, 2, 3), 0);
	assert_int_equal(bench_port_at(bench, "c").reregisters, 0);
}

static void dead_link_takes_with_it_what_is_on_its_way(void **state)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.latency_us = 1000,
	};
	struct bench bench;

	(void)state;
	bench_start_text(&bench, change_fabric, "b", &options);
	/* The first answer has arrived when the link goes down. */
	bench_request(&bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(&bench);
	assert_int_equal(ibsa_fabric_advance(bench.fabric, 1 * MS), 0);
	bench_request(&bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(&bench);
	bench_set_link(&bench, "b", 1, false);
	assert_int_equal(ibsa_fabric_advance(bench.fabric, 10 * MS), 0);
	assert_true(bench_receive(&bench));
	assert_int_equal(bench_id(&bench), 1);
	assert_false(bench_receive(&bench));
	bench_stop(&bench);
}

/* A MAD that is held back for reordering counts as in flight. */
static void dead_link_takes_with_it_what_was_held(void **state)
{
	const struct ibsa_fault reorder = {
		.kind = IBSA_FAULT_REORDER,
		.percent = 100,
		.count = 1,
	};
	struct bench *bench = *state;

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &reorder), 0);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(bench);
	bench_set_link(bench, "b", 1, false);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 1000 * MS), 0);
	bench_set_link(bench, "b", 1, true);
	assert_false(bench_receive(bench));
}

static void sa_without_a_link_keeps_all_registrations(void **state)
{
	struct bench *bench = *state;

	subscribe(bench);
	bench_set_link(bench, "a", 1, false);
	assert_int_equal(count_nodes(bench), -1);
	assert_int_equal(bench_port(bench).port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(bench_port(bench).sm_lid, 1);
	assert_int_equal(bench_port_at(bench, "a").port_state, IBSA_PORT_DOWN);
	bench_set_link(bench, "a", 1, true);
	assert_int_equal(count_nodes(bench), 5);
	assert_int_equal(count_subscriptions(bench), 1);
	assert_int_equal(bench_port(bench).reregisters, 0);
}

/* A link stays in state Init until an SM runs. */
static void link_comes_up_without_an_sm(void **state)
{
	struct bench *bench = *state;

	ibsa_fabric_sa_set(bench->fabric, false);
	bench_set_link(bench, "b", 1, false);
	bench_set_link(bench, "b", 1, true);
	assert_int_equal(bench_port(bench).port_state, IBSA_PORT_INIT);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(bench_port(bench).port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(bench_port(bench).reregisters, 1);
}

static void port_that_is_down_can_be_opened(void **state)
{
	struct bench *bench = *state;

	bench_set_link(bench, "c", 1, false);
	assert_int_equal(bench_port_at(bench, "c").port_state, IBSA_PORT_DOWN);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, change_start, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(dead_link_is_reported_and_carries_nothing),
		TEST(link_that_comes_up_is_configured_again),
		TEST(link_of_a_switch_takes_down_what_is_behind),
		cmocka_unit_test(dead_link_takes_with_it_what_is_on_its_way),
		TEST(dead_link_takes_with_it_what_was_held),
		TEST(sa_without_a_link_keeps_all_registrations),
		TEST(link_comes_up_without_an_sm),
		TEST(port_that_is_down_can_be_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
