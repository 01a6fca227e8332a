/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fills the PortInfo of a port: with the embedded SM's configuration, or,
 * without an embedded SM, with the values after power-on; then with the values
 * that another SM has set.
 *
 * Source: IBA vol 1, 14.2.5.6. Values that the topology file does not contain
 * are those of ibsim.
 */
#include "fabric/node/sma.h"

/* Capability bits. IBA vol 1, table 146. */
enum {
	CAP_IS_SM = 1 << 1,
	CAP_BASE_PORT0 = 0x0000c848,
	CAP_END_PORT = 0x0240c848, /* with ClientReregistration */
	CAP2_WIDTH_2X = 1 << 4,
	CAP2_HDR = 1 << 5,
	CAP2_NDR = 1 << 10,
	CAP2_EXTENDED_SPEEDS_2_AND_XDR = 3 << 11,
};

enum {
	MTU_1024 = 3,
	MTU_2048 = 4,
	VL_0_TO_7 = 4,
	VL_ARBITRATION = 8,
	STALL_COUNT = 7,
	/* HOQLife of a switch's port that is connected to an adapter. */
	LIFE_TO_ADAPTER = 16,
	LIFE_TO_SWITCH = 18,
	M_KEY_LEASE = 4089,
	SUBNET_TIMEOUT = 31,
};

/*
 * What the embedded SM sets: the defaults of OpenSM, from which no SM profile
 * differs. LINK: every port with a link, and enhanced port 0; END: every port
 * with a LID; EDGE: every port of a switch that has a link to a node which is
 * not a switch.
 * Source: opensm.conf as OpenSM 3.3 writes it (opensm -c).
 *
 *   ports  field                           value    option
 */
/* clang-format off */
#define OPENSM_PORT_INFO(LINK, END, EDGE)				\
	LINK(local_phy_errors,                8) /* local_phy_errors_threshold */ \
	LINK(overrun_errors,                  8) /* overrun_errors_threshold */ \
	END(m_key_lease_period,               0) /* m_key_lease_period */ \
	END(subnet_timeout,                  18) /* subnet_timeout */	\
	EDGE(partition_enforcement_inbound,   1) /* part_enforce */	\
	EDGE(partition_enforcement_outbound,  1) /* part_enforce */
/* clang-format on */

#define SET_FIELD(field, value) out->field = value;
#define NO_FIELD(field, value)

static uint8_t phys_state(const struct topo_port *port)
{
	if (port->is_disabled)
		return PHYS_DISABLED;
	return port->number && port->peer == NO_INDEX ? PHYS_POLLING
						      : PHYS_LINK_UP;
}

/*
 * Return: the active width and speed of a port. Like a real port, a port
 * without a link reports the lowest speed, and 4X if it supports that width.
 */
static struct link_rate rate_now(const struct topo_port *port)
{
	if (!port->number || port->peer != NO_INDEX)
		return port->rate;
	return (struct link_rate){
		.width = port->most.width < WIDTH_4X ? WIDTH_1X : WIDTH_4X,
		.speed = SPEED_SDR,
	};
}

/* Set the fields that all ports have. */
static void port_info_set_link(struct ibsa_port_info *out,
			       const struct topo_port *port)
{
	const struct link_bits bits = ibsa__link_bits(port->most,
						      rate_now(port));

	out->link_width_enabled = bits.width_supported;
	out->link_width_supported = bits.width_supported;
	out->link_width_active = bits.width_active;
	out->link_speed_supported = bits.speed_supported;
	out->link_speed_enabled = bits.speed_supported;
	out->link_speed_active = bits.speed_active;
	out->link_speed_ext_supported = bits.speed_ext_supported;
	out->link_speed_ext_enabled = bits.speed_ext_supported;
	out->link_speed_ext_active = bits.speed_ext_active;
	out->link_speed_ext_supported2 = bits.speed_ext_supported2;
	out->link_speed_ext_enabled2 = bits.speed_ext_supported2;
	out->link_speed_ext_active2 = bits.speed_ext_active2;
	out->port_state = port->state;
	out->port_physical_state = phys_state(port);
	out->link_down_default_state = PHYS_POLLING;
	out->neighbor_mtu = MTU_2048;
	out->mtu_cap = MTU_2048;
	out->vl_cap = VL_0_TO_7;
	out->operational_vls = VL_0_TO_7;
	out->vl_arbitration_high_cap = VL_ARBITRATION;
	out->vl_arbitration_low_cap = VL_ARBITRATION;
	out->vl_stall_count = STALL_COUNT;
}

uint32_t ibsa__port_capabilities(const struct subnet *subnet,
				 const struct end_port *end)
{
	const bool is_base = ibsa__is_base_port0(&subnet->topo,
						 end_topo_port(subnet, end));
	uint32_t mask = is_base ? CAP_BASE_PORT0 : CAP_END_PORT;

	if (end_setup(subnet, end)->issm ||
	    (!subnet->is_bare && end == &subnet->ends[subnet->sa_end]))
		mask |= CAP_IS_SM;
	return mask ^ end_setup(subnet, end)->changed_capabilities;
}

/*
 * Return: the bits of CapabilityMask2 for the width and speed that a port
 * supports. Source: Linux include/rdma/ib_mad.h.
 */
static uint16_t link_capabilities2(const struct topo_port *port)
{
	const struct link_bits bits = ibsa__link_bits(port->most, port->most);
	const uint8_t speed = port->most.speed;
	uint16_t mask = 0;

	if (ibsa__widths_of_bits(bits.width_supported) & 1u << WIDTH_2X)
		mask |= CAP2_WIDTH_2X;
	if (speed >= SPEED_HDR)
		mask |= CAP2_HDR;
	if (speed >= SPEED_NDR)
		mask |= CAP2_NDR;
	if (speed >= SPEED_XDR)
		mask |= CAP2_EXTENDED_SPEEDS_2_AND_XDR;
	return mask;
}

/*
 * Return: CapabilityMask2 of an end port; that of a switch's port 0 is about all
 * ports of the switch.
 */
static uint16_t capabilities2(const struct subnet *subnet,
			      const struct topo_port *port)
{
	const struct topo_node *node = &subnet->topo.nodes[port->node];
	const struct topo_port *ports = &subnet->topo.ports[node->first_port];
	uint16_t mask = link_capabilities2(port);

	for (uint32_t i = 1; !port->number && i <= node->port_count; i++)
		mask |= link_capabilities2(&ports[i]);
	return mask;
}

/* Set those fields of PortInfo that only end ports have. */
static void port_info_set_end(const struct subnet *subnet,
			      struct ibsa_port_info *out,
			      const struct topo_port *port)
{
	const struct end_setup *setup = &subnet->setups[port->end];

	out->gid_prefix = subnet->gid_prefix;
	out->lid = lid_in_16_bits(subnet->ends[port->end].lid);
	out->master_sm_lid = lid_in_16_bits(setup->sm_lid);
	out->master_sm_sl = setup->sm_sl & 0xf;
	out->m_key_lease_period = M_KEY_LEASE;
	out->lmc = port->lmc;
	out->p_key_violations = setup->pkey_violations;
	out->guid_cap = GUID_CAP_ADAPTER;
	out->subnet_timeout = SUBNET_TIMEOUT;
	out->capability_mask =
		ibsa__port_capabilities(subnet, &subnet->ends[port->end]);
	out->capability_mask2 = capabilities2(subnet, port);
}

/*
 * Set the PortInfo of a switch's port 0, which has no cable; as a base port, it
 * has a low MTU.
 */
static void set_switch_port(struct ibsa_port_info *out, bool is_base)
{
	if (is_base) {
		out->link_width_enabled = out->link_width_active;
		out->neighbor_mtu = SWITCH_PORT_MTU;
		out->mtu_cap = MTU_1024;
	}
	out->vl_stall_count = 0;
	out->guid_cap = GUID_CAP_SWITCH;
	out->resp_time_value = 8;
}

static uint8_t life_at_head(const struct subnet *subnet,
			    const struct topo_port *port)
{
	const struct topology *topo = &subnet->topo;
	uint32_t far;

	if (port->peer == NO_INDEX)
		return 0;
	far = topo->ports[port->peer].node;
	return topo->nodes[far].type == IBSA_NODE_SWITCH ? LIFE_TO_SWITCH
							 : LIFE_TO_ADAPTER;
}

/*
 * Replace those fields of PortInfo that an SM has set at a port of any kind by
 * the SM's values.
 */
static void port_info_overlay(struct ibsa_port_info *out,
			      const struct ibsa_port_info *set)
{
	out->link_width_enabled = set->link_width_enabled;
	out->link_speed_enabled = set->link_speed_enabled;
	out->link_speed_ext_enabled = set->link_speed_ext_enabled;
	out->link_speed_ext_enabled2 = set->link_speed_ext_enabled2;
	out->link_down_default_state = set->link_down_default_state;
	out->neighbor_mtu = set->neighbor_mtu;
	out->operational_vls = set->operational_vls;
	out->init_type = set->init_type;
	out->vl_high_limit = set->vl_high_limit;
	out->vl_stall_count = set->vl_stall_count;
	out->hoq_life = set->hoq_life;
	out->partition_enforcement_inbound = set->partition_enforcement_inbound;
	out->partition_enforcement_outbound =
		set->partition_enforcement_outbound;
	out->filter_raw_inbound = set->filter_raw_inbound;
	out->filter_raw_outbound = set->filter_raw_outbound;
	out->local_phy_errors = set->local_phy_errors;
	out->overrun_errors = set->overrun_errors;
}

/*
 * Replace those fields of PortInfo that an SM has set at an end port by the
 * SM's values.
 */
static void port_info_overlay_end(struct ibsa_port_info *out,
				  const struct ibsa_port_info *set)
{
	out->m_key = set->m_key;
	out->m_key_protect_bits = set->m_key_protect_bits;
	out->m_key_lease_period = set->m_key_lease_period;
	out->m_key_violations = set->m_key_violations;
	out->gid_prefix = set->gid_prefix;
	out->subnet_timeout = set->subnet_timeout;
	out->multicast_pkey_trap_suppression =
		set->multicast_pkey_trap_suppression;
}

/*
 * Whether @port is a switch's port with a cable to a node which is not a
 * switch.
 */
static bool port_is_edge(const struct subnet *subnet,
			 const struct topo_port *port)
{
	const struct topology *topo = &subnet->topo;

	return topo->nodes[port->node].type == IBSA_NODE_SWITCH &&
	       port->number && port->peer != NO_INDEX &&
	       topo->nodes[topo->ports[port->peer].node].type !=
		       IBSA_NODE_SWITCH;
}

/* Set the values of OPENSM_PORT_INFO. */
static void port_info_set_up(const struct subnet *subnet,
			     const struct topo_port *port,
			     struct ibsa_port_info *out)
{
	if (!ibsa__is_base_port0(&subnet->topo, port) &&
	    port->state != IBSA_PORT_DOWN) {
		OPENSM_PORT_INFO(SET_FIELD, NO_FIELD, NO_FIELD)
	}
	if (port->end != NO_INDEX && subnet->ends[port->end].lid) {
		OPENSM_PORT_INFO(NO_FIELD, SET_FIELD, NO_FIELD)
	}
	if (port_is_edge(subnet, port) && port->state != IBSA_PORT_DOWN) {
		OPENSM_PORT_INFO(NO_FIELD, NO_FIELD, SET_FIELD)
	}
}

void ibsa__port_info(const struct nodes *nodes, const struct topo_port *port,
		     uint8_t local_port, struct ibsa_port_info *out)
{
	const struct topo_node *node = &nodes->subnet->topo.nodes[port->node];
	const bool is_switch = node->type == IBSA_NODE_SWITCH;
	const struct sma_port *sma = ibsa__sma_port(nodes, port);

	*out = (struct ibsa_port_info){
		.port_num = port->number,
		.local_port_num = local_port,
	};
	port_info_set_link(out, port);
	if (port->end != NO_INDEX)
		port_info_set_end(nodes->subnet, out, port);
	if (is_switch && !port->number)
		set_switch_port(out, ibsa__is_base_port0(&nodes->subnet->topo,
							 port));
	if (is_switch && port->number)
		out->hoq_life = life_at_head(nodes->subnet, port);
	if (!nodes->subnet->is_bare)
		port_info_set_up(nodes->subnet, port, out);
	if (!sma)
		return;
	port_info_overlay(out, &sma->set);
	if (port->end != NO_INDEX)
		port_info_overlay_end(out, &sma->set);
}
