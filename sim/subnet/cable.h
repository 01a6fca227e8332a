/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links that go down and come up. */
#ifndef SIM_SUBNET_CABLE_H
#define SIM_SUBNET_CABLE_H

#include "sim/subnet/subnet.h"

/*
 * Pull out or plug in the cable of a port; turn the port off or on; let the
 * link go down and come up again, if it is up. Return: whether anything has
 * changed, of which ibsa__cable_notice() is then to be told.
 */
bool ibsa__cable_plug(struct subnet *subnet, struct topo_port *port,
		      bool is_plugged);
bool ibsa__cable_enable(struct subnet *subnet, struct topo_port *port,
			bool is_enabled);
bool ibsa__cable_retrain(struct subnet *subnet, struct topo_port *port);

/*
 * Let the link train again, at another rate, which both ends support. Return:
 * as above.
 */
bool ibsa__cable_set_rate(struct subnet *subnet, struct topo_port *port,
			  struct link_rate rate);

/* Switches at both ends say so, and the SM looks around. */
void ibsa__cable_notice(struct subnet *subnet, const struct topo_port *port);

#endif
