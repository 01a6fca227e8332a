/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address handle attributes from path records of RoCE, whose routes the library
 * resolves.
 */
#include <net/if.h>

#include "test/ib_sa/ah_rig.h"

static void roce_path_always_has_a_grh(void **state)
{
	struct sa_path_rec rec = ah_roce_path(SA_PATH_REC_TYPE_ROCE_V2);
	struct ah_bench *bench = ah_start_roce();
	struct rdma_ah_attr attr;

	(void)state;
	rec.roce.route_resolved = true;
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	assert_int_equal(ah_route.calls, 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_ROCE);
	assert_memory_equal(attr.roce.dmac, rec.roce.dmac, 6);
	assert_int_equal(attr.ah_flags, IB_AH_GRH);
	assert_int_equal(attr.grh.sgid_index, 3);
	assert_int_equal(attr.grh.hop_limit, 0);
	rdma_destroy_ah_attr(&attr);
	/* The table has this GID for RoCE v2 only. */
	rec = ah_roce_path(SA_PATH_REC_TYPE_ROCE_V1);
	rec.roce.route_resolved = true;
	assert_int_equal(ah_init(bench, &rec, &attr), -ENOENT);
	ah_stop(bench);
}

/*
 * The ports of iWARP and usNIC devices are Ethernet ports, but the kernel's
 * rdma_ah_find_type() returns the InfiniBand type for them.
 */
static void port_of_iwarp_is_not_roce(void **state)
{
	static const struct {
		const char *node_type;
		enum rdma_ah_attr_type type;
	} devices[] = {
		{ "1: CA\n", RDMA_AH_ATTR_TYPE_ROCE },
		{ "4: RNIC\n", RDMA_AH_ATTR_TYPE_IB },
		{ "5: usNIC\n", RDMA_AH_ATTR_TYPE_IB },
		{ "6: usNIC UDP\n", RDMA_AH_ATTR_TYPE_IB },
	};
	struct sa_path_rec rec = ah_ib_path();
	struct ah_bench *bench = ah_start_roce();
	struct rdma_ah_attr attr;

	(void)state;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		tree_write(&bench->tree, "class/infiniband/mlx5_0/node_type",
			   devices[i].node_type);
		assert_int_equal(ah_init(bench, &rec, &attr), 0);
		assert_int_equal(attr.type, devices[i].type);
		rdma_destroy_ah_attr(&attr);
	}
	ah_stop(bench);
}

static int roce_init(struct ah_bench *bench, struct sa_path_rec *rec, int index)
{
	const struct ib_gid_attr *gid = NULL;
	struct rdma_ah_attr attr;
	int err;

	if (index >= 0) {
		gid = rdma_get_gid_attr(bench->device, 1, index);
		assert_false(ibsa_is_err(gid));
	}
	err = ib_init_ah_attr_from_path(bench->device, 1, rec, &attr, gid);
	assert_int_equal(attr.sl, 5);
	assert_int_equal(!err, attr.grh.sgid_attr != NULL);
	rdma_destroy_ah_attr(&attr);
	if (gid)
		rdma_put_gid_attr(gid);
	return err;
}

static void route_of_a_roce_path_is_resolved_once(void **state)
{
	struct sa_path_rec rec = ah_roce_path(SA_PATH_REC_TYPE_ROCE_V2);
	struct ah_bench *bench = ah_start_roce();

	(void)state;
	assert_int_equal(roce_init(bench, &rec, 3), 0);
	assert_int_equal(ah_route.calls, 1);
	assert_int_equal(ah_route.ifindex, if_nametoindex("lo"));
	assert_true(rec.roce.route_resolved);
	assert_int_equal(roce_init(bench, &rec, 3), 0);
	assert_int_equal(ah_route.calls, 1);
	ah_stop(bench);
}

static void roce_path_without_a_route_fails(void **state)
{
	struct sa_path_rec rec = ah_roce_path(SA_PATH_REC_TYPE_ROCE_V1);
	struct ah_bench *bench = ah_start_roce();

	(void)state;
	/*
	 * A route cannot be looked up without a source GID, or with a source
	 * GID without an interface.
	 */
	assert_int_equal(roce_init(bench, &rec, -1), -EINVAL);
	assert_int_equal(roce_init(bench, &rec, 0), -EINVAL);
	assert_int_equal(ah_route.calls, 0);
	ah_route.err = -EHOSTUNREACH;
	assert_int_equal(roce_init(bench, &rec, 3), -EHOSTUNREACH);
	assert_false(rec.roce.route_resolved);
	/* Version 1 cannot pass a gateway. */
	ah_route.err = 0;
	ah_route.is_routed = true;
	assert_int_equal(roce_init(bench, &rec, 3), -EINVAL);
	rec = ah_roce_path(SA_PATH_REC_TYPE_ROCE_V2);
	assert_int_equal(roce_init(bench, &rec, 3), 0);
	ah_stop(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roce_path_always_has_a_grh),
		cmocka_unit_test(port_of_iwarp_is_not_roce),
		cmocka_unit_test(route_of_a_roce_path_is_resolved_once),
		cmocka_unit_test(roce_path_without_a_route_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
