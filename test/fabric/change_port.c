/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports of a running fabric change: their LIDs and tables. */
#include <errno.h>

#include "change_rig.h"

static void refused(struct bench *bench, const char *node, unsigned int port,
		    const struct ibsa_fabric_port_change *change, int err)
{
	assert_int_equal(
		ibsa_fabric_port_set(bench->fabric, node, port, change), err);
}

static void lid_and_lmc_change(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LID | IBSA_CHANGE_LMC,
		.lid = 0x40,
		.lmc = 2,
	};
	const struct ibsa_fabric_port_change back = {
		.mask = IBSA_CHANGE_LMC,
	};
	struct bench *bench = *state;
	struct ibsa_fabric_info info;

	bench_set_port(bench, "b", 1, change);
	assert_int_equal(bench_port(bench).lid, 0x40);
	assert_int_equal(bench_port(bench).lmc, 2);
	assert_int_equal(bench_port(bench).reregisters, 0);
	assert_int_equal(query_path(bench, 0x43, 3), 0);
	assert_int_equal(query_path(bench, 2, 3), S(NO_RECORDS));
	ibsa_fabric_info_get(bench->fabric, &info);
	assert_int_equal(info.lids, 8);

	bench_set_port(bench, "b", 1, back);
	assert_int_equal(bench_port(bench).lid, 0x40);
	assert_int_equal(bench_port(bench).lmc, 0);
	assert_int_equal(query_path(bench, 0x43, 3), S(NO_RECORDS));
	assert_int_equal(query_path(bench, 0x40, 3), 0);
}

static void new_lid_of_the_sa_is_set_at_all_ports(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LID,
		.lid = 0xbfff,
	};
	struct bench *bench = *state;

	set_service(bench);
	bench_set_port(bench, "a", 0, change);
	assert_int_equal(bench_port(bench).sm_lid, 0xbfff);
	assert_int_equal(count_services(bench), 1);
	assert_int_equal(bench->answer.from.lid, 0xbfff);
}

/* A LID that one port gives up can be set at another. */
static void lid_can_move_to_another_port(void **state)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_LID };
	struct bench *bench = *state;

	for (uint32_t lid = 6; lid < 600; lid++) {
		change.lid = lid;
		bench_set_port(bench, "b", 1, change);
		change.lid = lid == 6 ? 2 : lid - 1;
		bench_set_port(bench, "c", 1, change);
		assert_int_equal(query_path(bench, (uint16_t)lid,
					    (uint16_t)change.lid),
				 0);
	}
}

static void impossible_lids_are_refused(void **state)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_LID };
	struct bench *bench = *state;

	refused(bench, "b", 1, &change, -EINVAL);
	change.lid = 0xc000;
	refused(bench, "b", 1, &change, -EINVAL);
	change.lid = 3;
	refused(bench, "b", 1, &change, -EADDRINUSE);
	refused(bench, "alone", 1, &change, -ENETDOWN);
	change.mask = IBSA_CHANGE_LMC;
	change.lmc = 8;
	refused(bench, "b", 1, &change, -EINVAL);
	change.lmc = 1; /* 2 and 3, but c has 3 */
	refused(bench, "b", 1, &change, -EADDRINUSE);
	change.lmc = 2; /* 2 is not a multiple of 4 */
	refused(bench, "b", 1, &change, -EINVAL);
	assert_int_equal(bench_port(bench).lid, 2);
	assert_int_equal(bench_port(bench).lmc, 0);
}

static void port_state_has_the_values_that_were_set(void **state)
{
	const uint16_t pkeys[] = { 0x8001, 0x7fff, 0, 0xffff };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_SM_SL | IBSA_CHANGE_PKEYS |
			IBSA_CHANGE_NEEDS_GRH,
		.sm_sl = 5,
		.needs_grh = true,
		.pkeys = pkeys,
		.pkey_count = 4,
	};
	struct bench *bench = *state;
	uint16_t pkey = 1;

	assert_false(bench_port(bench).needs_grh);
	bench_set_port(bench, "b", 1, change);
	assert_int_equal(bench_port(bench).sm_sl, 5);
	assert_true(bench_port(bench).needs_grh);
	assert_int_equal(bench_port(bench).pkey_index, 3);
	assert_int_equal(bench_port(bench).link, IBSA_LINK_INFINIBAND);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(bench->transport->ops->pkey(bench->transport,
							     i, &pkey),
				 0);
		assert_int_equal(pkey, pkeys[i]);
	}
	assert_int_equal(bench->transport->ops->pkey(bench->transport, 4,
						     &pkey),
			 -EINVAL);
	assert_int_equal(bench_port(bench).reregisters, 0);
}

static void reregister_only_causes_an_event(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_REREGISTER,
	};
	struct bench *bench = *state;
	struct ibsa_port_state before = bench_port(bench);
	struct ibsa_port_state after;

	set_service(bench);
	bench_set_port(bench, "b", 1, change);
	after = bench_port(bench);
	before.reregisters++;
	assert_memory_equal(&before, &after, sizeof(after));
	assert_int_equal(count_services(bench), 1);
	assert_int_equal(bench_port_at(bench, "c").reregisters, 0);
}

static void impossible_changes_are_refused(void **state)
{
	const uint16_t pkeys[129] = { 0xffff };
	struct ibsa_fabric_port_change change = { .mask = 0 };
	struct bench *bench = *state;

	refused(bench, "b", 1, &change, -EINVAL);
	change.mask = 1 << 8;
	refused(bench, "b", 1, &change, -EINVAL);
	change.mask = IBSA_CHANGE_REREGISTER;
	refused(bench, "nobody", 1, &change, -ENODEV);
	refused(bench, "b", 2, &change, -ENXIO);
	refused(bench, "s", 99, &change, -ENXIO);
	refused(bench, "s", 1, &change, -EINVAL);
	change.mask = IBSA_CHANGE_LINK;
	refused(bench, "s", 0, &change, -EINVAL);
	refused(bench, "s", 4, &change, -ENETDOWN);
	refused(bench, "alone", 1, &change, -ENETDOWN);
	change.mask = IBSA_CHANGE_SM_SL | IBSA_CHANGE_REREGISTER;
	change.sm_sl = 16;
	refused(bench, "b", 1, &change, -EINVAL);
	change.mask = IBSA_CHANGE_PKEYS;
	refused(bench, "b", 1, &change, -EINVAL);
	change.pkeys = pkeys;
	refused(bench, "b", 1, &change, -EINVAL);
	change.pkey_count = 129;
	refused(bench, "b", 1, &change, -EINVAL);
	change.pkey_count = 128;
	bench_set_port(bench, "b", 1, change);
	assert_int_equal(bench_port(bench).reregisters, 0);
}

/* Like the kernel, a port that needs a GRH refuses an address without one. */
static void port_that_needs_a_grh_sends_nothing_without(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_NEEDS_GRH,
		.needs_grh = true,
	};
	struct bench *bench = *state;
	struct ibsa_address sa = bench_sa(bench);

	bench_set_port(bench, "b", 1, change);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	assert_int_equal(bench->transport->ops->send(bench->transport, &sa,
						     bench->request, 256, 10),
			 -EALREADY);
	sa.has_grh = true;
	sa.gid = bench_port(bench).gid;
	ibsa_put_be64(sa.gid.raw + 8, UINT64_C(0x0200000000000002));
	assert_int_equal(bench->transport->ops->send(bench->transport, &sa,
						     bench->request, 256, 10),
			 0);
	assert_true(bench_receive(bench));
	assert_true(bench->answer.from.has_grh);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, change_start, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lid_and_lmc_change),
		TEST(new_lid_of_the_sa_is_set_at_all_ports),
		TEST(lid_can_move_to_another_port),
		TEST(impossible_lids_are_refused),
		TEST(port_state_has_the_values_that_were_set),
		TEST(reregister_only_causes_an_event),
		TEST(impossible_changes_are_refused),
		TEST(port_that_needs_a_grh_sends_nothing_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
