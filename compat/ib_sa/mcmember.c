/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast member records: conversion between the kernel's struct
 * ib_sa_mcmember_rec and struct ibsa_mcmember, and the query for them.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <ibsa/text.h>

#include "ib_sa/convert.h"
#include "ib_sa/mcmember.h"
#include "ib_sa/query.h"

/*
 * Bit masks of those fields of the record that are narrower on the wire than
 * in the kernel's struct.
 */
enum {
	FLOW_LABEL_BITS = 0xfffff,
	SELECTOR_BITS = 0x3,
	QUANTITY_BITS = 0x3f,
	NIBBLE_BITS = 0xf,
};

/*
 * All fields but the GIDs: number of bits, member of struct
 * ib_sa_mcmember_rec, member of struct ibsa_mcmember, and a mask of the bits
 * that the field has on the wire.
 */
/* clang-format off */
#define NUMBER_FIELDS(F)						\
	F(32, qkey,           qkey,           UINT32_MAX)		\
	F(16, mlid,           mlid,           UINT16_MAX)		\
	F(8,  mtu_selector,   mtu_selector,   SELECTOR_BITS)		\
	F(8,  mtu,            mtu,            QUANTITY_BITS)		\
	F(8,  traffic_class,  tclass,         UINT8_MAX)		\
	F(16, pkey,           pkey,           UINT16_MAX)		\
	F(8,  rate_selector,  rate_selector,  SELECTOR_BITS)		\
	F(8,  rate,           rate,           QUANTITY_BITS)		\
	F(8,  packet_life_time_selector, packet_life_time_selector,	\
	  SELECTOR_BITS)						\
	F(8,  packet_life_time, packet_life_time, QUANTITY_BITS)	\
	F(8,  sl,             sl,             NIBBLE_BITS)		\
	F(32, flow_label,     flow_label,     FLOW_LABEL_BITS)		\
	F(8,  hop_limit,      hop_limit,      UINT8_MAX)		\
	F(8,  scope,          scope,          NIBBLE_BITS)		\
	F(8,  join_state,     join_state,     NIBBLE_BITS)		\
	F(8,  proxy_join,     proxy_join,     1)
/* clang-format on */

void ibsa__sa_mcmember_to_host(const struct ib_sa_mcmember_rec *rec,
			       struct ibsa_mcmember *host)
{
	memset(host, 0, sizeof(*host));
	memcpy(&host->mgid, &rec->mgid, sizeof(host->mgid));
	memcpy(&host->port_gid, &rec->port_gid, sizeof(host->port_gid));
	NUMBER_FIELDS(FIELD_TO_HOST)
}

void ibsa__sa_mcmember_from_host(const struct ibsa_mcmember *host,
				 struct ib_sa_mcmember_rec *rec)
{
	memset(rec, 0, sizeof(*rec));
	memcpy(&rec->mgid, &host->mgid, sizeof(rec->mgid));
	memcpy(&rec->port_gid, &host->port_gid, sizeof(rec->port_gid));
	NUMBER_FIELDS(FIELD_FROM_HOST)
}

struct ibsa_mcmember ibsa__sa_membership(const struct ib_sa_mcmember_rec *rec,
					 uint8_t join_state)
{
	struct ibsa_mcmember host = { .join_state = join_state };

	memcpy(&host.mgid, &rec->mgid, sizeof(host.mgid));
	memcpy(&host.port_gid, &rec->port_gid, sizeof(host.port_gid));
	return host;
}

/*
 * Whether the component mask contains all bits of @quantity: the bit of a
 * value and the bit of its selector.
 */
static bool mask_has_all(ib_sa_comp_mask mask, ib_sa_comp_mask quantity)
{
	return (mask & quantity) == quantity;
}

static bool value_is_selected(uint8_t selector, unsigned int have,
			      unsigned int want)
{
	switch (selector) {
	case IB_SA_GT:
		return have > want;
	case IB_SA_LT:
		return have < want;
	case IB_SA_EQ:
		return have == want;
	default:
		return true;
	}
}

#define MTU (IB_SA_MCMEMBER_REC_MTU | IB_SA_MCMEMBER_REC_MTU_SELECTOR)
#define RATE (IB_SA_MCMEMBER_REC_RATE | IB_SA_MCMEMBER_REC_RATE_SELECTOR)
#define LIFE_TIME                              \
	(IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME | \
	 IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME_SELECTOR)

static bool quantities_fit(const struct ib_sa_mcmember_rec *have,
			   const struct ib_sa_mcmember_rec *want,
			   ib_sa_comp_mask mask)
{
	if (mask_has_all(mask, MTU) &&
	    !value_is_selected(want->mtu_selector, have->mtu, want->mtu))
		return false;
	if (mask_has_all(mask, RATE) &&
	    !value_is_selected(want->rate_selector, ibsa_rate_mbps(have->rate),
			       ibsa_rate_mbps(want->rate)))
		return false;
	return !mask_has_all(mask, LIFE_TIME) ||
	       value_is_selected(want->packet_life_time_selector,
				 have->packet_life_time,
				 want->packet_life_time);
}

/* clang-format off */
#define EXACT_FIELDS(F)				\
	F(QKEY,          qkey)			\
	F(MLID,          mlid)			\
	F(TRAFFIC_CLASS, traffic_class)		\
	F(PKEY,          pkey)			\
	F(SL,            sl)			\
	F(FLOW_LABEL,    flow_label)		\
	F(HOP_LIMIT,     hop_limit)		\
	F(SCOPE,         scope)
/* clang-format on */

#define OR_DIFFERS(bit, field) \
	|| (mask & IB_SA_MCMEMBER_REC_##bit && have->field != want->field)

bool ibsa__sa_mcmember_fits(const struct ib_sa_mcmember_rec *have,
			    const struct ib_sa_mcmember_rec *want,
			    ib_sa_comp_mask mask)
{
	const bool differs = (mask & IB_SA_MCMEMBER_REC_PORT_GID &&
			      memcmp(&have->port_gid, &want->port_gid,
				     sizeof(have->port_gid)) != 0)
		EXACT_FIELDS(OR_DIFFERS);

	return !differs && quantities_fit(have, want, mask);
}

typedef void (*mcmember_fn)(int status, struct ib_sa_mcmember_rec *resp,
			    void *context);

/*
 * Call the program's callback for a multicast member query. If the SA returned
 * an error status, the callback gets the record that the SA sent with it, as in
 * the kernel; after any other error, NULL.
 */
static void mcmember_call(struct sa_query *query, int status,
			  const struct ibsa_reply *reply)
{
	mcmember_fn callback = (mcmember_fn)query->callback;
	struct ib_sa_mcmember_rec rec;
	struct ibsa_mcmember host;

	ibsa__sa_answer_decode(query, reply, &host);
	ibsa__sa_mcmember_from_host(&host, &rec);
	callback(status, status && status != -EINVAL ? NULL : &rec,
		 query->context);
}

int ib_sa_mcmember_rec_query(struct ib_sa_client *client,
			     struct ib_device *device, uint8_t port_num,
			     uint8_t method, struct ib_sa_mcmember_rec *rec,
			     ib_sa_comp_mask comp_mask,
			     unsigned long timeout_ms, unsigned int gfp_mask,
			     mcmember_fn callback, void *context,
			     struct ib_sa_query **sa_query)
{
	struct ibsa_mcmember match;
	const struct sa_request request = {
		.record = &ibsa_mcmember_record,
		.match = &match,
		.comp_mask = comp_mask,
		.timeout_ms = timeout_ms,
		.method = method,
		.tell = mcmember_call,
		.callback = (void (*)(void))callback,
		.context = context,
	};

	(void)gfp_mask;
	ibsa__sa_mcmember_to_host(rec, &match);
	return ibsa__sa_query_submit(client, device, port_num, &request,
				     sa_query);
}
