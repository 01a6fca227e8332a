/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of an embedded fabric while it runs: its SA and its ports.
 *
 * The functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
 */
#ifndef IBSA_FABRIC_CHANGE_H
#define IBSA_FABRIC_CHANGE_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

/**
 * ibsa_fabric_sa_set - start or stop the SA
 * @fabric:  a fabric
 * @running: true: start the SA; false: stop it. If the SA already runs, or is
 *           already stopped, nothing happens
 *
 * While the SA is stopped, sm_lid of all ports is 0. When the SA starts again,
 * it has no services, subscriptions, memberships and alias GUIDs, and requests
 * a client reregistration from all ports that it reaches. A client that had a
 * subscription before the stop and subscribes again gets a Report with trap 64
 * for each port of the fabric that the SA reaches.
 *
 * ibsa_fabric_sa_set() has no effect on a fabric that was loaded with no_sa.
 * Any thread may call ibsa_fabric_sa_set().
 */
void ibsa_fabric_sa_set(struct ibsa_fabric *fabric, bool running)
	IBSA_NONNULL(1);

/**
 * ibsa_fabric_sa_move - move the SA to another node
 * @fabric: a fabric
 * @node:   name or node id of the new node; NULL: the first channel adapter of
 *          the file. If the SA is on this node already, it restarts
 *
 * If the SA runs, the ports that it reaches get its new LID as sm_lid, and the
 * SA requests a client reregistration from them. All other ports keep their
 * sm_lid. The new SA has no services, subscriptions, memberships or alias
 * GUIDs. Requests to the old LID get no reply. A client that had a subscription
 * at the previous SA and subscribes again gets a Report with trap 64 for each
 * port of the fabric that the SA reaches. A stopped SA moves too, and stays
 * stopped.
 *
 * Return: 0; -ENODEV there is no such node; -ENETDOWN the node is not a switch,
 * and none of its links is up; -EOPNOTSUPP the fabric was loaded with no_sa.
 * Any thread may call ibsa_fabric_sa_move().
 */
int ibsa_fabric_sa_move(struct ibsa_fabric *fabric,
			const char *node) IBSA_MUST_USE IBSA_NONNULL(1);

/* Which members of struct ibsa_fabric_port_change take effect. */
enum ibsa_fabric_change_bit {
	IBSA_CHANGE_LINK = 1 << 0,
	IBSA_CHANGE_LID = 1 << 1,
	IBSA_CHANGE_LMC = 1 << 2,
	IBSA_CHANGE_SM_SL = 1 << 3,
	IBSA_CHANGE_PKEYS = 1 << 4,
	IBSA_CHANGE_NEEDS_GRH = 1 << 5,
	IBSA_CHANGE_REREGISTER = 1 << 6, /* request a client reregistration */
	IBSA_CHANGE_CAPABILITIES = 1 << 7,
	IBSA_CHANGE_RATE = 1 << 8,
};

/**
 * struct ibsa_fabric_port_change - a change of a port
 * @mask:       bits of enum ibsa_fabric_change_bit: the members that take
 *              effect; the others are ignored
 * @link_up:    true: take the link of the port up; false: take it down
 * @needs_grh:  true: the port refuses to send MADs without a GRH
 * @sm_sl:      service level to the SM; at most 15, or 31 on Omni-Path
 * @lmc:        number of low bits of the LID that are path bits, at most 7. The
 *              base LID, new or present, must be a multiple of 2^lmc
 * @lid:        base LID, host order; a multiple of 2 to the power of the port's
 *              LMC
 * @pkeys:      P_Key table, host order; copied
 * @pkey_count: number of entries in @pkeys, 1 to 128
 * @capability_mask: CapabilityMask of the port's PortInfo, host order
 * @rate:       rate of the port's link, as in a topology file, such as "1xSDR";
 *              both ends must support the rate
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

/* For bindings: ibsa_fabric_port_set() with the size of @wanted. */
int ibsa_fabric_port_set_sized(struct ibsa_fabric *fabric, const char *node,
			       unsigned int port,
			       const struct ibsa_fabric_port_change *wanted,
			       size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_fabric_port_set - change a port while the fabric runs
 * @fabric: a fabric
 * @node:   name or node id; NULL: the first channel adapter
 * @port:   port number; 0: port 0 of a switch; on other nodes, the first port
 *          with a cable, or else port 1
 * @wanted: the changes; either all take effect, or none
 *
 * If the SA runs, the SM detects the change at once, and sends Reports to
 * subscribers that share a P_Key with the port or group: trap 64 for a port
 * that the SM reaches now, trap 65 for a port that it does not reach any more,
 * trap 67 for a group that loses its last full member by the change, trap 128
 * for a switch with a link that changes, and trap 144 for changed capabilities.
 *
 * When a link goes down, the ports at both ends go down, and MADs in transit
 * between the SA and a client that loses its route to the SA are lost. If the
 * SA does not reach a port any more, the replies of the SA have no records of
 * the port, and the port loses its multicast memberships, but keeps its
 * subscriptions and its LID. When a link comes up, the SM sets up those of the
 * ports at its two ends that the SM reaches, and requests a client
 * reregistration from them.
 *
 * A new rate retrains the link: the ports at both ends count LinkDowned and go
 * to Init, but not to Down. If the SA runs, switches at the ends report the
 * change (trap 128), and the SM sets up the ports that it reaches and requests
 * a client reregistration, as for a link that comes up. Otherwise the ports
 * stay in Init until an SM sets them up.
 *
 * The change of a port does not make the file descriptor of the client at this
 * port readable; a Report that arrives there does. The client detects the
 * change when it next reads the state of its port: at the interval of
 * ibsa_port_watch_start(), or when it gets no reply.
 *
 * Return: 0; -ENODEV there is no such node; -ENXIO the node has no such port;
 * -EINVAL @mask of @wanted is 0 or has an unknown bit; a value is out of range;
 * @mask has the link or rate of port 0 of a switch, which has no cable; @mask
 * has another bit for another port of a switch, which is not an end port; or
 * @mask has the LMC without the LID of a port that never had a LID; -ERANGE one
 * end of the link does not support @rate; -ENETDOWN @mask has the link or rate
 * of a port without a cable, or the LID of a port that never had a LID;
 * -EADDRINUSE another port has one of the 2^LMC LIDs; -ENOMEM. Any thread may
 * call ibsa_fabric_port_set().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_port_set(struct ibsa_fabric *fabric, const char *node,
		     unsigned int port,
		     const struct ibsa_fabric_port_change *wanted)
{
	return ibsa_fabric_port_set_sized(fabric, node, port, wanted,
					  sizeof(*wanted));
}

IBSA_END

#endif
