/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The codec compared with bytes that OpenSM sent and text that saquery printed
 * for them. The argument is the directory of the captured cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/text.h>

#include "common/selector.h"
#include "wire/request.h"
#include "case.h"
#include "text.h"

static const char *folder;

/* The struct of any record. */
union host {
#define HOST_MEMBER(record, ...) struct ibsa_##record record;
	IBSA_RECORDS(HOST_MEMBER)
#undef HOST_MEMBER
	struct ibsa_sa_header sa_header;
};

/* clang-format off */

/* All cases with records in the response. */
static const struct answer {
	const char *name;
	const struct ibsa_record *record;
	size_t count;
} answers[] = {
	{ "01_classportinfo", &ibsa_class_port_info_record, 1 },
	{ "02_node_all", &ibsa_node_record, 6 },
	{ "03_node_lid5", &ibsa_node_record, 1 },
	{ "04_node_bylid_name", &ibsa_node_record, 6 },
	{ "05_portinfo_all", &ibsa_port_info_record, 54 },
	{ "06_portinfo_lid3_port23", &ibsa_port_info_record, 1 },
	{ "07_portinfo_issm", &ibsa_port_info_record, 1 },
	{ "08_path_all", &ibsa_path_record, 36 },
	{ "09_path_slid5_dlid1", &ibsa_path_record, 1 },
	{ "10_path_gids", &ibsa_path_record, 1 },
	{ "11_path_pkey_sl", &ibsa_path_record, 1 },
	{ "12_path_mtu_rate", &ibsa_path_record, 1 },
	{ "13_link_all", &ibsa_link_record, 12 },
	{ "14_link_from2", &ibsa_link_record, 4 },
	{ "15_sl2vl_lid2", &ibsa_sl_to_vl_record, 1 },
	{ "16_pkey_lid5_trusted", &ibsa_pkey_table_record, 1 },
	{ "17_mcmember_groups", &ibsa_mcmember_record, 2 },
	{ "19_service_none", &ibsa_service_record, 0 },
	{ "20_service_set", &ibsa_service_record, 1 },
	{ "21_service_all", &ibsa_service_record, 1 },
	{ "22_service_get_by_id", &ibsa_service_record, 1 },
	{ "23_service_get_by_name", &ibsa_service_record, 1 },
	{ "24_service_delete", &ibsa_service_record, 1 },
	{ "27_path_get", &ibsa_path_record, 1 },
	{ "29_path_gettable_nosource", &ibsa_path_record, 6 },
	{ "31_mcm_create", &ibsa_mcmember_record, 1 },
	{ "32_mcm_bygid", &ibsa_mcmember_record, 1 },
	{ "32b_mcmember_trusted", &ibsa_mcmember_record, 1 },
	{ "32c_mcmember_untrusted", &ibsa_mcmember_record, 3 },
	{ "33_mcm_leave", &ibsa_mcmember_record, 1 },
	{ "34_informinfo_subscribe", &ibsa_inform_info_record, 1 },
	{ "35_informinfo_records", &ibsa_inform_info_rec_record, 1 },
	{ "36_informinfo_unsubscribe", &ibsa_inform_info_record, 1 },
	{ "41_guidinfo_all", &ibsa_guid_info_record, 18 },
	{ "42_guidinfo_set", &ibsa_guid_info_record, 1 },
	{ "43_guidinfo_lid5_block0", &ibsa_guid_info_record, 1 },
	{ "45_guidinfo_delete", &ibsa_guid_info_record, 1 },
	{ "46_switchinfo_all", &ibsa_switch_info_record, 2 },
	{ "47_lft_lid2", &ibsa_lft_record, 1 },
	{ "48_mft_all", &ibsa_mft_record, 4 },
	{ "49_sminfo_all", &ibsa_sm_info_record, 1 },
	{ "55_vlarb_lid2_port1", &ibsa_vl_arbitration_record, 4 },
	{ "56_sl2vl_lid2", &ibsa_sl_to_vl_record, 1 },
	{ "57_multipath_1_to_3", &ibsa_path_record, 3 },
	{ "58_multipath_pair", &ibsa_path_record, 2 },
};

#define GID(suffix) "fec0:0:0:1234:8:f104:398:" suffix
#define SGID "sgid=fec0:0:0:1234:8:f104:398:31"
#define SERVICE_GID "service_gid=fec0:0:0:1234:8:f104:398:31"
#define GROUP "mgid=ff12:601b:ffff::1:ff00:1"
#define MEMBER "port_gid=fec0:0:0:1234:8:f104:398:31"

/* The request of each case. */
static const struct request {
	const char *name;
	const struct ibsa_record *record;
	uint8_t method;
	uint32_t modifier;
	const char *selectors[16];
	bool no_mask; /* the sender left the component mask zero */
} requests[] = {
	{ "02_node_all", &ibsa_node_record, IBSA_METHOD_GET_TABLE, 0,
	  { NULL }, false },
	{ "03_node_lid5", &ibsa_node_record, IBSA_METHOD_GET_TABLE, 0,
	  { "lid=5" }, false },
	{ "06_portinfo_lid3_port23", &ibsa_port_info_record,
	  IBSA_METHOD_GET_TABLE, 0,
	  { "endport_lid=3", "port_num=23" }, false },
	{ "07_portinfo_issm", &ibsa_port_info_record,
	  IBSA_METHOD_GET_TABLE, 0x80000000,
	  { "capability_mask=0x2" }, false },
	{ "08_path_all", &ibsa_path_record, IBSA_METHOD_GET_TABLE, 0,
	  { NULL }, false },
	{ "09_path_slid5_dlid1", &ibsa_path_record, IBSA_METHOD_GET_TABLE, 0,
	  { "slid=5", "dlid=1" }, false },
	{ "10_path_gids", &ibsa_path_record, IBSA_METHOD_GET_TABLE, 0,
	  { SGID, "dgid=fec0:0:0:1234:8:f104:398:21", "numb_path=127" },
	  false },
	{ "11_path_pkey_sl", &ibsa_path_record, IBSA_METHOD_GET_TABLE, 0,
	  { SGID, "dgid=fec0::1234:8:f104:398:11", "pkey=0x802a" }, false },
	{ "12_path_mtu_rate", &ibsa_path_record, IBSA_METHOD_GET_TABLE, 0,
	  { "slid=5", "dlid=4", "mtu_selector=0", "mtu=512",
	    "rate_selector=0", "rate=2.5Gb/s", "reversible=1",
	    "numb_path=3" }, false },
	{ "16_pkey_lid5_untrusted", &ibsa_pkey_table_record,
	  IBSA_METHOD_GET_TABLE, 0,
	  { "lid=5", "block_num=0", "port_num=1" }, false },
	{ "20_service_set", &ibsa_service_record, IBSA_METHOD_SET, 0,
	  { "service_id=0x1234", SERVICE_GID, "service_pkey=0xffff",
	    "service_lease=600", "service_name=shared-vector-service",
	    "service_data8_1=1", "service_data8_2=2",
	    "service_data16_1=0x304", "service_data32_1=0x5060708",
	    "service_data64_1=0x1112131415161718",
	    "service_data64_2=0x2122232425262728" }, false },
	{ "22_service_get_by_id", &ibsa_service_record, IBSA_METHOD_GET, 0,
	  { "service_id=4660" }, false },
	{ "23_service_get_by_name", &ibsa_service_record,
	  IBSA_METHOD_GET_TABLE, 0,
	  { "service_name=shared-vector-service" }, false },
	{ "24_service_delete", &ibsa_service_record, IBSA_METHOD_DELETE, 0,
	  { "service_id=0x1234", SERVICE_GID, "service_pkey=0xffff" },
	  false },
	{ "27_path_get", &ibsa_path_record, IBSA_METHOD_GET, 0,
	  { SGID, "dgid=fec0::1234:8:f104:398:42", "numb_path=1" }, false },
	{ "28_path_get_unknown_dgid", &ibsa_path_record, IBSA_METHOD_GET, 0,
	  { SGID, "dgid=fec0:0:0:1234:dead:beef:0:1", "numb_path=1" },
	  false },
	{ "29_path_gettable_nosource", &ibsa_path_record,
	  IBSA_METHOD_GET_TABLE, 0,
	  { "dgid=fec0::1234:8:f104:398:42" }, false },
	{ "31_mcm_create", &ibsa_mcmember_record, IBSA_METHOD_SET, 0,
	  { GROUP, MEMBER, "qkey=0xb1b", "tclass=0", "pkey=0xffff", "sl=0",
	    "flow_label=0", "join_state=1" }, false },
	{ "32_mcm_bygid", &ibsa_mcmember_record, IBSA_METHOD_GET_TABLE, 0,
	  { GROUP }, false },
	{ "33_mcm_leave", &ibsa_mcmember_record, IBSA_METHOD_DELETE, 0,
	  { GROUP, MEMBER, "join_state=1" }, false },
	{ "34_informinfo_subscribe", &ibsa_inform_info_record,
	  IBSA_METHOD_SET, 0,
	  { "lid_range_begin=0xffff", "is_generic=1", "subscribe=1",
	    "type=0xffff", "trap_number=0xffff", "resp_time_value=19",
	    "producer_type=0xffffff" }, true },
	{ "36_informinfo_unsubscribe", &ibsa_inform_info_record,
	  IBSA_METHOD_SET, 0,
	  { "lid_range_begin=0xffff", "is_generic=1", "subscribe=0",
	    "type=0xffff", "trap_number=0xffff", "qpn=1",
	    "resp_time_value=19", "producer_type=0xffffff" }, true },
	{ "42_guidinfo_set", &ibsa_guid_info_record, IBSA_METHOD_SET, 0,
	  { "lid=5", "block_num=0", "guid_2=0x00080f1040398f01", "guid_3=0",
	    "guid_4=0x0008f10403980f03" }, false },
	{ "43_guidinfo_lid5_block0", &ibsa_guid_info_record,
	  IBSA_METHOD_GET_TABLE, 0, { "lid=5", "block_num=0" }, false },
	{ "44_guidinfo_set_own", &ibsa_guid_info_record, IBSA_METHOD_SET, 0,
	  { "lid=5", "block_num=0", "guid_1=0x0008f10403980f99" }, false },
	{ "45_guidinfo_delete", &ibsa_guid_info_record, IBSA_METHOD_DELETE, 0,
	  { "lid=5", "block_num=0", "guid_2=0", "guid_3=0" }, false },
	{ "14_link_from2", &ibsa_link_record, IBSA_METHOD_GET_TABLE, 0,
	  { "from_lid=2" }, false },
	{ "46_switchinfo_all", &ibsa_switch_info_record,
	  IBSA_METHOD_GET_TABLE, 0, { NULL }, false },
	{ "47_lft_lid2", &ibsa_lft_record, IBSA_METHOD_GET_TABLE, 0,
	  { "lid=2" }, false },
	{ "49_sminfo_all", &ibsa_sm_info_record, IBSA_METHOD_GET_TABLE, 0,
	  { NULL }, false },
	{ "55_vlarb_lid2_port1", &ibsa_vl_arbitration_record,
	  IBSA_METHOD_GET_TABLE, 0, { "lid=2", "output_port_num=1" }, false },
	{ "56_sl2vl_lid2", &ibsa_sl_to_vl_record, IBSA_METHOD_GET_TABLE, 0,
	  { "lid=2", "input_port_num=1", "output_port_num=23" }, false },
	{ "57_multipath_1_to_3", &ibsa_multi_path_record,
	  IBSA_METHOD_GET_MULTI, 0,
	  { "reversible=1", "sgid_count=1", "dgid_count=3",
	    "gid_1=" GID("31"), "gid_2=" GID("11"), "gid_3=" GID("21"),
	    "gid_4=" GID("42") }, false },
	{ "58_multipath_pair", &ibsa_multi_path_record,
	  IBSA_METHOD_GET_MULTI, 0,
	  { "reversible=1", "numb_path=2", "sgid_count=2", "dgid_count=2",
	    "gid_1=" GID("31"), "gid_2=" GID("42"), "gid_3=" GID("11"),
	    "gid_4=" GID("21") }, false },
	{ "59_multipath_unknown_gid", &ibsa_multi_path_record,
	  IBSA_METHOD_GET_MULTI, 0,
	  { "reversible=1", "numb_path=1", "sgid_count=1", "dgid_count=1",
	    "gid_1=" GID("31"), "gid_2=" GID("99") }, false },
};

/* clang-format on */

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Make a mask with a bit for each bit of a record that is not reserved. */
static void used_bits(const struct ibsa_record *record, uint8_t *out)
{
	memset(out, 0, record->size);
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];
		unsigned int bit = field->bit_offset;

		for (unsigned int n = 0; n < field->nbits * field->count; n++)
			out[(bit + n) / 8] |= 0x80 >> (bit + n) % 8;
	}
}

static void check_reencodes(const struct ibsa_record *record, const void *host,
			    const uint8_t *wire)
{
	uint8_t ours[IBSA_SA_DATA_BYTES];
	uint8_t used[IBSA_SA_DATA_BYTES];

	assert_int_equal(ibsa_record_encode(record, host, record->host_size,
					    ours, sizeof(ours)),
			 0);
	used_bits(record, used);
	for (size_t i = 0; i < record->size; i++)
		assert_int_equal(ours[i], wire[i] & used[i]);
}

static void header_decode(const uint8_t *mad, size_t len,
			  struct ibsa_sa_header *out)
{
	assert_int_equal(ibsa_record_decode(&ibsa_sa_header_record, mad, len,
					    out, sizeof(*out)),
			 0);
	check_reencodes(&ibsa_sa_header_record, out, mad);
}

/* Decode the records of a response. Return: their number. */
static size_t answer_decode(const struct wire_case *it,
			    const struct answer *answer, union host *out)
{
	const struct ibsa_record *record = answer->record;
	const uint8_t *data = it->answer + IBSA_SA_HEADER_BYTES;
	size_t left = it->answer_len - IBSA_SA_HEADER_BYTES;
	struct ibsa_sa_header header;
	size_t count = 0;
	size_t stride;

	header_decode(it->answer, it->answer_len, &header);
	assert_int_equal(header.status, IBSA_STATUS_OK);
	stride = header.attribute_offset * 8u;
	if (header.method == IBSA_METHOD_GET_RESP ||
	    header.method == IBSA_METHOD_DELETE_RESP)
		stride = left;
	for (; stride && left >= stride; left -= stride, data += stride) {
		assert_int_equal(ibsa_record_decode(record, data, stride,
						    &out[count],
						    sizeof(out[count])),
				 0);
		check_reencodes(record, &out[count], data);
		count++;
	}
	return count;
}

/*
 * Compare each line of the text with its record. *@tables counts lines with
 * numbers of a table.
 */
static size_t text_check(const struct wire_case *it,
			 const struct ibsa_record *record,
			 const union host *hosts, size_t count,
			 unsigned int *tables)
{
	const char *at = it->text;
	struct wire_line line;
	unsigned int done[WIRE_NUMBERS] = { 0 };
	size_t seen = 0;

	while (wire_line_next(&at, &line)) {
		if (line.starts_record) {
			assert_true(++seen <= count);
			memset(done, 0, sizeof(done));
			continue;
		}
		if (seen)
			*tables += wire_numbers_check(record, &hosts[seen - 1],
						      line.numbers, done);
		if (seen && *line.label)
			wire_line_check(record, &hosts[seen - 1], &line);
	}
	return seen;
}

/* OpenSM's bytes decode to saquery's values, and encode to the same bytes. */
static void answers_decode_as_saquery_prints_them(void **state)
{
	static struct wire_case it;
	static union host hosts[64];
	unsigned int tables = 0;
	size_t texts = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(answers); i++) {
		size_t count;
		size_t seen;

		assert_true(wire_case_read(folder, answers[i].name, &it));
		count = answer_decode(&it, &answers[i], hosts);
		assert_int_equal(count, answers[i].count);
		seen = text_check(&it, answers[i].record, hosts, count,
				  &tables);
		if (seen)
			assert_int_equal(seen, count);
		texts += seen;
	}
	/*
	 * A parser that finds no lines must not pass the test: these are the
	 * numbers of lines in the captured texts.
	 */
	assert_int_equal(texts, 166);
	/* 4 lines of P_Keys, 64 of an LFT, 4 * 32 of MFTs, 2 of SL to VL, 4 * 4
	 * of VL arbitration */
	assert_int_equal(tables, 4 + 64 + 128 + 2 + 16);
}

static void request_encode(const struct request *request, uint64_t id,
			   uint8_t *mad)
{
	union host host = { 0 };
	struct ibsa__request encoded = {
		.record = request->record,
		.match = &host,
		.transaction_id = id,
		.attribute_modifier = request->modifier,
		.method = request->method,
	};
	uint64_t mask = 0;

	for (size_t i = 0; request->selectors[i]; i++)
		assert_int_equal(ibsa__selector_parse(request->record,
						      request->selectors[i],
						      &host, &mask, NULL),
				 0);
	encoded.mask = request->no_mask ? 0 : mask;
	assert_int_equal(ibsa__request_encode(&encoded, mad), 0);
}

/* The requests of saquery and other programs encode to the captured bytes. */
static void requests_encode_to_the_captured_bytes(void **state)
{
	static struct wire_case it;
	struct ibsa_sa_header header;
	uint8_t mad[IBSA_MAD_BYTES];

	(void)state;
	for (size_t i = 0; i < COUNT(requests); i++) {
		assert_true(wire_case_read(folder, requests[i].name, &it));
		header_decode(it.request, it.request_len, &header);
		request_encode(&requests[i], header.transaction_id, mad);
		assert_int_equal(it.request_len, sizeof(mad));
		assert_memory_equal(mad, it.request, sizeof(mad));
	}
}

/* Each header decodes to the values in the index. */
static void headers_decode_to_the_index(void **state)
{
	static struct wire_case it;
	char path[512];
	char line[512];
	unsigned int seen = 0;
	FILE *index;

	(void)state;
	snprintf(path, sizeof(path), "%s/INDEX.tsv", folder);
	index = fopen(path, "r");
	assert_non_null(index);
	assert_non_null(fgets(line, sizeof(line), index));
	while (fgets(line, sizeof(line), index)) {
		struct ibsa_sa_header header;
		unsigned long long mask;
		unsigned int method;
		unsigned int attribute;
		unsigned int status;
		char name[64];
		int got = sscanf(line, "%63s %x %x %llx %x", name, &method,
				 &attribute, &mask, &status);

		assert_true(got >= 4);
		assert_true(wire_case_read(folder, name, &it));
		header_decode(it.request, it.request_len, &header);
		assert_int_equal(header.method, method);
		assert_int_equal(header.attribute_id, attribute);
		assert_true(header.component_mask == mask);
		assert_int_equal(it.answer_len > 0, got == 5);
		if (got == 5)
			header_decode(it.answer, it.answer_len, &header);
		if (got == 5)
			assert_int_equal(header.status, status);
		seen++;
	}
	fclose(index);
	assert_int_equal(seen, 55);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_decode_as_saquery_prints_them),
		cmocka_unit_test(requests_encode_to_the_captured_bytes),
		cmocka_unit_test(headers_decode_to_the_index),
	};

	if (argc != 2)
		return 2;
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
