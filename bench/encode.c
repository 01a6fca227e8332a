/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Benchmark B4: a PathRecord Get of 256 bytes is encoded. */
#include <endian.h>
#include <stdlib.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>
#include <iba/ib_types.h>

#include <ibsa/records.h>
#include <ibsa/types.h>

#include "wire/request.h"

#include "bench.h"

enum {
	REQUESTS = 256,
	COUNT = 200 * 1000,
};

#define MASK (IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid) | IBSA_PATH_CM(numb_path))

static uint8_t mads[REQUESTS][IBSA_MAD_BYTES];
static struct ibsa_path paths[REQUESTS];

/*
 * Fill in the paths to request. Each has another destination GID, so that no
 * part of the previous request can be reused.
 */
static void paths_fill(void)
{
	for (unsigned int i = 0; i < REQUESTS; i++) {
		struct ibsa_path *path = &paths[i];

		ibsa_put_be64(path->dgid.raw, UINT64_C(0xfe80) << 48);
		ibsa_put_be64(path->dgid.raw + 8, 0x0002c90300100001 + 16 * i);
		ibsa_put_be64(path->sgid.raw, UINT64_C(0xfe80) << 48);
		ibsa_put_be64(path->sgid.raw + 8, 0x0002c90300100001);
		path->reversible = 1;
		path->numb_path = 1;
	}
}

static void encode_ibsa(uint8_t *mad, const struct ibsa_path *path, uint64_t id)
{
	const struct ibsa__request request = {
		.record = &ibsa_path_record,
		.match = path,
		.mask = MASK,
		.transaction_id = id,
		.method = IBSA_METHOD_GET,
	};
	int err = ibsa__request_encode(&request, mad);

	BENCH_USE(&err);
}

/* Encode the six fields of a PathRecord for which libibmad has names. */
static void encode_libibmad(uint8_t *mad, const struct ibsa_path *path,
			    uint64_t id)
{
	ib_rpc_t rpc = {
		.mgtclass = IB_SA_CLASS,
		.method = IB_MAD_METHOD_GET,
		.attr.id = IB_SA_ATTR_PATHRECORD,
		.mask = MASK,
		.datasz = IB_SA_DATA_SIZE,
		.dataoffs = IB_SA_DATA_OFFS,
		.trid = id,
	};
	uint8_t data[IB_SA_DATA_SIZE] = { 0 };
	int dlid = path->dlid, slid = path->slid;
	int count = path->numb_path, sl = path->sl;

	mad_encode_field(data, IB_SA_PR_DGID_F, (void *)(uintptr_t)&path->dgid);
	mad_encode_field(data, IB_SA_PR_SGID_F, (void *)(uintptr_t)&path->sgid);
	mad_encode_field(data, IB_SA_PR_DLID_F, &dlid);
	mad_encode_field(data, IB_SA_PR_SLID_F, &slid);
	mad_encode_field(data, IB_SA_PR_NPATH_F, &count);
	mad_encode_field(data, IB_SA_PR_SL_F, &sl);
	memset(mad, 0, IBSA_MAD_BYTES);
	mad_encode(mad, &rpc, NULL, data);
}

static void path_structs(ib_path_rec_t *out, const struct ibsa_path *path)
{
	out->service_id = htobe64(path->service_id);
	memcpy(&out->dgid, &path->dgid, 16);
	memcpy(&out->sgid, &path->sgid, 16);
	out->dlid = htobe16(path->dlid);
	out->slid = htobe16(path->slid);
	out->hop_flow_raw = htobe32((uint32_t)path->raw_traffic << 31 |
				    path->flow_label << 8 | path->hop_limit);
	out->tclass = path->tclass;
	out->num_path = (uint8_t)(path->reversible << 7 | path->numb_path);
	out->pkey = htobe16(path->pkey);
	ib_path_rec_set_qos_class(out, path->qos_class);
	ib_path_rec_set_sl(out, path->sl);
	out->mtu = (uint8_t)(path->mtu_selector << 6 | path->mtu);
	out->rate = (uint8_t)(path->rate_selector << 6 | path->rate);
	out->pkt_life = (uint8_t)(path->packet_life_time_selector << 6 |
				  path->packet_life_time);
	out->preference = path->preference;
}

/* Encode a request with the structs in the headers of rdma-core and OpenSM. */
static void encode_structs(uint8_t *mad, const struct ibsa_path *path,
			   uint64_t id)
{
	struct umad_sa_packet *packet = (void *)mad;

	memset(packet, 0, sizeof(*packet));
	packet->mad_hdr.base_version = 1;
	packet->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	packet->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	packet->mad_hdr.method = UMAD_METHOD_GET;
	packet->mad_hdr.tid = htobe64(id);
	packet->mad_hdr.attr_id = htobe16(UMAD_SA_ATTR_PATH_REC);
	packet->comp_mask = htobe64(MASK);
	path_structs((ib_path_rec_t *)packet->data, path);
}

/* The lower bound: a prepared MAD is copied. */
static void encode_copy(uint8_t *mad, const struct ibsa_path *path, uint64_t id)
{
	static const uint8_t prepared[IBSA_MAD_BYTES] = { 1 };

	(void)path;
	(void)id;
	memcpy(mad, prepared, sizeof(prepared));
}

typedef void (*encode_fn)(uint8_t *mad, const struct ibsa_path *path,
			  uint64_t id);

static void encode_each(volatile encode_fn encode, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		encode(mads[i % REQUESTS], &paths[i % REQUESTS], i + 1);
		BENCH_USE(mads);
	}
}

static void run_ibsa(uint64_t count)
{
	encode_each(encode_ibsa, count);
}

static void run_libibmad(uint64_t count)
{
	encode_each(encode_libibmad, count);
}

static void run_structs(uint64_t count)
{
	encode_each(encode_structs, count);
}

static void run_copy(uint64_t count)
{
	encode_each(encode_copy, count);
}

static const struct bench_case cases[] = {
	{ "encode-ibsa", run_ibsa, COUNT },
	{ "encode-libibmad", run_libibmad, COUNT },
	{ "encode-structs", run_structs, COUNT },
	{ "encode-copy", run_copy, COUNT },
};

int main(int argc, char **argv)
{
	paths_fill();
	return bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
