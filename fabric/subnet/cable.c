/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Links that go down and come up: because a cable was connected or
 * disconnected, or because an SM has disabled or retrained a port.
 */
#include "fabric/subnet/cable.h"

/*
 * Set the state of a port, and the bit PortStateChange in the SwitchInfo of
 * its switch. If the port was up, notify the observers that its link went
 * down.
 */
static void port_set_state(struct subnet *subnet, struct topo_port *port,
			   uint8_t state)
{
	struct topo_node *node = &subnet->topo.nodes[port->node];

	if (port->state != IBSA_PORT_DOWN)
		subnet_changed(subnet, &(struct subnet_change){
					       .kind = CHANGE_LINK_DOWNED,
					       .port = port,
				       });
	port->state = state;
	if (node->type == IBSA_NODE_SWITCH)
		node->is_changed = true;
}

/*
 * Set one end of a link up or down. When the link comes up, an SM must
 * configure the port again.
 */
static void port_set_link(struct subnet *subnet, struct topo_port *port,
			  bool is_up)
{
	port->peer = is_up ? port->cable : NO_INDEX;
	port_set_state(subnet, port, is_up ? IBSA_PORT_INIT : IBSA_PORT_DOWN);
}

static struct topo_port *far_end(const struct subnet *subnet,
				 const struct topo_port *port)
{
	return &subnet->topo.ports[port->cable];
}

/*
 * Take the link up if neither of its ends is disabled or disconnected and it
 * can be trained, otherwise down. Return: whether it changed.
 */
static bool link_update(struct subnet *subnet, struct topo_port *port)
{
	struct topo_port *far = far_end(subnet, port);
	const bool is_up = !port->is_unplugged && !far->is_unplugged &&
			   !port->is_disabled && !far->is_disabled &&
			   !port->is_unmatched;

	if (is_up == (port->peer != NO_INDEX))
		return false;
	port_set_link(subnet, port, is_up);
	port_set_link(subnet, far, is_up);
	return true;
}

bool ibsa__cable_plug(struct subnet *subnet, struct topo_port *port,
		      bool is_plugged)
{
	if (port->cable == NO_INDEX)
		return false;
	port->is_unplugged = !is_plugged;
	far_end(subnet, port)->is_unplugged = !is_plugged;
	return link_update(subnet, port);
}

bool ibsa__cable_enable(struct subnet *subnet, struct topo_port *port,
			bool is_enabled)
{
	port->is_disabled = !is_enabled;
	return port->cable != NO_INDEX && link_update(subnet, port);
}

bool ibsa__cable_retrain(struct subnet *subnet, struct topo_port *port)
{
	if (port->cable == NO_INDEX)
		return false;
	if (link_update(subnet, port))
		return true;
	if (port->peer == NO_INDEX)
		return false;
	port_set_state(subnet, port, IBSA_PORT_INIT);
	port_set_state(subnet, far_end(subnet, port), IBSA_PORT_INIT);
	return true;
}

static void port_set_rate(struct subnet *subnet, struct topo_port *port,
			  struct link_rate rate)
{
	port->rate = rate;
	if (port->end != NO_INDEX)
		subnet->ends[port->end].rate = ibsa__rate_rank(rate.width,
							       rate.speed);
}

void ibsa__cable_match(struct subnet *subnet, struct topo_port *port,
		       struct link_rate rate)
{
	struct topo_port *far = far_end(subnet, port);

	port->is_unmatched = !rate.width || !rate.speed;
	far->is_unmatched = port->is_unmatched;
	if (port->is_unmatched)
		return;
	port_set_rate(subnet, port, rate);
	port_set_rate(subnet, far, rate);
}

bool ibsa__cable_set_rate(struct subnet *subnet, struct topo_port *port,
			  struct link_rate rate)
{
	port->best = rate;
	far_end(subnet, port)->best = rate;
	if (port->rate.width == rate.width && port->rate.speed == rate.speed)
		return false;
	ibsa__cable_match(subnet, port, rate);
	return ibsa__cable_retrain(subnet, port);
}

static void notice_link(struct subnet *subnet, const struct topo_node *node)
{
	const struct topology *topo = &subnet->topo;

	if (node->type == IBSA_NODE_SWITCH)
		subnet_changed(
			subnet,
			&(struct subnet_change){
				.kind = CHANGE_LINK,
				.end = &subnet->ends
						[topo->ports[node->first_port]
							 .end],
			});
}

void ibsa__cable_notice(struct subnet *subnet, const struct topo_port *port)
{
	const struct topo_port *far = far_end(subnet, port);

	ibsa__subnet_sweep(subnet, SWEEP_AGAIN);
	notice_link(subnet, &subnet->topo.nodes[port->node]);
	if (far->node != port->node)
		notice_link(subnet, &subnet->topo.nodes[far->node]);
	ibsa__subnet_report(subnet);
}
