/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The changes that the embedded SA reports. */
#include "notice_rig.h"
#include "wire/mad.h"

/* The bytes of IBA and OpenSM for a GID that is out of service. */
static void report_is_as_opensm_sends_it(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_gid gone = rig_gid_at(bench, 3);
	const struct ibsa_gid sm = rig_gid_at(bench, 1);
	uint8_t mad[IBSA_MAD_BYTES] = { 1, 3, 2, 6 };

	ibsa_put_be64(mad + MAD_TID, RIG_FIRST_ID + 1);
	ibsa_put_be16(mad + MAD_ATTRIBUTE, 0x0002);
	mad[IBSA_SA_HEADER_BYTES] = 0x83;
	mad[IBSA_SA_HEADER_BYTES + 3] = 4;
	ibsa_put_be16(mad + IBSA_SA_HEADER_BYTES + 4, 65);
	ibsa_put_be16(mad + IBSA_SA_HEADER_BYTES + 6, 1);
	memcpy(mad + IBSA_SA_HEADER_BYTES + 16, gone.raw, 16);
	memcpy(mad + IBSA_SA_HEADER_BYTES + 64, sm.raw, 16);

	bench_set_link(bench, "c", 1, false);
	assert_int_equal(rig_next_trap(bench), 128);
	assert_true(bench_receive(bench));
	assert_int_equal(bench->answer.len, sizeof(mad));
	assert_memory_equal(bench->answer.mad, mad, sizeof(mad));
	assert_int_equal(bench->answer.from.lid, 1);
	assert_int_equal(bench->answer.from.qpn, 1);
	assert_false(bench_receive(bench));
}

static void ports_that_go_and_come_are_reported(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_gid c = rig_gid_at(bench, 3);
	const struct ibsa_gid t = rig_gid_at(bench, 5);

	bench_set_link(bench, "c", 1, false);
	assert_int_equal(rig_next_trap(bench), 128);
	rig_expect_gid(bench, 65, &c);
	bench_set_link(bench, "c", 1, false);
	assert_int_equal(rig_next_trap(bench), 0);
	bench_set_link(bench, "t", 1, false);
	assert_int_equal(rig_next_trap(bench), 128);
	rig_expect_gid(bench, 65, &t);
	bench_set_link(bench, "c", 1, true);
	assert_int_equal(rig_next_trap(bench), 0);
	bench_set_link(bench, "t", 1, true);
	assert_int_equal(rig_next_trap(bench), 128);
	/* In order of GUIDs. */
	assert_true(memcmp(t.raw, c.raw, 16) > 0);
	rig_expect_gid(bench, 64, &c);
	rig_expect_gid(bench, 64, &t);
	assert_int_equal(rig_next_trap(bench), 0);
}

/*
 * A port whose link comes back receives a Report of its own GID, and none of
 * the events in between.
 */
static void subscriber_that_comes_back_receives_reports_again(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_gid b = rig_gid_at(bench, 2);
	const struct ibsa_gid c = rig_gid_at(bench, 3);

	bench_set_link(bench, "b", 1, false);
	bench_set_link(bench, "c", 1, false);
	assert_int_equal(rig_next_trap(bench), 0);
	bench_set_link(bench, "b", 1, true);
	assert_int_equal(rig_next_trap(bench), 128);
	rig_expect_gid(bench, 64, &b);
	bench_set_link(bench, "c", 1, true);
	assert_int_equal(rig_next_trap(bench), 128);
	rig_expect_gid(bench, 64, &c);
	assert_int_equal(rig_next_trap(bench), 0);
}

static void switch_reports_its_links(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_gid s = rig_gid_at(bench, 4);
	struct report report;

	bench_set_link(bench, "c", 1, false);
	assert_int_equal(rig_next_trap(bench), 128);
	assert_int_equal(rig_next_trap(bench), 65);
	/* t is cut off when its capabilities change. */
	bench_set_link(bench, "s", 3, false);
	assert_true(rig_take(bench, &report));
	rig_respond(bench);
	assert_int_equal(report.notice.is_generic, 1);
	assert_int_equal(report.notice.type, 1);
	assert_int_equal(report.notice.producer_type, 2);
	assert_int_equal(report.notice.trap_number, 128);
	assert_int_equal(report.notice.issuer_lid, 4);
	assert_int_equal(ibsa_be16(report.notice.data_details), 4);
	assert_memory_equal(report.notice.issuer_gid.raw, s.raw, 16);
	assert_int_equal(rig_next_trap(bench), 65);
	/* The SM does not report the changed capabilities when t is back. */
	bench_set_link(bench, "s", 3, true);
	assert_int_equal(rig_next_trap(bench), 128);
	assert_int_equal(rig_next_trap(bench), 64);
	assert_int_equal(rig_next_trap(bench), 0);
}

static void both_switches_report_a_link_between_them(void **state)
{
	static const char twice[] = "Switch 4 \"s\"\n"
				    "[1] \"a\"[1]\n[2] \"t\"[2]\n"
				    "[3] \"t\"[3]\n"
				    "Switch 4 \"t\"\n"
				    "Ca 1 \"a\"\n";
	struct bench bench;

	(void)state;
	bench_start_text(&bench, twice, "a", NULL);
	assert_int_equal(rig_listen(bench.transport, true), 0);
	assert_int_equal(rig_inform(&bench, &everything), 0);
	for (int is_up = 0; is_up < 2; is_up++) {
		bench_set_link(&bench, "s", 2, is_up);
		assert_int_equal(rig_next_trap(&bench), 128);
		assert_int_equal(rig_next_trap(&bench), 128);
		assert_int_equal(rig_next_trap(&bench), 0);
	}
	bench_stop(&bench);
}

/*
 * While its own link is down, the SM discovers no ports, but reports none as
 * lost.
 */
static void cut_off_sm_reports_nothing(void **state)
{
	struct bench *bench = *state;

	bench_set_link(bench, "a", 1, false);
	assert_int_equal(rig_next_trap(bench), 0);
	bench_set_link(bench, "a", 1, true);
	assert_int_equal(rig_next_trap(bench), 128);
	assert_int_equal(rig_next_trap(bench), 0);
}

static void other_capabilities_are_shown_and_reported(void **state)
{
	const struct ibsa_port_info want = { .endport_lid = 3 };
	struct bench *bench = *state;
	struct report report;

	rig_set_capabilities(bench, 0x12345678);
	assert_true(rig_take(bench, &report));
	rig_respond(bench);
	assert_int_equal(report.notice.is_generic, 1);
	assert_int_equal(report.notice.type, 4);
	assert_int_equal(report.notice.producer_type, 1);
	assert_int_equal(report.notice.trap_number, 144);
	assert_int_equal(report.notice.issuer_lid, 3);
	assert_int_equal(ibsa_be32(report.notice.data_details), 3);
	assert_int_equal(ibsa_be16(report.notice.data_details + 4), 0);
	assert_int_equal(ibsa_be32(report.notice.data_details + 6), 0x12345678);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET,
				     &ibsa_port_info_record, &want,
				     IBSA_PORT_INFO_CM(endport_lid)),
			 0);
	assert_int_equal(IBSA_GET(port_info, capability_mask,
				  bench_record(bench, 0)),
			 0x12345678);
	/* No Report without a change, and none of a port that is cut off. */
	rig_set_capabilities(bench, 0x12345678);
	assert_int_equal(rig_next_trap(bench), 0);
	bench_set_link(bench, "c", 1, false);
	assert_int_equal(rig_next_trap(bench), 128);
	assert_int_equal(rig_next_trap(bench), 65);
	rig_set_capabilities(bench, 1);
	assert_int_equal(rig_next_trap(bench), 0);
}

static void created_and_deleted_groups_are_reported(void **state)
{
	struct bench *bench = *state;
	struct bench c = rig_beside(bench, "c");
	struct bench a = rig_beside(bench, "a");

	rig_change_member(&c, IBSA_METHOD_SET, &rig_group, 0xffff, 1);
	rig_expect_gid(bench, 66, &rig_group);
	rig_change_member(&a, IBSA_METHOD_SET, &rig_group, 0xffff, 1);
	rig_change_member(&a, IBSA_METHOD_SET, &rig_group, 0xffff, 2);
	rig_change_member(&c, IBSA_METHOD_DELETE, &rig_group, 0xffff, 1);
	assert_int_equal(rig_next_trap(bench), 0);
	rig_change_member(&a, IBSA_METHOD_DELETE, &rig_group, 0xffff, 1);
	rig_expect_gid(bench, 67, &rig_group);
	/* A send-only full member keeps the group in existence, too. */
	rig_change_member(&c, IBSA_METHOD_SET, &rig_group, 0xffff, 8);
	rig_expect_gid(bench, 66, &rig_group);
	rig_change_member(&c, IBSA_METHOD_DELETE, &rig_group, 0xffff, 8);
	rig_expect_gid(bench, 67, &rig_group);
	assert_int_equal(rig_next_trap(bench), 0);
	rig_close(&a);
	rig_close(&c);
}

/* The first and last members of a permanent group are reported, too. */
static void permanent_group_begins_with_its_members(void **state)
{
	static const struct ibsa_gid broadcast = { { 0xff, 0x12, 0x40, 0x1b,
						     0xff, 0xff, [12] = 0xff,
						     0xff, 0xff, 0xff } };
	struct bench *bench = *state;
	struct bench c = rig_beside(bench, "c");
	const struct ibsa_mcmember member = {
		.mgid = broadcast,
		.port_gid = rig_gid_at(&c, 3),
		.join_state = 4,
	};

	assert_int_equal(bench_query(&c, IBSA_METHOD_SET, &ibsa_mcmember_record,
				     &member, rig_membership),
			 0);
	assert_int_equal(rig_next_trap(bench), 0);
	rig_change_member(&c, IBSA_METHOD_DELETE, &broadcast, 0xffff, 4);
	assert_int_equal(rig_next_trap(bench), 0);
	for (int i = 0; i < 2; i++) {
		struct ibsa_mcmember full = member;

		full.join_state = 1;
		assert_int_equal(bench_query(&c, IBSA_METHOD_SET,
					     &ibsa_mcmember_record, &full,
					     rig_membership),
				 0);
		rig_expect_gid(bench, 66, &broadcast);
		rig_change_member(&c, IBSA_METHOD_DELETE, &broadcast, 0xffff,
				  1);
		rig_expect_gid(bench, 67, &broadcast);
	}
	rig_close(&c);
}

static void group_ends_with_its_last_port(void **state)
{
	struct bench *bench = *state;
	struct bench c = rig_beside(bench, "c");
	const struct ibsa_gid gid = rig_gid_at(bench, 3);

	rig_change_member(&c, IBSA_METHOD_SET, &rig_group, 0xffff, 1);
	rig_expect_gid(bench, 66, &rig_group);
	bench_set_link(bench, "c", 1, false);
	assert_int_equal(rig_next_trap(bench), 128);
	rig_expect_gid(bench, 65, &gid);
	rig_expect_gid(bench, 67, &rig_group);
	assert_int_equal(rig_next_trap(bench), 0);
	rig_close(&c);
}

static void new_sa_drops_reports_in_flight(void **state)
{
	struct bench *bench = *state;

	rig_set_capabilities(bench, 7);
	assert_true(bench_receive(bench));
	ibsa_fabric_sa_set(bench->fabric, false);
	assert_int_equal(bench_stats(bench).reports_unanswered, 1);
	bench_set_link(bench, "c", 1, false);
	rig_set_capabilities(bench, 8);
	rig_advance(bench, 1000);
	assert_false(bench_receive(bench));
	ibsa_fabric_sa_set(bench->fabric, true);
	bench_set_link(bench, "c", 1, true);
	rig_advance(bench, 1000);
	assert_false(bench_receive(bench));
	assert_int_equal(bench_stats(bench).reports, 1);
}

/*
 * A client that subscribes again receives a Report for each port once, shortly
 * after the reply.
 */
static void expect_burst(struct bench *bench)
{
	struct report report;
	uint64_t last = 0;

	assert_false(bench_receive(bench));
	rig_advance(bench, 1);
	for (int i = 0; i < 5; i++) {
		assert_true(rig_take(bench, &report));
		assert_int_equal(report.notice.trap_number, 64);
		assert_true(ibsa_be64(report.notice.data_details + 14) > last);
		last = ibsa_be64(report.notice.data_details + 14);
		rig_respond(bench);
	}
	assert_false(bench_receive(bench));
}

static void new_sa_reports_all_ports_to_old_subscribers(void **state)
{
	struct ibsa_inform_info groups = everything;
	struct bench *bench = *state;
	struct bench c = rig_beside(bench, "c");

	groups.trap_number = 66;
	assert_int_equal(rig_listen(c.transport, true), 0);
	rig_advance(bench, 1000);
	for (int i = 0; i < 2; i++) {
		if (i)
			assert_int_equal(
				ibsa_fabric_sa_move(bench->fabric, "c"), 0);
		else
			ibsa_fabric_sa_set(bench->fabric, false);
		ibsa_fabric_sa_set(bench->fabric, true);
		/*
		 * A client that was not subscribed before receives no such
		 * Reports.
		 */
		assert_int_equal(rig_inform(&c, &groups), 0);
		/*
		 * A client that has not subscribed to trap 64 receives none,
		 * either.
		 */
		assert_int_equal(rig_inform(bench, &groups), 0);
		rig_advance(bench, 1);
		assert_false(bench_receive(bench));
		assert_int_equal(rig_inform(bench, &everything), 0);
		expect_burst(bench);
		assert_int_equal(rig_inform(bench, &everything), 0);
		rig_advance(bench, 1);
		assert_false(bench_receive(bench));
		assert_false(bench_receive(&c));
	}
	/*
	 * The upper half of the TransactionID of the new SM's Reports differs
	 * from that of the old SM's Reports.
	 */
	rig_set_capabilities(bench, 7);
	assert_true(bench_receive(bench));
	assert_int_equal(ibsa_be32(bench->answer.mad + MAD_TID_LOW),
			 0x02dab006);
	assert_true(ibsa_be32(bench->answer.mad + MAD_TID) > 1);
	rig_close(&c);
}

/*
 * A LID that does not fit into 16 bits is 0 in notices in InfiniBand's layout.
 */
static void omni_path_reports_have_the_infiniband_layout(void **state)
{
	static const struct ibsa_fabric_options opa = {
		.virtual_clock = true,
		.opa = true,
		.first_lid = 0x12345,
	};
	struct bench bench;
	struct report report;

	(void)state;
	bench_start_text(&bench, rig_fabric, "b", &opa);
	assert_int_equal(rig_listen(bench.transport, true), 0);
	assert_int_equal(rig_inform(&bench, &everything), 0);
	rig_set_capabilities(&bench, 7);
	assert_true(rig_take(&bench, &report));
	assert_int_equal(report.notice.trap_number, 144);
	assert_int_equal(report.notice.issuer_lid, 0);
	assert_int_equal(bench.answer.from.lid, 0x2345);
	assert_int_equal(ibsa_be64(bench.answer.from.gid.raw + 8),
			 UINT64_C(0x00066a0000012345));
	rig_respond(&bench);
	rig_advance(&bench, 1000);
	assert_false(bench_receive(&bench));
	bench_stop(&bench);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, rig_start, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(report_is_as_opensm_sends_it),
		TEST(ports_that_go_and_come_are_reported),
		TEST(subscriber_that_comes_back_receives_reports_again),
		TEST(switch_reports_its_links),
		cmocka_unit_test(both_switches_report_a_link_between_them),
		TEST(cut_off_sm_reports_nothing),
		TEST(other_capabilities_are_shown_and_reported),
		TEST(created_and_deleted_groups_are_reported),
		TEST(permanent_group_begins_with_its_members),
		TEST(group_ends_with_its_last_port),
		TEST(new_sa_drops_reports_in_flight),
		TEST(new_sa_reports_all_ports_to_old_subscribers),
		cmocka_unit_test(omni_path_reports_have_the_infiniband_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
