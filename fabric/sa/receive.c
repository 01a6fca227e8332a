/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receives MADs for the SA, and applies the faults that concern the SA. */
#include <string.h>

#include "fabric/mad/queue.h"
#include "fabric/sa/job.h"
#include "fabric/sa/redirect.h"
#include "fabric/sa/sa.h"
#include "wire/request.h"

/* Return the request with status busy. */
static void answer_busy(const uint8_t *mad, struct sa_reply *reply)
{
	memcpy(reply->bytes, mad, IBSA_MAD_BYTES);
	reply->bytes[MAD_METHOD] = ibsa__response_method(mad[MAD_METHOD]);
	ibsa_put_be16(reply->bytes + MAD_STATUS, IBSA_STATUS_BUSY);
	reply->len = IBSA_MAD_BYTES;
}

/*
 * With the SM profiles "slow" and "full", requests wait until the SA has served
 * those before them. Return: whether there is a place for a request; then,
 * sa->free_ns is the time at which the SA has served it.
 */
static bool backlog_add(struct sa *sa, uint64_t now_ns)
{
	enum { BACKLOG = 64, PER_MS = 16 };
	const uint64_t service_ns = NS_PER_MS / PER_MS;

	if (sa->free_ns < now_ns)
		sa->free_ns = now_ns;
	if (sa->free_ns - now_ns > (BACKLOG - 1) * service_ns)
		return false;
	sa->free_ns += service_ns;
	return true;
}

static bool sa_is_slow(const struct sa *sa)
{
	return sa->profile == IBSA_SM_PROFILE_SLOW ||
	       sa->profile == IBSA_SM_PROFILE_FULL;
}

/*
 * Answer the request: by a fault if one applies, otherwise by the source of
 * recorded answers if there is one, otherwise by the embedded SA. Return:
 * whether there is an answer, which @slice may have paused.
 */
static bool request_answer(struct sa *sa, const struct sa_request *request,
			   struct message *answer, struct sa_slice *slice)
{
	struct sa_reply *reply = &answer->body;
	const bool is_full = sa_is_slow(sa) &&
			     !backlog_add(sa, request->now_ns);

	if (ibsa__fault_strikes(sa->net, IBSA_FAULT_SILENCE) ||
	    (is_full && sa->profile == IBSA_SM_PROFILE_SLOW))
		return false;
	if (ibsa__fault_strikes(sa->net, IBSA_FAULT_BUSY) || is_full) {
		answer_busy(request->mad, reply);
		return true;
	}
	if (answer->due_ns < sa->free_ns)
		answer->due_ns = sa->free_ns;
	if (ibsa__sa_redirect(sa, request, reply))
		return true;
	if (sa->source.answer)
		return sa->source.answer(sa->source.arg, request->mad, reply);
	return ibsa__sa_answer(sa, request, reply, slice);
}

/*
 * Return: the SA's address as the requester used it: the LID, QP and P_Key to
 * which the request was sent.
 */
static struct ibsa_address request_address(const struct subnet *subnet,
					   const struct mad_headers *mad)
{
	const uint32_t from = subnet->topo.ports[mad->from].end;
	const struct end_setup *setup = &subnet->setups[from];

	return (struct ibsa_address){
		.lid = mad->dlid,
		.qpn = mad->dst_qpn,
		.pkey_index = ibsa__pkey_index(setup, mad->pkey),
		.sl = mad->sl,
		.path_bits = (uint8_t)(mad->slid &
				       (subnet->ends[from].lid_count - 1u)),
		.has_grh = mad->has_grh,
		.gid = mad->dgid,
		.hop_limit = mad->hop_limit,
		.traffic_class = mad->traffic_class,
		.flow_label = mad->flow_label,
	};
}

/*
 * Find the client of a request whose answer may take long, and the end of its
 * slice. Return: false: the sender of the request has gone.
 */
static bool slice_find(const struct sa *sa, const uint8_t *mad,
		       struct sa_client **out_client, struct sa_slice *out)
{
	*out_client = NULL;
	*out = (struct sa_slice){ .until_ns = UINT64_MAX };
	if (!sa->slicer.find || mad[MAD_METHOD] != IBSA_METHOD_GET_TABLE)
		return true;
	if (!sa->slicer.find(sa->slicer.arg, mad, out_client))
		return false;
	if (*out_client)
		out->until_ns = (*out_client)->until_ns;
	return true;
}

static void message_answer(struct sa *sa, const struct message *message,
			   const struct arrival *at, uint64_t now_ns)
{
	const struct ibsa_address to = request_address(sa->subnet,
						       &message->mad);
	const struct sa_request request = {
		.end = sa->subnet->topo.ports[message->mad.from].end,
		.at = sa->subnet->topo.ports[at->port].end,
		.to = &to,
		.mad = message->body.bytes,
		.now_ns = now_ns,
	};
	struct sa_client *client;
	struct sa_slice slice;
	struct message *answer;

	if (!slice_find(sa, request.mad, &client, &slice))
		return;
	answer = ibsa__mad_answer(sa->net, message, at->port, now_ns);
	/* Without memory, the answer is lost. */
	if (!answer)
		return;
	/*
	 * The SA sends from the base LID of its port, as OpenSM does. The other
	 * agents at the port send replies from the LID to which the request was
	 * sent.
	 */
	answer->mad.slid = sa->subnet->ends[request.at].lid;
	if (!request_answer(sa, &request, answer, &slice)) {
		sa->net->stats.unanswered++;
		ibsa__queue_release(sa->net->mads.pool, answer);
	} else if (slice.is_paused) {
		ibsa__sa_job_add(sa, client, &request, &slice, answer);
	} else {
		ibsa__mad_post(sa->net, answer, now_ns);
	}
}

/*
 * Whether a MAD with this method is a request to the SA. The SA's own Reports
 * and replies may be sent to its own port, where they are for its clients: an
 * SA that answered a reply would answer itself without end.
 */
static bool is_sa_method(uint8_t method)
{
	return method == IBSA_METHOD_REPORT_RESP ||
	       (!(method & METHOD_RESPONSE) && method != IBSA_METHOD_REPORT);
}

/* Whether the SA processes the MAD. */
static bool is_for_sa(const struct sa *sa, const struct message *message,
		      const struct arrival *at)
{
	const struct subnet *subnet = sa->subnet;

	return message->body.bytes[MAD_CLASS] == IBSA_CLASS_SA &&
	       is_sa_method(message->body.bytes[MAD_METHOD]) &&
	       subnet->sa_running &&
	       ibsa__sa_is_at(sa, subnet->topo.ports[at->port].end,
			      message->mad.dst_qpn) &&
	       subnet->ends[subnet->topo.ports[message->mad.from].end].is_seen;
}

bool ibsa__sa_take(void *arg, const struct message *message,
		   const struct arrival *at, uint64_t now_ns)
{
	const uint8_t *mad = message->body.bytes;
	struct sa *sa = arg;

	if (!is_for_sa(sa, message, at))
		return false;
	if (mad[MAD_METHOD] == IBSA_METHOD_REPORT_RESP)
		ibsa__report_answered(
			sa, sa->subnet->topo.ports[message->mad.from].end,
			ibsa_be64(mad + MAD_TID));
	else
		message_answer(sa, message, at, now_ns);
	return true;
}

static void forget_subscriptions(struct sa *sa)
{
	const struct subscriptions *all = &sa->subscriptions;

	for (size_t i = 0; i < all->count; i++)
		sa->subnet->setups[all->all[i].end].is_forgotten = true;
	ibsa__subscriptions_done(&sa->subscriptions);
	ibsa__reports_reset(sa);
}

void ibsa__sa_forget(struct sa *sa)
{
	ibsa__services_done(&sa->services);
	forget_subscriptions(sa);
	ibsa__groups_reset(&sa->groups);
	ibsa__aliases_done(&sa->subnet->aliases);
}
