/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwards multicast packets: a switch sends copies to all ports in its
 * multicast forwarding table, except the port at which the packet arrived.
 *
 * Source: IBA vol 1, 18.2.4.3.3 (multicast relay).
 */
#include "base/alloc.h"
#include "fabric/mad/queue.h"
#include "fabric/mad/mad.h"
#include "fabric/mad/counters.h"
#include "fabric/subnet/forward.h"

/* A packet and its copies. */
struct fan {
	struct mad_net *net;
	const struct message *message;
	uint64_t now_ns;
	/* queue of the ports at which a copy of the packet has arrived */
	uint32_t *queue;
	uint32_t head;
	uint32_t tail;
	/*
	 * Number of further copies that may be sent. If the tables have a loop,
	 * the packet is copied until this number is 0.
	 */
	uint32_t room;
};

static const struct topo_node *port_node(const struct fan *fan, uint32_t port)
{
	const struct topology *topo = &fan->net->subnet->topo;

	return &topo->nodes[topo->ports[port].node];
}

static void copy_deliver(const struct fan *fan, uint32_t port, uint32_t in)
{
	const struct arrival at = {
		.port = port,
		.number = fan->net->subnet->topo.ports[in].number,
	};

	ibsa__mad_deliver_fan(fan->net, fan->message, &at, fan->now_ns);
}

/* Send a copy of the packet from @port to the other end of its cable. */
static void cable_cross(struct fan *fan, uint32_t port)
{
	struct mad_net *net = fan->net;
	const struct topo_port *out = &net->subnet->topo.ports[port];

	if (out->peer == NO_INDEX || out->state != IBSA_PORT_ACTIVE) {
		ibsa__count_event(net, out, COUNT_DISCARDS);
		ibsa__drop(net, IBSA_DROP_PORT_DOWN);
		return;
	}
	if (fan->tail == fan->room) {
		ibsa__drop(net, IBSA_DROP_HOP_LIMIT);
		return;
	}
	ibsa__count_packet(net, out, fan->message, true);
	fan->queue[fan->tail++] = out->peer;
}

static void switch_relay(struct fan *fan, uint32_t in)
{
	const struct topo_node *node = port_node(fan, in);
	const uint8_t number = fan->net->subnet->topo.ports[in].number;
	uint16_t masks[MFT_POSITIONS];

	ibsa__switch_fan(fan->net->subnet, node, fan->message->mad.dlid, masks);
	for (uint32_t i = 0; i <= node->port_count; i++) {
		if (i == number ||
		    !(masks[i / MFT_POSITION_PORTS] >> i % MFT_POSITION_PORTS &
		      1))
			continue;
		if (i)
			cable_cross(fan, node->first_port + i);
		else
			copy_deliver(fan, node->first_port, in);
	}
}

static void fan_follow(struct fan *fan)
{
	const uint32_t from = fan->message->mad.from;

	if (port_node(fan, from)->type == IBSA_NODE_SWITCH)
		switch_relay(fan, from);
	else
		cable_cross(fan, from);
	while (fan->head < fan->tail) {
		const uint32_t in = fan->queue[fan->head++];

		if (port_node(fan, in)->type == IBSA_NODE_SWITCH)
			switch_relay(fan, in);
		else
			copy_deliver(fan, in, in);
	}
}

void ibsa__mad_fan_out(struct mad_net *net, const struct message *message,
		       uint64_t now_ns)
{
	struct fan fan = {
		.net = net,
		.message = message,
		.now_ns = now_ns,
		.room = net->subnet->topo.port_count,
	};

	/*
	 * The limit is as many copies as there are ports: enough to cross each
	 * port once.
	 */
	if (!net->fan_queue)
		net->fan_queue = ibsa__calloc(fan.room,
					      sizeof(*net->fan_queue));
	/* Without memory, the packet is lost. */
	if (!net->fan_queue)
		return;
	fan.queue = net->fan_queue;
	fan_follow(&fan);
}
