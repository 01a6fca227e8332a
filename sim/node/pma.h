/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Performance management: what has passed each port, and who asks for it. */
#ifndef SIM_NODE_PMA_H
#define SIM_NODE_PMA_H

#include "sim/subnet/fabric.h"
#include "sim/mad/mad.h"

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

/* A MAD goes out by @port, and in at the other end. */
void ibsa__pma_cross(struct ibsa_fabric *fabric, const struct topo_port *port,
		     const struct message *message, bool is_multicast);

/* Something else has happened to @port that is counted there. */
void ibsa__pma_count(struct ibsa_fabric *fabric, const struct topo_port *port,
		     enum counted what);

/* Answer a MAD of class 0x04. False: it is no Get and no Set. */
bool ibsa__pma_take(struct ibsa_fabric *fabric, const struct message *message,
		    const struct arrival *at, uint64_t now_ns);

#endif
