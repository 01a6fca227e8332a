/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the nodes and ports of a fabric from its topology file. */
#include <errno.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "fabric/subnet/topology.h"

static struct topo_node node_of_net(const struct net_node *node)
{
	return (struct topo_node){
		.id = node->id,
		.name = node->name,
		.guid = node->guid,
		.image_guid = node->image_guid,
		.first_port = node->first_port,
		.switch_index = NO_INDEX,
		.vendor = node->vendor,
		.device = node->device,
		.type = node->type,
		.port_count = node->port_count,
		.has_enhanced_port0 = node->has_enhanced_port0,
	};
}

static struct topo_port port_of_net(const struct net_port *port)
{
	return (struct topo_port){
		.guid = port->guid,
		.node = port->node,
		.cable = port->cable,
		.peer = port->cable,
		.end = NO_INDEX,
		.wanted_lid = port->lid,
		.number = port->number,
		.lmc = port->lmc,
		.rate = port->rate,
		.best = port->rate,
	};
}

/*
 * Set the maximum rate of a node's ports: for a port with a link, the rate of
 * the link; for a port without a link, the highest rate of the node's links.
 */
static void node_set_most(struct topology *topo, const struct topo_node *node)
{
	struct topo_port *ports = &topo->ports[node->first_port];
	struct link_rate most = { .width = 0 };

	for (uint32_t i = 1; i <= node->port_count; i++) {
		if (ports[i].cable == NO_INDEX)
			continue;
		ports[i].most = ports[i].rate;
		if (ibsa__rate_rank(ports[i].rate.width, ports[i].rate.speed) >=
		    ibsa__rate_rank(most.width, most.speed))
			most = ports[i].rate;
	}
	for (uint32_t i = 0; i <= node->port_count; i++) {
		if (i && !ports[i].most.width && most.width)
			ports[i].most = most;
		else if (!ports[i].most.width)
			ports[i].most = ports[i].rate;
	}
}

int ibsa__topology_init(struct topology *topo, const struct net *net)
{
	struct topo_node *nodes = ibsa__calloc((size_t)net->node_count + 1,
					       sizeof(*nodes));
	struct topo_port *ports = ibsa__calloc((size_t)net->port_count + 1,
					       sizeof(*ports));

	if (!nodes || !ports) {
		ibsa__free(nodes);
		ibsa__free(ports);
		return -ENOMEM;
	}
	*topo = (struct topology){
		.net = *net,
		.nodes = nodes,
		.ports = ports,
		.node_count = net->node_count,
		.port_count = net->port_count,
		.link_count = net->cable_count,
	};
	for (uint32_t i = 0; i < net->port_count; i++)
		ports[i] = port_of_net(&net->ports[i]);
	for (uint32_t i = 0; i < net->node_count; i++) {
		nodes[i] = node_of_net(&net->nodes[i]);
		if (nodes[i].type == IBSA_NODE_SWITCH)
			nodes[i].switch_index = topo->switch_count++;
		node_set_most(topo, &nodes[i]);
	}
	return 0;
}

void ibsa__topology_done(struct topology *topo)
{
	ibsa__net_done(&topo->net);
	ibsa__free(topo->nodes);
	ibsa__free(topo->ports);
	*topo = (struct topology){ 0 };
}

int ibsa__topology_copy(const struct topology *topo, struct ibsa_topology **out)
{
	struct net net = topo->net;
	int err;

	net.ports = ibsa__calloc((size_t)net.port_count + 1,
				 sizeof(*net.ports));
	if (!net.ports)
		return -ENOMEM;
	for (uint32_t i = 0; i < net.port_count; i++) {
		net.ports[i] = topo->net.ports[i];
		net.ports[i].cable = topo->ports[i].peer;
		net.ports[i].lmc = topo->ports[i].lmc;
		net.ports[i].rate = topo->ports[i].rate;
	}
	err = ibsa__net_graph(&net, out);
	ibsa__free(net.ports);
	return err;
}
