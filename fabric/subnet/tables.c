/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of nodes and ports, with the values that the embedded SM gives them.
 *
 * Source: IBA vol 1, 14.2.5.4 (SwitchInfo), 14.2.5.7 to 14.2.5.10. Where the
 * specification leaves a choice, the values are those of ibsim and OpenSM.
 */
#include <string.h>

#include "fabric/subnet/tables.h"

enum {
	LINEAR_CAP = 0x7800,
	MULTICAST_CAP = 1024,
	LIFE_TIME_VALUE = 18,
};

void ibsa__table_switch_info(const struct subnet *subnet,
			     const struct topo_node *node,
			     struct ibsa_switch_info *out)
{
	*out = (struct ibsa_switch_info){
		.linear_fdb_cap = LINEAR_CAP,
		.multicast_fdb_cap = MULTICAST_CAP,
		.linear_fdb_top = lid_in_16_bits(subnet->lids.top),
		.life_time_value = LIFE_TIME_VALUE,
		.partition_enforcement_cap = PKEY_CAP_LINK,
		.filter_raw_inbound_cap = 1,
		.filter_raw_outbound_cap = 1,
		.enhanced_port0 = node->has_enhanced_port0,
	};
}

/*
 * Fill the SLtoVL table: each service level uses the virtual lane with its
 * number. SL 15 uses VL 7, since VL 15 is for management.
 */
void ibsa__table_sl_to_vl(uint8_t out[SL_TO_VL_LEVELS])
{
	for (uint8_t i = 0; i < SL_TO_VL_LEVELS; i++)
		out[i] = i;
	out[SL_TO_VL_LEVELS - 1] = 7;
}

/*
 * Fill a block of the VL arbitration table: in the table for high priority,
 * only VL 0 has a weight; in that for low priority, VLs 1 to 7 have equal
 * weights.
 */
void ibsa__table_vl_arb(unsigned int block, uint16_t out[VL_ARB_BLOCK_ENTRIES])
{
	enum {
		LOW = 1,
		HIGH = 3,
		LANES = 8, /* lanes with entries */
		WEIGHT = 4,
	};

	memset(out, 0, VL_ARB_BLOCK_ENTRIES * sizeof(*out));
	if (block != LOW && block != HIGH)
		return;
	for (uint16_t lane = 0; lane < LANES; lane++)
		out[lane] = (uint16_t)(lane << 8 |
				       ((block == HIGH) == !lane ? WEIGHT : 0));
}

uint32_t ibsa__table_lft_last(const struct subnet *subnet)
{
	return lid_in_16_bits(subnet->lids.top) / LFT_BLOCK_LIDS;
}

void ibsa__table_lft(struct subnet *subnet, const struct topo_node *node,
		     uint32_t block, uint8_t out[LFT_BLOCK_LIDS])
{
	for (uint32_t i = 0; i < LFT_BLOCK_LIDS; i++)
		out[i] = ibsa__route_exit(subnet, node,
					  block * LFT_BLOCK_LIDS + i);
}

static bool is_end_port(const struct subnet *subnet,
			const struct topo_port *port)
{
	return (subnet->topo.nodes[port->node].type == IBSA_NODE_SWITCH) ==
	       !port->number;
}

/*
 * Return: the number of P_Keys for which the port's table has room; at least
 * as many as the table contains.
 */
static uint32_t pkey_room(const struct subnet *subnet,
			  const struct topo_port *port)
{
	uint32_t room = PKEY_CAP_LINK;

	if (!is_end_port(subnet, port))
		return room;
	room = port->number ? PKEY_CAP_ADAPTER : PKEY_CAP_SWITCH;
	if (setup_pkey_count(&subnet->setups[port->end]) > room)
		room = setup_pkey_count(&subnet->setups[port->end]);
	return room;
}

uint32_t ibsa__table_pkey_blocks(const struct subnet *subnet,
				 const struct topo_port *port)
{
	if (!is_end_port(subnet, port) && port->peer == NO_INDEX)
		return 0;
	return (pkey_room(subnet, port) + PKEY_BLOCK_KEYS - 1) /
	       PKEY_BLOCK_KEYS;
}

/*
 * Return: an entry in a port's P_Key table. An external port of a switch has
 * the P_Keys of the end port at the other end of its cable; between two
 * switches, only the default P_Key; without a link, none.
 */
static uint16_t pkey_at(const struct subnet *subnet,
			const struct topo_port *port, uint32_t index)
{
	if (!is_end_port(subnet, port)) {
		if (port->peer == NO_INDEX)
			return 0;
		port = &subnet->topo.ports[port->peer];
		if (!is_end_port(subnet, port))
			return index ? 0 : IBSA_PKEY_DEFAULT;
	}
	return setup_pkey(&subnet->setups[port->end], index);
}

void ibsa__table_pkeys(const struct subnet *subnet,
		       const struct topo_port *port, uint32_t block,
		       uint16_t out[PKEY_BLOCK_KEYS])
{
	for (uint32_t i = 0; i < PKEY_BLOCK_KEYS; i++)
		out[i] = pkey_at(subnet, port, block * PKEY_BLOCK_KEYS + i);
}
