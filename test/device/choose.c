/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the choice of a GID for an address, and of the reasons against the
 * other GIDs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include <ibsa/device.h>
#include <ibsa/types.h>
#include <ibsa/text.h>

enum { ROWS = 8, NONE = ROWS };

/* A row in short form: GID as text, type, port state, error. */
struct brief {
	const char *gid;
	uint8_t type;
	uint8_t port_state;
	int err;
};

static struct ibsa_gid gid_of(const char *text)
{
	struct ibsa_gid gid;

	if (ibsa_gid_parse(text, &gid))
		fail_msg("%s is not a GID", text);
	return gid;
}

/* Return: the index of the chosen row; @briefs ends with a row without GID. */
static size_t choose(const struct brief *briefs, const char *address,
		     enum ibsa_gid_fit fits[ROWS])
{
	struct ibsa_gid_row rows[ROWS] = { 0 };
	const struct ibsa_gid to = gid_of(address ? address : "::");
	size_t at = NONE;
	size_t again = NONE;
	size_t count;
	int err;

	for (count = 0; count < ROWS && briefs[count].gid; count++) {
		rows[count].entry.gid = gid_of(briefs[count].gid);
		rows[count].entry.index = (uint32_t)count;
		rows[count].entry.type = briefs[count].type;
		rows[count].port_state = briefs[count].port_state;
		rows[count].err = briefs[count].err;
	}
	err = ibsa_gid_choose(rows, count, address ? &to : NULL, fits, &at);
	assert_int_equal(err, at == NONE ? -ENOENT : 0);
	assert_int_equal(ibsa_gid_choose(rows, count, address ? &to : NULL,
					 NULL, &again),
			 err);
	assert_int_equal(again, at);
	return at;
}

/*
 * The table of a port with two interfaces; some addresses have no entry for v1.
 */
static const struct brief usual[ROWS] = {
	{ "fe80::1", IBSA_GID_ROCE_V1, 4, 0 },
	{ "fe80::1", IBSA_GID_ROCE_V2, 4, 0 },
	{ "::ffff:10.1.0.1", IBSA_GID_ROCE_V1, 4, 0 },
	{ "::ffff:10.1.0.1", IBSA_GID_ROCE_V2, 4, 0 },
	{ "fd77::1", IBSA_GID_ROCE_V2, 4, 0 },
	{ "::ffff:10.2.0.1", IBSA_GID_ROCE_V2, 4, 0 },
};

static void usual_table_has_one_for_each_address(void **state)
{
	static const struct {
		const char *address;
		size_t at;
	} cases[] = {
		{ "::ffff:10.1.0.9", 3 },   { "::ffff:10.2.9.9", 5 },
		{ "::ffff:192.0.2.1", 3 },  { "::ffff:10.2.0.1", 5 },
		{ "fd77::9", 4 },	    { "2001:db8::1", 4 },
		{ "fe80::9", 1 },	    { "fe80::1", 1 },
		{ "::ffff:10.1.0.1", 3 },   { NULL, 3 },
		{ "::ffff:10.1.255.9", 3 },
	};
	enum ibsa_gid_fit fits[ROWS];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t at = choose(usual, cases[i].address, fits);

		if (at != cases[i].at)
			fail_msg("%s: %zu", cases[i].address, at);
		assert_int_equal(fits[at], IBSA_GID_CHOSEN);
	}
}

static void reasons_are_told(void **state)
{
	static const enum ibsa_gid_fit ipv4[] = {
		IBSA_GID_OTHER_FAMILY, IBSA_GID_OTHER_FAMILY,
		IBSA_GID_ROCE_V1_ONLY, IBSA_GID_CHOSEN,
		IBSA_GID_OTHER_FAMILY, IBSA_GID_FARTHER,
	};
	static const enum ibsa_gid_fit ipv6[] = {
		IBSA_GID_LINK_LOCAL,   IBSA_GID_LINK_LOCAL,
		IBSA_GID_OTHER_FAMILY, IBSA_GID_OTHER_FAMILY,
		IBSA_GID_CHOSEN,       IBSA_GID_OTHER_FAMILY,
	};
	static const enum ibsa_gid_fit any[] = {
		IBSA_GID_LINK_LOCAL,   IBSA_GID_LINK_LOCAL,
		IBSA_GID_ROCE_V1_ONLY, IBSA_GID_CHOSEN,
		IBSA_GID_OTHER_FAMILY, IBSA_GID_LATER,
	};
	enum ibsa_gid_fit fits[ROWS];

	(void)state;
	choose(usual, "::ffff:10.1.0.9", fits);
	assert_memory_equal(fits, ipv4, sizeof(ipv4));
	choose(usual, "fd77::9", fits);
	assert_memory_equal(fits, ipv6, sizeof(ipv6));
	choose(usual, NULL, fits);
	assert_memory_equal(fits, any, sizeof(any));
}

static void unusable_rows_are_not_chosen(void **state)
{
	static const struct brief rows[ROWS] = {
		{ "::", IBSA_GID_ROCE_V2, 4, 0 },
		{ "fd77::1", IBSA_GID_ROCE_V2, 4, -EPROTO },
		{ "fd77::2", IBSA_GID_ROCE_V2, IBSA_PORT_DOWN, 0 },
		{ "fe80::3", IBSA_GID_ROCE_V2, 4, 0 },
		{ "::ffff:10.0.0.1", IBSA_GID_ROCE_V2, 4, 0 },
	};
	static const enum ibsa_gid_fit want[] = {
		IBSA_GID_EMPTY,	     IBSA_GID_UNREADABLE,   IBSA_GID_PORT_DOWN,
		IBSA_GID_LINK_LOCAL, IBSA_GID_OTHER_FAMILY,
	};
	enum ibsa_gid_fit fits[ROWS];

	(void)state;
	assert_int_equal(choose(rows, "fd77::9", fits), NONE);
	assert_memory_equal(fits, want, sizeof(want));
}

static void port_of_unknown_state_is_used(void **state)
{
	static const struct brief rows[ROWS] = {
		{ "fd77::1", IBSA_GID_ROCE_V2, 0, 0 },
	};
	enum ibsa_gid_fit fits[ROWS];

	(void)state;
	assert_int_equal(choose(rows, "fd77::9", fits), 0);
}

/*
 * A RoCE v1 GID of the address family of the destination is chosen: it works on
 * one link, while a v2 GID of another family never does.
 */
static void family_has_priority_over_the_version(void **state)
{
	static const struct brief rows[ROWS] = {
		{ "fd77::1", IBSA_GID_ROCE_V2, 4, 0 },
		{ "::ffff:10.0.0.1", IBSA_GID_ROCE_V1, 4, 0 },
	};
	enum ibsa_gid_fit fits[ROWS];

	(void)state;
	assert_int_equal(choose(rows, "::ffff:10.0.0.2", fits), 1);
	assert_int_equal(choose(rows, NULL, fits), 0);
}

/*
 * The last 64 bits of an IPv6 address count only if the whole address is equal.
 */
static void interface_ids_do_not_count_as_near(void **state)
{
	static const struct brief rows[ROWS] = {
		{ "fd77::1", IBSA_GID_ROCE_V2, 4, 0 },
		{ "fd77::8", IBSA_GID_ROCE_V2, 4, 0 },
	};
	enum ibsa_gid_fit fits[ROWS];

	(void)state;
	assert_int_equal(choose(rows, "fd77::9", fits), 0);
	assert_int_equal(fits[1], IBSA_GID_LATER);
	assert_int_equal(choose(rows, "fd77::8", fits), 1);
	assert_int_equal(fits[0], IBSA_GID_FARTHER);
}

static void infiniband_has_its_link_local_gids(void **state)
{
	static const struct brief rows[ROWS] = {
		{ "fe80::2:c903:0:1", IBSA_GID_IB, 4, 0 },
		{ "fec0::2:c903:0:1", IBSA_GID_IB, 4, 0 },
	};
	enum ibsa_gid_fit fits[ROWS];

	(void)state;
	assert_int_equal(choose(rows, NULL, fits), 0);
	assert_int_equal(choose(rows, "fe80::2:c903:0:2", fits), 0);
	assert_int_equal(choose(rows, "fec0::2:c903:0:2", fits), 1);
	assert_int_equal(fits[0], IBSA_GID_LINK_LOCAL);
	assert_int_equal(choose(rows, "::ffff:10.0.0.2", fits), NONE);
}

static void of_no_rows_none_is_chosen(void **state)
{
	size_t at = 7;

	(void)state;
	assert_int_equal(ibsa_gid_choose(NULL, 0, NULL, NULL, &at), -ENOENT);
	assert_int_equal(at, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_table_has_one_for_each_address),
		cmocka_unit_test(reasons_are_told),
		cmocka_unit_test(unusable_rows_are_not_chosen),
		cmocka_unit_test(port_of_unknown_state_is_used),
		cmocka_unit_test(family_has_priority_over_the_version),
		cmocka_unit_test(interface_ids_do_not_count_as_near),
		cmocka_unit_test(infiniband_has_its_link_local_gids),
		cmocka_unit_test(of_no_rows_none_is_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
