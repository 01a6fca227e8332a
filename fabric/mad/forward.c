/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwards MADs by LID. An end port accepts MADs for its own LIDs; a switch
 * looks the LID up in its table.
 *
 * Source: IBA vol 1, 18.2.4.3 (relay), 7.2.7 (states of a port).
 */
#include "fabric/mad/queue.h"
#include "fabric/mad/mad.h"
#include "fabric/mad/counters.h"
#include "fabric/subnet/forward.h"

/*
 * After this many hops, the forwarding tables are assumed to have a loop, and
 * the MAD is dropped.
 */
enum { HOPS_MAX = 64 };

/* A MAD that is being forwarded, and the port that it has reached. */
struct relay {
	struct mad_net *net;
	const struct message *message;
	uint32_t dlid;
	bool is_smp;
	uint32_t at; /* the port of arrival */
};

static bool mad_lose(const struct relay *relay, enum ibsa_drop_reason reason)
{
	ibsa__drop(relay->net, reason);
	return false;
}

static struct topo_port *relay_port(const struct relay *relay, uint32_t port)
{
	return &relay->net->subnet->topo.ports[port];
}

/*
 * Whether the MAD may leave by a port: an SMP as soon as the link is up, other
 * MADs only in state Active.
 */
static bool port_is_open(const struct relay *relay,
			 const struct topo_port *port)
{
	if (port->peer == NO_INDEX)
		return false;
	return relay->is_smp || port->state == IBSA_PORT_ACTIVE;
}

/* Move the MAD from a port to the other end of its cable. */
static bool cable_cross(struct relay *relay, uint32_t port)
{
	const struct topo_port *out = relay_port(relay, port);

	if (!port_is_open(relay, out)) {
		ibsa__count_event(relay->net, out, COUNT_DISCARDS);
		return mad_lose(relay, IBSA_DROP_PORT_DOWN);
	}
	ibsa__count_packet(relay->net, out, relay->message, false);
	relay->at = out->peer;
	if (!relay->is_smp &&
	    relay_port(relay, relay->at)->state < IBSA_PORT_ARMED)
		return mad_lose(relay, IBSA_DROP_PORT_DOWN);
	return true;
}

static bool lid_is_own(const struct relay *relay, const struct topo_port *port)
{
	const struct end_port *end = &relay->net->subnet->ends[port->end];

	return end->lid && relay->dlid >= end->lid &&
	       relay->dlid - end->lid < end->lid_count;
}

static bool mad_end_at(const struct relay *relay, uint32_t port,
		       struct arrival *out)
{
	if (!lid_is_own(relay, relay_port(relay, port)))
		return mad_lose(relay, IBSA_DROP_NO_LID);
	*out = (struct arrival){ port, relay_port(relay, relay->at)->number };
	return true;
}

static bool switches_pass(struct relay *relay, struct arrival *out)
{
	const struct topology *topo = &relay->net->subnet->topo;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		const struct topo_node *node =
			&topo->nodes[relay_port(relay, relay->at)->node];
		uint8_t number;

		if (node->type != IBSA_NODE_SWITCH)
			return mad_end_at(relay, relay->at, out);
		number = ibsa__switch_exit(relay->net->subnet, node,
					   relay->dlid);
		if (!number)
			return mad_end_at(relay, node->first_port, out);
		if (number > node->port_count) {
			ibsa__count_event(relay->net,
					  relay_port(relay, relay->at),
					  COUNT_RELAY_ERRORS);
			return mad_lose(relay, IBSA_DROP_NO_ROUTE);
		}
		if (!cable_cross(relay, node->first_port + number))
			return false;
	}
	return mad_lose(relay, IBSA_DROP_HOP_LIMIT);
}

bool ibsa__mad_forward(struct mad_net *net, const struct message *message,
		       uint32_t dlid, struct arrival *at)
{
	struct relay relay = {
		.net = net,
		.message = message,
		.dlid = dlid,
		.is_smp = mad_is_smp(message->body.bytes),
		.at = message->mad.from,
	};
	const struct topo_port *from = relay_port(&relay, message->mad.from);

	if (!dlid || dlid >= net->subnet->lids.limit)
		return mad_lose(&relay, IBSA_DROP_NO_LID);
	if (from->number && lid_is_own(&relay, from)) {
		*at = (struct arrival){ message->mad.from, from->number };
		return true;
	}
	if (from->number && !cable_cross(&relay, message->mad.from))
		return false;
	return switches_pass(&relay, at);
}
