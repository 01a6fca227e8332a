/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Services of the embedded SA: identity, leases and visibility. */
#include <errno.h>

#include "support.h"
#include "wire/mad.h"

#define S(status) IBSA_STATUS_##status
#define SECOND UINT64_C(1000000000)
#define CM(field) IBSA_SERVICE_CM(field)

static struct ibsa_service a_service(uint64_t id)
{
	struct ibsa_service service = {
		.service_id = id,
		.service_gid.raw = { 0xfe, 0x80, [8] = 0, 0x08, 0xf1, 0x04,
				     0x03, 0x98, 0x00, 0x31 },
		.service_pkey = 0xffff,
		.service_lease = 10,
		.service_key = { 1, 2, 3 },
		.service_name = "disk",
		.service_data8 = { [3] = 7 },
		.service_data64 = { [1] = 9 },
	};

	return service;
}

static const uint64_t identity = CM(service_id) | CM(service_gid) |
				 CM(service_pkey);

static int set(struct bench *bench, const struct ibsa_service *service,
	       uint64_t mask)
{
	return bench_query(bench, IBSA_METHOD_SET, &ibsa_service_record,
			   service, mask);
}

static size_t count(struct bench *bench)
{
	const struct ibsa_service any = { 0 };

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_service_record, &any, 0),
			 0);
	return bench_count(bench);
}

static void lease_ends_on_the_fabrics_clock(void **state)
{
	const struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	assert_int_equal(set(bench, &service, identity | CM(service_lease)), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 10 * SECOND - 1),
			 0);
	assert_int_equal(count(bench), 1);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 1), 0);
	assert_int_equal(count(bench), 0);
}

/* As at OpenSM, a service with a lease of 0 seconds lives for a second. */
static void lease_of_zero_lasts_a_second(void **state)
{
	struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	service.service_lease = 0;
	assert_int_equal(set(bench, &service, identity | CM(service_lease)), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, SECOND - 1), 0);
	assert_int_equal(count(bench), 1);
	assert_int_equal(
		IBSA_GET(service, service_lease, bench_record(bench, 0)), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 1), 0);
	assert_int_equal(count(bench), 0);
}

static void another_set_renews_the_lease(void **state)
{
	const struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	assert_int_equal(set(bench, &service, identity | CM(service_lease)), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 9 * SECOND), 0);
	assert_int_equal(set(bench, &service, identity | CM(service_lease)), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 9 * SECOND), 0);
	assert_int_equal(count(bench), 1);
}

static void service_without_a_lease_never_ends(void **state)
{
	const struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	assert_int_equal(set(bench, &service, identity), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, SECOND << 30), 0);
	assert_int_equal(count(bench), 1);
	assert_int_equal(IBSA_GET(service, service_lease,
				  bench_record(bench, 0)),
			 IBSA_LEASE_INFINITE);
}

static void identity_is_compared_by_all_bytes(void **state)
{
	struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	/* The P_Key is part of the identity even without its mask bit. */
	service.service_pkey = 0;
	assert_int_equal(set(bench, &service, CM(service_id) | CM(service_gid)),
			 0);
	assert_int_equal(IBSA_GET(service, service_pkey,
				  bench_record(bench, 0)),
			 0xffff);
	service.service_pkey = 0xffff;
	assert_int_equal(set(bench, &service, identity), 0);
	assert_int_equal(count(bench), 2);
	service.service_data8[3] = 8;
	assert_int_equal(set(bench, &service, identity), 0);
	assert_int_equal(count(bench), 2);

	assert_int_equal(bench_query(bench, IBSA_METHOD_DELETE,
				     &ibsa_service_record, &service, identity),
			 0);
	assert_int_equal(bench->answer.mad[MAD_METHOD],
			 IBSA_METHOD_DELETE_RESP);
	assert_int_equal(bench_record(bench, 0)[112 + 3], 8);
	assert_int_equal(bench_query(bench, IBSA_METHOD_DELETE,
				     &ibsa_service_record, &service, identity),
			 S(NO_RECORDS));
	assert_int_equal(count(bench), 1);
}

static void invalid_services_are_refused(void **state)
{
	struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	assert_int_equal(set(bench, &service, CM(service_id)), S(REQ_INVALID));
	assert_int_equal(set(bench, &service, CM(service_gid)), S(REQ_INVALID));
	service.service_pkey = 0x8001;
	assert_int_equal(set(bench, &service, identity), S(REQ_INVALID));
	service = a_service(1);
	service.service_gid.raw[15] = 0x77;
	assert_int_equal(set(bench, &service, identity), S(REQ_INVALID));
	/*
	 * Without a P_Key in the request, the SA does not check that the
	 * service's port has one.
	 */
	assert_int_equal(set(bench, &service, CM(service_id) | CM(service_gid)),
			 0);
}

static int get(struct bench *bench, const struct ibsa_service *want,
	       uint64_t mask)
{
	return bench_query(bench, IBSA_METHOD_GET, &ibsa_service_record, want,
			   mask);
}

static void services_are_found_by_their_data(void **state)
{
	const uint64_t data = IBSA__CM(7 + 3) | IBSA__CM(36);
	struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	assert_int_equal(set(bench, &service, identity), 0);
	assert_int_equal(get(bench, &service, CM(service_name)), 0);
	assert_int_equal(get(bench, &service, data), 0);
	service.service_data64[1] = 8;
	assert_int_equal(get(bench, &service, data), S(NO_RECORDS));
	assert_int_equal(get(bench, &service, IBSA__CM(7 + 3)), 0);
	service = a_service(2);
	assert_int_equal(set(bench, &service, identity), 0);
	assert_int_equal(get(bench, &service, CM(service_name)),
			 S(TOO_MANY_RECORDS));
}

/* As in OpenSM, all 64 bytes are compared: these names differ after a NUL. */
static void names_are_compared_with_all_their_bytes(void **state)
{
	struct ibsa_service one = a_service(1);
	struct ibsa_service two = a_service(2);
	struct bench *bench = *state;

	memcpy(one.service_name, "disk\0one", 8);
	memcpy(two.service_name, "disk\0two", 8);
	assert_int_equal(set(bench, &one, identity | CM(service_name)), 0);
	assert_int_equal(set(bench, &two, identity | CM(service_name)), 0);
	assert_int_equal(get(bench, &one, CM(service_name)), 0);
	assert_memory_equal(bench_record(bench, 0) + 48, one.service_name, 64);
	assert_int_equal(get(bench, &two, CM(service_name)), 0);
	assert_memory_equal(bench_record(bench, 0) + 48, two.service_name, 64);
	two.service_name[5] = 'x';
	assert_int_equal(get(bench, &two, CM(service_name)), S(NO_RECORDS));
}

static void service_key_is_for_the_trusted(void **state)
{
	const struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	assert_int_equal(set(bench, &service, identity), 0);
	assert_int_equal(bench_record(bench, 0)[32], 0);
	assert_int_equal(count(bench), 1);
	assert_int_equal(bench_record(bench, 0)[32], 0);
	ibsa_put_be64(bench->request + MAD_SM_KEY, 1);
	assert_int_equal(bench_exchange(bench), 0);
	assert_int_equal(bench_record(bench, 0)[32], 1);
}

/* As OpenSM, get_matching_sr(); a P_Key of 0 is of no partition. */
static void services_are_shown_to_members_of_their_partition(void **state)
{
	static const uint16_t pkeys[] = { 0xffff, 0x0001 };
	struct ibsa_service service = a_service(1);
	struct bench *bench = *state;

	service.service_pkey = 0x8001;
	assert_int_equal(set(bench, &service, CM(service_id) | CM(service_gid)),
			 0);
	assert_int_equal(get(bench, &service, CM(service_id)), S(NO_RECORDS));
	assert_int_equal(count(bench), 0);
	bench_set_pkeys(bench, "host-r3 mlx5_0", pkeys, 2);
	assert_int_equal(get(bench, &service, CM(service_id)), 0);
	assert_int_equal(count(bench), 1);
}

static void restarted_sa_has_no_services(void **state)
{
	const struct ibsa_service service = a_service(1);
	struct bench *bench = *state;
	const struct ibsa_address sa = bench_sa(bench);

	assert_int_equal(set(bench, &service, identity), 0);
	ibsa_fabric_sa_set(bench->fabric, false);
	assert_int_equal(bench_sa(bench).lid, 0);
	assert_int_equal(bench->transport->ops->send(bench->transport, &sa,
						     bench->request, 256, 0),
			 0);
	assert_false(bench_receive(bench));
	assert_int_equal(bench_lost(bench), 1);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(bench_sa(bench).lid, 1);
	assert_int_equal(count(bench), 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, bench_setup_b, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lease_ends_on_the_fabrics_clock),
		TEST(lease_of_zero_lasts_a_second),
		TEST(another_set_renews_the_lease),
		TEST(service_without_a_lease_never_ends),
		TEST(identity_is_compared_by_all_bytes),
		TEST(invalid_services_are_refused),
		TEST(services_are_found_by_their_data),
		TEST(names_are_compared_with_all_their_bytes),
		TEST(service_key_is_for_the_trusted),
		TEST(services_are_shown_to_members_of_their_partition),
		TEST(restarted_sa_has_no_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
