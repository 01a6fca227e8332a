/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why there is no path, on an embedded fabric: each reason, with and without
 * the SM_Key, and the number of queries that find it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/reach.h>
#include <ibsa/fabric.h>

#include "reason_support.h"

static void set_pkeys(const char *node, uint16_t first, uint16_t second,
		      uint16_t third)
{
	const uint16_t pkeys[] = { first, second, third };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = pkeys,
		.pkey_count = third    ? 3
			      : second ? 2
				       : 1,
	};

	assert_int_equal(ibsa_fabric_port_set(fabric, node, 1, &change), 0);
}

static struct ibsa_query path_query(struct ibsa_path *path, uint64_t mask)
{
	path->reversible = 1;
	path->numb_path = 1;
	return IBSA_QUERY(path, path,
			  mask | IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
				  IBSA_PATH_CM(reversible) |
				  IBSA_PATH_CM(numb_path));
}

/* Find the reason, and count the queries. */
static struct ibsa_reason reason_of(bool has_key, struct ibsa_path path,
				    uint64_t mask)
{
	const struct ibsa_query query = path_query(&path, mask);
	const uint64_t before = requests();
	struct ibsa_reason reason;

	assert_int_equal(ibsa_reason_wait(clients[has_key], &query, &reason),
			 0);
	assert_int_equal(requests() - before, reason.queries);
	assert_in_range(reason.queries, 0, IBSA_REASON_QUERIES);
	return reason;
}

static struct ibsa_reason reason_between(bool has_key, uint64_t from,
					 uint64_t to)
{
	return reason_of(has_key,
			 (struct ibsa_path){ .sgid = gid_of(from),
					     .dgid = gid_of(to) },
			 0);
}

/*
 * Check the reason's text: the sentence begins with the reason, and tells
 * whether it is only possible.
 */
static void expect(const struct ibsa_reason *reason, enum ibsa_reason_code code,
		   bool is_certain, const char *words)
{
	const char *detail = reason->detail;

	assert_int_equal(reason->code, code);
	assert_int_equal(reason->is_certain, is_certain);
	assert_int_equal(reason->err, 0);
	if (!is_certain) {
		assert_int_equal(strncmp(detail, "possibly ", 9), 0);
		detail += 9;
	}
	assert_int_equal(strncmp(detail, ibsa_reason_text(code),
				 strlen(ibsa_reason_text(code))),
			 0);
	if (!strstr(reason->detail, words))
		fail_msg("no '%s' in '%s'", words, reason->detail);
}

static void unknown_port_is_the_reason(void **state)
{
	struct ibsa_path path = { .slid = 1, .dlid = 99 };
	struct ibsa_reason reason;
	struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &path,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
	};

	(void)state;
	for (int key = 0; key < 2; key++) {
		reason = reason_between(key, 0x1001, 0xdead);
		expect(&reason, IBSA_REASON_UNKNOWN_PORT, true,
		       "no port with GID fe80::dead; ");
		reason = reason_between(key, 0xbeef, 0x2001);
		expect(&reason, IBSA_REASON_UNKNOWN_PORT, true,
		       "GID fe80::beef (the source)");
		assert_int_equal(
			ibsa_reason_wait(clients[key], &query, &reason), 0);
		expect(&reason, IBSA_REASON_UNKNOWN_PORT, true, "LID 99");
	}
}

/* The SA hides a port that is in no partition of the requester. */
static void hidden_port_is_unknown(void **state)
{
	struct ibsa_reason reason;

	(void)state;
	set_pkeys("a", 0x7fff, 0x8001, 0);
	set_pkeys("b", 0x7fff, 0x8002, 0);
	for (int key = 0; key < 2; key++) {
		reason = reason_between(key, 0x1001, 0x2001);
		expect(&reason, IBSA_REASON_UNKNOWN_PORT, true,
		       "GID fe80::2001");
	}
}

/* An SA forgets a port that is down, but not the other port of its adapter. */
static void far_port_that_is_down_is_possible(void **state)
{
	struct ibsa_reason reason;

	(void)state;
	set_link("e", 2, false);
	for (int key = 0; key < 2; key++) {
		reason = reason_between(key, 0x1001, 0x5002);
		expect(&reason, IBSA_REASON_FAR_PORT_DOWN, false,
		       "port 2 of e, and the SA shows only port 1");
	}
}

/*
 * A search sends at most three queries. A constraint takes one of them, so only
 * one guess of the node GUID can be queried: the more probable one.
 */
static void constraint_does_not_hide_the_reason(void **state)
{
	struct ibsa_path path = { .sgid = gid_of(0x1001),
				  .dgid = gid_of(0x5002) };
	struct ibsa_reason reason;

	(void)state;
	set_link("e", 2, false);
	for (int key = 0; key < 2; key++) {
		reason = reason_of(key, path, IBSA_PATH_CM(sl));
		expect(&reason, IBSA_REASON_FAR_PORT_DOWN, false,
		       "port 2 of e, and the SA shows only port 1");
	}
	path.dgid = gid_of(0xdead);
	reason = reason_of(false, path, IBSA_PATH_CM(sl));
	expect(&reason, IBSA_REASON_UNKNOWN_PORT, true, "GID fe80::dead");
}

static void own_port_that_is_down_is_the_reason(void **state)
{
	const struct ibsa_gid gid = gid_of(0x2001);
	struct ibsa_reach_answer answer;
	struct ibsa_port_state port;
	struct ibsa_reason reason;

	(void)state;
	set_link("a", 1, false);
	for (int key = 0; key < 2; key++) {
		assert_int_equal(ibsa_port_get(clients[key], true, &port), 0);
		reason = reason_between(key, 0x1001, 0x2001);
		expect(&reason, IBSA_REASON_THIS_PORT_DOWN, true, "Down");
		assert_int_equal(reason.queries, 0);
		assert_int_equal(
			ibsa_reach_wait(clients[key], NULL, &gid, &answer), 0);
		assert_int_equal(answer.reach, IBSA_REACH_UNKNOWN);
		assert_int_equal(answer.reason, IBSA_REASON_THIS_PORT_DOWN);
		assert_true(answer.is_certain);
	}
}

/*
 * The client's port shares a P_Key with each of the two ends, but the ends
 * share none.
 */
static void no_common_pkey_is_certain_with_the_key(void **state)
{
	struct ibsa_reason reason;

	(void)state;
	set_pkeys("a", 0x7fff, 0x8001, 0x8002);
	set_pkeys("b", 0x8001, 0, 0);
	set_pkeys("c", 0x8002, 0, 0);
	reason = reason_between(false, 0x2001, 0x3001);
	expect(&reason, IBSA_REASON_NO_PKEY, false,
	       "shares P_Key 0x8001 with the source and 0x8002 with the destination");
	assert_int_equal(reason.queries, 2);
	reason = reason_between(true, 0x2001, 0x3001);
	expect(&reason, IBSA_REASON_NO_PKEY, true,
	       "P_Keys of the source: 0x8001; of the destination: 0x8002");
	assert_int_equal(reason.queries, 3);
}

/* OpenSM makes all ports members of the default partition. */
static void default_partition_is_not_in_common(void **state)
{
	struct ibsa_reason reason;

	(void)state;
	set_pkeys("a", 0x7fff, 0x8001, 0x8002);
	set_pkeys("b", 0x7fff, 0x8001, 0);
	set_pkeys("c", 0x7fff, 0x8002, 0);
	reason = reason_between(false, 0x2001, 0x3001);
	expect(&reason, IBSA_REASON_NO_PKEY, false, "0x8001");
	reason = reason_between(true, 0x2001, 0x3001);
	expect(&reason, IBSA_REASON_NO_PKEY, true,
	       "limited members of the default partition");
}

static void two_limited_members_are_certain_with_the_key(void **state)
{
	struct ibsa_reason reason;

	(void)state;
	set_pkeys("b", 0x7fff, 0, 0);
	set_pkeys("c", 0x7fff, 0, 0);
	reason = reason_between(false, 0x2001, 0x3001);
	expect(&reason, IBSA_REASON_BOTH_LIMITED, false, "partition 0x7fff");
	reason = reason_between(true, 0x2001, 0x3001);
	expect(&reason, IBSA_REASON_BOTH_LIMITED, true, "partition 0x7fff");
}

/* The P_Keys of this port are known without a query. */
static void own_path_of_a_limited_member_is_certain(void **state)
{
	(void)state;
	set_pkeys("a", 0x7fff, 0, 0);
	for (int key = 0; key < 2; key++) {
		const struct ibsa_reason reason = reason_between(key, 0x1001,
								 0x1001);

		expect(&reason, IBSA_REASON_BOTH_LIMITED, true,
		       "partition 0x7fff");
		assert_int_equal(reason.queries, 0);
	}
}

/* The client detects that its port is up again only after up to a second. */
static void own_port_that_is_up_again_is_not_the_reason(void **state)
{
	struct ibsa_port_state port;
	struct ibsa_reason reason;

	(void)state;
	set_link("a", 1, false);
	assert_int_equal(ibsa_port_get(clients[0], true, &port), 0);
	set_link("a", 1, true);
	reason = reason_between(false, 0x1001, 0xdead);
	expect(&reason, IBSA_REASON_UNKNOWN_PORT, true, "fe80::dead");
}

/*
 * The constraint takes one of three queries, so the reason is uncertain even
 * with the SM_Key: the text then does not advise to use this key.
 */
static void constraint_between_others_does_not_ask_for_the_key(void **state)
{
	const struct ibsa_path path = {
		.sgid = gid_of(0x2001),
		.dgid = gid_of(0x3001),
		.mtu_selector = IBSA_SELECT_EXACTLY,
		.mtu = 4, /* 2048 */
	};
	struct ibsa_reason reason;

	(void)state;
	set_pkeys("b", 0x7fff, 0x8001, 0);
	set_pkeys("c", 0x7fff, 0x8002, 0);
	for (int key = 0; key < 2; key++) {
		reason = reason_of(key, path,
				   IBSA_PATH_CM(mtu_selector) |
					   IBSA_PATH_CM(mtu));
		expect(&reason, IBSA_REASON_BOTH_LIMITED, false,
		       key ? "certain, query without constraints"
			   : "certain, query with the SM_Key and without");
	}
}

static void expect_other_subnet(const struct ibsa_path *path, const char *words)
{
	for (int key = 0; key < 2; key++) {
		const struct ibsa_reason reason = reason_of(key, *path, 0);

		expect(&reason, IBSA_REASON_OTHER_SUBNET, true, words);
		assert_int_equal(reason.queries, 0);
	}
}

static void another_subnet_needs_no_query(void **state)
{
	struct ibsa_path path = { .sgid = gid_of(0x1001),
				  .dgid = gid_of(0x2001) };

	(void)state;
	path.dgid.raw[0] = 0x20;
	expect_other_subnet(&path, "GID 2080::2001 does not have the prefix");
}

/* Of fe80::/10, only fe80::/64 is the link-local prefix. */
static void another_subnet_may_begin_with_fe80(void **state)
{
	struct ibsa_path path = { .sgid = gid_of(0x1001),
				  .dgid = gid_of(0xdead) };

	(void)state;
	path.dgid.raw[7] = 1;
	expect_other_subnet(&path, "GID fe80:0:0:1::dead does not have");
}

static void constraint_is_named_with_what_is_possible(void **state)
{
	const struct ibsa_path path = {
		.sgid = gid_of(0x1001),
		.dgid = gid_of(0x2001),
		.pkey = 0x8003,
		.mtu_selector = IBSA_SELECT_GREATER,
		.mtu = 4, /* 2048 */
		.rate_selector = IBSA_SELECT_EXACTLY,
		.rate = 3, /* 10 Gb/s */
	};
	const uint64_t mtu = IBSA_PATH_CM(mtu_selector) | IBSA_PATH_CM(mtu);
	const uint64_t rate = IBSA_PATH_CM(rate_selector) | IBSA_PATH_CM(rate);

	(void)state;
	for (int key = 0; key < 2; key++) {
		struct ibsa_reason reason = reason_of(key, path, mtu);

		expect(&reason, IBSA_REASON_CONSTRAINT, true,
		       "mtu greater than 2048; without this constraint there is a path with "
		       "mtu 2048");
		assert_string_equal(reason.constraint, "mtu");
		assert_int_equal(reason.queries, 1);
		reason = reason_of(key, path, IBSA_PATH_CM(pkey));
		expect(&reason, IBSA_REASON_CONSTRAINT, true, "pkey 0xffff");
		assert_string_equal(reason.constraint, "pkey");
		reason = reason_of(key, path, rate);
		expect(&reason, IBSA_REASON_CONSTRAINT, true, "rate 100Gb/s");
		assert_string_equal(reason.constraint, "rate");
		reason = reason_of(key, path, rate | mtu);
		expect(&reason, IBSA_REASON_CONSTRAINT, true,
		       "no path satisfies all constraints together");
		assert_null(reason.constraint);
	}
}

/*
 * The SA lowers the MTU of a path to the wanted value, so an MTU constraint
 * excludes no path.
 */
static void one_of_two_constraints_is_named(void **state)
{
	const struct ibsa_path path = {
		.sgid = gid_of(0x1001),
		.dgid = gid_of(0x2001),
		.pkey = 0x8003,
		.mtu_selector = IBSA_SELECT_EXACTLY,
		.mtu = 3, /* 1024 */
	};
	const struct ibsa_reason reason = reason_of(false, path,
						    IBSA_PATH_CM(mtu_selector) |
							    IBSA_PATH_CM(mtu) |
							    IBSA_PATH_CM(pkey));

	(void)state;
	expect(&reason, IBSA_REASON_CONSTRAINT, true, "pkey 0x8003");
	assert_string_equal(reason.constraint, "pkey");
}

/*
 * The SA has a path that satisfies the constraint, but did not return it: an SA
 * such as OpenSM compares the return path of a reversible path, too.
 */
static void return_path_may_be_excluded(void **state)
{
	const struct ibsa_path path = {
		.sgid = gid_of(0x1001),
		.dgid = gid_of(0x2001),
		.rate_selector = IBSA_SELECT_GREATER,
		.rate = 9, /* 80 Gb/s; its code is greater than that of 100 */
		.mtu_selector = IBSA_SELECT_EXACTLY,
		.mtu = 4, /* 2048 */
	};
	const uint64_t masks[] = {
		IBSA_PATH_CM(rate_selector) | IBSA_PATH_CM(rate),
		IBSA_PATH_CM(mtu_selector) | IBSA_PATH_CM(mtu),
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct ibsa_reason reason = reason_of(false, path,
							    masks[i]);

		expect(&reason, IBSA_REASON_CONSTRAINT, true,
		       i ? "path with mtu 2048, but its return path "
			   "possibly does not meet it"
			 : "path with rate 100Gb/s, but its return path "
			   "possibly does not meet it");
		assert_string_equal(reason.possible, "");
	}
}

static void group_that_does_not_exist_is_unknown(void **state)
{
	struct ibsa_path path = {
		.sgid = gid_of(0x1001),
		.dgid = { { 0xff, 0x12, [15] = 0x77 } },
	};
	const struct ibsa_reason reason = reason_of(false, path, 0);

	(void)state;
	expect(&reason, IBSA_REASON_UNKNOWN_PORT, true, "no multicast group");
}

/* A query that is not answered ends the search. */
static void silent_sa_gives_no_reason(void **state)
{
	const struct ibsa_fault fault = { .kind = IBSA_FAULT_LOSE,
					  .percent = 100 };
	struct ibsa_path path = { .sgid = gid_of(0x1001),
				  .dgid = gid_of(0xdead) };
	struct ibsa_query query = path_query(&path, 0);
	struct ibsa_reason reason;

	(void)state;
	query.deadline_ms = 100;
	assert_int_equal(ibsa_fabric_fault(fabric, &fault), 0);
	assert_int_equal(ibsa_reason_wait(clients[0], &query, &reason), 0);
	assert_int_equal(reason.code, IBSA_REASON_NONE);
	assert_int_equal(reason.err, -ETIMEDOUT);
	assert_int_equal(reason.queries, 1);
}

static void wrong_query_is_refused(void **state)
{
	struct ibsa_path path = { .sgid = gid_of(0x1001),
				  .dgid = gid_of(0xdead) };
	struct ibsa_query query = path_query(&path, 0);
	struct ibsa_reason reason;

	(void)state;
	assert_int_equal(ibsa_reason_wait(clients[0], NULL, &reason), -EINVAL);
	query.mask &= ~IBSA_PATH_CM(dgid);
	assert_int_equal(ibsa_reason_wait(clients[0], &query, &reason),
			 -EINVAL);
	query.record = &ibsa_node_record;
	assert_int_equal(ibsa_reason_wait(clients[0], &query, &reason),
			 -EINVAL);
}

static void search_in_callback(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_path path = { .sgid = gid_of(0x1001),
				  .dgid = gid_of(0xdead) };
	const struct ibsa_query query = path_query(&path, 0);
	struct ibsa_reason reason;

	(void)reply;
	*(int *)arg = ibsa_reason_wait(clients[0], &query, &reason);
}

static void callback_cannot_wait(void **state)
{
	struct ibsa_path path = { .sgid = gid_of(0x1001),
				  .dgid = gid_of(0xdead) };
	const struct ibsa_query query = path_query(&path, 0);
	int err = 0;

	(void)state;
	assert_int_equal(ibsa_query_wait(clients[0], &query, search_in_callback,
					 &err),
			 -EREMOTEIO);
	assert_int_equal(err, -EBUSY);
}

static void every_reason_has_a_text(void **state)
{
	(void)state;
	assert_string_equal(ibsa_reason_text(IBSA_REASON_NONE), "");
	assert_string_equal(ibsa_reason_text(IBSA_REASON_NO_NAME),
			    "no such name");
	assert_string_equal(ibsa_reason_text(IBSA_REASON_NOT_MEMBER + 1), "");
	assert_string_equal(ibsa_reason_text(-1), "");
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, reason_start, reason_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(unknown_port_is_the_reason),
		TEST(hidden_port_is_unknown),
		TEST(far_port_that_is_down_is_possible),
		TEST(constraint_does_not_hide_the_reason),
		TEST(own_port_that_is_down_is_the_reason),
		TEST(no_common_pkey_is_certain_with_the_key),
		TEST(default_partition_is_not_in_common),
		TEST(two_limited_members_are_certain_with_the_key),
		TEST(own_path_of_a_limited_member_is_certain),
		TEST(own_port_that_is_up_again_is_not_the_reason),
		TEST(constraint_between_others_does_not_ask_for_the_key),
		TEST(another_subnet_needs_no_query),
		TEST(another_subnet_may_begin_with_fe80),
		TEST(constraint_is_named_with_what_is_possible),
		TEST(one_of_two_constraints_is_named),
		TEST(return_path_may_be_excluded),
		TEST(group_that_does_not_exist_is_unknown),
		TEST(silent_sa_gives_no_reason),
		TEST(wrong_query_is_refused),
		TEST(callback_cannot_wait),
		TEST(every_reason_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
