/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Delivers a MAD that has arrived at its port: a response first to the port's
 * own handlers, another MAD first to the handlers of all ports. As in Linux, a
 * Get or Set that no handler takes is refused; other MADs are dropped.
 *
 * Source: Linux drivers/infiniband/core/mad.c, ib_mad_recv_done() and
 * generate_unmatched_resp().
 */
#include <string.h>

#include "fabric/mad/agent.h"
#include "fabric/mad/port.h"
#include "fabric/mad/net.h"

enum {
	QPN_MULTICAST = 0xffffff,
	STATUS_DIRECTION = 0x8000,
};

/*
 * Whether the MAD is accepted: its queue pair exists, and the port has its
 * P_Key; otherwise count it.
 */
static bool gets_in(struct mad_net *net, const struct message *message,
		    const struct arrival *at)
{
	const uint32_t end = net->subnet->topo.ports[at->port].end;
	struct end_setup *setup = &net->subnet->setups[end];
	const bool is_smp = mad_is_smp(message->body.bytes);
	const uint32_t qpn = is_smp ? 0 : IBSA_QPN_GSI;
	const bool is_fan = message->mad.dlid >= net->subnet->lids.limit;

	if (message->mad.dst_qpn != qpn &&
	    !(is_fan && message->mad.dst_qpn == QPN_MULTICAST) &&
	    !port_handlers_have_qp(net->handlers, end, message->mad.dst_qpn)) {
		ibsa__drop(net, IBSA_DROP_NO_AGENT);
		return false;
	}
	if (is_smp || ibsa__pkey_passes(setup, message->mad.pkey))
		return true;
	if (setup->pkey_violations < UINT16_MAX)
		setup->pkey_violations++;
	ibsa__drop(net, IBSA_DROP_PKEY);
	return false;
}

void ibsa__mad_refuse(struct mad_net *net, const struct message *message,
		      uint32_t port, uint16_t status, uint64_t now_ns)
{
	struct message *answer = ibsa__mad_answer(net, message, port, now_ns);
	uint8_t *mad;

	if (!answer)
		return;
	mad = answer->body.bytes;
	memcpy(mad, message->body.bytes, IBSA_MAD_BYTES);
	answer->body.len = IBSA_MAD_BYTES;
	mad[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	if (mad[MAD_CLASS] == CLASS_SMP_DIRECT)
		status |= STATUS_DIRECTION;
	ibsa_put_be16(mad + MAD_STATUS, status);
	ibsa__mad_post(net, answer, now_ns);
}

static struct port_handler *handlers_of(const struct subnet *subnet,
					const struct arrival *at)
{
	return subnet->setups[subnet->topo.ports[at->port].end].handlers;
}

void ibsa__mad_deliver(struct mad_net *net, struct message *message,
		       const struct arrival *at, uint64_t now_ns)
{
	const struct port_handler *own = handlers_of(net->subnet, at);
	const uint8_t method = message->body.bytes[MAD_METHOD];

	if (!gets_in(net, message, at))
		return;
	/*
	 * A response is first offered to the umad files of the port. If none
	 * takes it, it may be a ReportResp, which the SA takes.
	 */
	if (mad_is_response(message->body.bytes) && net->responses.take &&
	    net->responses.take(net->responses.arg, message, at))
		return;
	if (port_handlers_take(net->handlers, message, at, now_ns) ||
	    port_handlers_take(own, message, at, now_ns) ||
	    port_handlers_take(net->last_handler, message, at, now_ns))
		return;
	if (method == IBSA_METHOD_GET || method == IBSA_METHOD_SET)
		ibsa__mad_refuse(net, message, at->port,
				 IBSA_STATUS_BAD_METHOD_ATTRIBUTE, now_ns);
	else
		ibsa__drop(net, IBSA_DROP_NO_AGENT);
}

void ibsa__mad_deliver_fan(struct mad_net *net, const struct message *message,
			   const struct arrival *at, uint64_t now_ns)
{
	if (mad_is_response(message->body.bytes) ||
	    mad_is_smp(message->body.bytes) || !gets_in(net, message, at))
		return;
	if (!port_handlers_take(handlers_of(net->subnet, at), message, at,
				now_ns))
		ibsa__drop(net, IBSA_DROP_NO_AGENT);
}
