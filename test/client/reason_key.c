/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * With the SM_Key, the SA shows more: in no combination of P_Keys, ends and
 * constraints may a search with the SM_Key find less than one without it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/reach.h>
#include <ibsa/fabric.h>

#include "reason_support.h"

/*
 * P_Key tables of the hosts a, b and c. The last one is not for a, whose
 * requests to the SA need the default partition.
 */
static const struct {
	uint16_t pkeys[3];
	uint16_t count;
} tables[] = {
	{ { 0x7fff }, 1 },	   { { 0x7fff, 0x8001 }, 2 },
	{ { 0x7fff, 0x8002 }, 2 }, { { 0x7fff, 0x8001, 0x8002 }, 3 },
	{ { 0x8001 }, 1 },
};

/* The ports of a, b, c and e, the switch, and a port that does not exist. */
static const uint64_t guids[] = { 0x1001, 0x2001, 0x3001, 0x5001,
				  0x5002, 0x100,  0xdead };

enum {
	TABLES = sizeof(tables) / sizeof(tables[0]),
	ENDS = sizeof(guids) / sizeof(guids[0]),
};

static uint16_t lids[ENDS];

static void lids_read(void)
{
	for (unsigned int i = 0; i < ENDS; i++) {
		const struct ibsa_node match = { .port_guid = guids[i] };
		const struct ibsa_query query =
			IBSA_QUERY(node, &match, IBSA_NODE_CM(port_guid));
		struct ibsa_node node = { .lid = 99 };

		(void)!ibsa_query_one(clients[0], &query, NULL, &node,
				      sizeof(node));
		lids[i] = node.lid;
	}
}

static void table_set(const char *node, unsigned int index)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = tables[index].pkeys,
		.pkey_count = tables[index].count,
	};

	assert_int_equal(ibsa_fabric_port_set(fabric, node, 1, &change), 0);
}

static void reasons_compare(const struct ibsa_query *query)
{
	const int err = ibsa_query_wait(clients[0], query, NULL, NULL);
	struct ibsa_reason without, with;

	if (!err)
		return;
	assert_int_equal(err, -EREMOTEIO);
	assert_int_equal(ibsa_reason_wait(clients[0], query, &without), 0);
	assert_int_equal(ibsa_reason_wait(clients[1], query, &with), 0);
	if ((without.code && !with.code) ||
	    (without.is_certain &&
	     (!with.is_certain || with.code != without.code)))
		fail_msg("without the SM_Key '%s', with it '%s'",
			 without.detail, with.detail);
}

/* Search between two ends, by their GIDs or LIDs, and with a constraint. */
static void ends_compare(unsigned int from, unsigned int to)
{
	const struct ibsa_path gids = { .sgid = gid_of(guids[from]),
					.dgid = gid_of(guids[to]) };
	const struct ibsa_path by_lid = { .slid = lids[from],
					  .dlid = lids[to] };
	const uint64_t gid_mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);
	const uint64_t lid_mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid);
	const struct ibsa_query queries[] = {
		IBSA_QUERY(path, &gids, gid_mask),
		IBSA_QUERY(path, &gids, gid_mask | IBSA_PATH_CM(sl)),
		IBSA_QUERY(path, &by_lid, lid_mask),
		IBSA_QUERY(path, &by_lid, lid_mask | IBSA_PATH_CM(sl)),
	};

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		reasons_compare(&queries[i]);
}

static void key_never_finds_less(void **state)
{
	(void)state;
	lids_read();
	set_link("e", 2, false);
	for (unsigned int i = 0; i < TABLES * TABLES * (TABLES - 1); i++) {
		table_set("a", i / TABLES / TABLES);
		table_set("b", i / TABLES % TABLES);
		table_set("c", i % TABLES);
		for (unsigned int k = 0; k < ENDS * ENDS; k++)
			ends_compare(k / ENDS, k % ENDS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(key_never_finds_less,
						reason_start, reason_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
