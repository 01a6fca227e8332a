/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client on a fabric of its own, for tests with failing allocations. */
#include "test/support/memory_rig.h"

enum { MS = 1000000 };

struct memory_rig memory_rig_open(const char *topology)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	struct ibsa_options mine = { .seed = 1 };
	struct memory_rig rig;

	assert_int_equal(
		ibsa_fabric_load(topology, &options, NULL, &rig.fabric), 0);
	assert_int_equal(
		ibsa_fabric_attach(rig.fabric, NULL, 0, &mine.transport), 0);
	assert_int_equal(ibsa_open(&mine, NULL, &rig.client), 0);
	return rig;
}

void memory_rig_close(struct memory_rig *rig)
{
	assert_int_equal(ibsa_close(rig->client), 0);
	fail_alloc_after(-1);
	ibsa_fabric_put(rig->fabric);
}

void memory_rig_pass(const struct memory_rig *rig, unsigned int ms)
{
	while (ms--) {
		assert_int_equal(ibsa_fabric_advance(rig->fabric, MS), 0);
		assert_int_equal(ibsa_dispatch(rig->client), 0);
	}
}
