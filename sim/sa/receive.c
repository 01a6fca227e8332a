/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests arrive at the SA, which may be too busy, or keep silent. */
#include <string.h>

#include "sim/mad/queue.h"
#include "sim/sa/sa.h"
#include "wire/request.h"

/* The SA is too busy: it sends the request back and says so. */
static void answer_busy(const uint8_t *mad, struct sa_reply *reply)
{
	memcpy(reply->bytes, mad, IBSA_MAD_BYTES);
	reply->bytes[MAD_METHOD] = ibsa__response_method(mad[MAD_METHOD]);
	ibsa_put_be16(reply->bytes + MAD_STATUS, IBSA_STATUS_BUSY);
	reply->len = IBSA_MAD_BYTES;
}

/* Whether the SA answers, and what. */
static bool ask(struct ibsa_fabric *fabric, const struct sa_request *request,
		struct sa_reply *reply)
{
	if (ibsa__fault_strikes(fabric, IBSA_FAULT_SILENCE))
		return false;
	if (ibsa__fault_strikes(fabric, IBSA_FAULT_BUSY)) {
		answer_busy(request->mad, reply);
		return true;
	}
	if (fabric->sa_source.answer)
		return fabric->sa_source.answer(fabric->sa_source.arg,
						request->mad, reply);
	return ibsa__sa_answer(fabric, request, reply);
}

/* An answer to a Report, which gets none itself. */
static bool is_report_answer(const uint8_t *mad)
{
	return IBSA_GET(sa_header, mgmt_class, mad) == IBSA_CLASS_SA &&
	       IBSA_GET(sa_header, method, mad) == IBSA_METHOD_REPORT_RESP;
}

bool ibsa__sa_hear(struct ibsa_fabric *fabric, const struct sa_request *request,
		   struct sa_reply *reply)
{
	if (is_report_answer(request->mad)) {
		ibsa__report_answered(fabric, request->end,
				      IBSA_GET(sa_header, transaction_id,
					       request->mad));
		return false;
	}
	if (ask(fabric, request, reply))
		return true;
	fabric->stats.unanswered++;
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

static void answer_at_port(struct ibsa_fabric *fabric,
			   const struct message *message,
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
static bool is_for_sa(const struct ibsa_fabric *fabric,
		      const struct message *message, const struct arrival *at)
{
	return message->body.bytes[MAD_CLASS] == IBSA_CLASS_SA &&
	       message->body.bytes[MAD_METHOD] != IBSA_METHOD_REPORT &&
	       fabric->sa_running &&
	       fabric->topo.ports[at->port].end == fabric->sa_end &&
	       fabric->ends[fabric->topo.ports[message->mad.from].end].is_seen;
}

bool ibsa__sa_take(void *arg, const struct message *message,
		   const struct arrival *at, uint64_t now_ns)
{
	struct ibsa_fabric *fabric = arg;

	if (!is_for_sa(fabric, message, at))
		return false;
	answer_at_port(fabric, message, at, now_ns);
	return true;
}
