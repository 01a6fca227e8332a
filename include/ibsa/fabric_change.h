/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Changes of an embedded fabric while it runs: its SA and its ports. */
#ifndef IBSA_FABRIC_CHANGE_H
#define IBSA_FABRIC_CHANGE_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

/**
 * ibsa_fabric_sa_set - start or stop the SA
 * @fabric:  which
 * @running: false: its ports know no SM any more; a start forgets services,
 *           subscriptions and memberships, as a restarted SA does, and asks
 *           all ports to register again; who subscribes again is then told
 *           of all ports (trap 64), which are new to it
 *
 * Nothing happens to a fabric that was loaded with no_sa.
 */
void ibsa_fabric_sa_set(struct ibsa_fabric *fabric, bool running);

/**
 * ibsa_fabric_sa_move - let another node's SM become the master
 * @fabric: which
 * @node:   name or node id of where the SA now is; NULL: the first channel
 *          adapter of the file
 *
 * The ports that it reaches get its LID as sm_lid, and are asked to register
 * again: the new SA knows no services, subscriptions or memberships. What is
 * sent to the old LID is lost, and nobody is told; who subscribes again is
 * told of all ports (trap 64). A stopped SA moves too, and stays stopped.
 *
 * Return: 0; -ENODEV no such node; -ENETDOWN no port of it has a link;
 * -EOPNOTSUPP the fabric was loaded with no_sa.
 */
int ibsa_fabric_sa_move(struct ibsa_fabric *fabric,
			const char *node) IBSA_MUST_USE;

/* What of struct ibsa_fabric_port_change is meant. */
enum ibsa_fabric_change_bit {
	IBSA_CHANGE_LINK = 1 << 0,
	IBSA_CHANGE_LID = 1 << 1,
	IBSA_CHANGE_LMC = 1 << 2,
	IBSA_CHANGE_SM_SL = 1 << 3,
	IBSA_CHANGE_PKEYS = 1 << 4,
	IBSA_CHANGE_NEEDS_GRH = 1 << 5,
	IBSA_CHANGE_REREGISTER = 1 << 6, /* the event and nothing else */
	IBSA_CHANGE_CAPABILITIES = 1 << 7,
	IBSA_CHANGE_RATE = 1 << 8,
};

/**
 * struct ibsa_fabric_port_change - what becomes of a port
 * @mask:       of enum ibsa_fabric_change_bit: what is to change
 * @link_up:    whether the cable of the port carries anything
 * @needs_grh:  nothing is sent without a GRH
 * @sm_sl:      service level to reach the SM with; at most 15, and 31 on
 *              Omni-Path
 * @lmc:        how many low bits of the LID are path bits, at most 7
 * @lid:        base LID, host order; a multiple of 2^lmc
 * @pkeys:      P_Key table, host order; copied
 * @pkey_count: of its entries, 1 to 128
 * @capability_mask: of its PortInfo, host order
 * @rate:       of its link, as a topology file has it, "1xSDR"; no wider and no
 *              faster than both ends support
 */
struct ibsa_fabric_port_change {
	uint32_t mask;
	bool link_up;
	bool needs_grh;
	uint8_t sm_sl;
	uint8_t lmc;
	uint32_t lid;
	const uint16_t *pkeys;
	size_t pkey_count;
	uint32_t capability_mask;
	const char *rate;
};

/**
 * ibsa_fabric_port_set - change a port while the fabric runs
 * @fabric: which
 * @node:   name or node id; NULL: the first channel adapter
 * @port:   its port; 0: of a switch its own, else the first with a cable
 * @wanted: what is to change; all of it does, or nothing
 *
 * The SM sees it at once, and tells those who have subscribed: of ports that
 * come and go (traps 64 and 65), of groups that this ends (67), of switches
 * whose links change (128) and of other capabilities (144).
 * A link that goes down takes what was on its way with it, and both its
 * ports; whoever it cuts off is in no answer any more, and its memberships
 * are forgotten; subscriptions and LIDs stay. A port whose link comes up is
 * set up anew and asked to register again, if the SM reaches it.
 * A link with another rate trains again: its switches report it (128), the SM
 * sets up its ports, and nothing is cut off.
 * A client is not woken: it sees a change when it next reads the state of
 * its port.
 *
 * Return: 0; -ENODEV no such node; -ENXIO it has no such port; -EINVAL no bit,
 * or one that there is not, in the mask, a value out of its range, something
 * else than the link or the rate of a switch's port with a cable, or the link
 * or the rate of a switch's own port; -ERANGE a rate that one end of the link
 * does not support;
 * -ENETDOWN the link or the rate of a port without a cable, or the LID of one
 * that the SM has never reached; -EADDRINUSE another port has such a LID; -ENOMEM.
 */
int ibsa_fabric_port_set(
	struct ibsa_fabric *fabric, const char *node, unsigned int port,
	const struct ibsa_fabric_port_change *wanted) IBSA_MUST_USE;

IBSA_END

#endif
