/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Conversion of values to text and back, compared with libc's inet_ntop() and
 * inet_pton(). */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/text.h>

#include "common/clean.h"
#include "../support/random.h"

/* The struct of any record. */
union host {
	struct ibsa_path path;
	struct ibsa_node node;
	struct ibsa_port_info port_info;
	struct ibsa_service service;
	struct ibsa_notice notice;
	struct ibsa_sa_header sa_header;
	char bytes[512];
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void check_gid(const uint8_t *raw)
{
	char theirs[INET6_ADDRSTRLEN];
	char ours[IBSA_GID_TEXT];
	struct ibsa_gid gid;
	struct ibsa_gid back;
	int len;

	memcpy(gid.raw, raw, 16);
	assert_non_null(inet_ntop(AF_INET6, raw, theirs, sizeof(theirs)));
	len = ibsa_gid_format(&gid, ours, sizeof(ours));
	assert_string_equal(ours, theirs);
	assert_int_equal(len, strlen(theirs));
	assert_int_equal(ibsa_gid_parse(ours, &back), 0);
	assert_memory_equal(back.raw, raw, 16);
}

/*
 * GIDs with every pattern of zero and other groups are written as by
 * inet_ntop(), including those that may be written as IPv4.
 */
static void gids_are_written_as_by_inet_ntop(void **state)
{
	static const uint16_t fills[] = { 0x1, 0xff, 0x1234, 0xffff };
	uint64_t random = 1;

	(void)state;
	for (unsigned int pattern = 0; pattern < 256 * 4; pattern++) {
		uint8_t raw[16] = { 0 };

		for (unsigned int i = 0; i < 8; i++) {
			if (pattern & 1u << i)
				ibsa_put_be16(raw + 2 * i,
					      fills[pattern / 256]);
		}
		check_gid(raw);
	}
	for (unsigned int n = 0; n < 20000; n++) {
		uint8_t raw[16];
		uint64_t sparse = random_next(&random);

		for (unsigned int i = 0; i < 16; i++)
			raw[i] = sparse >> i & 1 ? (uint8_t)random_next(&random)
						 : 0;
		check_gid(raw);
	}
}

static void check_gid_text(const char *text)
{
	struct ibsa_gid gid = { .raw = { 0xaa } };
	const struct ibsa_gid before = gid;
	uint8_t theirs[16];

	if (inet_pton(AF_INET6, text, theirs) == 1) {
		assert_int_equal(ibsa_gid_parse(text, &gid), 0);
		assert_memory_equal(gid.raw, theirs, 16);
	} else {
		assert_int_equal(ibsa_gid_parse(text, &gid), -EINVAL);
		assert_memory_equal(&gid, &before, sizeof(gid));
	}
}

/* Valid and slightly wrong addresses. */
static const char *const gid_texts[] = {
	"",
	":",
	"::",
	":::",
	"1",
	"::1",
	"1::",
	":1",
	"1:",
	"1:::2",
	"1::2::3",
	"1:2:3:4:5:6:7:8",
	"1:2:3:4:5:6:7",
	"::1.2.3.4",
	"1:2:3:4:5:6:7:8:9",
	"1:2:3:4:5:6:7::",
	"::2:3:4:5:6:7:8",
	"1:2:3:4:5:6:7:8::",
	"::1:2:3:4:5:6:7:8",
	"1:2:3:4::5:6:7:8",
	"fe80::1%eth0",
	" ::1",
	"::1 ",
	"FE80::ABCD",
	"12345::",
	"0000:0000::",
	"00000::",
	"1:2:3:4:5:6:1.2.3.4",
	"1:2:3:4:5:6:7:1.2.3.4",
	"1:2:3:4:5::1.2.3.4",
	"::ffff:1.2.3.4",
	"1.2.3.4",
	"::1.2.3",
	"::1.2.3.4.5",
	"::1.2.3.4:5",
	"::01.2.3.4",
	"::1.2.3.256",
	"::1.2.3.",
	"::.1.2.3",
	"::0.0.0.0",
	"::a.2.3.4",
	"::1.2.3.0004",
	"::00.1.2.3",
	"1::1.2.3.4",
	"g::",
	"0x1::",
};

/* Exactly the texts that inet_pton() accepts are GIDs. */
static void gid_texts_are_those_of_inet_pton(void **state)
{
	static const char letters[] = "::::..0123afF1x";
	uint64_t random = 2;

	(void)state;
	for (size_t i = 0; i < COUNT(gid_texts); i++)
		check_gid_text(gid_texts[i]);
	for (unsigned int n = 0; n < 100000; n++) {
		char text[32];
		size_t len = random_next(&random) % (sizeof(text) - 1);

		for (size_t i = 0; i < len; i++)
			text[i] = letters[random_next(&random) %
					  (sizeof(letters) - 1)];
		text[len] = '\0';
		check_gid_text(text);
	}
}

static void text_that_does_not_fit_leaves_the_buffer_alone(void **state)
{
	const struct ibsa_gid gid = { .raw = { 0xfe, 0x80, [15] = 1 } };
	char out[8] = "before";

	(void)state;
	assert_int_equal(ibsa_gid_format(&gid, out, 7), -ENOSPC);
	assert_string_equal(out, "before");
	assert_int_equal(ibsa_gid_format(&gid, out, 0), -ENOSPC);
	assert_int_equal(ibsa_gid_format(&gid, out, 8), 7);
	assert_string_equal(out, "fe80::1");
}

static void numbers_are_decimal_or_hexadecimal_and_fit(void **state)
{
	static const struct {
		const char *text;
		unsigned int nbits;
		int err;
		uint64_t value;
	} cases[] = {
		{ "0", 1, 0, 0 },
		{ "1", 1, 0, 1 },
		{ "2", 1, -ERANGE, 0 },
		{ "010", 8, 0, 10 },
		{ "0x10", 8, 0, 16 },
		{ "0XfF", 8, 0, 255 },
		{ "256", 8, -ERANGE, 0 },
		{ "0x00000000000000000000ff", 8, 0, 255 },
		{ "1048575", 20, 0, 0xfffff },
		{ "1048576", 20, -ERANGE, 0 },
		{ "18446744073709551615", 64, 0, UINT64_MAX },
		{ "18446744073709551616", 64, -ERANGE, 0 },
		{ "0xffffffffffffffff", 64, 0, UINT64_MAX },
		{ "0x10000000000000000", 64, -ERANGE, 0 },
		{ "99999999999999999999999x", 64, -EINVAL, 0 },
		{ "", 8, -EINVAL, 0 },
		{ "0x", 8, -EINVAL, 0 },
		{ "x1", 8, -EINVAL, 0 },
		{ "-1", 8, -EINVAL, 0 },
		{ "+1", 8, -EINVAL, 0 },
		{ " 1", 8, -EINVAL, 0 },
		{ "1 ", 8, -EINVAL, 0 },
		{ "1a", 8, -EINVAL, 0 },
		{ "0xg", 8, -EINVAL, 0 },
		{ "1", 0, -EINVAL, 0 },
		{ "1", 65, -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t value = 77;

		assert_int_equal(ibsa_number_parse(cases[i].text,
						   cases[i].nbits, &value),
				 cases[i].err);
		assert_true(value == (cases[i].err ? 77 : cases[i].value));
	}
}

/*
 * Check that the text of @from is parsed to @from, and formatted again gives
 * the same text.
 */
static void check_back(const struct ibsa_field *field, unsigned int index,
		       const void *from, size_t host_size)
{
	char text[IBSA_VALUE_TEXT];
	char again[IBSA_VALUE_TEXT];
	union host back = { 0 };
	size_t size = (size_t)field->host_size * field->count;
	size_t at = field->host_offset;
	int len = ibsa_field_format(field, index, from, text, sizeof(text));

	assert_true(len >= 0 && text[len] == '\0');
	assert_int_equal(ibsa_field_parse(field, index, text, &back), 0);
	assert_int_equal(ibsa_field_format(field, index, &back, again,
					   sizeof(again)),
			 len);
	assert_string_equal(again, text);
	if (ibsa_field_values(field) > 1) {
		size = field->host_size;
		at += index * size;
	}
	assert_true(at + size <= host_size);
	assert_memory_equal(back.bytes + at, (const char *)from + at, size);
	assert_int_equal(ibsa_field_parse(field, ibsa_field_values(field), text,
					  &back),
			 -EINVAL);
}

/* Check all values of a narrow number field, and some values of a wide one. */
static void check_numbers(const struct ibsa_field *field, unsigned int index,
			  size_t host_size)
{
	const uint64_t limit = ~UINT64_C(0) >> (64 - field->nbits);
	uint64_t random = field->bit_offset + 1u;
	union host host = { 0 };

	for (uint64_t n = 0; n <= 255 && n <= limit; n++) {
		assert_int_equal(ibsa_field_set(field, index, n, &host), 0);
		check_back(field, index, &host, host_size);
		assert_int_equal(ibsa_field_set(field, index, limit - n, &host),
				 0);
		check_back(field, index, &host, host_size);
		assert_int_equal(ibsa_field_set(field, index,
						random_next(&random) & limit,
						&host),
				 0);
		check_back(field, index, &host, host_size);
	}
}

/* Random bytes: text, nearly text, and neither. */
static void check_bytes(const struct ibsa_field *field, unsigned int index,
			size_t host_size)
{
	static const uint8_t masks[] = { 0xff, 0x7f, 0x3f, 0xf7, 0 };
	uint64_t random = 3;

	for (unsigned int n = 0; n < 500; n++) {
		const uint8_t mask = masks[n % COUNT(masks)];
		union host host = { 0 };
		char *at = host.bytes + field->host_offset;
		size_t size = (size_t)field->host_size * field->count;

		for (size_t i = 0; i < size; i++)
			at[i] = (char)(random_next(&random) & mask);
		check_back(field, index, &host, host_size);
	}
}

static void check_record(const struct ibsa_record *record)
{
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		for (unsigned int n = 0; n < ibsa_field_values(field); n++) {
			if (field->show == IBSA_SHOW_gid ||
			    field->show == IBSA_SHOW_text ||
			    field->show == IBSA_SHOW_blob)
				check_bytes(field, n, record->host_size);
			else
				check_numbers(field, n, record->host_size);
		}
	}
}

/* Parse undoes format, for every field of every record. */
static void every_value_reads_back_as_it_was(void **state)
{
	const struct ibsa_record *record;

	(void)state;
	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++)
		check_record(record);
	check_record(&ibsa_sa_header_record);
}

/* Check that the field @name of @record is formatted as @text. */
static void check_shown(const struct ibsa_record *record, const char *name,
			const void *host, const char *text)
{
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(record, name, &index);
	char out[IBSA_VALUE_TEXT];

	assert_non_null(field);
	assert_int_equal(ibsa_field_format(field, index, host, out,
					   sizeof(out)),
			 strlen(text));
	assert_string_equal(out, text);
}

static void values_have_the_format_of_their_kind(void **state)
{
	const struct ibsa_path path = {
		.slid = 4,
		.flow_label = 0xab,
		.qos_class = 1,
		.mtu = 4,
		.rate = 16,
		.pkey = 0x8001,
		.raw_traffic = 1,
	};
	const struct ibsa_node node = {
		.node_type = IBSA_NODE_SWITCH,
		.node_guid = 0x8f1,
		.vendor_id = 0x2c9,
	};
	const struct ibsa_port_info port = {
		.port_state = IBSA_PORT_ACTIVE,
		.port_physical_state = 5,
		.link_down_default_state = 9,
		.mtu_cap = 9,
		.lmc = 7,
	};
	const struct ibsa_service service = {
		.service_data8 = { 0, 0, 0x0f },
		.service_key = { 0xde, 0xad },
		.service_lease = IBSA_LEASE_INFINITE,
	};
	const struct ibsa_service brief = { .service_lease = 3600 };

	(void)state;
	check_shown(&ibsa_path_record, "slid", &path, "4");
	check_shown(&ibsa_path_record, "flow_label", &path, "0x000ab");
	check_shown(&ibsa_path_record, "qos_class", &path, "0x001");
	check_shown(&ibsa_path_record, "mtu", &path, "2048");
	check_shown(&ibsa_path_record, "rate", &path, "100Gb/s");
	check_shown(&ibsa_path_record, "pkey", &path, "0x8001");
	check_shown(&ibsa_path_record, "dgid", &path, "::");
	check_shown(&ibsa_node_record, "node_type", &node, "switch");
	check_shown(&ibsa_node_record, "node_guid", &node,
		    "0x00000000000008f1");
	check_shown(&ibsa_node_record, "vendor_id", &node, "0x0002c9");
	check_shown(&ibsa_port_info_record, "port_state", &port, "Active");
	check_shown(&ibsa_port_info_record, "port_physical_state", &port,
		    "LinkUp");
	check_shown(&ibsa_port_info_record, "link_down_default_state", &port,
		    "9");
	check_shown(&ibsa_port_info_record, "mtu_cap", &port, "9");
	check_shown(&ibsa_service_record, "service_data8_3", &service, "0x0f");
	check_shown(&ibsa_service_record, "service_key", &service,
		    "dead0000000000000000000000000000");
	check_shown(&ibsa_service_record, "service_lease", &service,
		    "infinite");
	check_shown(&ibsa_service_record, "service_lease", &brief, "3600");
}

/* Bytes that are not UTF-8, or that control a terminal, are escaped. */
static void text_is_printable_utf8(void **state)
{
	static const struct {
		const char *bytes;
		const char *shown;
	} cases[] = {
		{ "", "" },
		{ "host-r1 mlx5_0", "host-r1 mlx5_0" },
		{ "a\\b", "a\\x5cb" },
		{ "\x1b[2J\n", "\\x1b[2J\\x0a" },
		{ "\x7f", "\\x7f" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xc2\x9b", "\\xc2\\x9b" },	       /* C1: CSI */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" }, /* right to left */
		{ "\xc2\xa0", "\xc2\xa0" },	       /* the first after C1 */
		{ "\xc0\xaf", "\\xc0\\xaf" },	       /* overlong */
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" }, /* overlong */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* too big */
		{ "\xf8\x88", "\\xf8\\x88" },
		{ "\xe2\x82", "\\xe2\\x82" }, /* cut short */
		{ "\x80z", "\\x80z" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ibsa_node node = { 0 };

		strcpy(node.node_description, cases[i].bytes);
		check_shown(&ibsa_node_record, "node_description", &node,
			    cases[i].shown);
	}
}

/* A text that fills its field is sent without NUL. */
static void text_may_fill_its_field(void **state)
{
	struct ibsa_node node = { 0 };
	unsigned int index;
	const struct ibsa_field *field =
		ibsa_field_find(&ibsa_node_record, "node_description", &index);
	char text[66] = { 0 };

	(void)state;
	memset(text, 'n', 64);
	assert_int_equal(ibsa_field_parse(field, 0, text, &node), 0);
	assert_string_equal(node.node_description, text);
	text[64] = 'n';
	assert_int_equal(ibsa_field_parse(field, 0, text, &node), -ERANGE);
	assert_int_equal(strlen(node.node_description), 64);
}

/* A NUL within a text is preserved; NULs at its end are not written. */
static void text_may_have_a_nul(void **state)
{
	const char name[] = "one\0two\0\x01";
	struct ibsa_service service = { 0 };
	unsigned int index;
	const struct ibsa_field *field =
		ibsa_field_find(&ibsa_service_record, "service_name", &index);

	(void)state;
	memcpy(service.service_name, name, sizeof(name));
	check_shown(&ibsa_service_record, "service_name", &service,
		    "one\\x00two\\x00\\x01");
	memset(&service, 0xff, sizeof(service));
	assert_int_equal(ibsa_field_parse(field, 0, "one\\x00two\\x00\\x01",
					  &service),
			 0);
	assert_memory_equal(service.service_name, name, sizeof(name));
	for (size_t i = sizeof(name); i < sizeof(service.service_name); i++)
		assert_int_equal(service.service_name[i], 0);
}

static void parse_refuses_invalid_values(void **state)
{
	static const struct {
		const struct ibsa_record *record;
		const char *name;
		const char *text;
		int err;
	} cases[] = {
		{ &ibsa_path_record, "mtu", "2049", -ERANGE },
		{ &ibsa_path_record, "mtu", "64", -ERANGE },
		{ &ibsa_path_record, "mtu", "63", 0 },
		{ &ibsa_path_record, "mtu", "fast", -EINVAL },
		{ &ibsa_path_record, "rate", "100gb/S", 0 },
		{ &ibsa_path_record, "rate", "100Gb/s ", -EINVAL },
		{ &ibsa_path_record, "rate", "99Gb/s", -EINVAL },
		{ &ibsa_path_record, "rate", "16", 0 },
		{ &ibsa_path_record, "raw_traffic", "2", -ERANGE },
		{ &ibsa_path_record, "dgid", "4", -EINVAL },
		{ &ibsa_path_record, "dlid", "", -EINVAL },
		{ &ibsa_path_record, "dlid", "65536", -ERANGE },
		{ &ibsa_node_record, "node_type", "SWITCH", 0 },
		{ &ibsa_node_record, "node_type", "hub", -EINVAL },
		{ &ibsa_node_record, "node_description", "a\\x00b", 0 },
		{ &ibsa_node_record, "node_description", "a\\n", -EINVAL },
		{ &ibsa_node_record, "node_description", "a\\x4", -EINVAL },
		{ &ibsa_node_record, "node_description", "\\", -EINVAL },
		{ &ibsa_node_record, "node_description", "\\x41\\X", -EINVAL },
		{ &ibsa_service_record, "service_lease", "Infinite", 0 },
		{ &ibsa_service_record, "service_lease", "0xffffffff", 0 },
		{ &ibsa_service_record, "service_lease", "1h", -EINVAL },
		{ &ibsa_service_record, "service_lease", "4294967296",
		  -ERANGE },
		{ &ibsa_vl_arbitration_record, "vl_weight_1", "0xf:0xff", 0 },
		{ &ibsa_vl_arbitration_record, "vl_weight_1", "12345:1",
		  -ERANGE },
		{ &ibsa_vl_arbitration_record, "vl_weight_1", "1:256",
		  -ERANGE },
		{ &ibsa_vl_arbitration_record, "vl_weight_1", "12345:x",
		  -EINVAL },
		{ &ibsa_vl_arbitration_record, "vl_weight_1", "0x:1", -EINVAL },
		{ &ibsa_vl_arbitration_record, "vl_weight_1", ":1", -EINVAL },
		{ &ibsa_service_record, "service_key", "", -EINVAL },
		{ &ibsa_service_record, "service_key", "abc", -EINVAL },
		{ &ibsa_service_record, "service_key", "zz", -EINVAL },
		{ &ibsa_service_record, "service_key", "ABcd", 0 },
		{ &ibsa_service_record, "service_key",
		  "000102030405060708090a0b0c0d0e0f10", -ERANGE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct ibsa_record *record = cases[i].record;
		union host host = { 0 };
		const union host before = host;
		unsigned int index;
		const struct ibsa_field *field =
			ibsa_field_find(record, cases[i].name, &index);

		assert_int_equal(ibsa_field_parse(field, index, cases[i].text,
						  &host),
				 cases[i].err);
		if (cases[i].err)
			assert_memory_equal(&host, &before, sizeof(host));
	}
}

/* Rate 0 is not assigned; each other rate has its own speed and name. */
static void codes_have_their_speeds(void **state)
{
	(void)state;
	assert_int_equal(ibsa_mtu_bytes(0), 0);
	assert_int_equal(ibsa_mtu_bytes(1), 256);
	assert_int_equal(ibsa_mtu_bytes(7), 10240);
	assert_int_equal(ibsa_mtu_bytes(8), 0);
	assert_int_equal(ibsa_rate_mbps(0), 0);
	assert_int_equal(ibsa_rate_mbps(1), 0);
	assert_int_equal(ibsa_rate_mbps(2), 2500);
	assert_int_equal(ibsa_rate_mbps(5), 5000);
	assert_int_equal(ibsa_rate_mbps(24), 1275000);
	assert_int_equal(ibsa_rate_mbps(25), 1700000);
	assert_int_equal(ibsa_rate_mbps(26), 0);
	for (uint8_t code = 2; code < 25; code++) {
		for (uint8_t other = code + 1; other <= 25; other++)
			assert_int_not_equal(ibsa_rate_mbps(code),
					     ibsa_rate_mbps(other));
	}
	assert_string_equal(ibsa_status_text(0), "success");
	assert_string_equal(ibsa_status_text(IBSA_STATUS_NO_RECORDS),
			    "no records");
	assert_string_equal(ibsa_status_text(0x0301), "unknown status");
	assert_string_equal(ibsa_method_name(0x92), "GetTableResp");
	assert_null(ibsa_method_name(0));
}

/* Each kind of code has its meanings; other kinds of fields have none. */
static void codes_have_their_texts(void **state)
{
	(void)state;
	assert_string_equal(ibsa_code_name(IBSA_SHOW_mtu, 4), "2048");
	assert_string_equal(ibsa_code_name(IBSA_SHOW_rate, 16), "100Gb/s");
	assert_string_equal(ibsa_code_name(IBSA_SHOW_node_type, 2), "switch");
	assert_string_equal(ibsa_code_name(IBSA_SHOW_port_state, 4), "Active");
	assert_string_equal(ibsa_code_name(IBSA_SHOW_phys_state, 5), "LinkUp");
	assert_string_equal(ibsa_code_name(IBSA_SHOW_sm_state, 3), "Master");
	assert_string_equal(ibsa_code_name(IBSA_SHOW_lease,
					   IBSA_LEASE_INFINITE),
			    "infinite");
	assert_null(ibsa_code_name(IBSA_SHOW_lease, 300));
	assert_null(ibsa_code_name(IBSA_SHOW_mtu, 0));
	assert_null(ibsa_code_name(IBSA_SHOW_rate, UINT64_MAX));
	assert_null(ibsa_code_name(IBSA_SHOW_dec, 4));
	assert_null(ibsa_code_name(0xff, 4));
	assert_true(ibsa_show_is_code(IBSA_SHOW_mtu));
	assert_true(ibsa_show_is_code(IBSA_SHOW_sm_state));
	assert_false(ibsa_show_is_code(IBSA_SHOW_dec));
	assert_false(ibsa_show_is_code(IBSA_SHOW_lease));
	assert_false(ibsa_show_is_code(IBSA_SHOW_vl_weight));
	assert_false(ibsa_show_is_code(0xff));
}

static void check_same_clean(const char *text, const char *want)
{
	char out[IBSA_VALUE_TEXT];

	ibsa__text_clean(&text, out, sizeof(out));
	assert_string_equal(out, want);
}

static void check_clean(const char *text, const char *want)
{
	const char *rest = text;
	char out[IBSA_VALUE_TEXT];

	assert_int_equal(ibsa__text_clean(&rest, out, sizeof(out)),
			 strlen(want));
	assert_string_equal(out, want);
	assert_ptr_equal(rest, text + strlen(text));
	/* Cleaning it again changes nothing. */
	rest = out;
	check_same_clean(rest, want);
}

static void clean_text_is_safe_to_show(void **state)
{
	(void)state;
	check_clean("", "");
	check_clean("node1 mlx5_0", "node1 mlx5_0");
	check_clean("Knoten \xc3\xa4 \xe2\x80\xa6 \xf0\x9f\x98\x80",
		    "Knoten \xc3\xa4 \xe2\x80\xa6 \xf0\x9f\x98\x80");
	check_clean("a\\b", "a\\b");
	check_clean("\033[2J\n\t\177", "\\x1b[2J\\x0a\\x09\\x7f");
	/* U+009B, U+061C, U+200E, U+2028, U+2029, U+202E, U+2069 */
	check_clean("\xc2\x9b", "\\xc2\\x9b");
	check_clean("\xd8\x9c", "\\xd8\\x9c");
	check_clean("\xe2\x80\x8e", "\\xe2\\x80\\x8e");
	check_clean("\xe2\x80\xa8\xe2\x80\xa9",
		    "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");
	check_clean("\xe2\x80\xae", "\\xe2\\x80\\xae");
	check_clean("\xe2\x81\xa9", "\\xe2\\x81\\xa9");
	/* U+00AD, U+FEFF, U+FFFF, U+E0041 */
	check_clean("\xc2\xad", "\\xc2\\xad");
	check_clean("\xef\xbb\xbf", "\\xef\\xbb\\xbf");
	check_clean("\xef\xbf\xbf", "\\xef\\xbf\\xbf");
	check_clean("\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81");
	/*
	 * Invalid UTF-8: an incomplete sequence, an overlong one, a surrogate,
	 * a code point above the last one, a continuation byte alone.
	 */
	check_clean("\xc3", "\\xc3");
	check_clean("\xe2\x80x", "\\xe2\\x80x");
	check_clean("\xc0\x9b\xc1\xbf", "\\xc0\\x9b\\xc1\\xbf");
	check_clean("\xe0\x82\x9b", "\\xe0\\x82\\x9b");
	check_clean("\xed\xa0\x80", "\\xed\\xa0\\x80");
	check_clean("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	check_clean("\x9b\xff", "\\x9b\\xff");
}

/* Cleaning in pieces of any size has the same result, and no piece ends within
 * a character. */
static void text_is_cleaned_in_pieces(void **state)
{
	static const char text[] = "a\xe2\x80\xa6\n\xf0\x9f\x98\x80\xffz";
	static const char want[] = "a\xe2\x80\xa6\\x0a\xf0\x9f\x98\x80\\xffz";

	(void)state;
	for (size_t size = 5; size < sizeof(want) + 5; size++) {
		const char *rest = text;
		char whole[64] = "";
		char piece[64];

		while (ibsa__text_clean(&rest, piece, size)) {
			assert_in_range(strlen(piece), 1, size - 1);
			check_same_clean(piece, piece);
			strcat(whole, piece);
		}
		assert_string_equal(whole, want);
	}
	for (size_t size = 0; size < 5; size++) {
		const char *rest = text;
		char piece[8] = "x";

		assert_int_equal(ibsa__text_clean(&rest, piece, size), 0);
		assert_ptr_equal(rest, text);
		assert_string_equal(piece, size ? "" : "x");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gids_are_written_as_by_inet_ntop),
		cmocka_unit_test(gid_texts_are_those_of_inet_pton),
		cmocka_unit_test(
			text_that_does_not_fit_leaves_the_buffer_alone),
		cmocka_unit_test(numbers_are_decimal_or_hexadecimal_and_fit),
		cmocka_unit_test(every_value_reads_back_as_it_was),
		cmocka_unit_test(values_have_the_format_of_their_kind),
		cmocka_unit_test(text_is_printable_utf8),
		cmocka_unit_test(text_may_fill_its_field),
		cmocka_unit_test(text_may_have_a_nul),
		cmocka_unit_test(parse_refuses_invalid_values),
		cmocka_unit_test(codes_have_their_speeds),
		cmocka_unit_test(codes_have_their_texts),
		cmocka_unit_test(clean_text_is_safe_to_show),
		cmocka_unit_test(text_is_cleaned_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
