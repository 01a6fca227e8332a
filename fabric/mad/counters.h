/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counters of each port, which its PMA reports. */
#ifndef FABRIC_MAD_COUNTERS_H
#define FABRIC_MAD_COUNTERS_H

#include "fabric/mad/mad.h"
#include "fabric/mad/net.h"

enum { SL_COUNT = 16 };

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
	COUNTS_EXTENDED, /* number of those in PortCountersExtended */
	/* These are details of relay errors and of discards. */
	COUNT_DLID_ERRORS = COUNTS_EXTENDED,
	COUNT_INACTIVE_DISCARDS,
	COUNT_XMIT_DATA_SL, /* one for each SL */
	COUNT_RCV_DATA_SL = COUNT_XMIT_DATA_SL + SL_COUNT,
	COUNTS = COUNT_RCV_DATA_SL + SL_COUNT,
};

/*
 * Counters of a port. PortCountersExtended has counters of its own, since a
 * Set of one attribute does not change those of another.
 */
struct counters {
	uint64_t plain[COUNTS];
	uint64_t extended[COUNTS_EXTENDED];
};

/*
 * Count a MAD at the port @port by which it leaves, and at the port at the
 * other end of the cable.
 */
void ibsa__count_packet(struct mad_net *net, const struct topo_port *port,
			const struct message *message, bool is_multicast);

/* Count another event at @port. */
void ibsa__count_event(struct mad_net *net, const struct topo_port *port,
		       enum counted what);

/* Return: the counters of @port; NULL: memory is short. */
struct counters *ibsa__counters(struct mad_net *net,
				const struct topo_port *port);

/* Count links that go down; called through struct subnet_observer. */
void ibsa__counters_observe(void *arg, const struct subnet_change *change);

#endif
