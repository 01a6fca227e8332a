/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subscriptions at the embedded SA: which events each receives. */
#include <errno.h>

#include "fabric/sa/subscription.h"
#include "notice_rig.h"

#define S(name) IBSA_STATUS_##name

/* A subscription, and the traps of all_events() that it selects, in order. */
struct filter {
	struct ibsa_inform_info info;
	unsigned int traps[5];
};

static void all_events(struct bench *bench, struct bench *c)
{
	bench_set_link(bench, "c", 1, false);
	while (bench_receive(bench))
		rig_respond(bench);
	bench_set_link(bench, "c", 1, true);
	rig_change_member(c, IBSA_METHOD_SET, &rig_group, 0xffff, 1);
	rig_change_member(c, IBSA_METHOD_DELETE, &rig_group, 0xffff, 1);
	rig_set_capabilities(bench, bench->next_tid);
}

static void expect_traps(struct bench *bench, const struct filter *filter)
{
	struct bench c = rig_beside(bench, "c");

	assert_int_equal(rig_inform(bench, &filter->info), 0);
	all_events(bench, &c);
	for (int i = 0; i < 5; i++)
		assert_int_equal(rig_next_trap(bench), filter->traps[i]);
	rig_close(&c);
}

/* Subscriptions and the traps that they receive. */
static const struct filter filters[] = {
	{ { .lid_range_begin = 0xffff,
	    .type = 0xffff,
	    .trap_number = 0xffff,
	    .producer_type = 0xffffff,
	    .is_generic = 1 },
	  { 128, 64, 66, 67, 144 } },
	{ { .lid_range_begin = 0xffff,
	    .type = 3,
	    .trap_number = 0xffff,
	    .producer_type = 4,
	    .is_generic = 1 },
	  { 64, 66, 67 } },
	{ { .lid_range_begin = 0xffff,
	    .type = 0xffff,
	    .trap_number = 66,
	    .producer_type = 0xffffff,
	    .is_generic = 2 },
	  { 66 } },
	{ { .lid_range_begin = 0xffff,
	    .type = 4,
	    .trap_number = 144,
	    .producer_type = 1,
	    .is_generic = 1 },
	  { 144 } },
	{ { .lid_range_begin = 0xffff,
	    .type = 0xffff,
	    .trap_number = 0xffff,
	    .producer_type = 2,
	    .is_generic = 1 },
	  { 128 } },
	{ { .lid_range_begin = 0xffff,
	    .type = 1,
	    .trap_number = 64,
	    .producer_type = 0xffffff,
	    .is_generic = 1 },
	  { 0 } },
	/* A vendor's events: there are none. */
	{ { .lid_range_begin = 0xffff,
	    .type = 0xffff,
	    .trap_number = 0xffff,
	    .producer_type = 0xffffff },
	  { 0 } },
	/*
	 * Select by the LID of the trap's issuer: c and the switches, then the
	 * SM and b.
	 */
	{ { .lid_range_begin = 3,
	    .lid_range_end = 5,
	    .type = 0xffff,
	    .trap_number = 0xffff,
	    .producer_type = 0xffffff,
	    .is_generic = 1 },
	  { 128, 144 } },
	{ { .lid_range_begin = 1,
	    .lid_range_end = 2,
	    .type = 0xffff,
	    .trap_number = 0xffff,
	    .producer_type = 0xffffff,
	    .is_generic = 1 },
	  { 64, 66, 67 } },
	/*
	 * OpenSM compares with a LIDRangeEnd of 0, though 0 means that there is
	 * none: it selects no trap.
	 */
	{ { .lid_range_begin = 1,
	    .type = 0xffff,
	    .trap_number = 0xffff,
	    .producer_type = 0xffffff,
	    .is_generic = 1 },
	  { 0 } },
};

static void subscription_selects_its_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct filter filter = filters[i];
		struct bench bench;

		bench_start_text(&bench, rig_fabric, "b", NULL);
		assert_int_equal(rig_listen(bench.transport, true), 0);
		filter.info.subscribe = 1;
		expect_traps(&bench, &filter);
		bench_stop(&bench);
	}
}

static void gid_selects_events_by_issuer(void **state)
{
	struct filter filter = { .traps = { 64, 66, 67 } };

	(void)state;
	for (uint16_t lid = 1; lid < 4; lid += 2) {
		struct bench bench;

		bench_start_text(&bench, rig_fabric, "b", NULL);
		assert_int_equal(rig_listen(bench.transport, true), 0);
		filter.info = everything;
		filter.info.lid_range_begin = 0;
		filter.info.gid = rig_gid_at(&bench, lid);
		expect_traps(&bench, &filter);
		bench_stop(&bench);
		filter = (struct filter){ .traps = { 144 } };
	}
}

/* Each subscription causes one Report, the newest first. */
static void each_subscription_brings_a_report(void **state)
{
	struct ibsa_inform_info second = everything;
	struct bench *bench = *state;
	struct report newer;
	struct report older;

	second.trap_number = 144;
	assert_int_equal(rig_inform(bench, &second), 0);
	assert_int_equal(rig_inform(bench, &second), 0);
	rig_set_capabilities(bench, 7);
	assert_true(rig_take(bench, &newer));
	assert_true(rig_take(bench, &older));
	assert_true(newer.header.transaction_id == RIG_FIRST_ID);
	assert_true(older.header.transaction_id == RIG_FIRST_ID + 1);
	assert_false(bench_receive(bench));
	second.subscribe = 0;
	second.qpn = 1;
	rig_advance(bench, 600);
	while (bench_receive(bench))
		;
	assert_int_equal(rig_inform(bench, &second), 0);
	rig_set_capabilities(bench, 8);
	assert_int_equal(rig_next_trap(bench), 144);
	assert_int_equal(rig_next_trap(bench), 0);
}

static void partitions_keep_events_apart(void **state)
{
	static const uint16_t both[] = { 0xffff, 0x8003 };
	static const uint16_t other[] = { 0x8003 };
	static const uint16_t fourth[] = { 0xffff, 0x8004 };
	struct ibsa_inform_info range = everything;
	struct bench *bench = *state;
	struct bench c = rig_beside(bench, "c");

	range.lid_range_begin = 1;
	range.lid_range_end = 9;
	assert_int_equal(rig_inform(bench, &range), 0);
	bench_set_pkeys(bench, "c", fourth, 2);
	rig_change_member(&c, IBSA_METHOD_SET, &rig_group, 0x8004, 1);
	assert_int_equal(rig_next_trap(bench), 0);
	rig_change_member(&c, IBSA_METHOD_DELETE, &rig_group, 0x8004, 1);
	assert_int_equal(rig_next_trap(bench), 0);
	rig_set_capabilities(bench, 7);
	assert_int_equal(rig_next_trap(bench), 144);
	assert_int_equal(rig_next_trap(bench), 144);
	bench_set_pkeys(bench, "b", both, 2);
	bench_set_pkeys(bench, "c", other, 1);
	rig_set_capabilities(bench, 8);
	assert_int_equal(rig_next_trap(bench), 144);
	assert_int_equal(rig_next_trap(bench), 144);
	/*
	 * A subscriber that does not share a P_Key with c receives nothing
	 * about c.
	 */
	bench_set_pkeys(bench, "b", both, 1);
	bench_set_link(bench, "c", 1, false);
	assert_int_equal(rig_next_trap(bench), 128);
	assert_int_equal(rig_next_trap(bench), 128);
	assert_int_equal(rig_next_trap(bench), 0);
	/*
	 * The subscription to the range of LIDs now causes no Reports at all:
	 * these are of the other subscription of b.
	 */
	bench_set_link(bench, "s", 3, false);
	assert_int_equal(rig_next_trap(bench), 128);
	assert_int_equal(rig_next_trap(bench), 65);
	assert_int_equal(rig_next_trap(bench), 0);
	rig_close(&c);
}

/* Send a Set of InformInfo to the address @to. */
static int inform_as(struct bench *bench, const struct ibsa_inform_info *info,
		     struct ibsa_address to)
{
	uint8_t *room = bench_request(bench, IBSA_METHOD_SET, 0x0003, 0);

	assert_int_equal(ibsa_record_encode(&ibsa_inform_info_record, info,
					    sizeof(*info), room,
					    IBSA_SA_DATA_BYTES),
			 0);
	assert_int_equal(bench->transport->ops->send(bench->transport, &to,
						     bench->request, 256, 10),
			 0);
	assert_true(bench_receive(bench));
	return (int)IBSA_GET(sa_header, status, bench->answer.mad);
}

static size_t subscriptions(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_exchange(bench), 0);
	return bench_count(bench);
}

static void subscription_is_within_a_partition(void **state)
{
	static const uint16_t both[] = { 0xffff, 0x8003 };
	static const uint16_t other[] = { 0x8003 };
	struct ibsa_inform_info info = everything;
	struct bench *bench = *state;
	struct bench c = rig_beside(bench, "c");

	assert_int_equal(rig_inform(&c, &everything), 0);
	info.gid = rig_gid_at(bench, 3);
	bench_set_pkeys(bench, "a", both, 2);
	bench_set_pkeys(bench, "c", other, 1);
	assert_int_equal(rig_inform(bench, &info), S(REQ_INVALID));
	memset(info.gid.raw, 0, sizeof(info.gid.raw));
	info.lid_range_begin = 2;
	info.lid_range_end = 3;
	assert_int_equal(rig_inform(bench, &info), S(REQ_INVALID));
	info.lid_range_end = 2;
	assert_int_equal(rig_inform(bench, &info), 0);
	info.lid_range_end = 0;
	assert_int_equal(rig_inform(bench, &info), 0);
	info.lid_range_begin = 4;
	info.lid_range_end = 0xffff;
	assert_int_equal(rig_inform(bench, &info), 0);
	info.lid_range_begin = 6;
	assert_int_equal(rig_inform(bench, &info), S(REQ_INVALID));
	/* And so are the records of subscriptions. */
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_exchange(bench), 0);
	assert_int_equal(bench_count(bench), 4);
	bench_set_pkeys(bench, "c", both, 1);
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_exchange(bench), 0);
	assert_int_equal(bench_count(bench), 5);
	/*
	 * Subscriptions of a port that is gone are not shown, but still exist.
	 */
	bench_set_link(bench, "c", 1, false);
	while (bench_receive(bench))
		rig_respond(bench);
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_exchange(bench), 0);
	assert_int_equal(bench_count(bench), 4);
	rig_close(&c);
}

static void subscription_is_of_an_address(void **state)
{
	static const uint16_t pkeys[] = { 0xffff, 0x8003, 0x7fff };
	struct ibsa_inform_info end = everything;
	struct bench *bench = *state;
	const struct ibsa_address usual = bench_sa(bench);
	struct ibsa_address addresses[6];

	bench_set_port(bench, "b", 1,
		       (struct ibsa_fabric_port_change){
			       .mask = IBSA_CHANGE_LID | IBSA_CHANGE_LMC,
			       .lid = 8,
			       .lmc = 1,
		       });
	bench_set_pkeys(bench, "a", pkeys, 2);
	bench_set_pkeys(bench, "b", pkeys, 3);
	for (int i = 0; i < 6; i++)
		addresses[i] = usual;
	addresses[0].sl = 1;
	addresses[1].path_bits = 1;
	addresses[2].pkey_index = 1;
	addresses[3].has_grh = true;
	addresses[4] = addresses[3];
	addresses[4].flow_label = 1;
	addresses[5] = addresses[3];
	addresses[5].hop_limit = 1;
	end.subscribe = 0;
	end.qpn = 1;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(inform_as(bench, &end, addresses[i]),
				 S(REQ_INVALID));
		assert_int_equal(inform_as(bench, &everything, addresses[i]),
				 0);
		assert_int_equal(inform_as(bench, &everything, addresses[i]),
				 0);
		assert_int_equal(subscriptions(bench), 2 + (size_t)i);
	}
	/* The same partition is the same P_Key. */
	addresses[0].pkey_index = 2;
	for (int i = 0; i < 6; i++)
		assert_int_equal(inform_as(bench, &end, addresses[i]), 0);
	/* A requester with another LID cannot end the subscription. */
	assert_int_equal(inform_as(bench, &end, usual), S(REQ_INVALID));
	assert_int_equal(subscriptions(bench), 1);
}

/*
 * Reports have the SL of the subscription, but come from the SA's base LID even
 * if the subscription was sent to an alias LID, as in OpenSM.
 */
static void report_comes_from_the_base_lid(void **state)
{
	struct bench *bench = *state;
	struct ibsa_address to = bench_sa(bench);
	struct ibsa_inform_info info = everything;
	struct report report;

	bench_set_port(bench, "a", 1,
		       (struct ibsa_fabric_port_change){
			       .mask = IBSA_CHANGE_LMC | IBSA_CHANGE_LID,
			       .lid = 16,
			       .lmc = 1 });
	to.lid = 17;
	to.sl = 3;
	info.trap_number = 64;
	assert_int_equal(inform_as(bench, &info, to), 0);
	assert_int_equal(bench->answer.from.lid, 16);
	bench_set_link(bench, "c", 1, false);
	bench_set_link(bench, "c", 1, true);
	while (rig_take(bench, &report) &&
	       (report.notice.trap_number != 64 || bench->answer.from.sl != 3))
		;
	assert_int_equal(bench->answer.from.lid, 16);
	assert_int_equal(report.notice.issuer_lid, 16);
	/*
	 * The Report of the earlier subscription also comes from the LID that
	 * the SA has now.
	 */
	assert_true(rig_take(bench, &report));
	assert_int_equal(report.notice.trap_number, 64);
	assert_int_equal(bench->answer.from.lid, 16);
}

/* Reports go to the LID of the subscriber, whichever port has this LID now. */
static void report_goes_to_the_lid(void **state)
{
	struct bench *bench = *state;
	struct bench c = rig_beside(bench, "c");

	assert_int_equal(rig_listen(c.transport, true), 0);
	bench_set_port(bench, "b", 1,
		       (struct ibsa_fabric_port_change){
			       .mask = IBSA_CHANGE_LID, .lid = 9 });
	rig_set_capabilities(bench, 7);
	assert_int_equal(bench_stats(bench).reports, 0);
	bench_set_port(bench, "c", 1,
		       (struct ibsa_fabric_port_change){
			       .mask = IBSA_CHANGE_LID, .lid = 2 });
	rig_set_capabilities(bench, 8);
	assert_int_equal(rig_next_trap(bench), 0);
	assert_int_equal(rig_next_trap(&c), 144);
	rig_close(&c);
}

static void number_of_subscriptions_is_limited(void **state)
{
	struct subscriptions all = { 0 };
	struct subscription one = { 0 };

	(void)state;
	for (; one.lid < SUBSCRIPTIONS_MAX; one.lid++)
		assert_int_equal(ibsa__subscriptions_add(&all, &one), 0);
	assert_int_equal(ibsa__subscriptions_add(&all, &one), -ENOSPC);
	ibsa__subscriptions_remove(&all, &all.all[7]);
	assert_int_equal(ibsa__subscriptions_add(&all, &one), 0);
	assert_int_equal(all.all[7].lid, 8);
	assert_int_equal(all.all[SUBSCRIPTIONS_MAX - 1].lid, SUBSCRIPTIONS_MAX);
	ibsa__subscriptions_done(&all);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, rig_start, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subscription_selects_its_events),
		cmocka_unit_test(gid_selects_events_by_issuer),
		TEST(each_subscription_brings_a_report),
		TEST(partitions_keep_events_apart),
		TEST(subscription_is_within_a_partition),
		TEST(subscription_is_of_an_address),
		TEST(report_comes_from_the_base_lid),
		TEST(report_goes_to_the_lid),
		cmocka_unit_test(number_of_subscriptions_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
