/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Path records: conversion between the kernel's struct sa_path_rec, ibsa's
 * structs and the bytes of a MAD; and the query for them.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ib_sa/convert.h"
#include "ib_sa/opa.h"
#include "ib_sa/query.h"

/*
 * Bit masks of those fields of the record that are narrower on the wire than
 * in the kernel's struct.
 */
enum {
	FLOW_LABEL_BITS = 0xfffff,
	QOS_CLASS_BITS = 0xfff,
	NUMB_PATH_BITS = 0x7f,
	SL_BITS = 0xf,
	OPA_SL_BITS = 0x1f,
	SELECTOR_BITS = 0x3,
	QUANTITY_BITS = 0x3f,
};

/*
 * Fields that the IB and the OPA form of a path record have in common: width in
 * the kernel's struct, name in the kernel's struct and in ours, and a mask of
 * the bits that the field has on the wire.
 */
/* clang-format off */
#define COMMON_FIELDS(F)						\
	F(64, service_id,     service_id,     UINT64_MAX)		\
	F(32, flow_label,     flow_label,     FLOW_LABEL_BITS)		\
	F(8,  hop_limit,      hop_limit,      UINT8_MAX)		\
	F(8,  traffic_class,  tclass,         UINT8_MAX)		\
	F(8,  reversible,     reversible,     1)			\
	F(8,  numb_path,      numb_path,      NUMB_PATH_BITS)		\
	F(16, pkey,           pkey,           UINT16_MAX)		\
	F(8,  mtu_selector,   mtu_selector,   SELECTOR_BITS)		\
	F(8,  mtu,            mtu,            QUANTITY_BITS)		\
	F(8,  rate_selector,  rate_selector,  SELECTOR_BITS)		\
	F(8,  rate,           rate,           QUANTITY_BITS)		\
	F(8,  packet_life_time_selector, packet_life_time_selector,	\
	  SELECTOR_BITS)						\
	F(8,  packet_life_time, packet_life_time, QUANTITY_BITS)	\
	F(8,  preference,     preference,     UINT8_MAX)
/* clang-format on */

static void ib_to_host(const struct sa_path_rec *rec, struct ibsa_path *host)
{
	*host = (struct ibsa_path){
		.dlid = be16toh(rec->ib.dlid),
		.slid = be16toh(rec->ib.slid),
		.raw_traffic = rec->ib.raw_traffic & 1,
		.qos_class = be16toh(rec->qos_class) & QOS_CLASS_BITS,
		.sl = rec->sl & SL_BITS,
	};
	memcpy(&host->dgid, &rec->dgid, sizeof(host->dgid));
	memcpy(&host->sgid, &rec->sgid, sizeof(host->sgid));
	COMMON_FIELDS(FIELD_TO_HOST)
}

static void ib_from_host(const struct ibsa_path *host, struct sa_path_rec *rec)
{
	*rec = (struct sa_path_rec){ .rec_type = SA_PATH_REC_TYPE_IB };
	rec->ib.dlid = htobe16(host->dlid);
	rec->ib.slid = htobe16(host->slid);
	rec->ib.raw_traffic = host->raw_traffic;
	rec->qos_class = htobe16(host->qos_class);
	memcpy(&rec->dgid, &host->dgid, sizeof(rec->dgid));
	memcpy(&rec->sgid, &host->sgid, sizeof(rec->sgid));
	rec->sl = host->sl;
	COMMON_FIELDS(FIELD_FROM_HOST)
}

static void opa_to_host(const struct sa_path_rec *rec,
			struct ibsa_opa_path *host)
{
	*host = (struct ibsa_opa_path){
		.dlid = be32toh(rec->opa.dlid),
		.slid = be32toh(rec->opa.slid),
		.raw_traffic = rec->opa.raw_traffic & 1,
		.l2_8b = rec->opa.l2_8B & 1,
		.l2_10b = rec->opa.l2_10B & 1,
		.l2_9b = rec->opa.l2_9B & 1,
		.l2_16b = rec->opa.l2_16B & 1,
		.qos_type = rec->opa.qos_type & 3,
		.qos_priority = rec->opa.qos_priority,
		.sl = rec->sl & OPA_SL_BITS,
	};
	memcpy(&host->dgid, &rec->dgid, sizeof(host->dgid));
	memcpy(&host->sgid, &rec->sgid, sizeof(host->sgid));
	COMMON_FIELDS(FIELD_TO_HOST)
}

static void opa_from_host(const struct ibsa_opa_path *host,
			  struct sa_path_rec *rec)
{
	*rec = (struct sa_path_rec){ .rec_type = SA_PATH_REC_TYPE_OPA };
	rec->opa.dlid = htobe32(host->dlid);
	rec->opa.slid = htobe32(host->slid);
	rec->opa.raw_traffic = host->raw_traffic;
	rec->opa.l2_8B = host->l2_8b;
	rec->opa.l2_10B = host->l2_10b;
	rec->opa.l2_9B = host->l2_9b;
	rec->opa.l2_16B = host->l2_16b;
	rec->opa.qos_type = host->qos_type;
	rec->opa.qos_priority = host->qos_priority;
	memcpy(&rec->dgid, &host->dgid, sizeof(rec->dgid));
	memcpy(&rec->sgid, &host->sgid, sizeof(rec->sgid));
	rec->sl = host->sl;
	COMMON_FIELDS(FIELD_FROM_HOST)
}

void ib_sa_pack_path(struct sa_path_rec *rec, void *attribute)
{
	struct ibsa_path host;
	uint64_t over;

	ib_to_host(rec, &host);
	ibsa_path_record.encode(&host, attribute, &over);
}

void ib_sa_unpack_path(void *attribute, struct sa_path_rec *rec)
{
	struct ibsa_path host;

	ibsa_path_record.decode(attribute, &host);
	ib_from_host(&host, rec);
}

typedef void (*path_fn)(int status, struct sa_path_rec *resp, void *context);

/*
 * Call the program's callback for a path query. If the SA returned an error
 * status, the callback gets the record that the SA sent with it, as in the
 * kernel; after any other error, NULL.
 */
static void path_call(struct sa_query *query, int status,
		      const struct ibsa_reply *reply)
{
	path_fn callback = (path_fn)query->callback;
	struct ibsa_opa_path opa;
	struct sa_path_rec rec;
	struct ibsa_path ib;

	if (status && status != -EINVAL) {
		callback(status, NULL, query->context);
		return;
	}
	if (query->query.record == &ibsa_opa_path_record) {
		ibsa__sa_answer_decode(query, reply, &opa);
		opa_from_host(&opa, &rec);
	} else {
		ibsa__sa_answer_decode(query, reply, &ib);
		ib_from_host(&ib, &rec);
	}
	if (query->was_opa)
		ibsa__opa_path_from_ib(&rec, &rec);
	callback(status, &rec, query->context);
}

/*
 * Submit a query for an OPA path record, in the OPA or IB form, whichever the
 * port's manager supports.
 */
static int opa_query_start(struct sa_port *port, struct ib_sa_client *client,
			   const struct sa_path_rec *rec,
			   struct sa_request *request,
			   struct ib_sa_query **sa_query)
{
	struct ibsa_opa_path opa;
	struct sa_path_rec as_ib;
	struct ibsa_path ib;

	switch (ibsa__opa_supported(port)) {
	case PR_OPA_SUPPORTED:
		opa_to_host(rec, &opa);
		request->record = &ibsa_opa_path_record;
		request->match = &opa;
		return ibsa__sa_query_start(port, client, request, sa_query);
	case PR_IB_SUPPORTED:
		request->comp_mask = ibsa__opa_path_to_ib(
			rec, ibsa__sa_prefix(port), request->comp_mask, &as_ib);
		ib_to_host(&as_ib, &ib);
		request->record = &ibsa_path_record;
		request->match = &ib;
		request->was_opa = true;
		return ibsa__sa_query_start(port, client, request, sa_query);
	default:
		return -EINVAL;
	}
}

static int ib_query_start(struct sa_port *port, struct ib_sa_client *client,
			  const struct sa_path_rec *rec,
			  struct sa_request *request,
			  struct ib_sa_query **sa_query)
{
	struct ibsa_path ib;

	ib_to_host(rec, &ib);
	request->record = &ibsa_path_record;
	request->match = &ib;
	return ibsa__sa_query_start(port, client, request, sa_query);
}

static bool has_sa_type(const struct sa_path_rec *rec)
{
	return rec->rec_type == SA_PATH_REC_TYPE_IB ||
	       rec->rec_type == SA_PATH_REC_TYPE_OPA;
}

int ib_sa_path_rec_get(struct ib_sa_client *client, struct ib_device *device,
		       uint8_t port_num, struct sa_path_rec *rec,
		       ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
		       unsigned int gfp_mask, path_fn callback, void *context,
		       struct ib_sa_query **sa_query)
{
	struct sa_request request = {
		.comp_mask = comp_mask,
		.timeout_ms = timeout_ms,
		.method = IBSA_METHOD_GET,
		.tell = path_call,
		.callback = (void (*)(void))callback,
		.context = context,
	};
	struct sa_port *port;
	int err;

	(void)gfp_mask;
	if (sa_query)
		*sa_query = NULL;
	err = ibsa__sa_query_port(client, device, port_num, &port);
	err = ibsa__sa_argument_error(
		err, has_sa_type(rec) && ibsa__sa_mask_is_defined(
						 &ibsa_path_record, comp_mask));
	if (err == -EAGAIN && rec->rec_type == SA_PATH_REC_TYPE_OPA &&
	    !opa_pr_query_possible(client, device, port_num, rec))
		err = -EINVAL;
	if (err)
		return err;
	if (rec->rec_type == SA_PATH_REC_TYPE_OPA)
		return opa_query_start(port, client, rec, &request, sa_query);
	return ib_query_start(port, client, rec, &request, sa_query);
}
