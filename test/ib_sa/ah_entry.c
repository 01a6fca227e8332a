/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries of GID tables by the kernel's names: references and search. */
#include <net/if.h>

#include "test/ib_sa/ah_rig.h"

static void entry_is_held_by_its_index(void **state)
{
	struct ah_bench *bench = ah_start_roce();
	const struct ib_gid_attr *gid = rdma_get_gid_attr(bench->device, 1, 3);
	struct ib_device *device = bench->device;

	(void)state;
	assert_ptr_equal(gid->device, device);
	assert_memory_equal(&gid->gid, &ah_gid_3, sizeof(ah_gid_3));
	assert_int_equal(gid->gid_type, IB_GID_TYPE_ROCE_UDP_ENCAP);
	assert_int_equal(gid->index, 3);
	assert_int_equal(gid->port_num, 1);
	assert_int_equal(gid->ndev_ifindex, if_nametoindex("lo"));
	rdma_hold_gid_attr(gid);
	rdma_put_gid_attr(gid);
	assert_int_equal(gid->index, 3);
	rdma_put_gid_attr(gid);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 1, 1)),
			 -ENODATA);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 1, 2)),
			 -EINVAL);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 1, -1)),
			 -EINVAL);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 0, 0)),
			 -EINVAL);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 2, 0)),
			 -EINVAL);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 257, 0)),
			 -EINVAL);
	ah_stop(bench);
}

static int find_err(struct ah_bench *bench, const union ib_gid *gid,
		    enum ib_gid_type type, uint32_t port, uint32_t ifindex)
{
	const struct ib_gid_attr *found;

	found = rdma_find_gid_by_port(bench->device, gid, type, port, ifindex);
	if (ibsa_is_err(found))
		return ibsa_ptr_err(found);
	assert_memory_equal(&found->gid, gid, sizeof(*gid));
	rdma_put_gid_attr(found);
	return 0;
}

static void entry_is_found_by_gid_type_and_interface(void **state)
{
	const enum ib_gid_type v2 = IB_GID_TYPE_ROCE_UDP_ENCAP;
	const uint32_t lo = if_nametoindex("lo");
	struct ah_bench *bench = ah_start_roce();

	(void)state;
	assert_int_equal(find_err(bench, &ah_gid_3, v2, 1, 0), 0);
	assert_int_equal(find_err(bench, &ah_gid_3, v2, 1, lo), 0);
	assert_int_equal(find_err(bench, &ah_gid_3, v2, 1, lo + 1), -ENOENT);
	assert_int_equal(find_err(bench, &ah_gid_3, IB_GID_TYPE_IB, 1, 0),
			 -ENOENT);
	assert_int_equal(find_err(bench, &ah_remote, v2, 1, 0), -ENOENT);
	assert_int_equal(find_err(bench, &ah_gid_3, v2, 2, 0), -ENOENT);
	assert_int_equal(find_err(bench, &ah_gid_3, v2, 0, 0), -ENOENT);
	assert_int_equal(find_err(bench, &ah_gid_3, v2, 257, 0), -ENOENT);
	ah_stop(bench);
}

/*
 * Two interfaces may have the same GID, like a VLAN and the device below it.
 * The entry of each can be found by the index of the interface.
 */
static void each_interface_has_its_own_entry(void **state)
{
	const enum ib_gid_type v2 = IB_GID_TYPE_ROCE_UDP_ENCAP;
	const uint32_t lo = if_nametoindex("lo");
	struct ah_bench *bench = ah_start_roce();
	const struct ib_gid_attr *found;

	(void)state;
	ah_set(bench, "gids/2", AH_GID_3);
	ah_set(bench, "gid_attrs/types/2", "RoCE v2\n");
	found = rdma_find_gid_by_port(bench->device, &ah_gid_3, v2, 1, 0);
	assert_false(ibsa_is_err(found));
	assert_int_equal(found->index, 2);
	assert_int_equal(found->ndev_ifindex, 0);
	rdma_put_gid_attr(found);
	found = rdma_find_gid_by_port(bench->device, &ah_gid_3, v2, 1, lo);
	assert_int_equal(ibsa_is_err(found) ? ibsa_ptr_err(found) : 0, 0);
	assert_int_equal(found->index, 3);
	assert_int_equal(found->ndev_ifindex, lo);
	rdma_put_gid_attr(found);
	assert_int_equal(find_err(bench, &ah_gid_3, v2, 1, lo + 1), -ENOENT);
	ah_stop(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_is_held_by_its_index),
		cmocka_unit_test(entry_is_found_by_gid_type_and_interface),
		cmocka_unit_test(each_interface_has_its_own_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
