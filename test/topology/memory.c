/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A topology with the n-th allocation failing, for every n. */
#include <errno.h>

#include <ibsa/topology.h>

#include "test/support/fail_alloc.h"
#include "test/topology/rig.h"

static int topology_make(struct ibsa_topology **out)
{
	const struct ibsa_switch_info info = { .lid = 2 };
	const struct ibsa_port_info port = rig_edr(1, 1);
	int err = ibsa_topology_new(out);

	if (err)
		return err;
	err = rig_node(*out, IBSA_NODE_CA, 1, "host");
	if (!err)
		err = rig_node(*out, IBSA_NODE_SWITCH, 2, "switch");
	/*
	 * Add the same GUIDs and LID again, because findings need memory, too.
	 */
	if (!err)
		err = rig_node(*out, IBSA_NODE_SWITCH, 2, "switch");
	if (!err)
		err = rig_link(*out, 1, 1, 2, 1);
	if (!err)
		err = rig_port(*out, &port);
	if (!err)
		err = ibsa_topology_add(*out, &ibsa_switch_info_record, &info,
					sizeof(info));
	if (!err)
		err = ibsa_topology_finish(*out);
	if (!err)
		err = ibsa_topology_check(*out, *out);
	if (!err)
		err = ibsa_topology_check(*out, NULL);
	return err;
}

/* The leak checker detects memory that is not freed. */
static void every_allocation_may_fail(void **state)
{
	int err = -ENOMEM;

	(void)state;
	for (long n = 0; err; n++) {
		struct ibsa_topology *topology = NULL;

		fail_alloc_after(n);
		err = topology_make(&topology);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		ibsa_topology_free(topology);
	}
}

/*
 * A group that a switch sends to more ports than the first allocation has room
 * for.
 */
static void every_allocation_of_a_tree_may_fail(void **state)
{
	struct ibsa_mft tables[16];
	struct ibsa_topology *topology;
	struct ibsa_trace_tree *tree = NULL;
	int err = -ENOMEM;

	(void)state;
	assert_int_equal(topology_make(&topology), 0);
	for (uint8_t i = 0; i < 16; i++)
		tables[i] = (struct ibsa_mft){ .lid = 2,
					       .position = i,
					       .port_mask = { 0xffff } };
	for (long n = 0; err; n++) {
		fail_alloc_after(n);
		err = ibsa_topology_trace_group(topology, 1, 0xc000, tables, 16,
						&tree);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(!err == !!tree);
	}
	/*
	 * The first link, 254 ports of the switch, and another switch with its
	 * LID.
	 */
	assert_int_equal(tree->count, 256);
	ibsa_trace_tree_free(tree);
	ibsa_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_allocation_of_a_tree_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
