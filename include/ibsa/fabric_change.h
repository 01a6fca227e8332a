/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of an embedded fabric while it runs: its SA and its ports.
 *
 * ibsa_fabric_sa_set   start or stop the SA
 * ibsa_fabric_sa_move  move the SA to another node, or restart it
 * ibsa_fabric_port_set change a port while the fabric runs
 *
 * Any thread may call these functions. They are in libibsa-fabric: link with
 * the flags of "pkg-config ibsa-fabric".
 */
#ifndef IBSA_FABRIC_CHANGE_H
#define IBSA_FABRIC_CHANGE_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

/**
 * ibsa_fabric_sa_set - start or stop the SA
 *
 * While it is stopped, sm_lid of all ports is 0. When it starts again, it has
 * no services, subscriptions, memberships and alias GUIDs, and requests
 * reregistration. No effect with no_sa.
 */
void ibsa_fabric_sa_set(struct ibsa_fabric *fabric, bool running)
	IBSA_NONNULL(1);

/**
 * ibsa_fabric_sa_move - move the SA to another node, or restart it
 * @node: name or node id; NULL: the first channel adapter of the file
 *
 * The new SA has no services, subscriptions, memberships and alias GUIDs, and
 * requests reregistration. Requests to the old LID get no reply. A stopped SA
 * moves, too.
 *
 * Return: 0; -ENODEV no such node; -ENETDOWN none of its links is up;
 * -EOPNOTSUPP the fabric has no SA
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
 *              effect
 * @needs_grh:  the port refuses to send MADs without a GRH
 * @sm_sl:      at most 15, or 31 on Omni-Path
 * @lmc:        at most 7
 * @lid:        base LID, a multiple of 2^LMC
 * @pkeys:      P_Key table; copied
 * @pkey_count: 1 to 128
 * @rate:       as in a topology file, such as "1xSDR"; both ends must support
 *              it
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
 * @node:   name or node id; NULL: the first channel adapter
 * @port:   0: port 0 of a switch, or the first port with a cable
 * @wanted: either all changes take effect, or none
 *
 * A running SM detects the change at once, and sends Reports. A client detects
 * it when it next reads its port, or receives a Report. ibsa_fabric_port_set(3)
 * describes what each change does.
 *
 * Return: 0; -ENODEV, -ENXIO no such node or port; -EINVAL a value or the mask
 * is not valid for the port; -ERANGE an end does not support the rate;
 * -ENETDOWN no cable, or never a LID; -EADDRINUSE the LID is taken; -ENOMEM
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
