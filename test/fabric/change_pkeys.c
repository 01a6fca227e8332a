/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * P_Keys of a running fabric change, and with them which ports can communicate.
 */
#include <errno.h>

#include "change_rig.h"

static void limited_default_pkey_is_enough(void **state)
{
	const uint16_t limited[] = { 0x8001, 0x7fff };
	const uint16_t none[] = { 0x8002, 0x8001 };
	struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = limited,
		.pkey_count = 2,
	};
	struct bench *bench = *state;

	bench_set_port(bench, "b", 1, change);
	assert_int_equal(bench_port(bench).pkey_index, 1);
	change.pkeys = none;
	bench_set_port(bench, "b", 1, change);
	assert_int_equal(bench_port(bench).pkey_index, 0);
}

/* The P_Key of the SA is now at index 1: MADs with another index are lost. */
static void pkey_of_a_request_must_pass(void **state)
{
	const uint16_t pkeys[] = { 0x8001, 0xffff };
	struct bench *bench = *state;
	struct ibsa_address sa = bench_sa(bench);
	const uint64_t lost = bench_lost(bench);

	bench_set_pkeys(bench, "b", pkeys, 2);
	for (sa.pkey_index = 0; sa.pkey_index < 3; sa.pkey_index++) {
		bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
		assert_int_equal(
			bench->transport->ops->send(bench->transport, &sa,
						    bench->request, 256, 10),
			0);
		assert_int_equal(bench_receive(bench), sa.pkey_index == 1);
	}
	assert_int_equal(bench_lost(bench), lost + 2);
}

/* Return: the P_Key of the path from b to c; 0: there is no path. */
static uint16_t path_pkey(struct bench *bench)
{
	const struct ibsa_path want = { .slid = 2, .dlid = 3 };

	if (bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record, &want,
			IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid)))
		return 0;
	return (uint16_t)IBSA_GET(path, pkey, bench_record(bench, 0));
}

static int query_pkey(struct bench *bench, uint16_t pkey)
{
	const struct ibsa_path want = { .slid = 2, .dlid = 3, .pkey = pkey };

	return bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record, &want,
			   IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid) |
				   IBSA_PATH_CM(pkey));
}

static void paths_are_within_a_partition(void **state)
{
	const uint16_t b[] = { 0xffff, 0x8003, 0x0001 };
	const uint16_t c[] = { 0x0001, 0x8003, 0xffff };
	const uint16_t limited[] = { 0x7fff };
	struct bench *bench = *state;

	assert_int_equal(path_pkey(bench), 0xffff);
	bench_set_pkeys(bench, "b", b, 3);
	assert_int_equal(path_pkey(bench), 0xffff);
	/* The two ports are both only limited members of partition 1. */
	bench_set_pkeys(bench, "c", c, 3);
	assert_int_equal(path_pkey(bench), 0x8003);
	assert_int_equal(query_pkey(bench, 0x8003), 0);
	assert_int_equal(query_pkey(bench, 0x0003), 0);
	assert_int_equal(query_pkey(bench, 0xffff), 0);
	assert_int_equal(query_pkey(bench, 0x8001), S(NO_RECORDS));
	assert_int_equal(query_pkey(bench, 0x8009), S(NO_RECORDS));
	assert_int_equal(query_pkey(bench, 0), S(NO_RECORDS));
	/*
	 * b does not share a partition with the two ports, though a full member
	 * could.
	 */
	bench_set_pkeys(bench, "b", limited, 1);
	bench_set_pkeys(bench, "c", limited, 1);
	assert_int_equal(path_pkey(bench), 0);
	assert_int_equal(query_path(bench, 2, 1), 0);
}

static void services_are_within_a_partition(void **state)
{
	const uint16_t pkeys[] = { 0xffff, 0x8003 };
	const struct ibsa_service service = {
		.service_id = 7,
		.service_gid = bench_port(*state).gid,
		.service_pkey = 0x8003,
	};
	const uint64_t mask = IBSA_SERVICE_CM(service_id) |
			      IBSA_SERVICE_CM(service_gid) |
			      IBSA_SERVICE_CM(service_pkey);
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_service_record, &service, mask),
			 S(REQ_INVALID));
	bench_set_pkeys(bench, "b", pkeys, 2);
	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_service_record, &service, mask),
			 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, change_start, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(limited_default_pkey_is_enough),
		TEST(pkey_of_a_request_must_pass),
		TEST(paths_are_within_a_partition),
		TEST(services_are_within_a_partition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
