/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Address handle attributes for libibverbs. */
#include <infiniband/verbs.h>

#include "test/ib_sa/ah_rig.h"

static void libibverbs_gets_the_same(void **state)
{
	struct ah_bench *bench = ah_start_ib();
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;
	struct ibv_ah_attr ibv;

	(void)state;
	rec.hop_limit = 64;
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	memset(&ibv, 0xa5, sizeof(ibv));
	assert_int_equal(ibsa_ah_attr_to_ibv(&attr, &ibv), 0);
	assert_int_equal(ibv.dlid, 0x1234);
	assert_int_equal(ibv.sl, 5);
	assert_int_equal(ibv.src_path_bits, 3);
	assert_int_equal(ibv.static_rate, 7);
	assert_int_equal(ibv.is_global, 1);
	assert_int_equal(ibv.port_num, 1);
	assert_memory_equal(&ibv.grh.dgid, &ah_remote, sizeof(ah_remote));
	assert_int_equal(ibv.grh.flow_label, 0xabcde);
	assert_int_equal(ibv.grh.sgid_index, 3);
	assert_int_equal(ibv.grh.hop_limit, 64);
	assert_int_equal(ibv.grh.traffic_class, 0x21);
	rdma_destroy_ah_attr(&attr);
	attr.ah_flags = 0;
	assert_int_equal(ibsa_ah_attr_to_ibv(&attr, &ibv), 0);
	assert_int_equal(ibv.is_global, 0);
	assert_int_equal(ibv.grh.hop_limit, 0);
	ah_stop(bench);
}

static int ibv_err(enum rdma_ah_attr_type type, uint32_t opa_dlid,
		   bool make_grd, uint32_t port_num)
{
	struct rdma_ah_attr attr = { .type = type, .port_num = port_num };
	struct ibv_ah_attr ibv = { .dlid = 77 };
	int err;

	attr.opa.dlid = opa_dlid;
	attr.opa.make_grd = make_grd;
	err = ibsa_ah_attr_to_ibv(&attr, &ibv);
	if (err)
		assert_int_equal(ibv.dlid, 77);
	return err;
}

static void values_that_do_not_fit_libibverbs_are_refused(void **state)
{
	const enum rdma_ah_attr_type opa = RDMA_AH_ATTR_TYPE_OPA;

	(void)state;
	assert_int_equal(ibv_err(opa, 0x1234, false, 1), 0);
	assert_int_equal(ibv_err(opa, 0x10000, false, 1), -ERANGE);
	assert_int_equal(ibv_err(opa, 0xffff, true, 1), -ERANGE);
	assert_int_equal(ibv_err(opa, 1, false, 256), -ERANGE);
	assert_int_equal(ibv_err(RDMA_AH_ATTR_TYPE_ROCE, 0, false, 1), 0);
	assert_int_equal(ibv_err(RDMA_AH_ATTR_TYPE_UNDEFINED, 0, false, 1),
			 -EINVAL);
	assert_int_equal(ibv_err((enum rdma_ah_attr_type)9, 0, false, 1),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libibverbs_gets_the_same),
		cmocka_unit_test(values_that_do_not_fit_libibverbs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
