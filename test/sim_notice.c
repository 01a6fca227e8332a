/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the embedded SA reports, to whom, and how often. */
#include <errno.h>
#include <poll.h>

#include "sim/subscription.h"
#include "sim_support.h"

#define MS UINT64_C(1000000)
#define S(name) IBSA_STATUS_##name
#define FIRST_ID UINT64_C(0x102dab001)

/* LIDs: a 1, the switches' 4 and 5, b 2, c 3. */
static const char text[] = "Switch 4 \"s\"\n"
			   "[1] \"a\"[1]\n"
			   "[2] \"b\"[1]\n"
			   "[3] \"t\"[1]\n"
			   "Switch 4 \"t\"\n"
			   "[2] \"c\"[1]\n"
			   "Ca 2 \"a\"\n"
			   "Ca 1 \"b\"\n"
			   "Ca 1 \"c\"\n";

static const struct ibsa_inform_info everything = {
	.lid_range_begin = 0xffff,
	.is_generic = 1,
	.subscribe = 1,
	.type = 0xffff,
	.trap_number = 0xffff,
	.resp_time_value = 19,
	.producer_type = 0xffffff,
};

static int inform(struct bench *bench, const struct ibsa_inform_info *info)
{
	return bench_query(bench, IBSA_METHOD_SET, &ibsa_inform_info_record,
			   info, 0);
}

static int listen_on(struct ibsa_transport *transport, bool on)
{
	return transport->ops->listen(transport, on);
}

/* b has subscribed to everything, and listens. */
static int start(void **state)
{
	static struct bench bench;

	bench_start_text(&bench, text, "b", NULL);
	assert_int_equal(listen_on(bench.transport, true), 0);
	assert_int_equal(inform(&bench, &everything), 0);
	*state = &bench;
	return 0;
}

static int stop(void **state)
{
	bench_stop(*state);
	return 0;
}

/* Another client of the same fabric. */
static struct bench beside(const struct bench *bench, const char *node)
{
	struct bench other = { .fabric = bench->fabric, .next_tid = 1000 };

	assert_int_equal(ibsa_fabric_attach(bench->fabric, node, 0,
					    &other.transport),
			 0);
	return other;
}

static void close_client(struct bench *bench)
{
	bench->transport->ops->close(bench->transport);
}

static struct ibsa_fabric_stats stats_of(struct bench *bench)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(bench->fabric, &stats);
	return stats;
}

static void set_port(struct bench *bench, const char *node, unsigned int port,
		     struct ibsa_fabric_port_change change)
{
	assert_int_equal(
		ibsa_fabric_port_set(bench->fabric, node, port, &change), 0);
}

static void set_link(struct bench *bench, const char *node, unsigned int port,
		     bool is_up)
{
	set_port(bench, node, port,
		 (struct ibsa_fabric_port_change){ .mask = IBSA_CHANGE_LINK,
						   .link_up = is_up });
}

static void set_pkeys(struct bench *bench, const char *node,
		      const uint16_t *pkeys, size_t count)
{
	set_port(bench, node, 1,
		 (struct ibsa_fabric_port_change){ .mask = IBSA_CHANGE_PKEYS,
						   .pkeys = pkeys,
						   .pkey_count = count });
}

static void advance(struct bench *bench, uint64_t ms)
{
	assert_int_equal(ibsa_fabric_advance(bench->fabric, ms * MS), 0);
}

/* The GID of whoever has the LID: by its NodeRecord. */
static struct ibsa_gid gid_at(struct bench *bench, uint16_t lid)
{
	const struct ibsa_node want = { .lid = lid };
	struct ibsa_gid gid = { { 0xfe, 0x80 } };

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_node_record,
				     &want, IBSA_NODE_CM(lid)),
			 0);
	ibsa_put_be64(gid.raw + 8,
		      IBSA_GET(node, port_guid, bench_record(bench, 0)));
	return gid;
}

/* A Report that has come. */
struct report {
	struct ibsa_sa_header header;
	struct ibsa_notice notice;
};

/* Return: whether there is one; nothing else is expected. */
static bool take(struct bench *bench, struct report *out)
{
	if (!bench_receive(bench))
		return false;
	assert_int_equal(bench->answer.len, IBSA_MAD_BYTES);
	assert_int_equal(bench->answer.err, 0);
	assert_int_equal(ibsa_record_decode(&ibsa_sa_header_record,
					    bench->answer.mad, 256,
					    &out->header),
			 0);
	assert_int_equal(ibsa_record_decode(&ibsa_notice_record,
					    bench->answer.mad + 56, 200,
					    &out->notice),
			 0);
	assert_int_equal(out->header.method, IBSA_METHOD_REPORT);
	return true;
}

/* Answer the Report that has come last. */
static void respond(struct bench *bench)
{
	memcpy(bench->request, bench->answer.mad, IBSA_MAD_BYTES);
	bench->request[3] = IBSA_METHOD_REPORT_RESP;
	bench_send(bench);
}

/* The next trap number, answered; 0: there is none. */
static unsigned int next_trap(struct bench *bench)
{
	struct report report;

	if (!take(bench, &report))
		return 0;
	respond(bench);
	return report.notice.trap_number;
}

/* The next is that trap about that GID. */
static void expect_gid(struct bench *bench, unsigned int trap,
		       const struct ibsa_gid *gid)
{
	struct report report;

	assert_true(take(bench, &report));
	respond(bench);
	assert_int_equal(report.notice.trap_number, trap);
	assert_memory_equal(report.notice.data_details + 6, gid->raw, 16);
}

static void one_client_of_a_port_listens(void **state)
{
	struct bench *bench = *state;
	struct bench second = beside(bench, "b");
	struct bench elsewhere = beside(bench, "c");

	assert_int_equal(listen_on(bench->transport, true), 0);
	assert_int_equal(listen_on(second.transport, true), -EBUSY);
	assert_int_equal(listen_on(second.transport, false), 0);
	assert_int_equal(listen_on(second.transport, true), -EBUSY);
	assert_int_equal(listen_on(elsewhere.transport, true), 0);
	assert_int_equal(listen_on(bench->transport, false), 0);
	assert_int_equal(listen_on(second.transport, true), 0);
	assert_int_equal(listen_on(bench->transport, true), -EBUSY);
	close_client(&second);
	assert_int_equal(listen_on(bench->transport, true), 0);
	close_client(&elsewhere);
}

/* The bytes that IBA and OpenSM have for a GID that is gone. */
static void report_is_as_opensm_sends_it(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_gid gone = gid_at(bench, 3);
	const struct ibsa_gid sm = gid_at(bench, 1);
	uint8_t mad[IBSA_MAD_BYTES] = { 1, 3, 2, 6 };

	ibsa_put_be64(mad + 8, FIRST_ID + 1);
	ibsa_put_be16(mad + 16, 0x0002);
	mad[56] = 0x83;
	mad[59] = 4;
	ibsa_put_be16(mad + 60, 65);
	ibsa_put_be16(mad + 62, 1);
	memcpy(mad + 72, gone.raw, 16);
	memcpy(mad + 120, sm.raw, 16);

	set_link(bench, "c", 1, false);
	assert_int_equal(next_trap(bench), 128);
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
	const struct ibsa_gid c = gid_at(bench, 3);
	const struct ibsa_gid t = gid_at(bench, 5);

	set_link(bench, "c", 1, false);
	assert_int_equal(next_trap(bench), 128);
	expect_gid(bench, 65, &c);
	set_link(bench, "c", 1, false);
	assert_int_equal(next_trap(bench), 0);
	set_link(bench, "t", 1, false);
	assert_int_equal(next_trap(bench), 128);
	expect_gid(bench, 65, &t);
	set_link(bench, "c", 1, true);
	assert_int_equal(next_trap(bench), 0);
	set_link(bench, "t", 1, true);
	assert_int_equal(next_trap(bench), 128);
	/* In the order of their GUIDs. */
	assert_true(memcmp(t.raw, c.raw, 16) > 0);
	expect_gid(bench, 64, &c);
	expect_gid(bench, 64, &t);
	assert_int_equal(next_trap(bench), 0);
}

/* It is told of itself when it is back, and of nothing in between. */
static void subscriber_that_comes_back_hears_on(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_gid b = gid_at(bench, 2);
	const struct ibsa_gid c = gid_at(bench, 3);

	set_link(bench, "b", 1, false);
	set_link(bench, "c", 1, false);
	assert_int_equal(next_trap(bench), 0);
	set_link(bench, "b", 1, true);
	assert_int_equal(next_trap(bench), 128);
	expect_gid(bench, 64, &b);
	set_link(bench, "c", 1, true);
	assert_int_equal(next_trap(bench), 128);
	expect_gid(bench, 64, &c);
	assert_int_equal(next_trap(bench), 0);
}

static void switch_reports_its_links(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_gid s = gid_at(bench, 4);
	struct report report;

	set_link(bench, "c", 1, false);
	assert_int_equal(next_trap(bench), 128);
	assert_int_equal(next_trap(bench), 65);
	/* t is out of reach when it has something to say. */
	set_link(bench, "s", 3, false);
	assert_true(take(bench, &report));
	respond(bench);
	assert_int_equal(report.notice.is_generic, 1);
	assert_int_equal(report.notice.type, 1);
	assert_int_equal(report.notice.producer_type, 2);
	assert_int_equal(report.notice.trap_number, 128);
	assert_int_equal(report.notice.issuer_lid, 4);
	assert_int_equal(ibsa_be16(report.notice.data_details), 4);
	assert_memory_equal(report.notice.issuer_gid.raw, s.raw, 16);
	assert_int_equal(next_trap(bench), 65);
	/* And it is not known when it is back. */
	set_link(bench, "s", 3, true);
	assert_int_equal(next_trap(bench), 128);
	assert_int_equal(next_trap(bench), 64);
	assert_int_equal(next_trap(bench), 0);
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
	assert_int_equal(listen_on(bench.transport, true), 0);
	assert_int_equal(inform(&bench, &everything), 0);
	for (int is_up = 0; is_up < 2; is_up++) {
		set_link(&bench, "s", 2, is_up);
		assert_int_equal(next_trap(&bench), 128);
		assert_int_equal(next_trap(&bench), 128);
		assert_int_equal(next_trap(&bench), 0);
	}
	bench_stop(&bench);
}

/* The SM sees nobody without its own link, and takes nobody for gone. */
static void cut_off_sm_reports_nothing(void **state)
{
	struct bench *bench = *state;

	set_link(bench, "a", 1, false);
	assert_int_equal(next_trap(bench), 0);
	set_link(bench, "a", 1, true);
	assert_int_equal(next_trap(bench), 128);
	assert_int_equal(next_trap(bench), 0);
}

static void change_of_capabilities(struct bench *bench, uint32_t mask)
{
	set_port(bench, "c", 1,
		 (struct ibsa_fabric_port_change){
			 .mask = IBSA_CHANGE_CAPABILITIES,
			 .capability_mask = mask,
		 });
}

static void other_capabilities_are_shown_and_reported(void **state)
{
	const struct ibsa_port_info want = { .endport_lid = 3 };
	struct bench *bench = *state;
	struct report report;

	change_of_capabilities(bench, 0x12345678);
	assert_true(take(bench, &report));
	respond(bench);
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
	/* No change, no news; nor is there any of who cannot be heard. */
	change_of_capabilities(bench, 0x12345678);
	assert_int_equal(next_trap(bench), 0);
	set_link(bench, "c", 1, false);
	assert_int_equal(next_trap(bench), 128);
	assert_int_equal(next_trap(bench), 65);
	change_of_capabilities(bench, 1);
	assert_int_equal(next_trap(bench), 0);
}

static const uint64_t membership = IBSA_MCMEMBER_CM(mgid) |
				   IBSA_MCMEMBER_CM(port_gid) |
				   IBSA_MCMEMBER_CM(join_state);

/* Join or leave, as @method says. */
static void change_member(struct bench *bench, uint8_t method,
			  const struct ibsa_gid *mgid, uint16_t pkey,
			  uint8_t join_state)
{
	struct ibsa_port_state port;
	struct ibsa_mcmember member = {
		.mgid = *mgid,
		.pkey = pkey,
		.qkey = 1,
		.join_state = join_state,
	};
	uint64_t mask = membership;

	assert_int_equal(bench->transport->ops->port(bench->transport, &port),
			 0);
	member.port_gid = port.gid;
	if (method == IBSA_METHOD_SET)
		mask |= IBSA_MCMEMBER_CM(qkey) | IBSA_MCMEMBER_CM(tclass) |
			IBSA_MCMEMBER_CM(pkey) | IBSA_MCMEMBER_CM(flow_label) |
			IBSA_MCMEMBER_CM(sl);
	bench_query(bench, method, &ibsa_mcmember_record, &member, mask);
	assert_int_equal(IBSA_GET(sa_header, status, bench->answer.mad), 0);
}

static const struct ibsa_gid some_group = { { 0xff, 0x15, 1, 2, 3 } };

static void groups_that_begin_and_end_are_reported(void **state)
{
	struct bench *bench = *state;
	struct bench c = beside(bench, "c");
	struct bench a = beside(bench, "a");

	change_member(&c, IBSA_METHOD_SET, &some_group, 0xffff, 1);
	expect_gid(bench, 66, &some_group);
	change_member(&a, IBSA_METHOD_SET, &some_group, 0xffff, 1);
	change_member(&a, IBSA_METHOD_SET, &some_group, 0xffff, 2);
	change_member(&c, IBSA_METHOD_DELETE, &some_group, 0xffff, 1);
	assert_int_equal(next_trap(bench), 0);
	change_member(&a, IBSA_METHOD_DELETE, &some_group, 0xffff, 1);
	expect_gid(bench, 67, &some_group);
	/* One that may only send keeps a group, too. */
	change_member(&c, IBSA_METHOD_SET, &some_group, 0xffff, 8);
	expect_gid(bench, 66, &some_group);
	change_member(&c, IBSA_METHOD_DELETE, &some_group, 0xffff, 8);
	expect_gid(bench, 67, &some_group);
	assert_int_equal(next_trap(bench), 0);
	close_client(&a);
	close_client(&c);
}

/* A group that stays is told of by its members all the same. */
static void permanent_group_begins_with_its_members(void **state)
{
	static const struct ibsa_gid broadcast = { { 0xff, 0x12, 0x40, 0x1b,
						     0xff, 0xff, [12] = 0xff,
						     0xff, 0xff, 0xff } };
	struct bench *bench = *state;
	struct bench c = beside(bench, "c");
	const struct ibsa_mcmember member = {
		.mgid = broadcast,
		.port_gid = gid_at(&c, 3),
		.join_state = 4,
	};

	assert_int_equal(bench_query(&c, IBSA_METHOD_SET, &ibsa_mcmember_record,
				     &member, membership),
			 0);
	assert_int_equal(next_trap(bench), 0);
	change_member(&c, IBSA_METHOD_DELETE, &broadcast, 0xffff, 4);
	assert_int_equal(next_trap(bench), 0);
	for (int i = 0; i < 2; i++) {
		struct ibsa_mcmember full = member;

		full.join_state = 1;
		assert_int_equal(bench_query(&c, IBSA_METHOD_SET,
					     &ibsa_mcmember_record, &full,
					     membership),
				 0);
		expect_gid(bench, 66, &broadcast);
		change_member(&c, IBSA_METHOD_DELETE, &broadcast, 0xffff, 1);
		expect_gid(bench, 67, &broadcast);
	}
	close_client(&c);
}

static void group_ends_with_its_last_port(void **state)
{
	struct bench *bench = *state;
	struct bench c = beside(bench, "c");
	const struct ibsa_gid gid = gid_at(bench, 3);

	change_member(&c, IBSA_METHOD_SET, &some_group, 0xffff, 1);
	expect_gid(bench, 66, &some_group);
	set_link(bench, "c", 1, false);
	assert_int_equal(next_trap(bench), 128);
	expect_gid(bench, 65, &gid);
	expect_gid(bench, 67, &some_group);
	assert_int_equal(next_trap(bench), 0);
	close_client(&c);
}

/* One subscription, and which of 64, 66, 128 and 144 it brings. */
struct filter {
	struct ibsa_inform_info info;
	unsigned int traps[5];
};

static void all_events(struct bench *bench, struct bench *c)
{
	set_link(bench, "c", 1, false);
	while (bench_receive(bench))
		respond(bench);
	set_link(bench, "c", 1, true);
	change_member(c, IBSA_METHOD_SET, &some_group, 0xffff, 1);
	change_member(c, IBSA_METHOD_DELETE, &some_group, 0xffff, 1);
	change_of_capabilities(bench, bench->next_tid);
}

static void expect_traps(struct bench *bench, const struct filter *filter)
{
	struct bench c = beside(bench, "c");

	assert_int_equal(inform(bench, &filter->info), 0);
	all_events(bench, &c);
	for (int i = 0; i < 5; i++)
		assert_int_equal(next_trap(bench), filter->traps[i]);
	close_client(&c);
}

static void subscription_chooses(void **state)
{
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
		/* Of whom it comes from: c and the switches, and the SM. */
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
		/* OpenSM takes the end at its word, though 0 means none. */
		{ { .lid_range_begin = 1,
		    .type = 0xffff,
		    .trap_number = 0xffff,
		    .producer_type = 0xffffff,
		    .is_generic = 1 },
		  { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct filter filter = filters[i];
		struct bench bench;

		bench_start_text(&bench, text, "b", NULL);
		assert_int_equal(listen_on(bench.transport, true), 0);
		filter.info.subscribe = 1;
		expect_traps(&bench, &filter);
		bench_stop(&bench);
	}
}

static void gid_chooses_who_says_it(void **state)
{
	struct filter filter = { .traps = { 64, 66, 67 } };

	(void)state;
	for (uint16_t lid = 1; lid < 4; lid += 2) {
		struct bench bench;

		bench_start_text(&bench, text, "b", NULL);
		assert_int_equal(listen_on(bench.transport, true), 0);
		filter.info = everything;
		filter.info.lid_range_begin = 0;
		filter.info.gid = gid_at(&bench, lid);
		expect_traps(&bench, &filter);
		bench_stop(&bench);
		filter = (struct filter){ .traps = { 144 } };
	}
}

/* Each subscription is one Report, the newest first. */
static void each_subscription_brings_a_report(void **state)
{
	struct ibsa_inform_info second = everything;
	struct bench *bench = *state;
	struct report newer;
	struct report older;

	second.trap_number = 144;
	assert_int_equal(inform(bench, &second), 0);
	assert_int_equal(inform(bench, &second), 0);
	change_of_capabilities(bench, 7);
	assert_true(take(bench, &newer));
	assert_true(take(bench, &older));
	assert_true(newer.header.transaction_id == FIRST_ID);
	assert_true(older.header.transaction_id == FIRST_ID + 1);
	assert_false(bench_receive(bench));
	second.subscribe = 0;
	second.qpn = 1;
	advance(bench, 600);
	while (bench_receive(bench))
		;
	assert_int_equal(inform(bench, &second), 0);
	change_of_capabilities(bench, 8);
	assert_int_equal(next_trap(bench), 144);
	assert_int_equal(next_trap(bench), 0);
}

static void unanswered_report_is_sent_three_times(void **state)
{
	struct bench *bench = *state;
	struct report report;

	change_of_capabilities(bench, 7);
	for (int i = 0; i < 3; i++) {
		assert_true(take(bench, &report));
		assert_true(report.header.transaction_id == FIRST_ID);
		assert_false(bench_receive(bench));
		advance(bench, 199);
		assert_false(bench_receive(bench));
		assert_int_equal(stats_of(bench).reports_unanswered, 0);
		advance(bench, 1);
	}
	assert_false(bench_receive(bench));
	assert_int_equal(stats_of(bench).reports, 1);
	assert_int_equal(stats_of(bench).reports_unanswered, 1);
	/* The subscription stays. */
	change_of_capabilities(bench, 8);
	assert_int_equal(next_trap(bench), 144);
}

/* A client that looks late finds what has come, in its order. */
static void late_client_finds_all_tries(void **state)
{
	struct bench *bench = *state;
	struct report report;

	change_of_capabilities(bench, 7);
	advance(bench, 300);
	change_of_capabilities(bench, 8);
	advance(bench, 1000);
	for (int i = 0; i < 6; i++) {
		assert_true(take(bench, &report));
		assert_true(report.header.transaction_id ==
			    FIRST_ID + (i > 1 && i != 3));
	}
	assert_false(bench_receive(bench));
	assert_int_equal(stats_of(bench).reports_unanswered, 2);
}

static void answer_ends_a_report(void **state)
{
	struct bench *bench = *state;
	struct bench c = beside(bench, "c");
	struct report report;

	change_of_capabilities(bench, 7);
	assert_true(take(bench, &report));
	/* Not another's answer, nor one to something else. */
	memcpy(c.request, bench->answer.mad, IBSA_MAD_BYTES);
	c.request[3] = IBSA_METHOD_REPORT_RESP;
	bench_send(&c);
	memcpy(bench->request, c.request, IBSA_MAD_BYTES);
	bench->request[15]++;
	bench_send(bench);
	bench->request[15]--;
	bench->request[3] = IBSA_METHOD_GET_RESP;
	bench_send(bench);
	advance(bench, 200);
	assert_true(take(bench, &report));
	respond(bench);
	respond(bench);
	advance(bench, 1000);
	assert_false(bench_receive(bench));
	assert_int_equal(stats_of(bench).reports_unanswered, 0);
	close_client(&c);
}

/* A client that waits is given the next try when it is due. */
static void waiting_client_is_given_the_next_try(void **state)
{
	struct bench *bench = *state;
	struct ibsa_transport *transport = bench->transport;
	struct report report;

	change_of_capabilities(bench, 7);
	assert_true(take(bench, &report));
	assert_int_equal(transport->ops->wait(transport, 1000), 0);
	assert_true(transport->ops->now_ns(transport) == 200 * MS);
	assert_true(take(bench, &report));
	respond(bench);
	assert_int_equal(transport->ops->wait(transport, 1000), 0);
	assert_true(transport->ops->now_ns(transport) == 1200 * MS);
}

static void nobody_hears_where_nobody_listens(void **state)
{
	struct bench *bench = *state;
	struct report report;

	assert_int_equal(listen_on(bench->transport, false), 0);
	change_of_capabilities(bench, 7);
	assert_false(bench_receive(bench));
	advance(bench, 300);
	/* Who begins in time gets what is still sent. */
	assert_int_equal(listen_on(bench->transport, true), 0);
	assert_false(bench_receive(bench));
	advance(bench, 100);
	assert_true(take(bench, &report));
	/* Who ends gets no more, not even what has come. */
	change_of_capabilities(bench, 8);
	assert_int_equal(listen_on(bench->transport, false), 0);
	assert_false(bench_receive(bench));
	assert_int_equal(bench->transport->ops->wait(bench->transport, 5), 0);
	assert_true(bench->transport->ops->now_ns(bench->transport) ==
		    405 * MS);
	advance(bench, 600);
	assert_int_equal(stats_of(bench).reports, 2);
	assert_int_equal(stats_of(bench).reports_unanswered, 2);
}

/* Answers stay when listening ends. */
static void answers_are_no_reports(void **state)
{
	static const struct ibsa_fabric_options slow = {
		.virtual_clock = true,
		.latency_us = 1000,
	};
	const struct ibsa_fault reorder = {
		.kind = IBSA_FAULT_REORDER,
		.percent = 100,
		.count = 1,
	};
	struct bench bench;

	(void)state;
	bench_start_text(&bench, text, "b", &slow);
	assert_int_equal(listen_on(bench.transport, true), 0);
	assert_int_equal(inform(&bench, &everything), -1);
	change_of_capabilities(&bench, 7);
	assert_int_equal(ibsa_fabric_fault(bench.fabric, &reorder), 0);
	change_of_capabilities(&bench, 8);
	assert_int_equal(listen_on(bench.transport, false), 0);
	advance(&bench, 1000);
	assert_true(bench_receive(&bench));
	assert_int_equal(bench.answer.mad[3], IBSA_METHOD_GET_RESP);
	assert_false(bench_receive(&bench));
	bench_stop(&bench);
}

static void partitions_keep_events_apart(void **state)
{
	static const uint16_t both[] = { 0xffff, 0x8003 };
	static const uint16_t other[] = { 0x8003 };
	static const uint16_t fourth[] = { 0xffff, 0x8004 };
	struct ibsa_inform_info range = everything;
	struct bench *bench = *state;
	struct bench c = beside(bench, "c");

	range.lid_range_begin = 1;
	range.lid_range_end = 9;
	assert_int_equal(inform(bench, &range), 0);
	set_pkeys(bench, "c", fourth, 2);
	change_member(&c, IBSA_METHOD_SET, &some_group, 0x8004, 1);
	assert_int_equal(next_trap(bench), 0);
	change_member(&c, IBSA_METHOD_DELETE, &some_group, 0x8004, 1);
	assert_int_equal(next_trap(bench), 0);
	change_of_capabilities(bench, 7);
	assert_int_equal(next_trap(bench), 144);
	assert_int_equal(next_trap(bench), 144);
	set_pkeys(bench, "b", both, 2);
	set_pkeys(bench, "c", other, 1);
	change_of_capabilities(bench, 8);
	assert_int_equal(next_trap(bench), 144);
	assert_int_equal(next_trap(bench), 144);
	/* Who has no P_Key of c's is told nothing of c, */
	set_pkeys(bench, "b", both, 1);
	set_link(bench, "c", 1, false);
	assert_int_equal(next_trap(bench), 128);
	assert_int_equal(next_trap(bench), 128);
	assert_int_equal(next_trap(bench), 0);
	/* and one that asked for a range is told nothing at all any more. */
	set_link(bench, "s", 3, false);
	assert_int_equal(next_trap(bench), 128);
	assert_int_equal(next_trap(bench), 65);
	assert_int_equal(next_trap(bench), 0);
	close_client(&c);
}

static void subscription_is_within_a_partition(void **state)
{
	static const uint16_t both[] = { 0xffff, 0x8003 };
	static const uint16_t other[] = { 0x8003 };
	struct ibsa_inform_info info = everything;
	struct bench *bench = *state;
	struct bench c = beside(bench, "c");

	assert_int_equal(inform(&c, &everything), 0);
	info.gid = gid_at(bench, 3);
	set_pkeys(bench, "a", both, 2);
	set_pkeys(bench, "c", other, 1);
	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
	memset(info.gid.raw, 0, sizeof(info.gid.raw));
	info.lid_range_begin = 2;
	info.lid_range_end = 3;
	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
	info.lid_range_end = 2;
	assert_int_equal(inform(bench, &info), 0);
	info.lid_range_end = 0;
	assert_int_equal(inform(bench, &info), 0);
	info.lid_range_begin = 4;
	info.lid_range_end = 0xffff;
	assert_int_equal(inform(bench, &info), 0);
	info.lid_range_begin = 6;
	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
	/* And so are the records of subscriptions. */
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_ask(bench), 0);
	assert_int_equal(bench_count(bench), 4);
	set_pkeys(bench, "c", both, 1);
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_ask(bench), 0);
	assert_int_equal(bench_count(bench), 5);
	/* A port that is gone has none to be seen, but has them. */
	set_link(bench, "c", 1, false);
	while (bench_receive(bench))
		respond(bench);
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_ask(bench), 0);
	assert_int_equal(bench_count(bench), 4);
	close_client(&c);
}

/* Ask with another address than the usual. */
static int inform_as(struct bench *bench, const struct ibsa_inform_info *info,
		     struct ibsa_address to)
{
	uint8_t *room = bench_request(bench, IBSA_METHOD_SET, 0x0003, 0);

	assert_int_equal(ibsa_record_encode(&ibsa_inform_info_record, info,
					    room, IBSA_SA_DATA_BYTES),
			 0);
	assert_int_equal(bench->transport->ops->send(bench->transport, &to,
						     bench->request, 256, 0),
			 0);
	assert_true(bench_receive(bench));
	return (int)IBSA_GET(sa_header, status, bench->answer.mad);
}

static size_t subscriptions(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_ask(bench), 0);
	return bench_count(bench);
}

static void subscription_is_of_an_address(void **state)
{
	static const uint16_t pkeys[] = { 0xffff, 0x8003, 0x7fff };
	struct ibsa_inform_info end = everything;
	struct bench *bench = *state;
	const struct ibsa_address usual = bench_sa(bench);
	struct ibsa_address ways[7];

	set_port(bench, "b", 1,
		 (struct ibsa_fabric_port_change){
			 .mask = IBSA_CHANGE_LID | IBSA_CHANGE_LMC,
			 .lid = 8,
			 .lmc = 1,
		 });
	set_pkeys(bench, "a", pkeys, 2);
	set_pkeys(bench, "b", pkeys, 3);
	for (int i = 0; i < 7; i++)
		ways[i] = usual;
	ways[0].sl = 1;
	ways[1].path_bits = 1;
	ways[2].pkey_index = 1;
	ways[3].has_grh = true;
	ways[4] = ways[3];
	ways[4].gid_index = 1;
	ways[5] = ways[3];
	ways[5].flow_label = 1;
	ways[6] = ways[3];
	ways[6].hop_limit = 1;
	end.subscribe = 0;
	end.qpn = 1;
	for (int i = 0; i < 7; i++) {
		assert_int_equal(inform_as(bench, &end, ways[i]),
				 S(REQ_INVALID));
		assert_int_equal(inform_as(bench, &everything, ways[i]), 0);
		assert_int_equal(inform_as(bench, &everything, ways[i]), 0);
		assert_int_equal(subscriptions(bench), 2 + (size_t)i);
	}
	/* The same partition is the same P_Key. */
	ways[0].pkey_index = 2;
	for (int i = 0; i < 7; i++)
		assert_int_equal(inform_as(bench, &end, ways[i]), 0);
	/* With another LID, it is not the one who had asked at first. */
	assert_int_equal(inform_as(bench, &end, usual), S(REQ_INVALID));
	assert_int_equal(subscriptions(bench), 1);
}

/* Reports come the way that was asked. */
static void report_comes_from_where_was_asked(void **state)
{
	struct bench *bench = *state;
	struct ibsa_address to = bench_sa(bench);
	struct ibsa_inform_info info = everything;
	struct report report;

	set_port(bench, "a", 1,
		 (struct ibsa_fabric_port_change){ .mask = IBSA_CHANGE_LMC |
							   IBSA_CHANGE_LID,
						   .lid = 16,
						   .lmc = 1 });
	to.lid = 17;
	to.sl = 3;
	info.trap_number = 64;
	assert_int_equal(inform_as(bench, &info, to), 0);
	set_link(bench, "c", 1, false);
	set_link(bench, "c", 1, true);
	while (take(bench, &report) &&
	       (report.notice.trap_number != 64 || bench->answer.from.sl != 3))
		;
	assert_int_equal(bench->answer.from.lid, 17);
	assert_int_equal(report.notice.issuer_lid, 16);
	/* The other one still comes from the SA, wherever it has gone. */
	assert_true(take(bench, &report));
	assert_int_equal(report.notice.trap_number, 64);
	assert_int_equal(bench->answer.from.lid, 16);
}

/* They go to the LID, whoever has it. */
static void report_goes_to_the_lid(void **state)
{
	struct bench *bench = *state;
	struct bench c = beside(bench, "c");

	assert_int_equal(listen_on(c.transport, true), 0);
	set_port(bench, "b", 1,
		 (struct ibsa_fabric_port_change){ .mask = IBSA_CHANGE_LID,
						   .lid = 9 });
	change_of_capabilities(bench, 7);
	assert_int_equal(stats_of(bench).reports, 0);
	set_port(bench, "c", 1,
		 (struct ibsa_fabric_port_change){ .mask = IBSA_CHANGE_LID,
						   .lid = 2 });
	change_of_capabilities(bench, 8);
	assert_int_equal(next_trap(bench), 0);
	assert_int_equal(next_trap(&c), 144);
	close_client(&c);
}

static void fault(struct bench *bench, enum ibsa_fault_kind kind)
{
	const struct ibsa_fault once = {
		.kind = kind,
		.percent = 100,
		.count = 1,
		.delay_ms = 50,
	};

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &once), 0);
}

static void faults_strike_reports(void **state)
{
	struct bench *bench = *state;
	struct report report;

	fault(bench, IBSA_FAULT_LOSE);
	change_of_capabilities(bench, 7);
	assert_false(bench_receive(bench));
	advance(bench, 200);
	assert_int_equal(next_trap(bench), 144);
	fault(bench, IBSA_FAULT_DUPLICATE);
	change_of_capabilities(bench, 8);
	assert_true(take(bench, &report));
	assert_int_equal(next_trap(bench), 144);
	assert_int_equal(next_trap(bench), 0);
	fault(bench, IBSA_FAULT_DELAY);
	change_of_capabilities(bench, 9);
	assert_false(bench_receive(bench));
	advance(bench, 51);
	assert_int_equal(next_trap(bench), 144);
	fault(bench, IBSA_FAULT_REORDER);
	change_of_capabilities(bench, 10);
	change_of_capabilities(bench, 11);
	assert_true(take(bench, &report));
	respond(bench);
	assert_int_equal(ibsa_be32(report.notice.data_details + 6), 11);
	assert_int_equal(next_trap(bench), 144);
	fault(bench, IBSA_FAULT_CORRUPT);
	change_of_capabilities(bench, 12);
	assert_true(bench_receive(bench));
	assert_int_equal(bench->answer.len, IBSA_MAD_BYTES);
	assert_int_equal(stats_of(bench).reports_unanswered, 0);
}

/* An answer that is late, but in time, counts. */
static void delayed_answer_counts(void **state)
{
	struct bench *bench = *state;
	struct report report;

	change_of_capabilities(bench, 7);
	assert_true(take(bench, &report));
	fault(bench, IBSA_FAULT_DELAY);
	respond(bench);
	advance(bench, 5000);
	assert_int_equal(stats_of(bench).reports_unanswered, 0);
	assert_false(bench_receive(bench));
	/* One that is lost does not. */
	change_of_capabilities(bench, 8);
	assert_true(take(bench, &report));
	fault(bench, IBSA_FAULT_LOSE);
	respond(bench);
	advance(bench, 200);
	assert_int_equal(next_trap(bench), 144);
}

static void new_sa_waits_for_no_answers(void **state)
{
	struct bench *bench = *state;

	change_of_capabilities(bench, 7);
	assert_true(bench_receive(bench));
	ibsa_fabric_sa_set(bench->fabric, false);
	assert_int_equal(stats_of(bench).reports_unanswered, 1);
	set_link(bench, "c", 1, false);
	change_of_capabilities(bench, 8);
	advance(bench, 1000);
	assert_false(bench_receive(bench));
	ibsa_fabric_sa_set(bench->fabric, true);
	set_link(bench, "c", 1, true);
	advance(bench, 1000);
	assert_false(bench_receive(bench));
	assert_int_equal(stats_of(bench).reports, 1);
}

/* All ports, each once, a moment after the answer. */
static void expect_burst(struct bench *bench)
{
	struct report report;
	uint64_t last = 0;

	assert_false(bench_receive(bench));
	advance(bench, 1);
	for (int i = 0; i < 5; i++) {
		assert_true(take(bench, &report));
		assert_int_equal(report.notice.trap_number, 64);
		assert_true(ibsa_be64(report.notice.data_details + 14) > last);
		last = ibsa_be64(report.notice.data_details + 14);
		respond(bench);
	}
	assert_false(bench_receive(bench));
}

static void new_sa_tells_old_subscribers_of_all_ports(void **state)
{
	struct ibsa_inform_info groups = everything;
	struct bench *bench = *state;
	struct bench c = beside(bench, "c");

	groups.trap_number = 66;
	assert_int_equal(listen_on(c.transport, true), 0);
	advance(bench, 1000);
	for (int i = 0; i < 2; i++) {
		if (i)
			assert_int_equal(
				ibsa_fabric_sa_move(bench->fabric, "c"), 0);
		else
			ibsa_fabric_sa_set(bench->fabric, false);
		ibsa_fabric_sa_set(bench->fabric, true);
		/* Not who has never been told of anything, */
		assert_int_equal(inform(&c, &groups), 0);
		/* nor who does not want to know. */
		assert_int_equal(inform(bench, &groups), 0);
		advance(bench, 1);
		assert_false(bench_receive(bench));
		assert_int_equal(inform(bench, &everything), 0);
		expect_burst(bench);
		assert_int_equal(inform(bench, &everything), 0);
		advance(bench, 1);
		assert_false(bench_receive(bench));
		assert_false(bench_receive(&c));
	}
	/* It is of another SM's agent. */
	change_of_capabilities(bench, 7);
	assert_true(bench_receive(bench));
	assert_int_equal(ibsa_be32(bench->answer.mad + 12), 0x02dab006);
	assert_true(ibsa_be32(bench->answer.mad + 8) > 1);
	close_client(&c);
}

/* More than may wait for an answer are not sent. */
static void reports_are_limited(void **state)
{
	enum { SUBSCRIPTIONS = 1000, MOST = 131072 };
	struct ibsa_inform_info info = everything;
	struct bench *bench = *state;
	uint32_t events = MOST / SUBSCRIPTIONS + 1;

	assert_int_equal(listen_on(bench->transport, false), 0);
	for (uint16_t i = 1; i < SUBSCRIPTIONS; i++) {
		info.lid_range_end = i;
		assert_int_equal(inform(bench, &info), 0);
	}
	for (uint32_t i = 0; i < events; i++)
		change_of_capabilities(bench, i);
	assert_int_equal(stats_of(bench).reports, events * SUBSCRIPTIONS);
	assert_int_equal(stats_of(bench).reports_unanswered,
			 events * SUBSCRIPTIONS - MOST);
	advance(bench, 600);
	assert_int_equal(stats_of(bench).reports_unanswered,
			 events * SUBSCRIPTIONS);
}

static void there_is_an_end_to_subscriptions(void **state)
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

/* On the real clock the fd says so, whoever made the change. */
static void report_makes_the_fd_readable(void **state)
{
	static const struct ibsa_fabric_options real = { 0 };
	struct bench bench;
	struct pollfd fd = { .events = POLLIN };

	(void)state;
	bench_start_text(&bench, text, "b", &real);
	fd.fd = bench.transport->ops->fd(bench.transport);
	assert_int_equal(listen_on(bench.transport, true), 0);
	assert_int_equal(inform(&bench, &everything), 0);
	assert_false(bench_receive(&bench));
	assert_int_equal(poll(&fd, 1, 0), 0);
	change_of_capabilities(&bench, 7);
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(next_trap(&bench), 144);
	/* And again when it is sent again. */
	change_of_capabilities(&bench, 8);
	assert_true(bench_receive(&bench));
	assert_false(bench_receive(&bench));
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(next_trap(&bench), 144);
	bench_stop(&bench);
}

/* LIDs that 16 bits do not hold are 0 in notices of InfiniBand's format. */
static void omni_path_reports_are_of_infiniband(void **state)
{
	static const struct ibsa_fabric_options opa = {
		.virtual_clock = true,
		.opa = true,
		.first_lid = 0x12345,
	};
	struct bench bench;
	struct report report;

	(void)state;
	bench_start_text(&bench, text, "b", &opa);
	assert_int_equal(listen_on(bench.transport, true), 0);
	assert_int_equal(inform(&bench, &everything), 0);
	change_of_capabilities(&bench, 7);
	assert_true(take(&bench, &report));
	assert_int_equal(report.notice.trap_number, 144);
	assert_int_equal(report.notice.issuer_lid, 0);
	assert_int_equal(bench.answer.from.lid, 0x12345);
	respond(&bench);
	advance(&bench, 1000);
	assert_false(bench_receive(&bench));
	bench_stop(&bench);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_client_of_a_port_listens),
		TEST(report_is_as_opensm_sends_it),
		TEST(ports_that_go_and_come_are_reported),
		TEST(subscriber_that_comes_back_hears_on),
		TEST(switch_reports_its_links),
		cmocka_unit_test(both_switches_report_a_link_between_them),
		TEST(cut_off_sm_reports_nothing),
		TEST(other_capabilities_are_shown_and_reported),
		TEST(groups_that_begin_and_end_are_reported),
		TEST(permanent_group_begins_with_its_members),
		TEST(group_ends_with_its_last_port),
		cmocka_unit_test(subscription_chooses),
		cmocka_unit_test(gid_chooses_who_says_it),
		TEST(each_subscription_brings_a_report),
		TEST(unanswered_report_is_sent_three_times),
		TEST(late_client_finds_all_tries),
		TEST(answer_ends_a_report),
		TEST(waiting_client_is_given_the_next_try),
		TEST(nobody_hears_where_nobody_listens),
		cmocka_unit_test(answers_are_no_reports),
		TEST(partitions_keep_events_apart),
		TEST(subscription_is_within_a_partition),
		TEST(subscription_is_of_an_address),
		TEST(report_comes_from_where_was_asked),
		TEST(report_goes_to_the_lid),
		TEST(faults_strike_reports),
		TEST(delayed_answer_counts),
		TEST(new_sa_waits_for_no_answers),
		TEST(new_sa_tells_old_subscribers_of_all_ports),
		TEST(reports_are_limited),
		cmocka_unit_test(there_is_an_end_to_subscriptions),
		cmocka_unit_test(report_makes_the_fd_readable),
		cmocka_unit_test(omni_path_reports_are_of_infiniband),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
