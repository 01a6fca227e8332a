/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LinkRecord: each cable from both its ends; and SMInfoRecord, of the one SM
 * that there is.
 *
 * Source: IBA vol 1, 15.2.5.12 and 15.2.5.11; OpenSM 3.3.23,
 * osm_sa_link_record.c and osm_sa_sminfo_record.c, for what is matched.
 */
#include "sim/sa/sa.h"

/* LinkRecord, and its component mask. */
enum {
	AT_FROM_PORT = 2,
	AT_TO_PORT = 3,
	AT_TO_LID = 4,
	LINK_BYTES = 6,
	CM_FROM_LID = 1 << 0,
	CM_FROM_PORT = 1 << 1,
	CM_TO_PORT = 1 << 2,
	CM_TO_LID = 1 << 3,
};

static bool has(const struct sa_work *work, uint64_t bit)
{
	return work->mask & bit;
}

/*
 * The end port that stands for a port: its switch's, or itself. NULL: it is
 * not in the subnet.
 */
static const struct end_port *end_of_port(const struct ibsa_fabric *fabric,
					  const struct topo_port *port)
{
	const struct topo_node *node = &fabric->topo.nodes[port->node];
	const struct end_port *end;

	if (node->type == IBSA_NODE_SWITCH)
		port = &fabric->topo.ports[node->first_port];
	end = &fabric->ends[port->end];
	return end->is_seen ? end : NULL;
}

/* All three have to share a P_Key: both ports and the requester's. */
static bool may_know(const struct sa_work *work, const struct topo_port *from,
		     const struct topo_port *to)
{
	return ibsa__ports_share_pkey(work->fabric, from, to) &&
	       sa_may_know_port(work, from) && sa_may_know_port(work, to);
}

/* Whether a LID of the request, of any LMC, is that port's. */
static bool is_lid_of(const struct sa_work *work, const uint8_t *want,
		      const struct end_port *end)
{
	return end_by_lid(work->fabric, lid_in_16_bits(ibsa_be16(want))) == end;
}

static bool is_wanted(const struct sa_work *work, const uint8_t *link,
		      const struct end_port *from, const struct end_port *to)
{
	const uint8_t *want = work->want;

	return (!has(work, CM_FROM_PORT) ||
		link[AT_FROM_PORT] == want[AT_FROM_PORT]) &&
	       (!has(work, CM_TO_PORT) ||
		link[AT_TO_PORT] == want[AT_TO_PORT]) &&
	       (!has(work, CM_FROM_LID) || is_lid_of(work, want, from)) &&
	       (!has(work, CM_TO_LID) || is_lid_of(work, want + AT_TO_LID, to));
}

static void add_link(struct sa_work *work, const struct topo_port *port)
{
	const struct ibsa_fabric *fabric = work->fabric;
	const struct end_port *from = end_of_port(fabric, port);
	const struct topo_port *peer;
	const struct end_port *to;
	uint8_t link[LINK_BYTES];
	uint8_t *out;

	if (port->peer == SIM_NONE || !from)
		return;
	peer = &fabric->topo.ports[port->peer];
	to = end_of_port(fabric, peer);
	if (!to || !may_know(work, port, peer))
		return;
	ibsa_put_be16(link, lid_in_16_bits(from->lid));
	link[AT_FROM_PORT] = port->number;
	link[AT_TO_PORT] = peer->number;
	ibsa_put_be16(link + AT_TO_LID, lid_in_16_bits(to->lid));
	if (!is_wanted(work, link, from, to))
		return;
	out = ibsa__sa_add(work);
	if (out)
		memcpy(out, link, sizeof(link));
}

static void add_node(struct sa_work *work, const struct topo_node *node)
{
	for (uint32_t i = 1; i <= node->port_count && !sa_is_full(work); i++)
		add_link(work, &work->fabric->topo.ports[node->first_port + i]);
}

void ibsa__sa_link(struct sa_work *work)
{
	const struct ibsa_fabric *fabric = work->fabric;

	if (!ibsa__sa_is_query(work))
		return;
	for (uint32_t i = 0; i < fabric->topo.node_count; i++) {
		if (sa_is_full(work))
			return;
		add_node(work, &fabric->topo.nodes[fabric->nodes_by_guid[i]]);
	}
}

/* SMInfoRecord, and its component mask. */
enum {
	AT_GUID = 4,
	AT_ACT_COUNT = 20,
	AT_PRIORITY_STATE = 24,
	CM_SM_LID = 1 << 0,
	CM_SM_GUID = 1 << 2,
	CM_SM_PRIORITY = 1 << 5,
	CM_SM_STATE = 1 << 6,
};

/* Of priority and state, what the request selects. */
static uint8_t priority_state_mask(const struct sa_work *work)
{
	uint8_t mask = 0;

	if (has(work, CM_SM_PRIORITY))
		mask |= 0xf0;
	if (has(work, CM_SM_STATE))
		mask |= 0x0f;
	return mask;
}

void ibsa__sa_sm_info(struct sa_work *work)
{
	const struct end_port *sm = &work->fabric->ends[work->fabric->sa_end];
	uint8_t *out;

	if (!ibsa__sa_is_query(work))
		return;
	if (has(work, CM_SM_LID) && !is_lid_of(work, work->want, sm))
		return;
	if (!sa_may_know_port(work, end_topo_port(work->fabric, sm))) {
		work->is_silent = true;
		return;
	}
	if ((has(work, CM_SM_GUID) &&
	     ibsa_be64(work->want + AT_GUID) != sm->guid) ||
	    (work->want[AT_PRIORITY_STATE] ^ SM_PRIORITY_STATE) &
		    priority_state_mask(work))
		return;
	out = ibsa__sa_add(work);
	if (!out)
		return;
	ibsa_put_be16(out, lid_in_16_bits(sm->lid));
	ibsa_put_be64(out + AT_GUID, sm->guid);
	ibsa_put_be32(out + AT_ACT_COUNT,
		      (uint32_t)work->fabric->stats.requests);
	out[AT_PRIORITY_STATE] = SM_PRIORITY_STATE;
}
