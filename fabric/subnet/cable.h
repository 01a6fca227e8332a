/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links that go down and come up. */
#ifndef FABRIC_SUBNET_CABLE_H
#define FABRIC_SUBNET_CABLE_H

#include "fabric/subnet/subnet.h"

/*
 * ibsa__cable_plug() connects or disconnects the cable of a port;
 * ibsa__cable_enable() enables or disables the port; ibsa__cable_retrain()
 * takes an active link down and up again. Return: whether the link changed; if
 * it did, the caller calls ibsa__cable_notice().
 */
bool ibsa__cable_plug(struct subnet *subnet, struct topo_port *port,
		      bool is_plugged);
bool ibsa__cable_enable(struct subnet *subnet, struct topo_port *port,
			bool is_enabled);
bool ibsa__cable_retrain(struct subnet *subnet, struct topo_port *port);

/*
 * Set the rate at which the link of a port runs after it was trained the next
 * time. If its width or speed is unknown, the link cannot be trained.
 */
void ibsa__cable_match(struct subnet *subnet, struct topo_port *port,
		       struct link_rate rate);

/*
 * Retrain the link at another rate, which both ends must support. Return:
 * whether the link changed; if it did, the caller calls ibsa__cable_notice().
 */
bool ibsa__cable_set_rate(struct subnet *subnet, struct topo_port *port,
			  struct link_rate rate);

/*
 * Announce the change of a link: the switches at both ends send a trap, and
 * the SM sweeps the subnet.
 */
void ibsa__cable_notice(struct subnet *subnet, const struct topo_port *port);

#endif
