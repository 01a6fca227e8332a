/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From path records to address handle attributes: on made-up devices of every
 * kind, and on an embedded fabric. The system's answers about routes are the
 * test's, by the linker's --wrap; device_route.c has real ones.
 */
#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <infiniband/verbs.h>
#include <linux/rtnetlink.h>

#include <ibsa/ib_sa.h>
#include <ibsa/sim.h>

#include "device/nl.h"
#include "test/device_tree.h"

#define GID_0 "fe80:0000:0000:0000:0202:c9ff:fe00:0001\n"
#define GID_3 "fd00:0000:0000:0000:0000:0000:0000:0003\n"

static const union ib_gid gid_0 = {
	.raw = { 0xfe, 0x80, [8] = 2, 2, 0xc9, 0xff, 0xfe, 0, 0, 1 },
};
static const union ib_gid gid_3 = { .raw = { 0xfd, [15] = 3 } };
static const union ib_gid remote = { .raw = { 0xfd, [15] = 9 } };

/* What the system answers who asks for a route, and for which interface. */
static struct {
	int err;
	unsigned int calls;
	bool is_routed;
	uint32_t ifindex;
} route;

int __wrap_ibsa__nl_ask(const struct ibsa__nl_question *question);
const void *__wrap_ibsa__nl_find(const struct ibsa__nl_answer *answer,
				 uint16_t type, size_t len);

int __wrap_ibsa__nl_ask(const struct ibsa__nl_question *question)
{
	route.calls++;
	for (size_t i = 0; i < question->attr_count; i++) {
		if (question->attrs[i].type == RTA_OIF)
			memcpy(&route.ifindex, question->attrs[i].data,
			       sizeof(route.ifindex));
	}
	if (!route.err)
		question->answer(NULL, question->arg);
	return route.err;
}

const void *__wrap_ibsa__nl_find(const struct ibsa__nl_answer *answer,
				 uint16_t type, size_t len)
{
	assert_null(answer);
	assert_true(len >= sizeof(route.ifindex));
	if (type == RTA_OIF || (type == RTA_GATEWAY && route.is_routed))
		return &route.ifindex;
	return NULL;
}

struct bench {
	struct tree tree;
	struct ib_device *device;
};

static void set(struct bench *bench, const char *file, const char *text)
{
	tree_set_port(&bench->tree, "mlx5_0", 1, file, text);
}

/* A device with a port of LMC 2, and a GID at 0 and at 3. */
static struct bench *start(const char *link_layer, const char *type,
			   const char *driver)
{
	static struct bench bench;
	const struct ibsa_device_options options = { .name = "mlx5_0",
						     .no_thread = true };

	memset(&route, 0, sizeof(route));
	tree_make(&bench.tree);
	tree_add_device(&bench.tree, "mlx5_0");
	set(&bench, "link_layer", link_layer);
	set(&bench, "lid_mask_count", "2\n");
	set(&bench, "gids/0", GID_0);
	set(&bench, "gid_attrs/types/0", type);
	set(&bench, "gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	set(&bench, "gids/3", GID_3);
	set(&bench, "gid_attrs/types/3", type);
	set(&bench, "gid_attrs/ndevs/3", "lo\n");
	tree_write(&bench.tree, "class/infiniband/mlx5_0/device/uevent",
		   driver);
	assert_int_equal(ibsa_device_open(&options, NULL, &bench.device), 0);
	return &bench;
}

static struct bench *start_ib(void)
{
	return start("InfiniBand\n", "IB/RoCE v1\n", "");
}

static struct bench *start_roce(void)
{
	return start("Ethernet\n", "RoCE v2\n", "");
}

static struct bench *start_opa(void)
{
	return start("InfiniBand\n", "IB/RoCE v1\n", "DRIVER=hfi1\n");
}

static void stop(struct bench *bench)
{
	ibsa_device_put(bench->device);
	tree_remove(&bench->tree);
}

static struct sa_path_rec ib_path(void)
{
	struct sa_path_rec rec = {
		.dgid = remote,
		.sgid = gid_3,
		.sl = 5,
		.rate_selector = 2,
		.rate = 7,
		.traffic_class = 0x21,
		.rec_type = SA_PATH_REC_TYPE_IB,
	};

	rec.flow_label = htobe32(0xabcde);
	rec.ib.dlid = htobe16(0x1234);
	rec.ib.slid = htobe16(0x00ff);
	return rec;
}

static struct sa_path_rec opa_path(uint32_t dlid)
{
	struct sa_path_rec rec = ib_path();

	rec.rec_type = SA_PATH_REC_TYPE_OPA;
	memset(&rec.opa, 0, sizeof(rec.opa));
	rec.opa.dlid = htobe32(dlid);
	rec.opa.slid = htobe32(0x100ff);
	return rec;
}

static struct sa_path_rec roce_path(enum sa_path_rec_type type)
{
	struct sa_path_rec rec = ib_path();

	rec.rec_type = type;
	memset(&rec.roce, 0, sizeof(rec.roce));
	memcpy(rec.roce.dmac, "\x02\x03\x04\x05\x06\x07", 6);
	return rec;
}

static int init(struct bench *bench, struct sa_path_rec *rec,
		struct rdma_ah_attr *attr)
{
	return ib_init_ah_attr_from_path(bench->device, 1, rec, attr, NULL);
}

static void path_without_hops_has_no_grh(void **state)
{
	struct bench *bench = start_ib();
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	memset(&attr, 0xa5, sizeof(attr));
	assert_int_equal(init(bench, &rec, &attr), 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_IB);
	assert_int_equal(attr.sl, 5);
	assert_int_equal(attr.static_rate, 7);
	assert_int_equal(attr.port_num, 1);
	assert_int_equal(attr.ib.dlid, 0x1234);
	assert_int_equal(attr.ib.src_path_bits, 3);
	assert_int_equal(attr.ah_flags, 0);
	assert_null(attr.grh.sgid_attr);
	rdma_destroy_ah_attr(&attr);
	stop(bench);
}

static void path_with_hops_has_one(void **state)
{
	struct bench *bench = start_ib();
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	rec.hop_limit = 64;
	assert_int_equal(init(bench, &rec, &attr), 0);
	assert_int_equal(attr.ah_flags, IB_AH_GRH);
	assert_memory_equal(&attr.grh.dgid, &remote, sizeof(remote));
	assert_int_equal(attr.grh.flow_label, 0xabcde);
	assert_int_equal(attr.grh.sgid_index, 3);
	assert_int_equal(attr.grh.hop_limit, 64);
	assert_int_equal(attr.grh.traffic_class, 0x21);
	assert_memory_equal(&attr.grh.sgid_attr->gid, &gid_3, sizeof(gid_3));
	rdma_destroy_ah_attr(&attr);
	assert_null(attr.grh.sgid_attr);
	rdma_destroy_ah_attr(&attr);
	stop(bench);
}

/* What was filled by then stays, and no GID is held. */
static void source_that_the_port_has_not_is_enoent(void **state)
{
	struct bench *bench = start_ib();
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	rec.hop_limit = 1;
	rec.sgid = remote;
	assert_int_equal(init(bench, &rec, &attr), -ENOENT);
	assert_int_equal(attr.ib.dlid, 0x1234);
	assert_int_equal(attr.ah_flags, 0);
	assert_null(attr.grh.sgid_attr);
	rdma_destroy_ah_attr(&attr);
	stop(bench);
}

/* And is held once more: each owner puts its own. */
static void given_gid_is_taken_as_it_is(void **state)
{
	struct bench *bench = start_ib();
	const struct ib_gid_attr *gid = rdma_get_gid_attr(bench->device, 1, 0);
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	assert_false(ibsa_is_err(gid));
	rec.hop_limit = 1;
	rec.sgid = remote;
	assert_int_equal(ib_init_ah_attr_from_path(bench->device, 1, &rec,
						   &attr, gid),
			 0);
	assert_ptr_equal(attr.grh.sgid_attr, gid);
	assert_int_equal(attr.grh.sgid_index, 0);
	rdma_put_gid_attr(gid);
	assert_memory_equal(&attr.grh.sgid_attr->gid, &gid_0, sizeof(gid_0));
	rdma_destroy_ah_attr(&attr);
	stop(bench);
}

static int path_bits(struct bench *bench)
{
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;

	assert_int_equal(init(bench, &rec, &attr), 0);
	return attr.ib.src_path_bits;
}

static void path_bits_are_what_the_lmc_leaves(void **state)
{
	struct bench *bench = start_ib();

	(void)state;
	assert_int_equal(path_bits(bench), 3);
	set(bench, "lid_mask_count", "0\n");
	assert_int_equal(path_bits(bench), 0);
	set(bench, "lid_mask_count", "7\n");
	assert_int_equal(path_bits(bench), 0x7f);
	set(bench, "lid_mask_count", "1\n");
	set(bench, "sm_lid", "0x0\n");
	assert_int_equal(path_bits(bench), 0x7f);
	set(bench, "sm_lid", "nonsense\n");
	assert_int_equal(path_bits(bench), 0x7f);
	stop(bench);
}

static void port_says_what_kind_it_is_not_the_record(void **state)
{
	struct sa_path_rec rec = ib_path();
	struct bench *bench = start_opa();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(init(bench, &rec, &attr), 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_OPA);
	assert_int_equal(attr.opa.dlid, 0x1234);
	assert_int_equal(attr.opa.src_path_bits, 3);
	stop(bench);
	bench = start_roce();
	assert_int_equal(init(bench, &rec, &attr), 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_ROCE);
	for (size_t i = 0; i < sizeof(attr.roce.dmac); i++)
		assert_int_equal(attr.roce.dmac[i], 0);
	assert_int_equal(attr.ah_flags, 0);
	stop(bench);
}

static void omni_path_keeps_long_lids(void **state)
{
	struct sa_path_rec rec = opa_path(0x12345);
	struct bench *bench = start_opa();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(init(bench, &rec, &attr), 0);
	assert_int_equal(attr.opa.dlid, 0x12345);
	assert_false(attr.opa.make_grd);
	/* The permissive LID of 16 bits is one like others here. */
	rec = opa_path(0xffff);
	assert_int_equal(init(bench, &rec, &attr), 0);
	assert_true(attr.opa.make_grd);
	rec = ib_path();
	rec.ib.dlid = htobe16(0xffff);
	assert_int_equal(init(bench, &rec, &attr), 0);
	assert_false(attr.opa.make_grd);
	stop(bench);
}

static void roce_path_always_has_a_grh(void **state)
{
	struct sa_path_rec rec = roce_path(SA_PATH_REC_TYPE_ROCE_V2);
	struct bench *bench = start_roce();
	struct rdma_ah_attr attr;

	(void)state;
	rec.roce.route_resolved = true;
	assert_int_equal(init(bench, &rec, &attr), 0);
	assert_int_equal(route.calls, 0);
	assert_int_equal(attr.type, RDMA_AH_ATTR_TYPE_ROCE);
	assert_memory_equal(attr.roce.dmac, rec.roce.dmac, 6);
	assert_int_equal(attr.ah_flags, IB_AH_GRH);
	assert_int_equal(attr.grh.sgid_index, 3);
	assert_int_equal(attr.grh.hop_limit, 0);
	rdma_destroy_ah_attr(&attr);
	/* The table has this GID for the other version only. */
	rec = roce_path(SA_PATH_REC_TYPE_ROCE_V1);
	rec.roce.route_resolved = true;
	assert_int_equal(init(bench, &rec, &attr), -ENOENT);
	stop(bench);
}

static int roce_init(struct bench *bench, struct sa_path_rec *rec, int index)
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
	struct sa_path_rec rec = roce_path(SA_PATH_REC_TYPE_ROCE_V2);
	struct bench *bench = start_roce();

	(void)state;
	assert_int_equal(roce_init(bench, &rec, 3), 0);
	assert_int_equal(route.calls, 1);
	assert_int_equal(route.ifindex, if_nametoindex("lo"));
	assert_true(rec.roce.route_resolved);
	assert_int_equal(roce_init(bench, &rec, 3), 0);
	assert_int_equal(route.calls, 1);
	stop(bench);
}

static void roce_path_without_a_route_fails(void **state)
{
	struct sa_path_rec rec = roce_path(SA_PATH_REC_TYPE_ROCE_V1);
	struct bench *bench = start_roce();

	(void)state;
	/* No source, and one without an interface. */
	assert_int_equal(roce_init(bench, &rec, -1), -EINVAL);
	assert_int_equal(roce_init(bench, &rec, 0), -EINVAL);
	assert_int_equal(route.calls, 0);
	route.err = -EHOSTUNREACH;
	assert_int_equal(roce_init(bench, &rec, 3), -EHOSTUNREACH);
	assert_false(rec.roce.route_resolved);
	/* Over a gateway version 1 does not go. */
	route.err = 0;
	route.is_routed = true;
	assert_int_equal(roce_init(bench, &rec, 3), -EINVAL);
	rec = roce_path(SA_PATH_REC_TYPE_ROCE_V2);
	assert_int_equal(roce_init(bench, &rec, 3), 0);
	stop(bench);
}

static void port_that_is_not_there_is_enodev(void **state)
{
	struct bench *bench = start_ib();
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ib_init_ah_attr_from_path(bench->device, 2, &rec,
						   &attr, NULL),
			 -ENODEV);
	assert_int_equal(ibsa_init_ah_attr_from_path(bench->device, 0, &rec,
						     &attr, NULL),
			 -ENODEV);
	rdma_destroy_ah_attr(&attr);
	stop(bench);
}

static void port_that_needs_a_grh_gets_one_by_our_name(void **state)
{
	struct bench *bench = start_roce();
	const struct ib_gid_attr *gid = rdma_get_gid_attr(bench->device, 1, 3);
	struct sa_path_rec rec = ib_path();
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
	stop(bench);
}

static void port_that_needs_none_is_left_without(void **state)
{
	struct bench *bench = start_ib();
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ibsa_init_ah_attr_from_path(bench->device, 1, &rec,
						     &attr, NULL),
			 0);
	assert_int_equal(attr.ah_flags, 0);
	stop(bench);
}

static void entry_is_held_by_its_index(void **state)
{
	struct bench *bench = start_roce();
	const struct ib_gid_attr *gid = rdma_get_gid_attr(bench->device, 1, 3);
	struct ib_device *device = bench->device;

	(void)state;
	assert_ptr_equal(gid->device, device);
	assert_memory_equal(&gid->gid, &gid_3, sizeof(gid_3));
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
			 -ENODATA);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 1, -1)),
			 -ENODATA);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 0, 0)),
			 -EINVAL);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 2, 0)),
			 -EINVAL);
	assert_int_equal(ibsa_ptr_err(rdma_get_gid_attr(device, 257, 0)),
			 -EINVAL);
	stop(bench);
}

static int find_err(struct bench *bench, const union ib_gid *gid,
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
	struct bench *bench = start_roce();

	(void)state;
	assert_int_equal(find_err(bench, &gid_3, v2, 1, 0), 0);
	assert_int_equal(find_err(bench, &gid_3, v2, 1, lo), 0);
	assert_int_equal(find_err(bench, &gid_3, v2, 1, lo + 1), -ENOENT);
	assert_int_equal(find_err(bench, &gid_3, IB_GID_TYPE_IB, 1, 0),
			 -ENOENT);
	assert_int_equal(find_err(bench, &remote, v2, 1, 0), -ENOENT);
	assert_int_equal(find_err(bench, &gid_3, v2, 2, 0), -ENOENT);
	assert_int_equal(find_err(bench, &gid_3, v2, 0, 0), -ENOENT);
	assert_int_equal(find_err(bench, &gid_3, v2, 257, 0), -ENOENT);
	stop(bench);
}

/* A fabric's port is asked through its client: GID 0 is all it has. */
static void port_of_a_fabric_serves_too(void **state)
{
	const struct ibsa_fabric_options virtual = { .virtual_clock = true };
	struct ibsa_device_options options = { .no_thread = true };
	struct sa_path_rec rec = ib_path();
	const struct ib_gid_attr *gid;
	struct ib_device *device;
	struct rdma_ah_attr attr;

	(void)state;
	assert_int_equal(ibsa_fabric_load(FABRIC, &virtual, NULL, &options.on),
			 0);
	assert_int_equal(ibsa_device_open(&options, NULL, &device), 0);
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
	ibsa_device_put(device);
	ibsa_fabric_put(options.on);
}

static void libibverbs_gets_the_same(void **state)
{
	struct bench *bench = start_ib();
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;
	struct ibv_ah_attr ibv;

	(void)state;
	rec.hop_limit = 64;
	assert_int_equal(init(bench, &rec, &attr), 0);
	memset(&ibv, 0xa5, sizeof(ibv));
	assert_int_equal(ibsa_ah_attr_to_ibv(&attr, &ibv), 0);
	assert_int_equal(ibv.dlid, 0x1234);
	assert_int_equal(ibv.sl, 5);
	assert_int_equal(ibv.src_path_bits, 3);
	assert_int_equal(ibv.static_rate, 7);
	assert_int_equal(ibv.is_global, 1);
	assert_int_equal(ibv.port_num, 1);
	assert_memory_equal(&ibv.grh.dgid, &remote, sizeof(remote));
	assert_int_equal(ibv.grh.flow_label, 0xabcde);
	assert_int_equal(ibv.grh.sgid_index, 3);
	assert_int_equal(ibv.grh.hop_limit, 64);
	assert_int_equal(ibv.grh.traffic_class, 0x21);
	rdma_destroy_ah_attr(&attr);
	attr.ah_flags = 0;
	assert_int_equal(ibsa_ah_attr_to_ibv(&attr, &ibv), 0);
	assert_int_equal(ibv.is_global, 0);
	assert_int_equal(ibv.grh.hop_limit, 0);
	stop(bench);
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

static void what_libibverbs_has_no_room_for_is_refused(void **state)
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
		cmocka_unit_test(path_without_hops_has_no_grh),
		cmocka_unit_test(path_with_hops_has_one),
		cmocka_unit_test(source_that_the_port_has_not_is_enoent),
		cmocka_unit_test(given_gid_is_taken_as_it_is),
		cmocka_unit_test(path_bits_are_what_the_lmc_leaves),
		cmocka_unit_test(port_says_what_kind_it_is_not_the_record),
		cmocka_unit_test(omni_path_keeps_long_lids),
		cmocka_unit_test(roce_path_always_has_a_grh),
		cmocka_unit_test(route_of_a_roce_path_is_resolved_once),
		cmocka_unit_test(roce_path_without_a_route_fails),
		cmocka_unit_test(port_that_is_not_there_is_enodev),
		cmocka_unit_test(port_that_needs_a_grh_gets_one_by_our_name),
		cmocka_unit_test(port_that_needs_none_is_left_without),
		cmocka_unit_test(entry_is_held_by_its_index),
		cmocka_unit_test(entry_is_found_by_gid_type_and_interface),
		cmocka_unit_test(port_of_a_fabric_serves_too),
		cmocka_unit_test(libibverbs_gets_the_same),
		cmocka_unit_test(what_libibverbs_has_no_room_for_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
