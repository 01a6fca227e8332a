/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Embedded fabrics of Omni-Path: long LIDs, and records of both layouts. */
#include <errno.h>

#include "support.h"
#include "wire/mad.h"

#define S(name) IBSA_STATUS_##name
#define FIRST_LID 0x12345

/* LIDs: a, c and s are assigned theirs in this order; b has its own. */
static const char text[] = "Switch 4 \"s\"\n"
			   "[1] \"a\"[1] # 4xEDR\n"
			   "[2] \"b\"[1] # 4xEDR\n"
			   "[3] \"c\"[1] # 4xEDR\n"
			   "Ca 1 \"a\"\n"
			   "Ca 1 \"b\"\n"
			   "[1] \"s\"[2] # lid 7\n"
			   "Ca 1 \"c\"\n";

enum { LID_A = FIRST_LID, LID_C = FIRST_LID + 1 };

static const struct ibsa_fabric_options opa = {
	.virtual_clock = true,
	.opa = true,
	.first_lid = FIRST_LID,
};

static int start(void **state)
{
	static struct bench bench;

	bench_start_text(&bench, text, "c", &opa);
	*state = &bench;
	return 0;
}

/*
 * Send a request in the Omni-Path layout. Return: the status of the reply; -1:
 * no reply.
 */
static int query_opa(struct bench *bench, uint8_t method,
		     const struct ibsa_record *record, const void *match,
		     uint64_t mask)
{
	uint8_t *room = bench_request(bench, method, record->attribute, mask);

	bench->request[MAD_BASE_VERSION] = 0x80;
	bench->request[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION_OPA;
	if (match)
		assert_int_equal(ibsa_record_encode(record, match,
						    record->host_size, room,
						    IBSA_SA_DATA_BYTES),
				 0);
	return bench_exchange(bench);
}

static struct ibsa_opa_path opa_path(struct bench *bench, size_t index)
{
	struct ibsa_opa_path path;

	assert_int_equal(ibsa_record_decode(&ibsa_opa_path_record,
					    bench_record(bench, index), 64,
					    &path, sizeof(path)),
			 0);
	return path;
}

/* Return: the GID that stands for a LID. */
static struct ibsa_gid gid_of_lid(uint32_t lid)
{
	struct ibsa_gid gid = { { 0xfe, 0x80 } };

	ibsa_put_be64(gid.raw + 8, UINT64_C(0x00066a0000000000) | lid);
	return gid;
}

static void ports_have_long_lids(void **state)
{
	const struct ibsa_port_state port = bench_port(*state);
	struct ibsa_fabric_port b;
	struct bench *bench = *state;

	assert_int_equal(port.link, IBSA_LINK_OPA);
	assert_int_equal(port.lid, LID_C);
	assert_int_equal(port.sm_lid, LID_A);
	assert_int_equal(ibsa_fabric_port_at(bench->fabric, 1, &b), 0);
	assert_int_equal(b.state.lid, 7);
}

static void lids_begin_where_they_are_told_to(void **state)
{
	struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.first_lid = 0xbffc,
	};
	struct ibsa_fabric *fabric = NULL;
	struct bench bench;

	(void)state;
	bench_start_text(&bench, text, "c", &options);
	assert_int_equal(bench_port(&bench).lid, 0xbffd);
	assert_int_equal(bench_port(&bench).link, IBSA_LINK_INFINIBAND);
	bench_stop(&bench);
	options.first_lid = 0xbffe; /* two LIDs for three ports */
	assert_int_equal(ibsa_fabric_parse(text, sizeof(text) - 1, &options,
					   NULL, &fabric),
			 -EINVAL);
	options.first_lid = 0xc000;
	assert_int_equal(ibsa_fabric_parse(text, sizeof(text) - 1, &options,
					   NULL, &fabric),
			 -EINVAL);
	options.opa = true;
	options.first_lid = 0xbffffffd;
	bench_start_text(&bench, text, "c", &options);
	assert_int_equal(bench_port(&bench).lid, 0xbffffffe);
	bench_stop(&bench);
	options.first_lid = 0xc0000000;
	assert_int_equal(ibsa_fabric_parse(text, sizeof(text) - 1, &options,
					   NULL, &fabric),
			 -EINVAL);
	assert_null(fabric);
}

/* A file may have LIDs that are too long for InfiniBand. */
static void long_lids_of_a_file_stay(void **state)
{
	static const char pair[] = "Ca 1 \"a\"\n"
				   "[1] \"b\"[1] # lid 4294967295 lmc 0\n"
				   "Ca 1 \"b\"\n"
				   "[1] \"a\"[1] # lid 3000000000 lmc 0\n";
	struct ibsa_fabric_options options = opa;
	struct ibsa_fabric *fabric = NULL;
	struct bench bench;

	(void)state;
	bench_start_text(&bench, pair, "b", &options);
	assert_int_equal(bench_port(&bench).lid, 3000000000u);
	assert_int_equal(bench_port(&bench).sm_lid, FIRST_LID);
	bench_stop(&bench);
	options = (struct ibsa_fabric_options){ .virtual_clock = true };
	assert_int_equal(ibsa_fabric_parse(pair, sizeof(pair) - 1, &options,
					   NULL, &fabric),
			 -EINVAL);
}

static void class_port_info_says_whether_there_are_opa_paths(void **state)
{
	struct ibsa_fabric_options options = opa;
	struct ibsa_opa_class_port_info info;

	(void)state;
	for (int without = 0; without < 3; without++) {
		struct bench bench;

		options.no_opa_paths = without == 1;
		options.profile = without == 2 ? IBSA_SM_PROFILE_OPA_FM
					       : IBSA_SM_PROFILE_OPENSM;
		bench_start_text(&bench, text, "c", &options);
		assert_int_equal(query_opa(&bench, IBSA_METHOD_GET,
					   &ibsa_opa_class_port_info_record,
					   NULL, 0),
				 0);
		assert_int_equal(bench.answer.mad[MAD_BASE_VERSION], 0x80);
		assert_int_equal(bench.answer.mad[MAD_CLASS_VERSION], 0x80);
		assert_int_equal(IBSA_GET(sa_header, attribute_offset,
					  bench.answer.mad),
				 10);
		assert_int_equal(
			ibsa_record_decode(&ibsa_opa_class_port_info_record,
					   bench.answer.mad +
						   IBSA_SA_HEADER_BYTES,
					   80, &info, sizeof(info)),
			0);
		assert_int_equal(info.base_version, 0x80);
		assert_int_equal(info.class_version, 0x80);
		assert_int_equal(info.capability_mask2 >> 26, !without);
		bench_stop(&bench);
	}
}

static void class_port_info_allows_only_get(void **state)
{
	assert_int_equal(query_opa(*state, IBSA_METHOD_GET_TABLE,
				   &ibsa_opa_class_port_info_record, NULL, 0),
			 S(REQ_INVALID));
}

static void opa_path_names_long_lids(void **state)
{
	const struct ibsa_opa_path want = {
		.slid = LID_C,
		.dlid = 7,
		.sl = 21,
	};
	struct bench *bench = *state;
	const struct ibsa_port_state port = bench_port(bench);
	const struct ibsa_gid expected = gid_of_lid(LID_A);
	struct ibsa_opa_path path;

	assert_int_equal(
		query_opa(bench, IBSA_METHOD_GET, &ibsa_opa_path_record, &want,
			  IBSA_OPA_PATH_CM(slid) | IBSA_OPA_PATH_CM(dlid) |
				  IBSA_OPA_PATH_CM(sl)),
		0);
	path = opa_path(bench, 0);
	assert_int_equal(path.slid, LID_C);
	assert_int_equal(path.dlid, 7);
	assert_int_equal(path.sl, 21);
	assert_int_equal(path.pkey, 0xffff);
	assert_int_equal(path.reversible, 1);
	assert_int_equal(path.mtu, 4);
	assert_int_equal(path.mtu_selector, IBSA_SELECT_EXACTLY);
	assert_int_equal(path.rate, 16);
	assert_int_equal(path.packet_life_time, 18);
	assert_memory_equal(&path.sgid, &port.gid, 16);
	assert_int_equal(bench->answer.len, IBSA_MAD_BYTES);
	/* A umad header has 16 bits of a LID; all are in the GID. */
	assert_int_equal(bench->answer.from.lid, LID_A & 0xffff);
	assert_memory_equal(&bench->answer.from.gid, &expected, 16);
}

/*
 * The reply's 16 records of 64 bytes are in one segment: those of Omni-Path
 * have room for 1992 bytes.
 */
static void opa_table_counts_long_segments(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(query_opa(bench, IBSA_METHOD_GET_TABLE,
				   &ibsa_opa_path_record, NULL, 0),
			 0);
	assert_int_equal(bench_count(bench), 4 * 4);
	assert_int_equal(IBSA_GET(sa_header, rmpp_length, bench->answer.mad),
			 16 * 64 + 20);
	assert_int_equal(IBSA_GET(sa_header, rmpp_flags, bench->answer.mad),
			 IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST | IBSA_RMPP_LAST);
}

static void opa_path_selects_by_its_fields(void **state)
{
	struct ibsa_opa_path want = {
		.slid = LID_C,
		.dlid = LID_A,
		.mtu_selector = IBSA_SELECT_EXACTLY,
		.mtu = 7,
		.rate_selector = IBSA_SELECT_LESS,
		.rate = 16,
		.packet_life_time_selector = IBSA_SELECT_LESS,
		.packet_life_time = 10,
	};
	const uint64_t lids = IBSA_OPA_PATH_CM(slid) | IBSA_OPA_PATH_CM(dlid);
	const uint64_t mtu = IBSA_OPA_PATH_CM(mtu) |
			     IBSA_OPA_PATH_CM(mtu_selector);
	const uint64_t rate = IBSA_OPA_PATH_CM(rate) |
			      IBSA_OPA_PATH_CM(rate_selector);
	const uint64_t life = IBSA_OPA_PATH_CM(packet_life_time) |
			      IBSA_OPA_PATH_CM(packet_life_time_selector);
	const struct ibsa_record *record = &ibsa_opa_path_record;
	struct bench *bench = *state;

	assert_int_equal(query_opa(bench, IBSA_METHOD_GET, record, &want,
				   lids | mtu),
			 S(NO_RECORDS));
	want.mtu = 8;
	assert_int_equal(query_opa(bench, IBSA_METHOD_GET, record, &want,
				   lids | mtu),
			 S(REQ_INVALID));
	assert_int_equal(query_opa(bench, IBSA_METHOD_GET, record, &want,
				   lids | rate | life),
			 0);
	assert_true(opa_path(bench, 0).rate != 16);
	assert_int_equal(opa_path(bench, 0).packet_life_time, 9);
	want.numb_path = 0;
	assert_int_equal(query_opa(bench, IBSA_METHOD_GET_TABLE, record, &want,
				   lids | IBSA_OPA_PATH_CM(numb_path)),
			 0);
	assert_int_equal(bench_count(bench), 0);
}

static void opa_path_leads_to_a_group(void **state)
{
	const struct ibsa_opa_path want = {
		.dgid.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff,
			      0xff, 0xff, 0xff },
		.dlid = 0xf0000000,
	};
	struct bench *bench = *state;

	assert_int_equal(
		query_opa(bench, IBSA_METHOD_GET, &ibsa_opa_path_record, &want,
			  IBSA_OPA_PATH_CM(dgid) | IBSA_OPA_PATH_CM(dlid)),
		0);
	assert_int_equal(opa_path(bench, 0).dlid, 0xf0000000);
	assert_int_equal(opa_path(bench, 0).pkey, 0xffff);
	assert_int_equal(opa_path(bench, 0).mtu, 4);
}

/* A request as Linux sends it if it does not use OPA PathRecords. */
static void ib_path_has_long_lids_in_its_gids(void **state)
{
	const struct ibsa_path want = {
		.sgid = gid_of_lid(LID_C),
		.dgid = gid_of_lid(7),
	};
	struct bench *bench = *state;
	struct ibsa_path path;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &want,
				     IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid)),
			 0);
	assert_int_equal(ibsa_record_decode(&ibsa_path_record,
					    bench_record(bench, 0), 64, &path,
					    sizeof(path)),
			 0);
	assert_memory_equal(&path.sgid, &want.sgid, 16);
	assert_memory_equal(&path.dgid, &want.dgid, 16);
	assert_int_equal(path.slid, 0);
	assert_int_equal(path.dlid, 0);
}

/*
 * The GIDs in the reply are made of the LIDs also if the request has the source
 * port's own GID, which contains its GUID.
 */
static void ib_path_by_guid_has_long_lids_in_its_gids(void **state)
{
	const struct ibsa_path want = { .sgid = bench_port(*state).gid };
	const struct ibsa_gid a = gid_of_lid(LID_A);
	const struct ibsa_gid c = gid_of_lid(LID_C);
	struct bench *bench = *state;
	const uint8_t *record;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_path_record, &want,
				     IBSA_PATH_CM(sgid)),
			 0);
	assert_int_equal(bench_count(bench), 4);
	record = bench_record(bench, 0);
	assert_memory_equal(IBSA_GET_GID(path, dgid, record), &a, 16);
	assert_memory_equal(IBSA_GET_GID(path, sgid, record), &c, 16);
}

/* If both LIDs are short, the GIDs are unchanged. */
static void ib_path_between_short_lids_is_as_ever(void **state)
{
	const struct ibsa_path want = { .slid = 7, .dlid = 7 };
	struct bench *bench = *state;
	struct ibsa_path path;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &want,
				     IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid)),
			 0);
	assert_int_equal(ibsa_record_decode(&ibsa_path_record,
					    bench_record(bench, 0), 64, &path,
					    sizeof(path)),
			 0);
	assert_int_equal(path.slid, 7);
	assert_int_equal(path.dlid, 7);
	assert_int_equal(path.sgid.raw[8], 0);
	assert_int_not_equal(path.sgid.raw[10], 0x6a);
}

static void ib_records_do_not_show_long_lids(void **state)
{
	/* LID_C, cut to the 16 bits that a record in InfiniBand layout has. */
	const struct ibsa_node cut = { .lid = LID_C & 0xffff };
	const struct ibsa_node all = { 0 };
	struct bench *bench = *state;
	unsigned int shown = 0;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_node_record, &all, 0),
			 0);
	assert_int_equal(bench_count(bench), 4);
	for (size_t i = 0; i < 4; i++) {
		const uint64_t lid = IBSA_GET(node, lid,
					      bench_record(bench, i));

		assert_true(!lid || lid == 7);
		shown += lid == 7;
	}
	assert_int_equal(shown, 1);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_node_record,
				     &cut, IBSA_NODE_CM(lid)),
			 S(NO_RECORDS));
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0012, 0);
	assert_int_equal(bench_exchange(bench), 0);
	for (size_t i = 0; i < bench_count(bench); i++) {
		const uint8_t *record = bench_record(bench, i);

		assert_int_equal(IBSA_GET(port_info, master_sm_lid, record), 0);
		assert_true(IBSA_GET(port_info, endport_lid, record) == 0 ||
			    IBSA_GET(port_info, endport_lid, record) == 7);
	}
}

static void
other_records_of_opa_are_refused_other_versions_unheard(void **state)
{
	struct ibsa_fabric_options options = opa;
	struct bench *bench = *state;
	struct bench without;

	assert_int_equal(query_opa(bench, IBSA_METHOD_GET, &ibsa_node_record,
				   NULL, 0),
			 S(BAD_VERSION));
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	bench->request[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION_OPA;
	assert_int_equal(bench_exchange(bench), -1);
	bench->request[MAD_BASE_VERSION] = 0x80;
	bench->request[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION;
	assert_int_equal(bench_exchange(bench), -1);

	options.no_opa_paths = true;
	bench_start_text(&without, text, "c", &options);
	assert_int_equal(query_opa(&without, IBSA_METHOD_GET,
				   &ibsa_opa_path_record, NULL, 0),
			 S(BAD_VERSION));
	bench_stop(&without);
}

/*
 * The SA is reached by LID and by a GID that represents a LID, but not by its
 * own GID or the well-known GID.
 */
static void sa_is_found_by_lid_and_by_gid_of_a_lid(void **state)
{
	struct bench *bench = *state;
	struct ibsa_fabric_port port;
	struct ibsa_address to[4] = {
		{ .lid = LID_A, .has_grh = true, .gid = gid_of_lid(LID_A) },
		{ .has_grh = true, .gid = gid_of_lid(LID_A) },
	};

	assert_int_equal(ibsa_fabric_port_at(bench->fabric, 0, &port), 0);
	to[2] = (struct ibsa_address){ .has_grh = true, .gid = port.state.gid };
	to[3] = to[2];
	ibsa_put_be64(to[3].gid.raw + 8, UINT64_C(0x0200000000000002));
	for (int i = 0; i < 4; i++) {
		to[i].qpn = 1;
		bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
		assert_int_equal(
			bench->transport->ops->send(bench->transport, &to[i],
						    bench->request, 256, 10),
			0);
		/* A MAD to a GID that contains no LID does not arrive. */
		assert_int_equal(bench_receive(bench), i < 2);
	}
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	/* No SA runs at the port with LID_C, so it refuses a request. */
	to[1].gid = gid_of_lid(LID_C);
	assert_int_equal(bench->transport->ops->send(bench->transport, &to[1],
						     bench->request, 256, 10),
			 0);
	assert_true(bench_receive(bench));
	assert_int_equal(IBSA_GET(sa_header, status, bench->answer.mad),
			 S(BAD_METHOD_ATTRIBUTE));
}

static void mads_of_opa_may_be_long(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_address sa = bench_sa(bench);
	uint8_t mad[2049] = { 0 };

	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	memcpy(mad, bench->request, 256);
	assert_int_equal(bench->transport->ops->send(bench->transport, &sa, mad,
						     2048, 10),
			 0);
	assert_true(bench_receive(bench));
	assert_int_equal(bench->transport->ops->send(bench->transport, &sa, mad,
						     2049, 10),
			 -EMSGSIZE);
}

static void sl_and_lid_of_a_port_may_be_large(void **state)
{
	struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LID | IBSA_CHANGE_LMC | IBSA_CHANGE_SM_SL,
		.lid = 0xbffffff8,
		.lmc = 3,
		.sm_sl = 31,
	};
	struct bench *bench = *state;

	assert_int_equal(ibsa_fabric_port_set(bench->fabric, "c", 1, &change),
			 0);
	assert_int_equal(bench_port(bench).lid, 0xbffffff8);
	assert_int_equal(bench_port(bench).sm_sl, 31);
	change.lid = 0xc0000000;
	assert_int_equal(ibsa_fabric_port_set(bench->fabric, "c", 1, &change),
			 -EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(ports_have_long_lids),
		cmocka_unit_test(lids_begin_where_they_are_told_to),
		cmocka_unit_test(long_lids_of_a_file_stay),
		cmocka_unit_test(
			class_port_info_says_whether_there_are_opa_paths),
		TEST(class_port_info_allows_only_get),
		TEST(opa_path_names_long_lids),
		TEST(opa_table_counts_long_segments),
		TEST(opa_path_selects_by_its_fields),
		TEST(opa_path_leads_to_a_group),
		TEST(ib_path_has_long_lids_in_its_gids),
		TEST(ib_path_by_guid_has_long_lids_in_its_gids),
		TEST(ib_path_between_short_lids_is_as_ever),
		TEST(ib_records_do_not_show_long_lids),
		TEST(other_records_of_opa_are_refused_other_versions_unheard),
		TEST(sa_is_found_by_lid_and_by_gid_of_a_lid),
		TEST(mads_of_opa_may_be_long),
		TEST(sl_and_lid_of_a_port_may_be_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
