/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast member records: the kernel's struct, ours, and the query. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ib_sa/mcmember.h"
#include "ib_sa/query.h"

/* Widths of fields that are narrower on the wire than in memory. */
enum {
	FLOW_LABEL_BITS = 0xfffff,
	SELECTOR_BITS = 0x3,
	QUANTITY_BITS = 0x3f,
	NIBBLE_BITS = 0xf,
};

void ibsa__sa_mcmember_to_host(const struct ib_sa_mcmember_rec *rec,
			       struct ibsa_mcmember *out)
{
	*out = (struct ibsa_mcmember){
		.qkey = be32toh(rec->qkey),
		.mlid = be16toh(rec->mlid),
		.mtu_selector = rec->mtu_selector & SELECTOR_BITS,
		.mtu = rec->mtu & QUANTITY_BITS,
		.tclass = rec->traffic_class,
		.pkey = be16toh(rec->pkey),
		.rate_selector = rec->rate_selector & SELECTOR_BITS,
		.rate = rec->rate & QUANTITY_BITS,
		.packet_life_time_selector = rec->packet_life_time_selector &
					     SELECTOR_BITS,
		.packet_life_time = rec->packet_life_time & QUANTITY_BITS,
		.sl = rec->sl & NIBBLE_BITS,
		.flow_label = be32toh(rec->flow_label) & FLOW_LABEL_BITS,
		.hop_limit = rec->hop_limit,
		.scope = rec->scope & NIBBLE_BITS,
		.join_state = rec->join_state & NIBBLE_BITS,
		.proxy_join = rec->proxy_join & 1,
	};
	memcpy(&out->mgid, &rec->mgid, sizeof(out->mgid));
	memcpy(&out->port_gid, &rec->port_gid, sizeof(out->port_gid));
}

void ibsa__sa_mcmember_from_host(const struct ibsa_mcmember *host,
				 struct ib_sa_mcmember_rec *out)
{
	*out = (struct ib_sa_mcmember_rec){
		.qkey = htobe32(host->qkey),
		.mlid = htobe16(host->mlid),
		.mtu_selector = host->mtu_selector,
		.mtu = host->mtu,
		.traffic_class = host->tclass,
		.pkey = htobe16(host->pkey),
		.rate_selector = host->rate_selector,
		.rate = host->rate,
		.packet_life_time_selector = host->packet_life_time_selector,
		.packet_life_time = host->packet_life_time,
		.sl = host->sl,
		.flow_label = htobe32(host->flow_label),
		.hop_limit = host->hop_limit,
		.scope = host->scope,
		.join_state = host->join_state,
		.proxy_join = host->proxy_join,
	};
	memcpy(&out->mgid, &host->mgid, sizeof(out->mgid));
	memcpy(&out->port_gid, &host->port_gid, sizeof(out->port_gid));
}

typedef void (*mcmember_fn)(int status, struct ib_sa_mcmember_rec *resp,
			    void *context);

/* With a status of the SA there is a record, and nothing in it. */
static void tell_mcmember(struct sa_query *query, int status,
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
		.client = client,
		.record = &ibsa_mcmember_record,
		.match = &match,
		.comp_mask = comp_mask,
		.timeout_ms = timeout_ms,
		.method = method,
		.tell = tell_mcmember,
		.callback = (void (*)(void))callback,
		.context = context,
	};

	(void)gfp_mask;
	ibsa__sa_mcmember_to_host(rec, &match);
	return ibsa__sa_query_ask(device, port_num, &request, sa_query);
}
