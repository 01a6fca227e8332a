/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers the subnets of a topology: the parts that no cable connects. Switches
 * connect ports; an adapter or router with ports in several subnets does not.
 */
#include "fabric/subnet/subnet.h"

uint8_t ibsa__part_of_port(const struct topology *topo, uint32_t port)
{
	const struct topo_node *node = &topo->nodes[topo->ports[port].node];

	if (node->type == IBSA_NODE_SWITCH)
		port = node->first_port;
	return topo->ports[port].part;
}

/* Give the end ports that are connected with @from a number. */
static void part_set(struct topology *topo, struct walk *walk, uint32_t from,
		     uint8_t part)
{
	ibsa__walk_from(topo, walk, from);
	for (uint32_t i = 0; i < topo->port_count; i++)
		if (walk->seen[i])
			topo->ports[i].part = part;
}

uint32_t ibsa__parts_number(struct topology *topo, struct walk *walk,
			    uint32_t from)
{
	enum { UNNUMBERED = PARTS_MAX };
	uint8_t count = 1;

	for (uint32_t i = 0; i < topo->port_count; i++)
		topo->ports[i].part = UNNUMBERED;
	part_set(topo, walk, from, 0);
	for (uint32_t i = 0; i < topo->port_count && count < PARTS_MAX; i++) {
		const struct topo_port *port = &topo->ports[i];

		if (port->part == UNNUMBERED && port->cable != NO_INDEX &&
		    topo->nodes[port->node].type == IBSA_NODE_CA)
			part_set(topo, walk, i, count++);
	}
	for (uint32_t i = 0; i < topo->port_count; i++)
		if (topo->ports[i].part == UNNUMBERED)
			topo->ports[i].part = 0;
	return count;
}
