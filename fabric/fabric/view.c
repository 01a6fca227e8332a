/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the nodes and cables of a fabric, and the findings about its topology
 * file.
 */
#include <errno.h>

#include <ibsa/topology.h>

#include "base/sized.h"
#include "fabric/fabric/fabric.h"

int ibsa_fabric_node_at_sized(struct ibsa_fabric *fabric, size_t index,
			      struct ibsa_fabric_node *out, size_t size)
{
	const struct topo_node *node;
	struct ibsa_fabric_node found;

	if (index >= fabric->first.subnet.topo.node_count)
		return -ENOENT;
	node = &fabric->first.subnet.topo.nodes[index];
	found = (struct ibsa_fabric_node){
		.id = node->id,
		.name = node->name,
		.guid = node->guid,
		.image_guid = node->image_guid,
		.vendor = node->vendor,
		.device = node->device,
		.type = node->type,
		.port_count = node->port_count,
	};
	ibsa__sized_write(out, size, &found, sizeof(found));
	return 0;
}

int ibsa_fabric_end_at_sized(struct ibsa_fabric *fabric, size_t node,
			     unsigned int port, struct ibsa_fabric_end *out,
			     size_t size)
{
	const struct topology *topo = &fabric->first.subnet.topo;
	const struct topo_port *at;
	struct ibsa_fabric_end end;

	if (node >= topo->node_count || port > topo->nodes[node].port_count)
		return -ENOENT;
	at = &topo->ports[topo->nodes[node].first_port + port];
	end = (struct ibsa_fabric_end){
		.guid = at->guid,
		.file_lid = at->wanted_lid,
		.has_cable = at->cable != NO_INDEX,
	};
	if (end.has_cable) {
		end.far_node = topo->ports[at->cable].node;
		end.far_port = topo->ports[at->cable].number;
		pthread_mutex_lock(&fabric->lock);
		end.lanes = ibsa__lanes_of_width(at->rate.width);
		end.speed = ibsa__speed_name(at->rate.speed);
		end.is_up = at->peer != NO_INDEX;
		pthread_mutex_unlock(&fabric->lock);
	}
	ibsa__sized_write(out, size, &end, sizeof(end));
	return 0;
}

int ibsa_fabric_finding_at_sized(struct ibsa_fabric *fabric, size_t index,
				 struct ibsa_fabric_finding *out, size_t size)
{
	const struct net_finding *finding;
	struct ibsa_fabric_finding found;

	if (index >= fabric->first.subnet.topo.net.finding_count)
		return -ENOENT;
	finding = &fabric->first.subnet.topo.net.findings[index];
	found = (struct ibsa_fabric_finding){
		.kind = finding->kind,
		.name = ibsa_finding_name(finding->kind),
		.file = finding->file,
		.line = finding->line,
	};
	ibsa__net_finding_text(&fabric->first.subnet.topo.net, finding,
			       &found.what);
	ibsa__sized_write(out, size, &found, sizeof(found));
	return 0;
}

int ibsa_topology_copy(struct ibsa_fabric *fabric, struct ibsa_topology **out)
{
	int err;

	pthread_mutex_lock(&fabric->lock);
	err = ibsa__topology_copy(&fabric->first.subnet.topo, out);
	pthread_mutex_unlock(&fabric->lock);
	return err;
}
