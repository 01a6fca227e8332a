/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the nodes, ports, cables and counters of a fabric, and the findings about
 * its topology file.
 */
#include <errno.h>

#include <ibsa/topology.h>

#include "base/sized.h"
#include "fabric/fabric/fabric.h"
#include "fabric/mad/mad.h"

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

void ibsa_fabric_info_get_sized(struct ibsa_fabric *fabric,
				struct ibsa_fabric_info *out, size_t size)
{
	struct ibsa_fabric_info info;

	pthread_mutex_lock(&fabric->lock);
	info = (struct ibsa_fabric_info){
		.nodes = fabric->first.subnet.topo.node_count,
		.adapters = fabric->first.subnet.adapter_count,
		.switches = fabric->first.subnet.topo.switch_count,
		.links = fabric->first.subnet.topo.link_count,
	};
	for (uint32_t i = 0; i < fabric->part_count; i++)
		info.lids += fabric_part(fabric, i)->subnet.lids.count;
	pthread_mutex_unlock(&fabric->lock);
	ibsa__sized_write(out, size, &info, sizeof(info));
}

/*
 * Return: the index of the default P_Key in a port's table: with full
 * membership if the table has it, otherwise with limited membership, otherwise
 * 0.
 */
static uint16_t pkey_index_find(const struct end_setup *setup)
{
	uint16_t limited = 0;

	for (uint16_t i = 0; i < setup_pkey_count(setup); i++) {
		const uint16_t pkey = setup_pkey(setup, i);

		if (pkey == IBSA_PKEY_DEFAULT)
			return i;
		if (pkey == (IBSA_PKEY_DEFAULT & ~IBSA_PKEY_FULL) && !limited)
			limited = i;
	}
	return limited;
}

void ibsa__fabric_port_state(const struct ibsa_fabric *fabric, uint32_t index,
			     struct ibsa_port_state *out)
{
	const struct subnet *subnet = fabric_subnet_of(fabric, index);
	const struct topo_port *port = &subnet->topo.ports[index];
	const struct end_port *end = &subnet->ends[port->end];
	const struct end_setup *setup = end_setup(subnet, end);

	*out = (struct ibsa_port_state){
		.lid = end->lid,
		.lmc = end->lid ? port->lmc : 0,
		.pkey_index = pkey_index_find(setup),
		.port_state = port->state,
		.phys_state = port->peer != NO_INDEX ? PHYS_LINK_UP
						     : PHYS_POLLING,
		.link = subnet->is_opa ? IBSA_LINK_OPA : IBSA_LINK_INFINIBAND,
		.port_num = port->number,
		.needs_grh = setup->needs_grh,
		.reregisters = setup->reregisters,
	};
	if (subnet->sa_running || subnet->is_bare) {
		out->sm_lid = setup->sm_lid;
		out->sm_sl = setup->sm_sl;
	}
	end_gid(subnet, end, out->gid.raw);
}

int ibsa_fabric_port_at_sized(struct ibsa_fabric *fabric, size_t index,
			      struct ibsa_fabric_port *out, size_t size)
{
	struct ibsa_fabric_port found = { .rate = "" };
	const struct topo_port *at;
	uint32_t port;

	if (index >= fabric->first.subnet.adapter_port_count)
		return -ENOENT;
	port = fabric->first.subnet.adapter_ports[index];
	at = &fabric->first.subnet.topo.ports[port];
	found.node = fabric->first.subnet.topo.nodes[at->node].name;
	found.id = fabric->first.subnet.topo.nodes[at->node].id;
	found.number = at->number;
	found.guid = at->guid;
	pthread_mutex_lock(&fabric->lock);
	if (at->peer != NO_INDEX)
		found.rate = ibsa__rate_text(at->rate.width, at->rate.speed);
	ibsa__fabric_port_state(fabric, port, &found.state);
	pthread_mutex_unlock(&fabric->lock);
	ibsa__sized_write(out, size, &found, sizeof(found));
	return 0;
}

/* Add the counters of a subnet. */
static void stats_add(struct ibsa_fabric_stats *sum,
		      const struct ibsa_fabric_stats *stats)
{
	sum->requests += stats->requests;
	sum->answers += stats->answers;
	sum->unanswered += stats->unanswered;
	if (sum->most_in_flight < stats->most_in_flight)
		sum->most_in_flight = stats->most_in_flight;
	sum->reports += stats->reports;
	sum->reports_unanswered += stats->reports_unanswered;
	for (int i = 0; i < IBSA_FAULTS_ROOM; i++)
		sum->faults[i] += stats->faults[i];
	for (int i = 0; i < IBSA_DROPS_ROOM; i++)
		sum->drops[i] += stats->drops[i];
}

void ibsa_fabric_stats_get_sized(struct ibsa_fabric *fabric,
				 struct ibsa_fabric_stats *out, size_t size)
{
	struct ibsa_fabric_stats stats = { .requests = 0 };

	_Static_assert((int)IBSA_FAULT_KINDS <= (int)IBSA_FAULTS_ROOM &&
			       (int)IBSA_DROP_REASONS <= (int)IBSA_DROPS_ROOM,
		       "the arrays of struct ibsa_fabric_stats are too short");

	pthread_mutex_lock(&fabric->lock);
	for (uint32_t i = 0; i < fabric->part_count; i++) {
		struct mad_net *net = &fabric_part(fabric, i)->net;

		ibsa__mads_settle(net, fabric_clock_now(&fabric->clock));
		stats_add(&stats, &net->stats);
	}
	pthread_mutex_unlock(&fabric->lock);
	ibsa__sized_write(out, size, &stats, sizeof(stats));
}
