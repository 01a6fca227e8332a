/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of fields, and "FIELD=VALUE" of the command line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/text.h>

#include "common/selector.h"

static void check_find(const struct ibsa_record *record, const char *name,
		       const char *found, unsigned int index)
{
	unsigned int out_index = 99;
	const struct ibsa_field *field = ibsa_field_find(record, name,
							 &out_index);

	if (!found) {
		assert_null(field);
		assert_int_equal(out_index, 99);
		return;
	}
	assert_non_null(field);
	assert_string_equal(field->name, found);
	assert_int_equal(out_index, index);
}

static void fields_are_found_in_any_case_and_with_dashes(void **state)
{
	const struct ibsa_record *service = &ibsa_service_record;
	const struct ibsa_record *path = &ibsa_path_record;

	(void)state;
	check_find(path, "dlid", "dlid", 0);
	check_find(path, "DLid", "dlid", 0);
	check_find(path, "Packet-Life_Time-selector",
		   "packet_life_time_selector", 0);
	check_find(path, "dlid_1", NULL, 0);
	check_find(path, "dli", NULL, 0);
	check_find(path, "", NULL, 0);
	check_find(path, "resv0", NULL, 0);
	check_find(service, "service_data8_1", "service_data8", 0);
	check_find(service, "SERVICE-DATA8-16", "service_data8", 15);
	check_find(service, "service_data8_17", NULL, 0);
	check_find(service, "service_data8_0", NULL, 0);
	check_find(service, "service_data8_01", NULL, 0);
	check_find(service, "service_data8_", NULL, 0);
	check_find(service, "service_data8_1x", NULL, 0);
	check_find(service, "service_data8_4294967297", NULL, 0);
	check_find(service, "service_data8", NULL, 0);
	check_find(service, "service_name", "service_name", 0);
}

/* Each value has its own name, by which it is found. */
static void every_name_finds_its_value(void **state)
{
	const struct ibsa_record *record;

	(void)state;
	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++) {
		for (unsigned int n = 0; n < record->field_count; n++) {
			const struct ibsa_field *field = &record->fields[n];
			unsigned int values = ibsa_field_values(field);
			char name[64];

			for (unsigned int v = 0; v < values; v++) {
				assert_true(ibsa_field_name_format(
						    field, v, name,
						    sizeof(name)) > 0);
				check_find(record, name, field->name, v);
			}
			assert_int_equal(ibsa_field_name_format(field, values,
								name,
								sizeof(name)),
					 -EINVAL);
			assert_int_equal(ibsa_field_name_format(field, 0, name,
								2),
					 -ENOSPC);
		}
	}
}

/* The fields of each record's one-line output exist. */
static void every_brief_names_fields(void **state)
{
	const struct ibsa_record *record;

	(void)state;
	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++) {
		const char *at = record->brief;
		unsigned int index;

		while (*at) {
			const size_t len = strcspn(at, ",");
			char name[64];

			snprintf(name, sizeof(name), "%.*s", (int)len, at);
			assert_non_null(ibsa_field_find(record, name, &index));
			at += len + (at[len] == ',');
		}
	}
}

static void selectors_set_value_and_mask(void **state)
{
	struct ibsa_service service = { 0 };
	struct ibsa_path path = { 0 };
	uint64_t mask = 0;

	(void)state;
	assert_int_equal(ibsa__selector_parse(&ibsa_path_record, "dlid=4",
					      &path, &mask, NULL),
			 0);
	assert_int_equal(ibsa__selector_parse(&ibsa_path_record, "SGID=fe80::1",
					      &path, &mask, NULL),
			 0);
	assert_int_equal(ibsa__selector_parse(&ibsa_path_record,
					      "service-id=0x10", &path, &mask,
					      NULL),
			 0);
	assert_int_equal(path.dlid, 4);
	assert_int_equal(path.sgid.raw[15], 1);
	assert_int_equal(path.service_id, 16);
	assert_true(mask == (UINT64_C(3) | 1 << 3 | 1 << 4));

	mask = 0;
	assert_int_equal(ibsa__selector_parse(&ibsa_service_record,
					      "service_data16_8=9", &service,
					      &mask, NULL),
			 0);
	assert_int_equal(service.service_data16[7], 9);
	assert_true(mask == UINT64_C(1) << 30);

	/* The first '=' ends the name; the value may contain more. */
	assert_int_equal(ibsa__selector_parse(&ibsa_service_record,
					      "service_name=a=b", &service,
					      &mask, NULL),
			 0);
	assert_string_equal(service.service_name, "a=b");
}

struct selected {
	const char *text;
	uint8_t mtu_selector, mtu;
	uint8_t rate_selector, rate;
	uint8_t life_selector, life;
};

/*
 * Codes of rates are not in the order of the rates: code 10 is 120 Gb/s, code
 * 16 is 100 Gb/s. Some SAs compare the rates, others the data that a rate
 * carries: 48 Gb/s at a rate of 60 Gb/s, but 51.5 Gb/s at a rate of 50 Gb/s.
 */
static void comparisons_set_the_selector(void **state)
{
	static const struct selected cases[] = {
		{ "mtu=4096", 2, 5 },
		{ "MTU>=4096", 0, 4 },
		{ "mtu<=2048", 1, 5 },
		{ "mtu>2048", 0, 4 },
		{ "mtu>=8192", 0, 5 },
		{ "mtu<2048", 1, 4 },
		{ "rate=100Gb/s", 0, 0, 2, 16 },
		{ "rate>=100Gb", 0, 0, 0, 9 },
		{ "rate>=100gb/s", 0, 0, 0, 9 },
		{ "rate<=100Gb", 0, 0, 1, 13 },
		{ "rate>100Gb", 0, 0, 0, 9 },
		{ "rate<100Gb", 0, 0, 1, 10 },
		{ "rate>30Gb", 0, 0, 0, 19 },
		{ "rate<30Gb", 0, 0, 1, 4 },
		{ "rate<25Gb", 0, 0, 1, 4 },
		{ "rate>=120Gb", 0, 0, 0, 9 },
		{ "rate>1600Gb", 0, 0, 0, 25 },
		{ "mtu>4096", 0, 5, 0, 0 },
		{ "rate>=14Gb", 0, 0, 0, 3 },
		{ "rate<=2.5Gb", 0, 0, 1, 5 },
		{ "rate<=40Gb", 0, 0, 1, 8 },
		{ "rate>=50Gb", 0, 0, 0, 7 },
		{ "rate>=60Gb", 0, 0, 0, 7 },
		{ "rate<=60Gb", 0, 0, 1, 9 },
		{ "packet-life-time=18", 0, 0, 0, 0, 2, 18 },
		{ "packet-life-time<=18", 0, 0, 0, 0, 1, 19 },
		{ "packet-life-time>=18", 0, 0, 0, 0, 0, 17 },
		/* Nothing is excluded. */
		{ "mtu>=256" },
		{ "mtu<=4096" },
		{ "mtu<=10240" },
		{ "rate>=2.5Gb" },
		{ "rate<=1600Gb" },
		{ "packet-life-time>=0" },
		{ "packet-life-time<=63" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct selected *it = &cases[i];
		struct ibsa_path path = { 0 };
		uint64_t mask = 0;
		uint64_t want = 0;

		if (it->mtu)
			want |= IBSA_PATH_CM(mtu) | IBSA_PATH_CM(mtu_selector);
		if (it->rate)
			want |= IBSA_PATH_CM(rate) |
				IBSA_PATH_CM(rate_selector);
		if (it->life)
			want |= IBSA_PATH_CM(packet_life_time) |
				IBSA_PATH_CM(packet_life_time_selector);
		assert_int_equal(ibsa__selector_parse(&ibsa_path_record,
						      it->text, &path, &mask,
						      NULL),
				 0);
		assert_int_equal(path.mtu_selector, it->mtu_selector);
		assert_int_equal(path.mtu, it->mtu);
		assert_int_equal(path.rate_selector, it->rate_selector);
		assert_int_equal(path.rate, it->rate);
		assert_int_equal(path.packet_life_time_selector,
				 it->life_selector);
		assert_int_equal(path.packet_life_time, it->life);
		assert_true(mask == want);
	}
}

/*
 * For rates of at least 120 Gb/s, OpenSM also returns paths of 100 Gb/s, which
 * carry more data than those of 120 Gb/s.
 */
static void reply_may_not_meet_a_comparison(void **state)
{
	static const struct {
		const char *text;
		uint8_t rate;
		bool is_met;
	} cases[] = {
		{ "rate>=120Gb", 16, false }, { "rate>=120Gb", 10, true },
		{ "rate>100Gb", 16, false },  { "rate>100Gb", 10, true },
		{ "rate<=100Gb", 10, false }, { "rate<=100Gb", 16, true },
		{ "rate<100Gb", 10, false },  { "rate<100Gb", 9, true },
		{ "rate=100Gb", 16, true },   { "rate=100Gb", 10, false },
		{ "dlid=4", 16, true },	      { "rates>=100Gb", 16, false },
		{ "rate>=x", 16, false },     { "rate", 16, false },
	};
	struct ibsa_path match = { .rate_selector = IBSA_SELECT_EXACTLY };
	struct ibsa_path path = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		path.rate = cases[i].rate;
		assert_int_equal(ibsa__selector_is_met(&ibsa_path_record,
						       cases[i].text, &match,
						       &path),
				 cases[i].is_met);
	}
	path.rate = 10; /* 120 Gb/s */
	match.rate_selector = IBSA_SELECT_GREATER;
	assert_true(ibsa__selector_is_met(&ibsa_path_record, "rate=100Gb",
					  &match, &path));
	match.rate_selector = IBSA_SELECT_LESS;
	assert_false(ibsa__selector_is_met(&ibsa_path_record, "rate=100Gb",
					   &match, &path));
	match.rate_selector = IBSA_SELECT_BEST;
	assert_true(ibsa__selector_is_met(&ibsa_path_record, "rate=100Gb",
					  &match, &path));
}

/* Each record with a field NAME_selector takes comparisons of NAME. */
static void comparisons_are_of_any_record(void **state)
{
	struct ibsa_mcmember group = { 0 };
	struct ibsa_multi_path multi = { 0 };
	struct ibsa_opa_path opa = { 0 };
	uint64_t mask = 0;

	(void)state;
	assert_int_equal(ibsa__selector_parse(&ibsa_mcmember_record, "mtu<4096",
					      &group, &mask, NULL),
			 0);
	assert_true(mask ==
		    (IBSA_MCMEMBER_CM(mtu) | IBSA_MCMEMBER_CM(mtu_selector)));
	assert_int_equal(group.mtu_selector, 1);
	mask = 0;
	assert_int_equal(ibsa__selector_parse(&ibsa_multi_path_record,
					      "rate>=40Gb", &multi, &mask,
					      NULL),
			 0);
	assert_true(mask == (IBSA_MULTI_PATH_CM(rate) |
			     IBSA_MULTI_PATH_CM(rate_selector)));
	mask = 0;
	assert_int_equal(ibsa__selector_parse(&ibsa_opa_path_record, "mtu=8192",
					      &opa, &mask, NULL),
			 0);
	assert_int_equal(opa.mtu_selector, 2);
	opa = (struct ibsa_opa_path){ 0 };
	mask = 0;
	assert_int_equal(ibsa__selector_parse(&ibsa_opa_path_record,
					      "mtu<=4096", &opa, &mask, NULL),
			 0);
	assert_int_equal(opa.mtu_selector, 1);
	assert_int_equal(opa.mtu, 6);
}

/*
 * A selector that the caller gives is not replaced, whether it comes before or
 * after the value.
 */
static void given_selector_is_kept(void **state)
{
	static const char *const orders[][2] = {
		{ "mtu_selector=0", "mtu=2048" },
		{ "mtu=2048", "mtu_selector=0" },
	};
	struct ibsa_path path;
	struct ibsa_error error;
	uint64_t mask;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		path = (struct ibsa_path){ 0 };
		mask = 0;
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(ibsa__selector_parse(&ibsa_path_record,
							      orders[i][k],
							      &path, &mask,
							      NULL),
					 0);
		assert_int_equal(path.mtu_selector, 0);
		assert_int_equal(path.mtu, 4);
	}
	assert_int_equal(ibsa__selector_parse(&ibsa_path_record, "mtu>=256",
					      &path, &mask, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "mtu_selector is already given"));
	assert_int_equal(path.mtu, 4);
}

static const struct {
	const struct ibsa_record *record;
	const char *text;
	int err;
	const char *message;
} bad_selectors[] = {
	{ &ibsa_path_record, "dlid", -EINVAL, "FIELD=VALUE" },
	{ &ibsa_path_record, "", -EINVAL, "FIELD=VALUE" },
	{ &ibsa_path_record, "dlidd=4", -ENOENT, "mean 'dlid'?" },
	{ &ibsa_path_record, "SLI=4", -ENOENT, "mean 'slid'?" },
	{ &ibsa_path_record, "packet-life-time-selctor=2", -ENOENT,
	  "mean 'packet_life_time_selector'?" },
	{ &ibsa_path_record, "=4", -ENOENT, "it has service_id, dgid" },
	{ &ibsa_path_record, "destination=4", -ENOENT,
	  "'destination'; it has service_id, dgid" },
	{ &ibsa_service_record, "service_data8=1", -ENOENT,
	  "'service_data8' with '_1', '_2', ..." },
	{ &ibsa_notice_record, "producer=1", -ENOENT, "none to select by" },
	{ &ibsa_notice_record, "type=1", -EINVAL, "cannot select" },
	{ &ibsa_path_record, "dlid=x", -EINVAL, "0 to 0xffff" },
	{ &ibsa_path_record, "dlid=65536", -ERANGE,
	  "the value '65536' is too large; dlid takes" },
	{ &ibsa_path_record, "dgid=x", -EINVAL, "IPv6" },
	{ &ibsa_path_record, "mtu=2000", -ERANGE, "256, 512, 1024" },
	{ &ibsa_path_record, "rate=99", -ERANGE, "2.5, 10, 30" },
	{ &ibsa_path_record, "rate=40", -EINVAL, "type 40Gb/s" },
	{ &ibsa_path_record, "rate>=400", -ERANGE, "type 400Gb/s" },
	{ &ibsa_path_record, "rate=99.9", -EINVAL, "1600, with Gb/s" },
	{ &ibsa_path_record, "rate=0", -EINVAL, "2.5, 10, 30" },
	{ &ibsa_path_record, "mtu=0", -EINVAL, "256, 512, 1024" },
	{ &ibsa_path_record, "mtu=9", -EINVAL, "256, 512, 1024" },
	{ &ibsa_node_record, "node_type=9", -EINVAL, "CA, switch" },
	{ &ibsa_node_record, "node_type=x", -EINVAL, "CA, switch, router, or" },
	{ &ibsa_node_record, "node_description=\\", -EINVAL, "up to 64 bytes" },
	{ &ibsa_path_record, "dlid>=4", -EINVAL,
	  "cannot compare 'dlid' of PathRecord" },
	{ &ibsa_path_record, "dlid<4", -EINVAL, "cannot compare" },
	{ &ibsa_path_record, "mtu>=x", -EINVAL, "256, 512, 1024" },
	{ &ibsa_path_record, "mtu>", -EINVAL, "256, 512, 1024" },
	{ &ibsa_path_record, "mtu=>256", -EINVAL, "256, 512, 1024" },
	{ &ibsa_path_record, "mtuu>=256", -ENOENT, "mean 'mtu'?" },
	{ &ibsa_path_record, "mtu_selector>=1", -EINVAL, "compare" },
	{ &ibsa_port_info_record, "mtu_cap>=256", -EINVAL, "compare" },
	{ &ibsa_path_record, "rate=Gb", -EINVAL, "2.5, 10, 30" },
	{ &ibsa_path_record, "rate=100G", -EINVAL, "2.5, 10, 30" },
	{ &ibsa_service_record, "service_lease=1h", -EINVAL,
	  "4294967294, or infinite" },
	{ &ibsa_service_record, "service_key=x", -EINVAL, "1 to 16 bytes" },
};

static void bad_selectors_have_a_message(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_selectors) / sizeof(bad_selectors[0]);
	     i++) {
		union {
			struct ibsa_path path;
			struct ibsa_node node;
			struct ibsa_service service;
			struct ibsa_notice notice;
			struct ibsa_port_info port_info;
		} host = { 0 };
		char zero[sizeof(host)] = { 0 };
		struct ibsa_error error = { "" };
		uint64_t mask = 5;

		assert_int_equal(ibsa__selector_parse(bad_selectors[i].record,
						      bad_selectors[i].text,
						      &host, &mask, &error),
				 bad_selectors[i].err);
		if (!strstr(error.text, bad_selectors[i].message))
			fail_msg("'%s' has the message: %s",
				 bad_selectors[i].text, error.text);
		assert_memory_equal(&host, zero, sizeof(host));
		assert_true(mask == 5);
	}
}

/* A message fits its buffer, whatever the text is. */
static void long_texts_are_cut(void **state)
{
	struct ibsa_port_info port = { 0 };
	struct ibsa_error error = { "" };
	char text[4096];
	uint64_t mask = 0;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(ibsa__selector_parse(&ibsa_port_info_record, text,
					      &port, &mask, &error),
			 -EINVAL);
	text[sizeof(text) - 2] = '=';
	assert_int_equal(ibsa__selector_parse(&ibsa_port_info_record, text,
					      &port, &mask, &error),
			 -ENOENT);
	assert_true(strlen(error.text) < sizeof(error.text) - 1);
	assert_string_equal(error.text + strlen(error.text) - 3, "...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found_in_any_case_and_with_dashes),
		cmocka_unit_test(every_name_finds_its_value),
		cmocka_unit_test(every_brief_names_fields),
		cmocka_unit_test(selectors_set_value_and_mask),
		cmocka_unit_test(comparisons_set_the_selector),
		cmocka_unit_test(reply_may_not_meet_a_comparison),
		cmocka_unit_test(comparisons_are_of_any_record),
		cmocka_unit_test(given_selector_is_kept),
		cmocka_unit_test(bad_selectors_have_a_message),
		cmocka_unit_test(long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
