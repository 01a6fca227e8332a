/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwards direct-route SMPs: along the ports of the initial path, and back
 * along the return path, which is written on the way forward.
 *
 * Source: IBA vol 1, 14.2.2 (layout and the rules of hop pointer and count);
 * Linux drivers/infiniband/core/smi.c.
 */
#include <string.h>

#include "fabric/mad/queue.h"
#include "fabric/mad/mad.h"
#include "fabric/mad/counters.h"

enum { HOPS_MAX = SMP_PATH_BYTES - 1 };

/*
 * Move an SMP from the node at *@at by port @number to the other end of the
 * cable. On return, *@at is the port at which it arrives.
 */
static bool cable_cross(struct mad_net *net, const struct message *message,
			uint32_t *at, uint8_t number)
{
	const struct topology *topo = &net->subnet->topo;
	const struct topo_port *here = &topo->ports[*at];
	const struct topo_node *node = &topo->nodes[here->node];
	const struct topo_port *out;

	if (!number || number > node->port_count ||
	    (node->type != IBSA_NODE_SWITCH && number != here->number)) {
		ibsa__drop(net, IBSA_DROP_NO_ROUTE);
		return false;
	}
	out = &topo->ports[node->first_port + number];
	if (out->peer == NO_INDEX) {
		ibsa__drop(net, IBSA_DROP_PORT_DOWN);
		return false;
	}
	ibsa__count_packet(net, out, message, false);
	*at = out->peer;
	return true;
}

/*
 * Whether the port is a port of a switch. If the port is not one of a switch,
 * count the SMP as dropped: only switches forward SMPs.
 */
static bool port_is_of_switch(struct mad_net *net, uint32_t at)
{
	const struct topology *topo = &net->subnet->topo;

	if (topo->nodes[topo->ports[at].node].type == IBSA_NODE_SWITCH)
		return true;
	ibsa__drop(net, IBSA_DROP_NO_ROUTE);
	return false;
}

static struct arrival arrival_at(const struct subnet *subnet, uint32_t at)
{
	const struct topology *topo = &subnet->topo;
	const struct topo_port *port = &topo->ports[at];
	const struct topo_node *node = &topo->nodes[port->node];

	return (struct arrival){
		.port = node->type == IBSA_NODE_SWITCH ? node->first_port : at,
		.number = port->number,
	};
}

static bool lid_is_permissive(const uint8_t *lid)
{
	return ibsa_be16(lid) == IBSA_LID_PERMISSIVE;
}

/*
 * Find the port at which the directed part of the SMP's path starts; if the
 * SMP has a DrSLID, it gets there by LID.
 */
static bool directed_start(struct mad_net *net, const struct message *message,
			   struct arrival *at)
{
	*at = arrival_at(net->subnet, message->mad.from);
	return lid_is_permissive(message->body.bytes + SMP_DR_SLID) ||
	       ibsa__mad_forward(net, message, message->mad.dlid, at);
}

static bool request_forward(struct mad_net *net, struct message *message,
			    struct arrival *out)
{
	uint8_t *smp = message->body.bytes;
	const uint8_t count = smp[SMP_HOP_COUNT];
	uint32_t at;

	if (!directed_start(net, message, out))
		return false;
	at = out->port;
	for (uint8_t hop = 1; hop <= count; hop++) {
		if ((hop > 1 && !port_is_of_switch(net, at)) ||
		    !cable_cross(net, message, &at,
				 smp[SMP_INITIAL_PATH + hop]))
			return false;
		smp[SMP_RETURN_PATH + hop] = net->subnet->topo.ports[at].number;
	}
	smp[SMP_HOP_POINTER] = count + 1;
	if (count)
		*out = arrival_at(net->subnet, at);
	return true;
}

static bool response_forward(struct mad_net *net, struct message *message,
			     struct arrival *out)
{
	uint8_t *smp = message->body.bytes;
	const uint8_t count = smp[SMP_HOP_COUNT];
	uint32_t at = message->mad.from;

	for (int hop = smp[SMP_HOP_POINTER] - 1; hop > 0; hop--) {
		if ((hop < count && !port_is_of_switch(net, at)) ||
		    !cable_cross(net, message, &at, smp[SMP_RETURN_PATH + hop]))
			return false;
	}
	smp[SMP_HOP_POINTER] = 0;
	*out = arrival_at(net->subnet, at);
	if (lid_is_permissive(smp + SMP_DR_SLID))
		return true;
	message->mad.from = out->port;
	return ibsa__mad_forward(net, message, ibsa_be16(smp + SMP_DR_SLID),
				 out);
}

bool ibsa__mad_direct(struct mad_net *net, struct message *message,
		      struct arrival *at)
{
	const uint8_t *smp = message->body.bytes;

	/*
	 * An SMP whose path ends with a part by LID is dropped: OpenSM and ibsa
	 * never send one.
	 */
	if (smp[SMP_HOP_COUNT] > HOPS_MAX ||
	    smp[SMP_HOP_POINTER] > smp[SMP_HOP_COUNT] + 1 ||
	    !lid_is_permissive(smp + SMP_DR_DLID)) {
		ibsa__drop(net, IBSA_DROP_NO_ROUTE);
		return false;
	}
	return smp[MAD_STATUS] & SMP_DIRECTION
		       ? response_forward(net, message, at)
		       : request_forward(net, message, at);
}

/*
 * Whether the path of a request is valid at port @number. A request that is
 * beyond the end of its path is not valid. Linux delivers such a request to the
 * port itself, but OpenSM and ibsa never send one.
 */
static bool request_is_valid(const uint8_t *smp, uint8_t number)
{
	if (!smp[SMP_HOP_COUNT])
		return smp[SMP_HOP_POINTER] <= 1;
	return !smp[SMP_HOP_POINTER] && smp[SMP_INITIAL_PATH + 1] == number;
}

static bool response_is_valid(const uint8_t *smp, uint8_t number)
{
	const uint8_t count = smp[SMP_HOP_COUNT];
	const uint8_t pointer = smp[SMP_HOP_POINTER];

	if (count && pointer == count + 1)
		return smp[SMP_RETURN_PATH + count] == number;
	return !pointer ||
	       (pointer == 1 && lid_is_permissive(smp + SMP_DR_SLID));
}

bool ibsa__path_is_sound(const uint8_t *smp, uint8_t number)
{
	const bool is_back = smp[MAD_STATUS] & SMP_DIRECTION;

	/*
	 * If the SMP's path starts with a part by LID, it is checked at the
	 * port where the directed part starts.
	 */
	if (!lid_is_permissive(smp + (is_back ? SMP_DR_DLID : SMP_DR_SLID)))
		return true;
	if (smp[SMP_HOP_COUNT] > HOPS_MAX)
		return false;
	return is_back ? response_is_valid(smp, number)
		       : request_is_valid(smp, number);
}
