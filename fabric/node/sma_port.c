/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Set of PortInfo: checks the values, and applies them to the port.
 *
 * Source: IBA vol 1, 14.2.5.6 (components), 7.2.7 (states). In many
 * components, zero means no change.
 */
#include "fabric/subnet/cable.h"
#include "fabric/node/sma.h"

enum {
	/*
	 * Number of bytes before PortInfo in a PortInfoRecord: EndportLID and
	 * others.
	 */
	LID_BYTES = 4,
	ALL_WIDTHS = 0xff,
	ALL_SPEEDS = 0xf,
	ALL_EXT_SPEEDS = 0x1f,
	NO_EXT_SPEEDS = 0x1e,
	ALL_EXT_SPEEDS2 = 0x7,
	/*
	 * Mask of the port number in the attribute modifier; the other bits are
	 * flags.
	 */
	NUMBER_MASK = 0x7fffffff,
};

/* A Set of PortInfo. */
struct port_set {
	struct smp *smp;
	struct nodes *nodes;
	struct topo_port *port; /* the port to be set */
	bool is_end;
	struct ibsa_port_info have;
	struct ibsa_port_info want;
};

/*
 * Return: the port that the SMP selects, or NULL. At an adapter, only the port
 * that has received the SMP can be set.
 */
static struct topo_port *port_of(const struct smp *smp)
{
	const uint32_t number = smp->modifier & NUMBER_MASK;
	const bool is_switch = smp->node->type == IBSA_NODE_SWITCH;

	if (number > smp->node->port_count)
		return NULL;
	if (!is_switch && !number)
		return smp->port;
	if (!is_switch && smp->is_set && number != smp->port->number)
		return NULL;
	return &smp->nodes->subnet->topo.ports[smp->node->first_port + number];
}

static bool bits_are_supported(uint8_t want, uint8_t supported, uint8_t all)
{
	return want == all || !(want & ~supported);
}

static bool is_link_valid(const struct port_set *set)
{
	const struct ibsa_port_info *want = &set->want;
	const struct ibsa_port_info *have = &set->have;

	return bits_are_supported(want->link_width_enabled,
				  have->link_width_supported, ALL_WIDTHS) &&
	       bits_are_supported(want->link_speed_enabled,
				  have->link_speed_supported, ALL_SPEEDS) &&
	       (want->link_speed_ext_enabled == NO_EXT_SPEEDS ||
		bits_are_supported(want->link_speed_ext_enabled,
				   have->link_speed_ext_supported,
				   ALL_EXT_SPEEDS)) &&
	       bits_are_supported(want->link_speed_ext_enabled2,
				  have->link_speed_ext_supported2,
				  ALL_EXT_SPEEDS2) &&
	       want->neighbor_mtu <= have->mtu_cap &&
	       want->operational_vls <= have->vl_cap &&
	       want->link_down_default_state <= PHYS_POLLING;
}

/*
 * Whether a Set may change the port's state in this way: Init to Armed, Armed
 * to Active, any state to Down, or no change.
 */
static bool is_state_valid(const struct port_set *set)
{
	const struct topo_port *port = set->port;
	const uint8_t want = set->want.port_state;
	const uint8_t phys = set->want.port_physical_state;

	if (phys > PHYS_DISABLED || (phys && want > IBSA_PORT_DOWN) ||
	    ((phys || want == IBSA_PORT_DOWN) && !port->number))
		return false;
	if (want <= IBSA_PORT_DOWN || want == port->state)
		return true;
	return (want == IBSA_PORT_ARMED && port->state == IBSA_PORT_INIT) ||
	       (want == IBSA_PORT_ACTIVE && port->state == IBSA_PORT_ARMED);
}

static bool is_end_valid(const struct port_set *set)
{
	const struct ibsa_port_info *want = &set->want;
	const uint32_t lids = UINT32_C(1) << want->lmc;

	return want->lid + lids - 1 <= IBSA_LID_UNICAST_MAX &&
	       !(want->lid % lids) &&
	       want->master_sm_lid <= IBSA_LID_UNICAST_MAX;
}

static void value_complete(uint8_t *want, uint8_t have)
{
	if (!*want)
		*want = have;
}

/*
 * Replace components that are zero by the current values, and components that
 * are all ones by the supported values. The counter of M_Key violations can only
 * be set to zero.
 */
static void port_set_complete(struct port_set *set)
{
	struct ibsa_port_info *want = &set->want;
	const struct ibsa_port_info *have = &set->have;

	value_complete(&want->link_width_enabled, have->link_width_enabled);
	value_complete(&want->link_speed_enabled, have->link_speed_enabled);
	value_complete(&want->link_speed_ext_enabled,
		       have->link_speed_ext_enabled);
	value_complete(&want->link_speed_ext_enabled2,
		       have->link_speed_ext_enabled2);
	value_complete(&want->link_down_default_state,
		       have->link_down_default_state);
	value_complete(&want->neighbor_mtu, have->neighbor_mtu);
	value_complete(&want->operational_vls, have->operational_vls);
	if (want->m_key_violations)
		want->m_key_violations = have->m_key_violations;
	if (want->link_width_enabled == ALL_WIDTHS)
		want->link_width_enabled = have->link_width_supported;
	if (want->link_speed_enabled == ALL_SPEEDS)
		want->link_speed_enabled = have->link_speed_supported;
	if (want->link_speed_ext_enabled == ALL_EXT_SPEEDS)
		want->link_speed_ext_enabled = have->link_speed_ext_supported;
	if (want->link_speed_ext_enabled2 == ALL_EXT_SPEEDS2)
		want->link_speed_ext_enabled2 = have->link_speed_ext_supported2;
}

/* Store those values of the Set that other parts of the simulator use. */
static void port_set_apply_end(struct port_set *set)
{
	struct subnet *subnet = set->nodes->subnet;
	struct end_setup *setup = &subnet->setups[set->port->end];
	const struct ibsa_port_info *want = &set->want;
	struct end_port *end = &subnet->ends[set->port->end];

	setup->sm_lid = want->master_sm_lid;
	setup->sm_sl = want->master_sm_sl;
	if (want->client_reregister)
		setup->reregisters++;
	if (!want->p_key_violations)
		setup->pkey_violations = 0;
	if (end->lid != want->lid || set->port->lmc != want->lmc)
		ibsa__lids_set(subnet, set->port->end, want->lid, want->lmc);
}

/* Return: the widths and speeds that are enabled at a port, as sets of bits. */
static struct enabled {
	unsigned int widths;
	unsigned int speeds;
} enabled_at(const struct nodes *nodes, const struct topo_port *port)
{
	struct ibsa_port_info info;

	ibsa__port_info(nodes, port, 0, &info);
	if (info.link_speed_ext_enabled == NO_EXT_SPEEDS)
		info.link_speed_ext_enabled = 0;
	return (struct enabled){
		.widths = ibsa__widths_of_bits(info.link_width_enabled),
		.speeds = ibsa__speeds_of_bits(&(struct link_bits){
			.speed_supported = info.link_speed_enabled,
			.speed_ext_supported = info.link_speed_ext_enabled,
			.speed_ext_supported2 = info.link_speed_ext_enabled2,
		}),
	};
}

/*
 * Return: the rate at which the link of a port is trained: the greatest width
 * and speed that are enabled at both ends, up to those of the cable.
 */
static struct link_rate rate_in_common(const struct nodes *nodes,
				       const struct topo_port *port)
{
	const struct enabled a = enabled_at(nodes, port);
	const struct enabled b =
		enabled_at(nodes, &nodes->subnet->topo.ports[port->cable]);
	struct link_rate rate = {
		.width = (uint8_t)ibsa__width_most(
			a.widths & b.widths & ((2u << port->best.width) - 1)),
		.speed = (uint8_t)ibsa__speed_most(
			a.speeds & b.speeds & ((2u << port->best.speed) - 1)),
	};

	/* PortInfo has no bit for FDR10 but that of QDR. */
	if (port->best.speed == SPEED_FDR10 && rate.speed == SPEED_QDR)
		rate.speed = SPEED_FDR10;
	return rate;
}

void ibsa__port_match(struct nodes *nodes, struct topo_port *port)
{
	if (port->cable != NO_INDEX)
		ibsa__cable_match(nodes->subnet, port,
				  rate_in_common(nodes, port));
}

static void port_set_apply_state(struct port_set *set)
{
	struct topo_port *port = set->port;
	const uint8_t phys = set->want.port_physical_state;
	const bool is_trained = set->want.port_state == IBSA_PORT_DOWN ||
				(phys && phys != PHYS_DISABLED);
	bool is_changed = false;

	if (is_trained)
		ibsa__port_match(set->nodes, port);
	if (phys)
		is_changed = ibsa__cable_enable(set->nodes->subnet, port,
						phys != PHYS_DISABLED);
	if (!is_changed && is_trained)
		is_changed = ibsa__cable_retrain(set->nodes->subnet, port);
	if (set->want.port_state > IBSA_PORT_DOWN)
		port->state = set->want.port_state;
	if (is_changed)
		ibsa__cable_notice(set->nodes->subnet, port);
}

static void port_set_apply(struct port_set *set)
{
	struct sma_node *node = ibsa__sma_make(set->nodes, set->smp->index);

	if (!node) {
		set->smp->status = SMP_BUSY;
		return;
	}
	port_set_complete(set);
	node->ports[set->port->number].set = set->want;
	if (set->is_end)
		port_set_apply_end(set);
	port_set_apply_state(set);
}

/*
 * Set a port. Return: whether the SM has asked its clients to register again,
 * which the response repeats (o14-12.2.1).
 */
static bool set_port(struct smp *smp, struct topo_port *port)
{
	struct port_set set = {
		.smp = smp,
		.nodes = smp->nodes,
		.port = port,
		.is_end = port->end != NO_INDEX,
	};

	ibsa__port_info(smp->nodes, port, smp->number, &set.have);
	ibsa_port_info_record.decode(smp->data - LID_BYTES, &set.want);
	if (is_link_valid(&set) && is_state_valid(&set) &&
	    (!set.is_end || is_end_valid(&set)))
		port_set_apply(&set);
	else
		smp->status = SMP_INVALID;
	return !smp->status && set.is_end && set.want.client_reregister;
}

void ibsa__sma_port_info(struct smp *smp)
{
	uint8_t wire[LID_BYTES + SMP_DATA_BYTES];
	struct topo_port *port = port_of(smp);
	struct ibsa_port_info info;
	bool reregisters;
	uint64_t over;

	if (!port) {
		smp->status = SMP_INVALID;
		return;
	}
	reregisters = smp->is_set && set_port(smp, port);
	ibsa__port_info(smp->nodes, port, smp->number, &info);
	info.client_reregister = reregisters;
	ibsa_port_info_record.encode(&info, wire, &over);
	memcpy(smp->data, wire + LID_BYTES, SMP_DATA_BYTES);
}

/*
 * Answer MLNXExtendedPortInfo, an attribute of Mellanox devices that OpenSM
 * reads: it shows whether the link is FDR10. Devices of other vendors refuse
 * it; nodes whose vendor the topology file does not give have it. Source:
 * OpenSM, ib_types.h, ib_mlnx_ext_port_info_t.
 */
void ibsa__sma_extended_port_info(struct smp *smp)
{
	enum {
		SUPPORTED_AT = 7,
		ENABLED_AT = 11,
		ACTIVE_AT = 15,
		FDR10 = 1,
		MELLANOX = 0x0002c9,
	};
	const struct topo_port *port = port_of(smp);
	const bool is_refused = smp->node->vendor &&
				smp->node->vendor != MELLANOX;
	bool is_fdr10;

	if (is_refused || !port) {
		smp->status = is_refused ? SMP_UNSUPPORTED : SMP_INVALID;
		return;
	}
	is_fdr10 = port->rate.speed == SPEED_FDR10;
	memset(smp->data, 0, SMP_DATA_BYTES);
	smp->data[SUPPORTED_AT] = is_fdr10 ? FDR10 : 0;
	smp->data[ENABLED_AT] = is_fdr10 ? FDR10 : 0;
	smp->data[ACTIVE_AT] = is_fdr10 && port->peer != NO_INDEX ? FDR10 : 0;
}
