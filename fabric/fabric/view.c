/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the nodes and cables of a fabric, and the findings about its topology
 * file.
 */
#include <errno.h>

#include <ibsa/topology.h>

#include "fabric/fabric/fabric.h"

int ibsa_fabric_node_at(struct ibsa_fabric *fabric, size_t index,
			struct ibsa_fabric_node *out)
{
	const struct topo_node *node;

	if (index >= fabric->subnet.topo.node_count)
		return -ENOENT;
	node = &fabric->subnet.topo.nodes[index];
	*out = (struct ibsa_fabric_node){
		.id = node->id,
		.name = node->name,
		.guid = node->guid,
		.image_guid = node->image_guid,
		.vendor = node->vendor,
		.device = node->device,
		.type = node->type,
		.port_count = node->port_count,
	};
	return 0;
}

int ibsa_fabric_end_at(struct ibsa_fabric *fabric, size_t node,
		       unsigned int port, struct ibsa_fabric_end *out)
{
	const struct topology *topo = &fabric->subnet.topo;
	const struct topo_port *at;

	if (node >= topo->node_count || port > topo->nodes[node].port_count)
		return -ENOENT;
	at = &topo->ports[topo->nodes[node].first_port + port];
	*out = (struct ibsa_fabric_end){
		.guid = at->guid,
		.file_lid = at->wanted_lid,
		.has_cable = at->cable != SIM_NONE,
	};
	if (!out->has_cable)
		return 0;
	out->far_node = topo->ports[at->cable].node;
	out->far_port = topo->ports[at->cable].number;
	pthread_mutex_lock(&fabric->lock);
	out->lanes = ibsa__lanes_of_width(at->rate.width);
	out->speed = ibsa__speed_name(at->rate.speed);
	out->is_up = at->peer != SIM_NONE;
	pthread_mutex_unlock(&fabric->lock);
	return 0;
}

int ibsa_fabric_finding_at(struct ibsa_fabric *fabric, size_t index,
			   struct ibsa_fabric_finding *out)
{
	const struct net_finding *finding;

	if (index >= fabric->subnet.topo.net.finding_count)
		return -ENOENT;
	finding = &fabric->subnet.topo.net.findings[index];
	out->kind = finding->kind;
	out->name = ibsa_finding_name(finding->kind);
	out->file = finding->file;
	out->line = finding->line;
	ibsa__net_finding_text(&fabric->subnet.topo.net, finding, &out->what);
	return 0;
}

int ibsa_topology_copy(struct ibsa_fabric *fabric, struct ibsa_topology **out)
{
	int err;

	pthread_mutex_lock(&fabric->lock);
	err = ibsa__topology_copy(&fabric->subnet.topo, out);
	pthread_mutex_unlock(&fabric->lock);
	return err;
}
