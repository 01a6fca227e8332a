/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SA of a running fabric moves, stops and starts. */
#include <errno.h>

#include "change_rig.h"

static void moved_sa_has_a_new_lid_and_no_registrations(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_address old = bench_sa(bench);

	set_service(bench);
	subscribe(bench);
	assert_int_equal(bench_port(bench).reregisters, 0);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "c"), 0);
	assert_int_equal(bench_port(bench).sm_lid, 3);
	assert_int_equal(bench_port(bench).reregisters, 1);
	assert_int_equal(bench_port_at(bench, "c").reregisters, 1);
	assert_int_equal(count_services(bench), 0);
	assert_int_equal(count_subscriptions(bench), 0);
	assert_int_equal(bench->answer.from.lid, 3);

	/* The port with the old LID refuses a request to an SA. */
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	assert_int_equal(bench->transport->ops->send(bench->transport, &old,
						     bench->request, 256, 10),
			 0);
	assert_true(bench_receive(bench));
	assert_int_equal(IBSA_GET(sa_header, status, bench->answer.mad),
			 IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(count_nodes(bench), 5);
}

static void request_in_flight_finds_no_sa(void **state)
{
	const struct ibsa_fault delay = {
		.kind = IBSA_FAULT_DELAY,
		.percent = 100,
		.delay_ms = 10,
	};
	struct bench *bench = *state;

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &delay), 0);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(bench);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "c"), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 100 * MS), 0);
	assert_true(bench_receive(bench));
	assert_int_equal(IBSA_GET(sa_header, status, bench->answer.mad),
			 IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
}

/* A request that arrived before the change is answered by the old SA. */
static void request_that_had_arrived_is_answered(void **state)
{
	const struct ibsa_fault delay = {
		.kind = IBSA_FAULT_DELAY,
		.percent = 100,
		.count = 1,
		.delay_ms = 10,
	};
	struct bench *bench = *state;

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &delay), 0);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(bench);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 100 * MS), 0);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "c"), 0);
	assert_true(bench_receive(bench));
	assert_int_equal(bench->answer.from.lid, 1);
}

static void sa_moves_to_a_switch_and_to_the_first(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "s"), 0);
	assert_int_equal(bench_port(bench).sm_lid, 4);
	assert_int_equal(count_nodes(bench), 5);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, NULL), 0);
	assert_int_equal(bench_port(bench).sm_lid, 1);
	assert_int_equal(bench_port(bench).reregisters, 2);
}

static void sa_that_cannot_move_stays(void **state)
{
	struct bench *bench = *state;

	set_service(bench);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "nowhere"),
			 -ENODEV);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "alone"),
			 -ENETDOWN);
	assert_int_equal(bench_port(bench).sm_lid, 1);
	assert_int_equal(bench_port(bench).reregisters, 0);
	assert_int_equal(count_services(bench), 1);
}

static void stopped_sa_moves_and_stays_stopped(void **state)
{
	struct bench *bench = *state;

	ibsa_fabric_sa_set(bench->fabric, false);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "c"), 0);
	assert_int_equal(bench_port(bench).sm_lid, 0);
	assert_int_equal(bench_port(bench).reregisters, 0);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(bench_port(bench).sm_lid, 3);
	assert_int_equal(bench_port(bench).reregisters, 1);
	assert_int_equal(count_nodes(bench), 5);
}

static void started_sa_asks_to_register_again(void **state)
{
	struct bench *bench = *state;

	set_service(bench);
	subscribe(bench);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(bench_port(bench).reregisters, 0);
	assert_int_equal(count_services(bench), 1);
	ibsa_fabric_sa_set(bench->fabric, false);
	assert_int_equal(bench_port(bench).reregisters, 0);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(bench_port(bench).reregisters, 1);
	assert_int_equal(count_services(bench), 0);
	assert_int_equal(count_subscriptions(bench), 0);
}

/*
 * A subnet that is cut in two: ports without a route to the new SA keep the LID of
 * the old SA.
 */
static void sa_moves_across_a_cut(void **state)
{
	static const char cut[] = "Switch 3 \"s\"\n"
				  "[1] \"a\"[1]\n"
				  "[2] \"b\"[1]\n"
				  "[3] \"t\"[3]\n"
				  "Switch 3 \"t\"\n"
				  "[1] \"c\"[1]\n"
				  "[2] \"d\"[1]\n"
				  "Ca 1 \"a\"\nCa 1 \"b\"\n"
				  "Ca 1 \"c\"\n[1] \"t\"[1] # lid 9\n"
				  "Ca 1 \"d\"\n";
	struct bench bench;

	(void)state;
	bench_start_text(&bench, cut, "b", NULL);
	assert_int_equal(count_nodes(&bench), 6);
	bench_set_link(&bench, "s", 3, false);
	assert_int_equal(count_nodes(&bench), 3);
	assert_int_equal(ibsa_fabric_sa_move(bench.fabric, "c"), 0);
	assert_int_equal(bench_port_at(&bench, "c").lid, 9);
	assert_int_equal(bench_port_at(&bench, "d").sm_lid, 9);
	assert_int_equal(bench_port_at(&bench, "d").port_state,
			 IBSA_PORT_ACTIVE);
	assert_int_equal(bench_port_at(&bench, "d").lid, 3);
	assert_int_equal(bench_port(&bench).sm_lid, 1);
	assert_int_equal(bench_port(&bench).reregisters, 0);
	assert_int_equal(count_nodes(&bench), -1);
	bench_stop(&bench);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, change_start, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(moved_sa_has_a_new_lid_and_no_registrations),
		TEST(request_in_flight_finds_no_sa),
		TEST(request_that_had_arrived_is_answered),
		TEST(sa_moves_to_a_switch_and_to_the_first),
		TEST(sa_that_cannot_move_stays),
		TEST(stopped_sa_moves_and_stays_stopped),
		TEST(started_sa_asks_to_register_again),
		cmocka_unit_test(sa_moves_across_a_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
