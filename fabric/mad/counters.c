/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of the packets of each port. IBA vol 1, 7.7 and 9.2: headers of a
 * packet.
 */
#include "base/alloc.h"
#include "fabric/mad/counters.h"
#include "fabric/mad/queue.h"

/*
 * Bytes of a packet that the counters include in addition to the MAD: LRH, BTH,
 * DETH and ICRC.
 */
enum {
	HEADER_BYTES = 8 + 12 + 8 + 4,
	GRH_BYTES = 40,
	WORD_BYTES = 4,
};

struct counters *ibsa__counters(struct mad_net *net,
				const struct topo_port *port)
{
	if (!net->counters)
		net->counters = ibsa__calloc(net->subnet->topo.port_count,
					     sizeof(*net->counters));
	if (!net->counters)
		return NULL;
	return &net->counters[port - net->subnet->topo.ports];
}

static void count(struct counters *counters, enum counted what, uint64_t by)
{
	counters->plain[what] += by;
	if (what < COUNTS_EXTENDED)
		counters->extended[what] += by;
}

void ibsa__count_event(struct mad_net *net, const struct topo_port *port,
		       enum counted what)
{
	struct counters *counters = ibsa__counters(net, port);

	if (!counters)
		return;
	count(counters, what, 1);
	/* A fabric has no other reasons for these errors. */
	if (what == COUNT_RELAY_ERRORS)
		count(counters, COUNT_DLID_ERRORS, 1);
	if (what == COUNT_DISCARDS)
		count(counters, COUNT_INACTIVE_DISCARDS, 1);
}

void ibsa__count_packet(struct mad_net *net, const struct topo_port *port,
			const struct message *message, bool is_multicast)
{
	const size_t len = message->body.len;
	const size_t packets = len ? (len + IBSA_MAD_BYTES - 1) / IBSA_MAD_BYTES
				   : 1;
	const size_t each = IBSA_MAD_BYTES + HEADER_BYTES +
			    (message->mad.has_grh ? GRH_BYTES : 0);
	const uint64_t words = packets * each / WORD_BYTES;
	const uint8_t sl = message->mad.sl % SL_COUNT;
	struct counters *out = ibsa__counters(net, port);
	struct counters *in;

	if (!out)
		return;
	in = ibsa__counters(net, &net->subnet->topo.ports[port->peer]);
	count(out, COUNT_XMIT_PKTS, packets);
	count(out, COUNT_XMIT_DATA, words);
	count(out, COUNT_XMIT_DATA_SL + sl, words);
	count(out, is_multicast ? COUNT_MULTICAST_XMIT : COUNT_UNICAST_XMIT,
	      packets);
	count(in, COUNT_RCV_PKTS, packets);
	count(in, COUNT_RCV_DATA, words);
	count(in, COUNT_RCV_DATA_SL + sl, words);
	count(in, is_multicast ? COUNT_MULTICAST_RCV : COUNT_UNICAST_RCV,
	      packets);
}

void ibsa__counters_observe(void *arg, const struct subnet_change *change)
{
	if (change->kind == CHANGE_LINK_DOWNED)
		ibsa__count_event(arg, change->port, COUNT_LINK_DOWNED);
}
