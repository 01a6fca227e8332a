/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends MADs between ports of the fabric. The faults of the fabric affect MADs
 * between all ports alike. A MAD without a delay arrives before the function
 * that sends it returns.
 */
#include "fabric/mad/port.h"
#include "fabric/mad/net.h"

void ibsa__mads_init(struct mad_net *net)
{
	net->mads.net = net;
	net->mads.pool = &net->mads.queue;
}

void ibsa__mads_done(struct mad_net *net)
{
	ibsa__impaired_link_done(&net->mads);
}

struct message *ibsa__mad_new(struct mad_net *net)
{
	return ibsa__queue_new(net->mads.pool);
}

void ibsa__drop(struct mad_net *net, enum ibsa_drop_reason reason)
{
	net->stats.drops[reason]++;
}

/* Forward a MAD that has left its port, until it arrives or is lost. */
static void message_arrive(struct mad_net *net, struct message *message,
			   uint64_t now_ns)
{
	const bool is_direct = message->body.bytes[MAD_CLASS] ==
			       CLASS_SMP_DIRECT;
	struct arrival at;

	if (!is_direct && message->mad.dlid >= IBSA_LID_MULTICAST_MIN &&
	    !net->subnet->is_opa)
		ibsa__mad_fan_out(net, message, now_ns);
	else if (is_direct ? ibsa__mad_direct(net, message, &at)
			   : ibsa__mad_forward(net, message, message->mad.dlid,
					       &at))
		ibsa__mad_deliver(net, message, &at, now_ns);
	ibsa__queue_release(net->mads.pool, message);
}

/*
 * Tell the handlers of the port with this LID that a MAD will arrive there
 * later.
 */
static void arrival_announce(const struct mad_net *net, uint32_t dlid)
{
	const struct end_port *end = end_by_lid(net->subnet, dlid);

	if (end)
		port_handlers_expect(end_setup(net->subnet, end)->handlers);
}

void ibsa__mad_post(struct mad_net *net, struct message *message,
		    uint64_t now_ns)
{
	struct impaired_link *link = &net->mads;
	const uint32_t dlid = message->mad.dlid;

	if (net->tap.seen)
		net->tap.seen(net->tap.arg, message, now_ns);
	if (message->due_ns <= now_ns && !link->held &&
	    !ibsa__impaired_link_has_faults(net)) {
		message_arrive(net, message, now_ns);
		return;
	}
	/* Without memory the MAD is lost. */
	(void)!ibsa__impaired_link_carry(link, message);
	arrival_announce(net, dlid);
	ibsa__mads_settle(net, now_ns);
}

struct message *ibsa__mad_answer(struct mad_net *net,
				 const struct message *request, uint32_t port,
				 uint64_t now_ns)
{
	const struct mad_headers *asked = &request->mad;
	const struct topo_port *at = &net->subnet->topo.ports[port];
	const struct end_setup *setup = &net->subnet->setups[at->end];
	struct message *answer = ibsa__mad_new(net);

	if (!answer)
		return NULL;
	answer->mad = (struct mad_headers){
		.from = port,
		.slid = asked->dlid,
		.dlid = asked->slid,
		.src_qpn = asked->dst_qpn,
		.dst_qpn = asked->src_qpn,
		.pkey = setup_pkey(setup, ibsa__pkey_index(setup, asked->pkey)),
		.sl = asked->sl,
		.has_grh = asked->has_grh,
		.sgid = asked->dgid,
		.dgid = asked->sgid,
		.flow_label = asked->flow_label,
		.traffic_class = asked->traffic_class,
		.hop_limit = asked->hop_limit,
	};
	answer->due_ns = now_ns + net->latency_ns;
	return answer;
}

static void handlers_settle(const struct mad_net *net, uint64_t now_ns)
{
	const struct port_handler *handler = net->handlers;

	for (; handler; handler = handler->next) {
		if (handler->settle)
			handler->settle(handler->arg, now_ns);
	}
}

/*
 * Deliver all MADs that are due. A Report that is due earlier than a MAD is
 * sent before the MAD is delivered, since the MAD may be the Report's
 * response.
 */
static void net_settle(struct mad_net *net, uint64_t now_ns)
{
	struct message *message;

	while ((message = ibsa__impaired_link_take(&net->mads, now_ns))) {
		handlers_settle(net, message->due_ns);
		message_arrive(net, message, message->due_ns);
	}
	handlers_settle(net, now_ns);
}

/*
 * Deliver all MADs that are due. MADs that are sent during this loop are
 * delivered by the loop instead of a recursive call.
 */
void ibsa__mads_settle(struct mad_net *net, uint64_t now_ns)
{
	const struct message *first;

	if (net->is_settling)
		return;
	net->is_settling = true;
	do {
		net_settle(net, now_ns);
		first = impaired_link_head(&net->mads);
	} while (first && first->due_ns <= now_ns);
	net->is_settling = false;
}

uint64_t ibsa__mads_due(const struct mad_net *net, uint32_t end)
{
	const struct message *first = impaired_link_head(&net->mads);
	const struct port_handler *handler = net->handlers;
	uint64_t due_ns = first ? first->due_ns : UINT64_MAX;

	for (; handler; handler = handler->next) {
		const uint64_t next_ns =
			handler->due ? handler->due(handler->arg, end)
				     : UINT64_MAX;

		if (next_ns < due_ns)
			due_ns = next_ns;
	}
	return due_ns;
}
