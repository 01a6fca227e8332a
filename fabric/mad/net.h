/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The links of a subnet, and the faults that affect the MADs on them. */
#ifndef FABRIC_MAD_NET_H
#define FABRIC_MAD_NET_H

#include <ibsa/fabric.h>

#include "base/random.h"
#include "fabric/mad/port.h"
#include "fabric/mad/impaired_link.h"
#include "fabric/subnet/subnet.h"

struct counters;

struct fault_state {
	struct ibsa_fault fault;
	/*
	 * Number of MADs that the fault still affects, if the fault has a
	 * count.
	 */
	unsigned int left;
	bool active;
};

struct mad_net {
	struct subnet *subnet;
	struct impaired_link mads; /* between all ports */
	/*
	 * Handlers for the MADs at every port. They are called before the
	 * handlers of the single port; but for responses, after these.
	 */
	struct port_handler *handlers;
	struct response_handler responses;
	struct port_handler *last_handler; /* called after all others */
	struct mad_tap tap;
	/* The counters of each port; NULL until the first packet. */
	struct counters *counters;
	/*
	 * Queue of copies of a multicast packet; NULL until the first
	 * multicast packet.
	 */
	uint32_t *fan_queue;
	bool is_settling; /* MADs are being delivered */
	struct random random;
	struct fault_state faults[IBSA_FAULT_KINDS];
	struct ibsa_fabric_stats stats;
	uint64_t latency_ns;
};

/* Count a lost MAD with the reason. */
void ibsa__drop(struct mad_net *net, enum ibsa_drop_reason reason);

/*
 * Return: whether a fault of this kind affects the current MAD; if it does,
 * count the MAD as affected.
 */
bool ibsa__fault_strikes(struct mad_net *net, enum ibsa_fault_kind kind);

/* Return: the name of a kind of fault, such as "lose". */
const char *ibsa__fault_name(enum ibsa_fault_kind kind);

#endif
