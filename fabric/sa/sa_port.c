/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PortInfoRecords: one for each port of each switch, including down ports, and
 * one for each discovered port of other nodes.
 *
 * Source: IBA vol 1, 15.2.5.3 and 14.2.5.6; OpenSM 3.3,
 * osm_sa_portinfo_record.c, for the rules of matching. Values that the topology
 * file does not give are those of ibsim.
 */
#include "fabric/sa/sa.h"
#include "fabric/node/sma.h"

enum {
	SPEED_QDR_BIT = 4,
	OPTION_TRUE_SPEEDS = 0x80,
};

/* Copy the widths and speeds of a port. */
static void port_info_copy_link(const struct ibsa_port_info *from,
				struct ibsa_port_info *out)
{
	out->link_width_enabled = from->link_width_enabled;
	out->link_width_supported = from->link_width_supported;
	out->link_width_active = from->link_width_active;
	out->link_speed_supported = from->link_speed_supported;
	out->link_speed_active = from->link_speed_active;
	out->link_speed_enabled = from->link_speed_enabled;
	out->link_speed_ext_supported = from->link_speed_ext_supported;
	out->link_speed_ext_enabled = from->link_speed_ext_enabled;
	out->link_speed_ext_supported2 = from->link_speed_ext_supported2;
	out->link_speed_ext_enabled2 = from->link_speed_ext_enabled2;
}

/*
 * Fill a PortInfoRecord. A port that is down counts as one that was never up,
 * of which OpenSM returns only the states (C14-24.2.1). However, a width of 0
 * is reserved, and libibmad warns of it. Widths and speeds are therefore those
 * that the port itself reports.
 */
static void port_info_fill(const struct nodes *nodes,
			   const struct topo_port *port,
			   struct ibsa_port_info *out)
{
	const struct topo_node *node = &nodes->subnet->topo.nodes[port->node];
	/*
	 * The component LocalPortNum: the port by which the node has received
	 * the SM's Get.
	 */
	const uint8_t local = node->type == IBSA_NODE_SWITCH ? node->sa_port
							     : port->number;
	struct ibsa_port_info info;

	ibsa__port_info(nodes, port, local, &info);
	if (!port->number || port->peer != NO_INDEX) {
		*out = info;
		return;
	}
	*out = (struct ibsa_port_info){
		.port_num = port->number,
		.port_state = info.port_state,
		.port_physical_state = info.port_physical_state,
	};
	port_info_copy_link(&info, out);
}

/* A request for PortInfoRecords. */
struct port_query {
	struct sa_work *work;
	struct sa_match match;
	/* The port must have at least the capabilities in the request. */
	bool all_capabilities;
	bool true_speeds;
	uint8_t options;
};

static bool has_capabilities(const struct port_query *query,
			     const struct ibsa_port_info *port)
{
	const struct sa_work *work = query->work;
	const struct ibsa_port_info *want = &work->want->port_info;
	uint32_t have = port->capability_mask;
	uint32_t have2 = port->capability_mask2;

	if (query->all_capabilities) {
		have &= want->capability_mask;
		have2 &= want->capability_mask2;
	}
	if (sa_has_any(work, IBSA_PORT_INFO_CM(capability_mask)) &&
	    have != want->capability_mask)
		return false;
	return !sa_has_any(work, IBSA_PORT_INFO_CM(capability_mask2)) ||
	       have2 == want->capability_mask2;
}

/*
 * Report the speed QDR in addition to an extended speed, for a client that does
 * not support extended speeds.
 */
static void port_info_show_old_speeds(struct ibsa_port_info *port)
{
	if (!port->link_speed_ext_active)
		return;
	port->link_speed_supported |= SPEED_QDR_BIT;
	port->link_speed_enabled |= SPEED_QDR_BIT;
	port->link_speed_active |= SPEED_QDR_BIT;
}

static void port_add(struct port_query *query, uint32_t lid,
		     const struct topo_port *port)
{
	struct sa_work *work = query->work;
	struct ibsa_port_info row;

	if (!sa_may_know_port(work, port))
		return;
	port_info_fill(work->sa->nodes, port, &row);
	if (!has_capabilities(query, &row) ||
	    !ibsa__sa_agree(&query->match, &row, work->want))
		return;
	row.endport_lid = lid_in_16_bits(lid);
	row.options = query->options;
	if (!query->true_speeds)
		port_info_show_old_speeds(&row);
	ibsa__sa_append(work, &row);
}

/*
 * Append the records of all ports of a switch, or of the discovered ports of
 * an adapter.
 */
static void port_add_node(struct port_query *query,
			  const struct topo_node *node)
{
	const struct subnet *subnet = query->work->subnet;
	const struct topo_port *first = &subnet->topo.ports[node->first_port];
	const bool is_switch = node->type == IBSA_NODE_SWITCH;

	if (is_switch && !subnet_port_lid(subnet, first))
		return;
	for (uint32_t i = is_switch ? 0 : 1; i <= node->port_count; i++) {
		if (sa_is_full(query->work))
			return;
		if (is_switch || subnet_port_lid(subnet, &first[i]))
			port_add(query, is_switch ? first->lid : first[i].lid,
				 &first[i]);
	}
}

/*
 * Append the records that a LID selects: each LID of a port with an LMC
 * selects the port; the LID of a switch selects all its ports.
 */
static void port_add_by_lid(struct port_query *query)
{
	const struct subnet *subnet = query->work->subnet;
	const struct end_port *end = end_by_lid(
		subnet,
		lid_in_16_bits(query->work->want->port_info.endport_lid));

	if (!end)
		return;
	if (end_topo_node(subnet, end)->type == IBSA_NODE_SWITCH)
		port_add_node(query, end_topo_node(subnet, end));
	else
		port_add(query, end->lid, end_topo_port(subnet, end));
}

void ibsa__sa_port_info(struct sa_work *work)
{
	const uint64_t special = IBSA_PORT_INFO_CM(endport_lid) |
				 IBSA_PORT_INFO_CM(options) |
				 IBSA_PORT_INFO_CM(capability_mask) |
				 IBSA_PORT_INFO_CM(capability_mask2);
	/* OpenSM does not compare these fields with the request. */
	const uint64_t ignored =
		IBSA_PORT_INFO_CM(init_type_reply) |
		IBSA_PORT_INFO_CM(client_reregister) |
		IBSA_PORT_INFO_CM(multicast_pkey_trap_suppression) |
		IBSA_PORT_INFO_CM(max_credit_hint) |
		IBSA_PORT_INFO_CM(link_round_trip_latency);
	const struct subnet *subnet = work->subnet;
	struct port_query query = {
		.work = work,
		.all_capabilities = IBSA_GET(sa_header, attribute_modifier,
					     work->mad) >>
				    31,
	};
	size_t i;

	if (!ibsa__sa_is_query(work))
		return;
	if (sa_has_any(work, IBSA_PORT_INFO_CM(options)))
		query.options = work->want->port_info.options;
	query.true_speeds = query.options & OPTION_TRUE_SPEEDS;
	ibsa__sa_select(&ibsa_port_info_record,
			work->mask & ~(special | ignored), &query.match);
	/*
	 * As in OpenSM, the mask bit of the PortInfo's LID selects by
	 * EndportLID.
	 */
	if (sa_has_any(work, IBSA_PORT_INFO_CM(endport_lid) |
				     IBSA_PORT_INFO_CM(lid))) {
		port_add_by_lid(&query);
		return;
	}
	while (sa_next(work, subnet->topo.node_count, &i))
		port_add_node(&query,
			      &subnet->topo.nodes[subnet->nodes_by_guid[i]]);
}
