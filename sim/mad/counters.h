/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has passed each port: the counters that its PMA reports. */
#ifndef SIM_MAD_COUNTERS_H
#define SIM_MAD_COUNTERS_H

#include "sim/mad/mad.h"
#include "sim/mad/net.h"

enum counted {
	COUNT_XMIT_DATA, /* in words of 4 bytes */
	COUNT_RCV_DATA,
	COUNT_XMIT_PKTS,
	COUNT_RCV_PKTS,
	COUNT_UNICAST_XMIT, /* of the packets */
	COUNT_UNICAST_RCV,
	COUNT_MULTICAST_XMIT,
	COUNT_MULTICAST_RCV,
	COUNT_LINK_DOWNED,
	COUNT_RELAY_ERRORS,
	COUNT_DISCARDS,
	COUNTS,
};

/* What a port has counted, and what of it a Set has taken away since. */
struct counters {
	uint64_t total[COUNTS];
	uint64_t base[COUNTS];		/* of PortCounters */
	uint64_t base_extended[COUNTS]; /* of PortCountersExtended */
};

/* A MAD leaves by @port, and arrives at the other end of its cable. */
void ibsa__count_packet(struct mad_net *net, const struct topo_port *port,
			const struct message *message, bool is_multicast);

/* Another event at @port. */
void ibsa__count_event(struct mad_net *net, const struct topo_port *port,
		       enum counted what);

/* The counters of @port, or NULL: out of memory. */
struct counters *ibsa__counters(struct mad_net *net,
				const struct topo_port *port);

/* Count the links that go down; as in struct subnet_observer. */
void ibsa__counters_observe(void *arg, const struct subnet_change *change);

#endif
