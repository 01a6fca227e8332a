/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries for LinkRecords, which contain each cable from both ends, and for
 * the SMInfoRecord of the embedded SM.
 *
 * Source: IBA vol 1, 15.2.5.12 and 15.2.5.11; OpenSM 3.3.23,
 * osm_sa_link_record.c and osm_sa_sminfo_record.c, for the rules of matching.
 */
#include "fabric/sa/sa.h"
#include "wire/array.h"
#include "wire/word.h"

/*
 * The codec of LinkRecords is inlined for speed: their tables have many
 * records.
 */
#define CODEC_ONLY
#define RECORD link
#define FIELDS IBSA_LINK_FIELDS
#include "wire/record.inc"
#define RECORD sm_info
#define FIELDS IBSA_SM_INFO_FIELDS
#include "wire/record.inc"
#undef CODEC_ONLY

/*
 * Return: the end port whose LID stands for the port @port: port 0 of its
 * switch, or the port itself. NULL: the port is not in the subnet.
 */
static const struct end_port *end_of_port(const struct subnet *subnet,
					  const struct topo_port *port)
{
	const struct topo_node *node = &subnet->topo.nodes[port->node];
	const struct end_port *end;

	if (node->type == IBSA_NODE_SWITCH)
		port = &subnet->topo.ports[node->first_port];
	end = &subnet->ends[port->end];
	return subnet_has_end(subnet, port->end) && end->is_seen ? end : NULL;
}

/*
 * Whether each two of these three ports share a P_Key: both ends of the link
 * and the requester's port.
 */
static bool may_know(const struct sa_work *work, const struct topo_port *from,
		     const struct topo_port *to)
{
	return ibsa__ports_share_pkey(work->subnet, from, to) &&
	       sa_may_know_port(work, from) && sa_may_know_port(work, to);
}

/*
 * Whether a LID in the request is one of the end port's LIDs, of which it has
 * several with an LMC.
 */
static bool is_lid_of(const struct sa_work *work, uint16_t lid,
		      const struct end_port *end)
{
	return end_by_lid(work->subnet, lid_in_16_bits(lid)) == end;
}

static bool link_is_wanted(const struct sa_work *work,
			   const struct sa_match *ports,
			   const struct ibsa_link *link,
			   const struct end_port *from,
			   const struct end_port *to)
{
	const struct ibsa_link *want = &work->want->link;

	return ibsa__sa_agree(ports, link, want) &&
	       (!sa_has_any(work, IBSA_LINK_CM(from_lid)) ||
		is_lid_of(work, want->from_lid, from)) &&
	       (!sa_has_any(work, IBSA_LINK_CM(to_lid)) ||
		is_lid_of(work, want->to_lid, to));
}

static void link_add(struct sa_work *work, const struct sa_match *ports,
		     const struct topo_port *port)
{
	const struct subnet *subnet = work->subnet;
	const struct end_port *from = end_of_port(subnet, port);
	const struct topo_port *peer;
	const struct end_port *to;
	struct ibsa_link link;

	if (port->peer == NO_INDEX || !from)
		return;
	peer = &subnet->topo.ports[port->peer];
	to = end_of_port(subnet, peer);
	if (!to || !may_know(work, port, peer))
		return;
	link = (struct ibsa_link){
		.from_lid = lid_in_16_bits(from->lid),
		.from_port = port->number,
		.to_port = peer->number,
		.to_lid = lid_in_16_bits(to->lid),
	};
	if (link_is_wanted(work, ports, &link, from, to))
		sa_append(work, link_encode, &link);
}

static void link_add_node(struct sa_work *work, const struct sa_match *ports,
			  const struct topo_node *node)
{
	for (uint32_t i = 1; i <= node->port_count && !sa_is_full(work); i++)
		link_add(work, ports,
			 &work->subnet->topo.ports[node->first_port + i]);
}

void ibsa__sa_link(struct sa_work *work)
{
	const struct subnet *subnet = work->subnet;
	const uint64_t exact = IBSA_LINK_CM(from_port) | IBSA_LINK_CM(to_port);
	struct sa_match ports;
	size_t i;

	if (!ibsa__sa_is_query(work))
		return;
	ibsa__sa_select(&ibsa_link_record, work->mask & exact, &ports);
	while (sa_next(work, subnet->topo.node_count, &i))
		link_add_node(work, &ports,
			      &subnet->topo.nodes[subnet->nodes_by_guid[i]]);
}

void ibsa__sa_sm_info(struct sa_work *work)
{
	const struct end_port *sm = &work->subnet->ends[work->subnet->sa_end];
	const struct ibsa_sm_info row = {
		.lid = lid_in_16_bits(sm->lid),
		.guid = sm->guid,
		.act_count = (uint32_t)work->sa->net->stats.requests,
		.priority = SM_PRIORITY,
		.sm_state = SM_STATE_MASTER,
	};
	const uint64_t exact = IBSA_SM_INFO_CM(guid) |
			       IBSA_SM_INFO_CM(priority) |
			       IBSA_SM_INFO_CM(sm_state);
	struct sa_match match;

	if (!ibsa__sa_is_query(work))
		return;
	if (sa_has_any(work, IBSA_SM_INFO_CM(lid)) &&
	    !is_lid_of(work, work->want->sm_info.lid, sm))
		return;
	if (!sa_may_know_port(work, end_topo_port(work->subnet, sm))) {
		work->is_silent = true;
		return;
	}
	ibsa__sa_select(&ibsa_sm_info_record, work->mask & exact, &match);
	if (ibsa__sa_agree(&match, &row, work->want))
		sa_append(work, sm_info_encode, &row);
}
