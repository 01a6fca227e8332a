/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From path records to address handle attributes. */
#include <ibsa/fabric.h>

#include "test/ib_sa/ah_rig.h"

static void path_without_hops_has_no_grh(void **state)
{
	struct ah_bench *bench = ah_start_ib();
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	memset(&attr, 0xa5, sizeof(attr));
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_IB);
	assert_int_equal(attr.sl, 5);
	assert_int_equal(attr.static_rate, 7);
	assert_int_equal(attr.port_num, 1);
	assert_int_equal(attr.ib.dlid, 0x1234);
	assert_int_equal(attr.ib.src_path_bits, 3);
	assert_int_equal(attr.ah_flags, 0);
	assert_null(attr.grh.sgid_attr);
	rdma_destroy_ah_attr(&attr);
	ah_stop(bench);
}

static void path_with_hops_has_one(void **state)
{
	struct ah_bench *bench = ah_start_ib();
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	rec.hop_limit = 64;
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	assert_int_equal(attr.ah_flags, IB_AH_GRH);
	assert_memory_equal(&attr.grh.dgid, &ah_remote, sizeof(ah_remote));
	assert_int_equal(attr.grh.flow_label, 0xabcde);
	assert_int_equal(attr.grh.sgid_index, 3);
	assert_int_equal(attr.grh.hop_limit, 64);
	assert_int_equal(attr.grh.traffic_class, 0x21);
	assert_memory_equal(&attr.grh.sgid_attr->gid, &ah_gid_3,
			    sizeof(ah_gid_3));
	rdma_destroy_ah_attr(&attr);
	assert_null(attr.grh.sgid_attr);
	rdma_destroy_ah_attr(&attr);
	ah_stop(bench);
}

/*
 * After an unknown source GID, the attributes that were already set remain,
 * and no reference to a GID is held.
 */
static void unknown_source_gid_is_enoent(void **state)
{
	struct ah_bench *bench = ah_start_ib();
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	rec.hop_limit = 1;
	rec.sgid = ah_remote;
	assert_int_equal(ah_init(bench, &rec, &attr), -ENOENT);
	assert_int_equal(attr.ib.dlid, 0x1234);
	assert_int_equal(attr.ah_flags, 0);
	assert_null(attr.grh.sgid_attr);
	rdma_destroy_ah_attr(&attr);
	ah_stop(bench);
}

/*
 * A copied source GID gets one more reference; each owner puts its own
 * reference.
 */
static void given_gid_is_taken_as_it_is(void **state)
{
	struct ah_bench *bench = ah_start_ib();
	const struct ib_gid_attr *gid = rdma_get_gid_attr(bench->device, 1, 0);
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	assert_false(ibsa_is_err(gid));
	rec.hop_limit = 1;
	rec.sgid = ah_remote;
	assert_int_equal(ib_init_ah_attr_from_path(bench->device, 1, &rec,
						   &attr, gid),
			 0);
	assert_ptr_equal(attr.grh.sgid_attr, gid);
	assert_int_equal(attr.grh.sgid_index, 0);
	rdma_put_gid_attr(gid);
	assert_memory_equal(&attr.grh.sgid_attr->gid, &ah_gid_0,
			    sizeof(ah_gid_0));
	rdma_destroy_ah_attr(&attr);
	ah_stop(bench);
}

static int path_bits(struct ah_bench *bench)
{
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;

	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	return attr.ib.src_path_bits;
}

static void path_bits_are_what_the_lmc_leaves(void **state)
{
	struct ah_bench *bench = ah_start_ib();

	(void)state;
	assert_int_equal(path_bits(bench), 3);
	ah_set(bench, "lid_mask_count", "0\n");
	assert_int_equal(path_bits(bench), 0);
	ah_set(bench, "lid_mask_count", "7\n");
	assert_int_equal(path_bits(bench), 0x7f);
	ah_set(bench, "lid_mask_count", "1\n");
	ah_set(bench, "sm_lid", "0x0\n");
	assert_int_equal(path_bits(bench), 0x7f);
	ah_set(bench, "sm_lid", "nonsense\n");
	assert_int_equal(path_bits(bench), 0x7f);
	ah_stop(bench);
}

static void port_determines_the_kind_of_address(void **state)
{
	struct sa_path_rec rec = ah_ib_path();
	struct ah_bench *bench = ah_start_opa();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_OPA);
	assert_int_equal(attr.opa.dlid, 0x1234);
	assert_int_equal(attr.opa.src_path_bits, 3);
	ah_stop(bench);
	bench = ah_start_roce();
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_ROCE);
	for (size_t i = 0; i < sizeof(attr.roce.dmac); i++)
		assert_int_equal(attr.roce.dmac[i], 0);
	assert_int_equal(attr.ah_flags, 0);
	ah_stop(bench);
}

static void omni_path_keeps_long_lids(void **state)
{
	struct sa_path_rec rec = ah_opa_path(0x12345);
	struct ah_bench *bench = ah_start_opa();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	assert_int_equal(attr.opa.dlid, 0x12345);
	assert_false(attr.opa.make_grd);
	/* For OPA, the 16-bit permissive LID is an ordinary LID. */
	rec = ah_opa_path(0xffff);
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	assert_true(attr.opa.make_grd);
	rec = ah_ib_path();
	rec.ib.dlid = htobe16(0xffff);
	assert_int_equal(ah_init(bench, &rec, &attr), 0);
	assert_false(attr.opa.make_grd);
	ah_stop(bench);
}

static void port_that_is_not_there_is_enodev(void **state)
{
	struct ah_bench *bench = ah_start_ib();
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ib_init_ah_attr_from_path(bench->device, 2, &rec,
						   &attr, NULL),
			 -ENODEV);
	assert_int_equal(ibsa_init_ah_attr_from_path(bench->device, 0, &rec,
						     &attr, NULL),
			 -ENODEV);
	rdma_destroy_ah_attr(&attr);
	ah_stop(bench);
}

static void port_that_needs_a_grh_gets_one_by_our_name(void **state)
{
	struct ah_bench *bench = ah_start_roce();
	const struct ib_gid_attr *gid = rdma_get_gid_attr(bench->device, 1, 3);
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ib_init_ah_attr_from_path(bench->device, 1, &rec,
						   &attr, gid),
			 0);
	assert_int_equal(attr.ah_flags, 0);
	assert_int_equal(ibsa_init_ah_attr_from_path(bench->device, 1, &rec,
						     &attr, gid),
			 0);
	assert_int_equal(attr.ah_flags, IB_AH_GRH);
	assert_int_equal(attr.grh.hop_limit, 1);
	assert_int_equal(rec.hop_limit, 0);
	rdma_destroy_ah_attr(&attr);
	rec.hop_limit = 9;
	assert_int_equal(ibsa_init_ah_attr_from_path(bench->device, 1, &rec,
						     &attr, gid),
			 0);
	assert_int_equal(attr.grh.hop_limit, 9);
	rdma_destroy_ah_attr(&attr);
	rdma_put_gid_attr(gid);
	ah_stop(bench);
}

static void port_that_needs_none_is_left_without(void **state)
{
	struct ah_bench *bench = ah_start_ib();
	struct sa_path_rec rec = ah_ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ibsa_init_ah_attr_from_path(bench->device, 1, &rec,
						     &attr, NULL),
			 0);
	assert_int_equal(attr.ah_flags, 0);
	ah_stop(bench);
}

/* A fabric's port is read through its client and has only GID 0. */
static void port_of_a_fabric_works_too(void **state)
{
	const struct ibsa_fabric_options virtual = { .virtual_clock = true };
	struct ibsa_ib_device_options options = { .no_thread = true };
	struct sa_path_rec rec = ah_ib_path();
	const struct ib_gid_attr *gid;
	struct ib_device *device;
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ibsa_fabric_load(FABRIC, &virtual, NULL, &options.on),
			 0);
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	gid = rdma_get_gid_attr(device, 1, 0);
	assert_false(ibsa_is_err(gid));
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 1, 1)),
			 -ENODATA);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 9, 0)),
			 -EINVAL);
	rec.hop_limit = 1;
	assert_int_equal(ib_init_ah_attr_from_path(device, 1, &rec, &attr,
						   NULL),
			 -ENOENT);
	rec.sgid = gid->gid;
	assert_int_equal(
		ib_init_ah_attr_from_path(device, 1, &rec, &attr, NULL), 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_IB);
	assert_int_equal(attr.ib.src_path_bits, 0);
	assert_int_equal(attr.grh.sgid_index, 0);
	rdma_destroy_ah_attr(&attr);
	rdma_put_gid_attr(gid);
	ibsa_ib_device_put(device);
	ibsa_fabric_put(options.on);
}

/* The type of a fabric's port does not depend on its link. */
static void port_without_a_cable_has_the_type_of_its_fabric(void **state)
{
	static const char text[] = "Switch 1 \"switch1\"\n"
				   "[1] \"node1\"[1]\n"
				   "Ca 2 \"node1\"\n";
	const struct ibsa_fabric_options opa = { .opa = true };
	struct ibsa_ib_device_options options = { .no_thread = true };
	struct sa_path_rec rec = ah_opa_path(0x12345);
	struct rdma_ah_attr attr;
	struct ib_device *device;

	(void)state;
	assert_int_equal(ibsa_fabric_parse(text, sizeof(text) - 1, &opa, NULL,
					   &options.on),
			 0);
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	for (uint8_t port = 1; port <= 2; port++) {
		assert_int_equal(ib_init_ah_attr_from_path(device, port, &rec,
							   &attr, NULL),
				 0);
		assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_OPA);
		assert_int_equal(attr.opa.dlid, 0x12345);
	}
	ibsa_ib_device_put(device);
	ibsa_fabric_put(options.on);
}

/* If a port is down, its files still contain its LID. */
static void lid_of_a_down_port_determines_the_form(void **state)
{
	struct ah_bench *bench = ah_start_opa();
	struct sa_path_rec rec = ah_opa_path(5);
	struct ib_sa_client client;

	(void)state;
	ib_sa_register_client(&client);
	ah_set(bench, "state", "1: DOWN\n");
	assert_int_equal(opa_pr_query_possible(&client, bench->device, 1, NULL),
			 PR_IB_SUPPORTED);
	assert_int_equal(ib_sa_path_rec_get(&client, bench->device, 1, &rec, 0,
					    1000, 0, NULL, NULL, NULL),
			 -EAGAIN);
	ah_set(bench, "lid", "0xc001\n");
	assert_int_equal(opa_pr_query_possible(&client, bench->device, 1, NULL),
			 PR_NOT_SUPPORTED);
	assert_int_equal(ib_sa_path_rec_get(&client, bench->device, 1, &rec, 0,
					    1000, 0, NULL, NULL, NULL),
			 -EINVAL);
	ib_sa_unregister_client(&client);
	ah_stop(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_without_hops_has_no_grh),
		cmocka_unit_test(path_with_hops_has_one),
		cmocka_unit_test(unknown_source_gid_is_enoent),
		cmocka_unit_test(given_gid_is_taken_as_it_is),
		cmocka_unit_test(path_bits_are_what_the_lmc_leaves),
		cmocka_unit_test(lid_of_a_down_port_determines_the_form),
		cmocka_unit_test(port_determines_the_kind_of_address),
		cmocka_unit_test(omni_path_keeps_long_lids),
		cmocka_unit_test(port_that_is_not_there_is_enodev),
		cmocka_unit_test(port_that_needs_a_grh_gets_one_by_our_name),
		cmocka_unit_test(port_that_needs_none_is_left_without),
		cmocka_unit_test(port_of_a_fabric_works_too),
		cmocka_unit_test(
			port_without_a_cable_has_the_type_of_its_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
