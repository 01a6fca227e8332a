/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A topology with the n-th allocation failing, for every n. */
#include <errno.h>

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
	/* the same GUIDs and LID again: findings take memory, too */
	if (!err)
		err = rig_node(*out, IBSA_NODE_SWITCH, 2, "switch");
	if (!err)
		err = rig_link(*out, 1, 1, 2, 1);
	if (!err)
		err = rig_port(*out, &port);
	if (!err)
		err = ibsa_topology_add(*out, &ibsa_switch_info_record, &info);
	if (!err)
		err = ibsa_topology_finish(*out);
	if (!err)
		err = ibsa_topology_check(*out, *out);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
