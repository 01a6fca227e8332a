/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notices: what the SA tells those who have subscribed to it. */
#ifndef SIM_SA_NOTICE_H
#define SIM_SA_NOTICE_H

#include "sim/node/sma.h"

/*
 * Each tells all subscribers whom it concerns, at @now_ns, which may have
 * been a while ago. A port has come (64) or gone (65).
 */
void ibsa__notice_port(struct ibsa_fabric *fabric, enum trap trap,
		       const struct end_port *end, uint64_t now_ns);

/* A group has got its first full member (66), or loses its last (67). */
void ibsa__notice_group(struct ibsa_fabric *fabric, enum trap trap,
			const struct group *group, uint64_t now_ns);

/* A link of the switch has gone down or come up. */
void ibsa__notice_link(struct ibsa_fabric *fabric,
		       const struct end_port *own_port, uint64_t now_ns);

/* The capability mask of a port is another one. */
void ibsa__notice_capabilities(struct ibsa_fabric *fabric,
			       const struct end_port *end, uint32_t mask,
			       uint64_t now_ns);

/*
 * Tell the newest subscriber of all ports that there are, shortly after
 * @now_ns. Return: whether it wants to know.
 */
bool ibsa__notice_all_ports(struct ibsa_fabric *fabric, uint64_t now_ns);

#endif
