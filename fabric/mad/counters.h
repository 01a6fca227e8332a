/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counters of each port, which its PMA reports. */
#ifndef FABRIC_MAD_COUNTERS_H
#define FABRIC_MAD_COUNTERS_H

#include "fabric/mad/mad.h"
#include "fabric/mad/net.h"

enum { SL_COUNT = 16 };

/*
 * The counters that have a name: constant and name, which is that of libibmad
 * and so of perfquery. Those of PortCountersExtended are in its order, followed
 * by those of PortRcvErrorDetails and of PortXmitDiscardDetails.
 */
/* clang-format off */
#define COUNTED(C) \
	C(XMIT_DATA, "PortXmitData") /* in words of 4 bytes */ \
	C(RCV_DATA, "PortRcvData") \
	C(XMIT_PKTS, "PortXmitPkts") \
	C(RCV_PKTS, "PortRcvPkts") \
	C(UNICAST_XMIT, "PortUnicastXmitPkts") \
	C(UNICAST_RCV, "PortUnicastRcvPkts") \
	C(MULTICAST_XMIT, "PortMulticastXmitPkts") \
	C(MULTICAST_RCV, "PortMulticastRcvPkts") \
	C(SYMBOL_ERRORS, "SymbolErrorCounter") \
	C(LINK_RECOVERY, "LinkErrorRecoveryCounter") \
	C(LINK_DOWNED, "LinkDownedCounter") \
	C(RCV_ERRORS, "PortRcvErrors") \
	C(REMOTE_PHYSICAL, "PortRcvRemotePhysicalErrors") \
	C(RELAY_ERRORS, "PortRcvSwitchRelayErrors") \
	C(DISCARDS, "PortXmitDiscards") \
	C(XMIT_CONSTRAINT, "PortXmitConstraintErrors") \
	C(RCV_CONSTRAINT, "PortRcvConstraintErrors") \
	C(LINK_INTEGRITY, "LocalLinkIntegrityErrors") \
	C(BUFFER_OVERRUN, "ExcessiveBufferOverrunErrors") \
	C(VL15_DROPPED, "VL15Dropped") \
	C(XMIT_WAIT, "PortXmitWait") \
	C(QP1_DROPPED, "QP1Dropped") \
	C(LOCAL_PHYSICAL, "PortLocalPhysicalErrors") \
	C(MALFORMED, "PortMalformedPktErrors") \
	C(PORT_OVERRUN, "PortBufferOverrunErrors") \
	C(DLID_ERRORS, "PortDLIDMappingErrors") \
	C(VL_ERRORS, "PortVLMappingErrors") \
	C(LOOPING, "PortLoopingErrors") \
	C(INACTIVE_DISCARDS, "PortInactiveDiscards") \
	C(MTU_DISCARDS, "PortNeighborMTUDiscards") \
	C(LIFETIME_DISCARDS, "PortSwLifetimeLimitDiscards") \
	C(HOQ_DISCARDS, "PortSwHOQLifetimeLimitDiscards")

#define COUNTED_CONSTANT(name, text) COUNT_##name,

enum counted {
	COUNTED(COUNTED_CONSTANT)
	COUNTS_NAMED, /* number of the counters above */
	/* number of those in PortCountersExtended, before the details */
	COUNTS_EXTENDED = COUNT_LOCAL_PHYSICAL,
	COUNT_XMIT_DATA_SL = COUNTS_NAMED, /* one for each SL */
	COUNT_RCV_DATA_SL = COUNT_XMIT_DATA_SL + SL_COUNT,
	COUNTS = COUNT_RCV_DATA_SL + SL_COUNT,
};
/* clang-format on */

/* A counter of a port that increases by itself. */
struct counter_rate;

/*
 * Counters of a port. PortCountersExtended has counters of its own, since a
 * Set of one attribute does not change those of another.
 */
struct counters {
	uint64_t plain[COUNTS];
	uint64_t extended[COUNTS_EXTENDED];
	struct counter_rate *rates; /* list; NULL: no rate is set */
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

/*
 * Count a MAD that a cable has damaged so that its receiver discards it: at the
 * port at the end of the first cable on the way of the MAD.
 */
void ibsa__count_damage(struct mad_net *net, const struct message *message);

/*
 * Return: the counters of @port at the time @now_ns, with what its rates have
 * added; NULL: memory is short.
 */
struct counters *ibsa__counters(struct mad_net *net,
				const struct topo_port *port, uint64_t now_ns);

/* Return: whether a counter has the name @text; if so, @out is set. */
bool ibsa__counter_find(const char *text, enum counted *out);

/*
 * Add @by to a counter of @port; or, from @now_ns on, @by in each second, which
 * replaces an earlier rate of the counter. A rate of 0 ends it.
 */
int ibsa__counter_increase(struct mad_net *net, const struct topo_port *port,
			   enum counted what, uint64_t by) IBSA_MUST_USE;
int ibsa__counter_rate_set(struct mad_net *net, const struct topo_port *port,
			   enum counted what, uint64_t by,
			   uint64_t now_ns) IBSA_MUST_USE;

void ibsa__counters_free(struct mad_net *net);

/* Count links that go down; called through struct subnet_observer. */
void ibsa__counters_observe(void *arg, const struct subnet_change *change);

#endif
