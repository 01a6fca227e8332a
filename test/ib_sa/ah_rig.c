/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Simulated devices of every kind, and paths for them. */
#include "test/ib_sa/ah_rig.h"

#include <linux/rtnetlink.h>

#include "device/nl.h"

#define GID_0 "fe80:0000:0000:0000:0202:c9ff:fe00:0001\n"

const union ib_gid ah_gid_0 = {
	.raw = { 0xfe, 0x80, [8] = 2, 2, 0xc9, 0xff, 0xfe, 0, 0, 1 },
};
const union ib_gid ah_gid_3 = { .raw = { 0xfd, [15] = 3 } };
const union ib_gid ah_remote = { .raw = { 0xfd, [15] = 9 } };

struct ah_route ah_route;

int __wrap_ibsa__nl_query(const struct ibsa__nl_request *request);
const void *__wrap_ibsa__nl_find(const struct ibsa__nl_reply *answer,
				 uint16_t type, size_t len);

int __wrap_ibsa__nl_query(const struct ibsa__nl_request *request)
{
	ah_route.calls++;
	for (size_t i = 0; i < request->attr_count; i++) {
		if (request->attrs[i].type == RTA_OIF)
			memcpy(&ah_route.ifindex, request->attrs[i].data,
			       sizeof(ah_route.ifindex));
	}
	if (!ah_route.err)
		request->on_reply(NULL, request->arg);
	return ah_route.err;
}

const void *__wrap_ibsa__nl_find(const struct ibsa__nl_reply *answer,
				 uint16_t type, size_t len)
{
	assert_null(answer);
	assert_true(len >= sizeof(ah_route.ifindex));
	if (type == RTA_OIF || (type == RTA_GATEWAY && ah_route.is_routed))
		return &ah_route.ifindex;
	return NULL;
}

void ah_set(struct ah_bench *bench, const char *file, const char *text)
{
	tree_set_port(&bench->tree, "mlx5_0", 1, file, text);
}

/* A device with a port of LMC 2, and GIDs 0 and 3. */
static struct ah_bench *start(const char *link_layer, const char *type,
			      const char *driver)
{
	static struct ah_bench bench;
	const struct ibsa_ib_device_options options = { .name = "mlx5_0",
							.no_thread = true };

	memset(&ah_route, 0, sizeof(ah_route));
	tree_make(&bench.tree);
	tree_add_device(&bench.tree, "mlx5_0");
	ah_set(&bench, "link_layer", link_layer);
	ah_set(&bench, "lid_mask_count", "2\n");
	ah_set(&bench, "gids/0", GID_0);
	ah_set(&bench, "gid_attrs/types/0", type);
	ah_set(&bench, "gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	ah_set(&bench, "gids/3", AH_GID_3);
	ah_set(&bench, "gid_attrs/types/3", type);
	ah_set(&bench, "gid_attrs/ndevs/3", "lo\n");
	tree_write(&bench.tree, "class/infiniband/mlx5_0/device/uevent",
		   driver);
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &bench.device), 0);
	return &bench;
}

struct ah_bench *ah_start_ib(void)
{
	return start("InfiniBand\n", "IB/RoCE v1\n", "");
}

struct ah_bench *ah_start_roce(void)
{
	return start("Ethernet\n", "RoCE v2\n", "");
}

struct ah_bench *ah_start_opa(void)
{
	return start("InfiniBand\n", "IB/RoCE v1\n", "DRIVER=hfi1\n");
}

void ah_stop(struct ah_bench *bench)
{
	ibsa_ib_device_put(bench->device);
	tree_remove(&bench->tree);
}

struct sa_path_rec ah_ib_path(void)
{
	struct sa_path_rec rec = {
		.dgid = ah_remote,
		.sgid = ah_gid_3,
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

struct sa_path_rec ah_opa_path(uint32_t dlid)
{
	struct sa_path_rec rec = ah_ib_path();

	rec.rec_type = SA_PATH_REC_TYPE_OPA;
	memset(&rec.opa, 0, sizeof(rec.opa));
	rec.opa.dlid = htobe32(dlid);
	rec.opa.slid = htobe32(0x100ff);
	return rec;
}

struct sa_path_rec ah_roce_path(enum sa_path_rec_type type)
{
	struct sa_path_rec rec = ah_ib_path();

	rec.rec_type = type;
	memset(&rec.roce, 0, sizeof(rec.roce));
	memcpy(rec.roce.dmac, "\x02\x03\x04\x05\x06\x07", 6);
	return rec;
}

int ah_init(struct ah_bench *bench, struct sa_path_rec *rec,
	    struct rdma_ah_attr *attr)
{
	return ib_init_ah_attr_from_path(bench->device, 1, rec, attr, NULL);
}
