/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The embedded SA: statuses, dropped requests, and what masks select. */
#include "support.h"
#include "wire/mad.h"

#define S(status) IBSA_STATUS_##status

static struct ibsa_gid gid_of(uint64_t guid)
{
	struct ibsa_gid gid;

	ibsa_put_be64(gid.raw, UINT64_C(0xfe80000000000000));
	ibsa_put_be64(gid.raw + 8, guid);
	return gid;
}

#define HOST1 UINT64_C(0x8f10403980011)
#define HOST2 UINT64_C(0x8f10403980021)
#define HOST3 UINT64_C(0x8f10403980031)

static int query_path(struct bench *bench, uint8_t method,
		      const struct ibsa_path *want, uint64_t mask)
{
	return bench_query(bench, method, &ibsa_path_record, want, mask);
}

static void unsuitable_methods_are_refused_or_dropped(void **state)
{
	static const struct {
		uint16_t attribute;
		uint8_t method;
		int status;
	} cases[] = {
		{ 0x0001, IBSA_METHOD_GET_TABLE, S(REQ_INVALID) },
		{ 0x0001, IBSA_METHOD_SET, -1 },
		{ 0x0003, IBSA_METHOD_GET, S(BAD_METHOD_ATTRIBUTE) },
		{ 0x0003, IBSA_METHOD_GET_TABLE, S(BAD_METHOD_ATTRIBUTE) },
		{ 0x0003, IBSA_METHOD_DELETE, S(BAD_METHOD_ATTRIBUTE) },
		{ 0x0011, IBSA_METHOD_GET_MULTI, S(BAD_METHOD_ATTRIBUTE) },
		{ 0x0012, IBSA_METHOD_SET, -1 },
		{ 0x0031, IBSA_METHOD_GET_MULTI, S(BAD_METHOD_ATTRIBUTE) },
		{ 0x0035, IBSA_METHOD_DELETE, -1 },
		{ 0x0030, IBSA_METHOD_GET_MULTI, S(BAD_METHOD_ATTRIBUTE) },
		{ 0x0038, IBSA_METHOD_GET_MULTI, S(BAD_METHOD_ATTRIBUTE) },
		{ 0x0011, IBSA_METHOD_REPORT_RESP, -1 },
		{ 0x0011, IBSA_METHOD_GET_RESP, -1 },
		{ 0x0011, 0x7f, -1 },
		{ 0x007f, IBSA_METHOD_GET, -1 },
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bench_request(bench, cases[i].method, cases[i].attribute, 0);
		assert_int_equal(bench_exchange(bench), cases[i].status);
	}
}

static void request_with_a_wrong_sm_key_is_dropped(void **state)
{
	struct bench *bench = *state;

	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0011, 0);
	ibsa_put_be64(bench->request + MAD_SM_KEY, 1);
	assert_int_equal(bench_exchange(bench), 0);
	assert_int_equal(IBSA_GET(sa_header, sm_key, bench->answer.mad), 0);
	ibsa_put_be64(bench->request + MAD_SM_KEY, 2);
	assert_int_equal(bench_exchange(bench), -1);
}

/*
 * A request of another version or class is refused by the SA, or by the agent
 * of the port on which the SA runs.
 */
static void other_versions_and_classes_are_refused(void **state)
{
	struct bench *bench = *state;

	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	bench->request[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION + 1;
	assert_int_equal(bench_exchange(bench), S(BAD_VERSION));
	bench->request[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION;
	bench->request[MAD_BASE_VERSION] = 0x80;
	assert_int_equal(bench_exchange(bench), S(BAD_VERSION));
	bench->request[MAD_BASE_VERSION] = 1;
	bench->request[MAD_CLASS] = 0x09;
	assert_int_equal(bench_exchange(bench), S(BAD_METHOD_ATTRIBUTE));
}

static void answer_with_an_error_repeats_the_request(void **state)
{
	const struct ibsa_node want = { .lid = 77 };
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_node_record,
				     &want, IBSA_NODE_CM(lid)),
			 S(NO_RECORDS));
	assert_int_equal(bench->answer.len, IBSA_MAD_BYTES);
	assert_int_equal(bench->answer.mad[MAD_METHOD], IBSA_METHOD_GET_RESP);
	assert_memory_equal(bench->answer.mad + MAD_TID + 4,
			    bench->request + MAD_TID + 4, 244);
	assert_int_equal(bench->answer.from.lid, 1);
	assert_int_equal(bench->answer.from.qpn, IBSA_QPN_GSI);
}

static void empty_table_is_a_header(void **state)
{
	const struct ibsa_node want = { .lid = 77 };
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_node_record, &want,
				     IBSA_NODE_CM(lid)),
			 0);
	assert_int_equal(bench->answer.len, IBSA_SA_HEADER_BYTES);
	assert_int_equal(
		IBSA_GET(sa_header, attribute_offset, bench->answer.mad), 0);
	assert_int_equal(IBSA_GET(sa_header, rmpp_length, bench->answer.mad),
			 20);
}

/*
 * Every field of every record selects the records with its value: query each
 * value of each field in the first answer.
 */
static void check_fields(struct bench *bench, const struct ibsa_record *record,
			 const uint8_t *wire, const uint64_t *skip)
{
	uint8_t want[512];

	memcpy(want, wire, record->size);
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];
		const uint64_t mask = ibsa_field_cm(field, 0);
		bool is_found = false;
		uint8_t *room;

		if (!mask || mask & *skip)
			continue;
		room = bench_request(bench, IBSA_METHOD_GET_TABLE,
				     record->attribute, mask);
		memcpy(room, want, record->size);
		assert_int_equal(bench_exchange(bench), 0);
		for (size_t k = 0; k < bench_count(bench); k++)
			is_found |= !memcmp(bench_record(bench, k), want,
					    record->size);
		if (!is_found)
			fail_msg("%s: %s does not select", record->name,
				 field->name);
		room[field->bit_offset / 8] ^= (uint8_t)(0x80 >>
							 field->bit_offset % 8);
		assert_int_equal(bench_exchange(bench), 0);
		for (size_t k = 0; k < bench_count(bench); k++)
			assert_memory_not_equal(bench_record(bench, k), want,
						record->size);
	}
}

static void every_field_selects(void **state)
{
	const uint64_t no_skip = 0;
	/*
	 * Fields that are not tested: Options changes the answer, and OpenSM
	 * does not compare the others.
	 */
	const uint64_t options =
		IBSA_PORT_INFO_CM(options) |
		IBSA_PORT_INFO_CM(init_type_reply) |
		IBSA_PORT_INFO_CM(client_reregister) |
		IBSA_PORT_INFO_CM(multicast_pkey_trap_suppression) |
		IBSA_PORT_INFO_CM(max_credit_hint) |
		IBSA_PORT_INFO_CM(link_round_trip_latency);
	struct bench *bench = *state;
	uint8_t wire[512];

	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0011, 0);
	assert_int_equal(bench_exchange(bench), 0);
	memcpy(wire, bench_record(bench, 3), 112);
	check_fields(bench, &ibsa_node_record, wire, &no_skip);

	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0012, 0);
	assert_int_equal(bench_exchange(bench), 0);
	memcpy(wire, bench_record(bench, bench_count(bench) - 2), 72);
	check_fields(bench, &ibsa_port_info_record, wire, &options);
}

static void capabilities_match_all_or_some(void **state)
{
	const struct ibsa_port_info want = { .capability_mask = 2 };
	const uint64_t mask = IBSA_PORT_INFO_CM(capability_mask);
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_port_info_record, &want, mask),
			 0);
	assert_int_equal(bench_count(bench), 0);
	ibsa_put_be32(bench->request + MAD_MODIFIER, UINT32_C(0x80000000));
	assert_int_equal(bench_exchange(bench), 0);
	assert_int_equal(bench_count(bench), 1);
	assert_int_equal(
		IBSA_GET(port_info, endport_lid, bench_record(bench, 0)), 1);
}

static void options_of_a_request_are_returned(void **state)
{
	const struct ibsa_port_info want = { .endport_lid = 5,
					     .options = 0x80 };
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET,
				     &ibsa_port_info_record, &want,
				     IBSA_PORT_INFO_CM(endport_lid) |
					     IBSA_PORT_INFO_CM(options)),
			 0);
	assert_int_equal(IBSA_GET(port_info, options, bench_record(bench, 0)),
			 0x80);
	assert_int_equal(IBSA_GET(port_info, link_speed_ext_active,
				  bench_record(bench, 0)),
			 2);
}

static void path_ends_may_be_gids_or_lids(void **state)
{
	const struct ibsa_path want = {
		.sgid = gid_of(HOST3),
		.dgid = gid_of(HOST2),
		.slid = 5,
		.dlid = 4,
	};
	const uint64_t gids = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);
	const uint64_t lids = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid);
	struct bench *bench = *state;
	struct ibsa_path path;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want, gids), 0);
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want, gids | lids),
			 0);
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want, lids), 0);
	assert_int_equal(ibsa_record_decode(&ibsa_path_record,
					    bench_record(bench, 0), 64, &path,
					    sizeof(path)),
			 0);
	assert_memory_equal(&path.sgid, &want.sgid, 16);
	assert_memory_equal(&path.dgid, &want.dgid, 16);
	assert_int_equal(path.mtu, 4);
	assert_int_equal(path.rate, 6);
	assert_int_equal(path.packet_life_time, 18);
	assert_int_equal(path.reversible, 1);
	assert_int_equal(path.numb_path, 0);
	assert_int_equal(path.hop_limit, 0);
	assert_int_equal(path.pkey, 0xffff);
}

static void path_ends_must_not_contradict(void **state)
{
	struct ibsa_path want = { .sgid = gid_of(HOST3), .slid = 4 };
	struct bench *bench = *state;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(sgid) | IBSA_PATH_CM(slid)),
			 S(REQ_INVALID));
	want.dgid = gid_of(HOST1);
	want.dlid = 5;
	assert_int_equal(query_path(bench, IBSA_METHOD_GET_TABLE, &want,
				    IBSA_PATH_CM(dgid) | IBSA_PATH_CM(dlid)),
			 S(REQ_INVALID));
}

static void paths_of_one_end_and_of_all_ports(void **state)
{
	const struct ibsa_path want = {
		.sgid = gid_of(HOST3),
		.dlid = 4,
		.numb_path = 0,
	};
	struct bench *bench = *state;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET_TABLE, &want,
				    IBSA_PATH_CM(sgid)),
			 0);
	assert_int_equal(bench_count(bench), 6);
	assert_int_equal(query_path(bench, IBSA_METHOD_GET_TABLE, &want,
				    IBSA_PATH_CM(dlid)),
			 0);
	assert_int_equal(bench_count(bench), 6);
	assert_int_equal(query_path(bench, IBSA_METHOD_GET_TABLE, &want, 0), 0);
	assert_int_equal(bench_count(bench), 36);
	assert_int_equal(query_path(bench, IBSA_METHOD_GET_TABLE, &want,
				    IBSA_PATH_CM(numb_path)),
			 0);
	assert_int_equal(bench_count(bench), 0);
	/* A Get returns one path, whatever it selects. */
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want, 0), 0);
}

static void unknown_path_ends_have_no_paths(void **state)
{
	struct ibsa_path want = { .sgid = gid_of(1), .dlid = 99 };
	struct bench *bench = *state;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(sgid)),
			 S(NO_RECORDS));
	assert_int_equal(query_path(bench, IBSA_METHOD_GET_TABLE, &want,
				    IBSA_PATH_CM(sgid)),
			 0);
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(dlid)),
			 S(NO_RECORDS));
	/*
	 * There is no path to a GID in another subnet, because there is no
	 * router.
	 */
	want.dgid = gid_of(HOST1);
	want.dgid.raw[0] = 0x20;
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(dgid)),
			 S(NO_RECORDS));
}

static void router_leads_off_the_subnet(void **state)
{
	struct ibsa_path want = { .dgid = gid_of(77) };
	struct bench bench;

	(void)state;
	bench_start_text(&bench,
			 "Ca 1 \"a\"\n[1] \"r\"[1]\nrtguid=0x5\nRt 1 \"r\"\n",
			 "a", NULL);
	want.dgid.raw[0] = 0x20;
	assert_int_equal(query_path(&bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(dgid)),
			 0);
	assert_int_equal(IBSA_GET(path, hop_limit, bench_record(&bench, 0)),
			 255);
	assert_int_equal(IBSA_GET(path, dlid, bench_record(&bench, 0)), 2);
	assert_memory_equal(IBSA_GET_GID(path, dgid, bench_record(&bench, 0)),
			    &want.dgid, 16);
	bench_stop(&bench);
}

struct selector_case {
	uint8_t selector;
	uint8_t want;
	int status; /* or the value that is found */
};

/*
 * The path from host-r3 to host-r2 has rate 6 (20 Gb/s), MTU 4 and life time
 * 18; selectors choose lower values or no path.
 */
static void selectors_choose(void **state)
{
	static const struct selector_case rates[] = {
		{ 0, 3, 6 },   { 0, 6, -1 }, { 0, 4, -1 }, { 1, 6, 11 },
		{ 1, 7, 6 },   { 1, 2, -1 }, { 2, 6, 6 },  { 2, 3, -1 },
		{ 2, 12, -1 }, { 3, 2, 6 },
	};
	static const struct selector_case mtus[] = {
		{ 0, 3, 4 }, { 0, 4, -1 }, { 1, 4, 3 }, { 1, 1, -1 },
		{ 2, 2, 2 }, { 2, 5, -1 }, { 3, 1, 4 },
	};
	const uint64_t ends = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid);
	struct bench *bench = *state;
	struct ibsa_path want = { .slid = 5, .dlid = 4 };

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		want.rate_selector = rates[i].selector;
		want.rate = rates[i].want;
		const int status =
			query_path(bench, IBSA_METHOD_GET, &want,
				   ends | IBSA_PATH_CM(rate_selector) |
					   IBSA_PATH_CM(rate));

		if (rates[i].status < 0)
			assert_int_equal(status, S(NO_RECORDS));
		else
			assert_int_equal(IBSA_GET(path, rate,
						  bench_record(bench, 0)),
					 rates[i].status);
	}
	for (size_t i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++) {
		want.mtu_selector = mtus[i].selector;
		want.mtu = mtus[i].want;
		const int status = query_path(
			bench, IBSA_METHOD_GET, &want,
			ends | IBSA_PATH_CM(mtu_selector) | IBSA_PATH_CM(mtu));

		if (mtus[i].status < 0)
			assert_int_equal(status, S(NO_RECORDS));
		else
			assert_int_equal(IBSA_GET(path, mtu,
						  bench_record(bench, 0)),
					 mtus[i].status);
	}
}

static void selector_needs_its_value(void **state)
{
	const struct ibsa_path want = {
		.slid = 5,
		.dlid = 4,
		.rate_selector = IBSA_SELECT_GREATER,
		.rate = 24,
	};
	const uint64_t ends = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid);
	struct bench *bench = *state;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    ends | IBSA_PATH_CM(rate)),
			 0);
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    ends | IBSA_PATH_CM(rate_selector)),
			 0);
}

static void impossible_codes_are_refused(void **state)
{
	const struct ibsa_path rate = { .rate_selector = 2, .rate = 1 };
	const struct ibsa_path mtu = { .mtu_selector = 2, .mtu = 6 };
	struct bench *bench = *state;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &rate,
				    IBSA_PATH_CM(rate_selector) |
					    IBSA_PATH_CM(rate)),
			 S(REQ_INVALID));
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &mtu,
				    IBSA_PATH_CM(mtu_selector) |
					    IBSA_PATH_CM(mtu)),
			 S(REQ_INVALID));
	/* ServiceID has two mask bits; one of them alone is ignored. */
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &mtu, 1),
			 S(REQ_INSUFFICIENT));
}

static void loopback_path_takes_no_time(void **state)
{
	const struct ibsa_path want = { .slid = 5, .dlid = 5 };
	struct bench *bench = *state;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid)),
			 0);
	assert_int_equal(bench_record(bench, 0)[56], 0x80);
}

static void partitions_other_than_the_default_have_no_path(void **state)
{
	struct ibsa_path want = { .slid = 5, .dlid = 4, .pkey = 0x7fff };
	const uint64_t mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid) |
			      IBSA_PATH_CM(pkey);
	struct bench *bench = *state;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want, mask), 0);
	assert_int_equal(IBSA_GET(path, pkey, bench_record(bench, 0)), 0x7fff);
	want.pkey = 0x8001;
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want, mask),
			 S(NO_RECORDS));
}

static const struct ibsa_gid broadcast = {
	.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff,
		 0xff },
};

static void path_to_a_group_has_the_groups_values(void **state)
{
	struct ibsa_path want = { .dgid = broadcast, .slid = 5 };
	struct bench *bench = *state;

	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(dgid)),
			 0);
	assert_int_equal(IBSA_GET(path, dlid, bench_record(bench, 0)), 0xc000);
	assert_int_equal(bench_record(bench, 0)[49], 1);
	/* The source must be a member. */
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(dgid) | IBSA_PATH_CM(slid)),
			 S(NO_RECORDS));
	want.dgid.raw[15] = 0;
	assert_int_equal(query_path(bench, IBSA_METHOD_GET, &want,
				    IBSA_PATH_CM(dgid)),
			 S(NO_RECORDS));
}

static void groups_are_found_by_their_values(void **state)
{
	struct ibsa_mcmember want = { .mgid = broadcast,
				      .mtu_selector = IBSA_SELECT_GREATER,
				      .mtu = 4 };
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET,
				     &ibsa_mcmember_record, &want,
				     IBSA_MCMEMBER_CM(mgid)),
			 0);
	assert_int_equal(IBSA_GET(mcmember, mlid, bench_record(bench, 0)),
			 0xc000);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET,
				     &ibsa_mcmember_record, &want,
				     IBSA_MCMEMBER_CM(mtu_selector) |
					     IBSA_MCMEMBER_CM(mtu)),
			 S(NO_RECORDS));
	want.mgid.raw[15] = 0;
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_mcmember_record, &want,
				     IBSA_MCMEMBER_CM(mgid)),
			 0);
	assert_int_equal(bench_count(bench), 0);
}

static int inform(struct bench *bench, const struct ibsa_inform_info *info)
{
	return bench_query(bench, IBSA_METHOD_SET, &ibsa_inform_info_record,
			   info, 0);
}

static void subscription_ends_by_its_qpn(void **state)
{
	struct ibsa_inform_info info = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 3,
		.trap_number = 64,
		.resp_time_value = 19,
		.producer_type = 4,
	};
	struct bench *bench = *state;

	assert_int_equal(inform(bench, &info), 0);
	info.subscribe = 0;
	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
	info.qpn = 1;
	info.resp_time_value = 18;
	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
	info.resp_time_value = 19;
	assert_int_equal(inform(bench, &info), 0);
	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
}

static void bad_subscriptions_are_refused(void **state)
{
	struct ibsa_inform_info info = { .is_generic = 1,
					 .subscribe = 2,
					 .lid_range_begin = 0xffff };
	struct bench *bench = *state;

	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
	info.subscribe = 1;
	info.trap_number = 257;
	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
	info.trap_number = 64;
	info.gid = gid_of(1);
	assert_int_equal(inform(bench, &info), S(REQ_INVALID));
	assert_int_equal(bench->answer.mad[IBSA_SA_HEADER_BYTES + 23], 0);
	info.gid = gid_of(HOST1);
	assert_int_equal(inform(bench, &info), 0);
}

/*
 * The priority of the SM equals that in its SMInfo: test/fabric/sma_attribute.c.
 */
static void sm_info_is_of_the_one_master(void **state)
{
	const struct ibsa_sm_info none = { 0 };
	struct ibsa_sm_info sm;
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_sm_info_record, &none, 0),
			 0);
	assert_int_equal(
		ibsa_record_decode(&ibsa_sm_info_record,
				   bench->answer.mad + IBSA_SA_HEADER_BYTES,
				   bench->answer.len - IBSA_SA_HEADER_BYTES,
				   &sm, sizeof(sm)),
		0);
	assert_int_equal(sm.lid, 1);
	assert_true(sm.guid == HOST1);
	assert_int_equal(sm.priority, 0);
	assert_int_equal(sm.sm_state, 3);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, bench_setup_b, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(unsuitable_methods_are_refused_or_dropped),
		TEST(request_with_a_wrong_sm_key_is_dropped),
		TEST(other_versions_and_classes_are_refused),
		TEST(answer_with_an_error_repeats_the_request),
		TEST(empty_table_is_a_header),
		TEST(every_field_selects),
		TEST(capabilities_match_all_or_some),
		TEST(options_of_a_request_are_returned),
		TEST(path_ends_may_be_gids_or_lids),
		TEST(path_ends_must_not_contradict),
		TEST(paths_of_one_end_and_of_all_ports),
		TEST(unknown_path_ends_have_no_paths),
		cmocka_unit_test(router_leads_off_the_subnet),
		TEST(selectors_choose),
		TEST(selector_needs_its_value),
		TEST(impossible_codes_are_refused),
		TEST(loopback_path_takes_no_time),
		TEST(partitions_other_than_the_default_have_no_path),
		TEST(path_to_a_group_has_the_groups_values),
		TEST(groups_are_found_by_their_values),
		TEST(subscription_ends_by_its_qpn),
		TEST(bad_subscriptions_are_refused),
		TEST(sm_info_is_of_the_one_master),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
