/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of nodes and ports as the built-in SM has them.
 *
 * Source: IBA vol 1, 14.2.5.4 (SwitchInfo), 14.2.5.7 to 14.2.5.10. Where the
 * specification leaves the choice it is ibsim's, and OpenSM's.
 */
#include <string.h>

#include "sim/subnet/tables.h"

/* SwitchInfo. */
enum {
	AT_LINEAR_CAP = 0,
	AT_MULTICAST_CAP = 4,
	AT_LINEAR_TOP = 6,
	AT_LIFE_TIME = 11,
	AT_PARTITION_CAP = 14,
	AT_FLAGS = 16,
	LINEAR_CAP = 0x7800,
	MULTICAST_CAP = 1024,
	LIFE_TIME = 18 << 3,
	FILTERS_RAW = 0x30, /* in and out */
};

void ibsa__table_switch_info(const struct ibsa_fabric *fabric, uint8_t *out)
{
	memset(out, 0, SWITCH_INFO_BYTES);
	ibsa_put_be16(out + AT_LINEAR_CAP, LINEAR_CAP);
	ibsa_put_be16(out + AT_MULTICAST_CAP, MULTICAST_CAP);
	ibsa_put_be16(out + AT_LINEAR_TOP, lid_in_16_bits(fabric->lids.top));
	out[AT_LIFE_TIME] = LIFE_TIME;
	ibsa_put_be16(out + AT_PARTITION_CAP, PKEY_CAP_LINK);
	out[AT_FLAGS] = FILTERS_RAW;
}

/* Each to the lane of its number, 15 to 7: lane 15 is for management. */
void ibsa__table_sl_to_vl(uint8_t *out)
{
	static const uint8_t lanes[SL_TO_VL_BYTES] = { 0x01, 0x23, 0x45, 0x67,
						       0x89, 0xab, 0xcd, 0xe7 };

	memcpy(out, lanes, sizeof(lanes));
}

/* Lane 0 alone has high priority; all others share what is left. */
void ibsa__table_vl_arb(unsigned int block, uint8_t *out)
{
	enum {
		LOW = 1,
		HIGH = 3,
		LANES = 8, /* that the ports have entries for */
		WEIGHT = 4,
	};

	memset(out, 0, BLOCK_BYTES);
	if (block != LOW && block != HIGH)
		return;
	for (uint8_t lane = 0; lane < LANES; lane++) {
		out[2 * lane] = lane;
		out[2 * lane + 1] = (block == HIGH) == !lane ? WEIGHT : 0;
	}
}

uint32_t ibsa__table_lft_last(const struct ibsa_fabric *fabric)
{
	return lid_in_16_bits(fabric->lids.top) / LFT_BLOCK_LIDS;
}

void ibsa__table_lft(struct ibsa_fabric *fabric, const struct topo_node *node,
		     uint32_t block, uint8_t *out)
{
	for (uint32_t i = 0; i < LFT_BLOCK_LIDS; i++)
		out[i] = ibsa__route_exit(fabric, node,
					  block * LFT_BLOCK_LIDS + i);
}

static bool is_end_port(const struct ibsa_fabric *fabric,
			const struct topo_port *port)
{
	return (fabric->topo.nodes[port->node].type == IBSA_NODE_SWITCH) ==
	       !port->number;
}

/* As many as the port has entries for, or more if it was given more. */
static uint32_t pkey_room(const struct ibsa_fabric *fabric,
			  const struct topo_port *port)
{
	uint32_t room = PKEY_CAP_LINK;

	if (!is_end_port(fabric, port))
		return room;
	room = port->number ? PKEY_CAP_ADAPTER : PKEY_CAP_SWITCH;
	if (setup_pkey_count(&fabric->setups[port->end]) > room)
		room = setup_pkey_count(&fabric->setups[port->end]);
	return room;
}

uint32_t ibsa__table_pkey_blocks(const struct ibsa_fabric *fabric,
				 const struct topo_port *port)
{
	if (!is_end_port(fabric, port) && port->peer == SIM_NONE)
		return 0;
	return (pkey_room(fabric, port) + PKEY_BLOCK_KEYS - 1) /
	       PKEY_BLOCK_KEYS;
}

/*
 * What a switch lets through a port is what the port at the other end of its
 * cable has; between switches it is not looked at.
 */
static uint16_t pkey_at(const struct ibsa_fabric *fabric,
			const struct topo_port *port, uint32_t index)
{
	if (!is_end_port(fabric, port)) {
		if (port->peer == SIM_NONE)
			return 0;
		port = &fabric->topo.ports[port->peer];
		if (!is_end_port(fabric, port))
			return index ? 0 : IBSA_PKEY_DEFAULT;
	}
	return setup_pkey(&fabric->setups[port->end], index);
}

void ibsa__table_pkeys(const struct ibsa_fabric *fabric,
		       const struct topo_port *port, uint32_t block,
		       uint8_t *out)
{
	for (uint32_t i = 0; i < PKEY_BLOCK_KEYS; i++)
		ibsa_put_be16(out + 2 * (size_t)i,
			      pkey_at(fabric, port,
				      block * PKEY_BLOCK_KEYS + i));
}
