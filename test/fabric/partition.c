/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of partitions: which are valid, and the messages for the others.
 * same_requests.sh compares their effect with OpenSM's.
 */
#include <errno.h>

#include "support.h"
#include "fabric/fabric/fabric.h"
#include "fabric/sa/partition.h"

static const char hosts[] = "Switch 8 \"switch1\"\n"
			    "[1] \"node1\"[1]\n"
			    "[2] \"node2\"[1]\n"
			    "[3] \"node3\"[1]\n"
			    "Ca 1 \"node1\"\n"
			    "Ca 1 \"node2\"\n"
			    "caguid=0xabc0\n"
			    "Ca 1 \"node3\"\n";

static int start(void **state)
{
	static struct bench bench;

	bench_start_text(&bench, hosts, "node2", NULL);
	*state = &bench;
	return 0;
}

static int parse(struct bench *bench, const char *text,
		 struct ibsa_error *error)
{
	return ibsa__partitions_parse(&bench->fabric->first.sa, "file", text,
				      strlen(text), error);
}

static void set(struct bench *bench, const char *text)
{
	struct ibsa_error error = { "" };

	if (parse(bench, text, &error))
		fail_msg("%s", error.text);
}

/* Check the first two entries of the P_Key table of a node's port 1. */
static void check_pkeys(struct bench *bench, const char *node, uint16_t first,
			uint16_t second)
{
	struct ibsa_transport *transport;
	uint16_t pkey;

	assert_int_equal(ibsa_fabric_attach(bench->fabric, node, 1, &transport),
			 0);
	assert_int_equal(transport->ops->pkey(transport, 0, &pkey), 0);
	assert_int_equal(pkey, first);
	if (second) {
		assert_int_equal(transport->ops->pkey(transport, 1, &pkey), 0);
		assert_int_equal(pkey, second);
	} else {
		assert_int_equal(transport->ops->pkey(transport, 1, &pkey),
				 -EINVAL);
	}
	transport->ops->close(transport);
}

static size_t count_groups(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE,
		      ibsa_mcmember_record.attribute, 0);
	assert_int_equal(bench_exchange(bench), 0);
	return bench_count(bench);
}

/* With an empty file, all ports but the SM's are limited members. */
static void empty_file_limits_all_but_the_sm(void **state)
{
	set(*state, "# nothing\n");
	check_pkeys(*state, "node1", 0xffff, 0);
	check_pkeys(*state, "node2", 0x7fff, 0);
	assert_int_equal(count_groups(*state), 0);
}

static void ports_are_full_or_limited_as_they_say(void **state)
{
	set(*state, "Default=0x7fff : ALL=full ;\n"
		    "a=0x11, defmember=full : 0x100003, 0xabc1=limi ;\n"
		    "a=0x11 : SELF ; b=0x8012 : 0xabc1=full;\n");
	check_pkeys(*state, "node1", 0xffff, 0x0011);
	check_pkeys(*state, "node2", 0xffff, 0x8011);
	check_pkeys(*state, "node3", 0xffff, 0x0011);
}

static void first_entry_is_what_the_file_says(void **state)
{
	set(*state, "Default=0x7fff : ALL=full ; =0x33, indx0 : ALL ;");
	check_pkeys(*state, "node2", 0x0033, 0xffff);
}

static void pkey_is_found_where_none_is_given(void **state)
{
	set(*state, "Default=0x7fff : ALL=full ; one : ALL ; =1 : SELF=full;"
		    "two : ALL ; one : 0xabc1=full ;");
	check_pkeys(*state, "node1", 0xffff, 0x8001);
	check_pkeys(*state, "node2", 0xffff, 0x0001);
	check_pkeys(*state, "node3", 0xffff, 0x8001);
}

static void groups_are_there_from_the_start(void **state)
{
	set(*state, "Default=0x7fff, ipoib :\n"
		    "\tmgid=ff12:401b::7, Q_Key=0x1234 # one\n"
		    "\tmgid=ff12::1,scope=2,scope=5\n"
		    "\tALL=full ;\n"
		    "empty=0x12, ipoib : ;\n");
	assert_int_equal(count_groups(*state), 4);
}

static void errors_in_a_file_name_their_line(void **state)
{
	static const struct {
		const char *text;
		const char *text_part;
	} files[] = {
		{ "\nDefault", "file:2: there is no colon" },
		{ "a=0x11, fast : ALL ;",
		  "\"fast\" is not a flag of a partition" },
		{ "a=0x11, rate=1 : ALL ;",
		  "the value of rate must be a number from 2 to 25" },
		{ "a=0x11, mtu : ALL ;",
		  "the value of mtu must be a number from 1 to 5" },
		{ "a=word : ALL ;", "\"word\" is not a P_Key" },
		{ "a=0x10011 : ALL ;", "0x10011 is not a P_Key" },
		{ "a=0x11 : ALL,\nnode7 ;", "file:2: \"node7\" is not a port" },
		{ "a=0x11 : ALL=some ;", "not a membership" },
		{ "a=0x11 : mgid=fe80::1", "not a multicast GID" },
		{ "a=0x11, ipoib : mgid=ff12:401b:8012::1", "P_Key" },
		{ "a=0x11, ipoib : mgid=ff12:401b::1,rate=2", "rate and mtu" },
		{ "a=0x11 : mgid=ff12::1,colour=2",
		  "\"colour=2\" is not a flag of a group" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct ibsa_error error = { "" };

		assert_int_equal(parse(*state, files[i].text, &error), -EINVAL);
		if (!strstr(error.text, files[i].text_part))
			fail_msg("%s: %s", files[i].text, error.text);
	}
}

static void file_that_is_not_there_is_named(void **state)
{
	const struct ibsa_fabric_options options = {
		.partitions = "/nonexistent/partitions.conf",
	};
	struct ibsa_fabric *fabric = NULL;
	struct ibsa_error error = { "" };

	(void)state;
	assert_int_equal(ibsa_fabric_parse(hosts, strlen(hosts), &options,
					   &error, &fabric),
			 -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent/partitions.conf"));
	assert_null(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			empty_file_limits_all_but_the_sm, start,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			ports_are_full_or_limited_as_they_say, start,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			first_entry_is_what_the_file_says, start,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			pkey_is_found_where_none_is_given, start,
			bench_teardown),
		cmocka_unit_test_setup_teardown(groups_are_there_from_the_start,
						start, bench_teardown),
		cmocka_unit_test_setup_teardown(
			errors_in_a_file_name_their_line, start,
			bench_teardown),
		cmocka_unit_test(file_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
