/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A MAD has come to its port. Who takes it: what is built into the port, the
 * SA where it runs, then the agents of those who have opened the port. What
 * nobody takes is refused, as Linux does it, if it asks for an answer.
 *
 * Source: Linux drivers/infiniband/core/mad.c, ib_mad_recv_done() and
 * generate_unmatched_resp().
 */
#include <string.h>

#include "sim/fabric/link.h"
#include "sim/mad/mad.h"
#include "sim/file/open_file.h"
#include "sim/node/pma.h"
#include "sim/node/sma.h"
#include "wire/request.h"

enum {
	SM_INFO = 0x0020,
	QPN_MULTICAST = 0xffffff,
	STATUS_DIRECTION = 0x8000,
};

/* Its queue pair is there, and its P_Key passes. */
static bool gets_in(struct ibsa_fabric *fabric, const struct message *message,
		    const struct arrival *at)
{
	const struct end_setup *setup =
		&fabric->setups[fabric->topo.ports[at->port].end];
	const bool is_smp = mad_is_smp(message->body.bytes);
	const uint32_t qpn = is_smp ? 0 : IBSA_QPN_GSI;
	const bool is_fan = message->mad.dlid >= fabric->lids.limit;

	if (message->mad.dst_qpn != qpn &&
	    !(is_fan && message->mad.dst_qpn == QPN_MULTICAST)) {
		ibsa__drop(fabric, IBSA_DROP_NO_AGENT);
		return false;
	}
	if (is_smp || ibsa__pkey_passes(setup, message->mad.pkey))
		return true;
	ibsa__drop(fabric, IBSA_DROP_PKEY);
	return false;
}

/* As the SA's own clients address it. */
static struct ibsa_address asked_at(const struct ibsa_fabric *fabric,
				    const struct sim_mad *mad)
{
	const struct end_setup *setup =
		&fabric->setups[fabric->topo.ports[mad->from].end];

	return (struct ibsa_address){
		.lid = mad->dlid,
		.qpn = mad->dst_qpn,
		.pkey_index = ibsa__pkey_index(setup, mad->pkey),
		.sl = mad->sl,
		.has_grh = mad->has_grh,
		.gid = mad->dgid,
		.hop_limit = mad->hop_limit,
		.traffic_class = mad->traffic_class,
		.flow_label = mad->flow_label,
	};
}

static void ask_sa(struct ibsa_fabric *fabric, const struct message *message,
		   const struct arrival *at, uint64_t now_ns)
{
	const struct ibsa_address to = asked_at(fabric, &message->mad);
	const struct sa_request request = {
		.end = fabric->topo.ports[message->mad.from].end,
		.to = &to,
		.mad = message->body.bytes,
		.now_ns = now_ns,
	};
	struct message *answer = ibsa__mad_answer(fabric, message, at->port,
						  now_ns);

	/* Without memory it is as if the answer had been lost. */
	if (!answer)
		return;
	/* As OpenSM, not as the other agents of the port. */
	answer->mad.slid = fabric->ends[fabric->sa_end].lid;
	if (ibsa__sa_hear(fabric, &request, &answer->body))
		ibsa__mad_post(fabric, answer, now_ns);
	else
		ibsa__queue_release(fabric->mads.pool, answer);
}

/* Reports that it sends to its own port are for who listens there. */
static bool is_sa(const struct ibsa_fabric *fabric,
		  const struct message *message, const struct arrival *at)
{
	return message->body.bytes[MAD_CLASS] == IBSA_CLASS_SA &&
	       message->body.bytes[MAD_METHOD] != IBSA_METHOD_REPORT &&
	       fabric->sa_running &&
	       fabric->topo.ports[at->port].end == fabric->sa_end &&
	       fabric->ends[fabric->topo.ports[message->mad.from].end].is_seen;
}

void ibsa__mad_refuse(struct ibsa_fabric *fabric, const struct message *message,
		      uint32_t port, uint16_t status, uint64_t now_ns)
{
	struct message *answer = ibsa__mad_answer(fabric, message, port,
						  now_ns);
	uint8_t *mad;

	if (!answer)
		return;
	mad = answer->body.bytes;
	memcpy(mad, message->body.bytes, IBSA_MAD_BYTES);
	answer->body.len = IBSA_MAD_BYTES;
	mad[MAD_METHOD] = ibsa__response_method(mad[MAD_METHOD]);
	if (mad[MAD_CLASS] == CLASS_SMP_DIRECT)
		status |= STATUS_DIRECTION;
	ibsa_put_be16(mad + MAD_STATUS, status);
	ibsa__mad_post(fabric, answer, now_ns);
}

/* The agents that every port has, and the SA where it runs. */
static bool built_in(struct ibsa_fabric *fabric, const struct message *message,
		     const struct arrival *at, uint64_t now_ns)
{
	const uint8_t *mad = message->body.bytes;

	if (mad_is_smp(mad))
		return ibsa__sma_take(fabric, message, at, now_ns);
	if (mad[MAD_CLASS] == CLASS_PERF)
		return ibsa__pma_take(fabric, message, at, now_ns);
	if (!is_sa(fabric, message, at))
		return false;
	ask_sa(fabric, message, at, now_ns);
	return true;
}

/* The built-in SM is asked who it is, or nobody is there. */
static void left_over(struct ibsa_fabric *fabric, const struct message *message,
		      const struct arrival *at, uint64_t now_ns)
{
	const uint8_t *mad = message->body.bytes;
	const uint8_t method = mad[MAD_METHOD];

	if (mad_is_smp(mad) && method == IBSA_METHOD_GET &&
	    ibsa_be16(mad + MAD_ATTRIBUTE) == SM_INFO && fabric->sa_running &&
	    fabric->topo.ports[at->port].end == fabric->sa_end)
		ibsa__sma_sm_info(fabric, message, at, now_ns);
	else if (method == IBSA_METHOD_GET || method == IBSA_METHOD_SET)
		ibsa__mad_refuse(fabric, message, at->port,
				 IBSA_STATUS_BAD_METHOD_ATTRIBUTE, now_ns);
	else
		ibsa__drop(fabric, IBSA_DROP_NO_AGENT);
}

void ibsa__mad_deliver(struct ibsa_fabric *fabric, struct message *message,
		       const struct arrival *at, uint64_t now_ns)
{
	const uint32_t end = fabric->topo.ports[at->port].end;

	if (!gets_in(fabric, message, at))
		return;
	/* Answers to a Report are the SA's, others those of who has asked. */
	if (ibsa__mad_is_response(message->body.bytes) &&
	    ibsa__files_take(fabric, end, message))
		return;
	if (!built_in(fabric, message, at, now_ns) &&
	    !ibsa__files_take(fabric, end, message))
		left_over(fabric, message, at, now_ns);
}

void ibsa__mad_deliver_fan(struct ibsa_fabric *fabric,
			   const struct message *message,
			   const struct arrival *at)
{
	const uint32_t end = fabric->topo.ports[at->port].end;

	if (ibsa__mad_is_response(message->body.bytes) ||
	    mad_is_smp(message->body.bytes) || !gets_in(fabric, message, at))
		return;
	if (!ibsa__files_take(fabric, end, message))
		ibsa__drop(fabric, IBSA_DROP_NO_AGENT);
}
