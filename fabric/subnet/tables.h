/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of nodes and ports, with the values that the embedded SM gives them.
 * The SA's records and the nodes' responses contain these values until an SM
 * outside of the fabric sets others.
 */
#ifndef FABRIC_SUBNET_TABLES_H
#define FABRIC_SUBNET_TABLES_H

#include <ibsa/records.h>

#include "fabric/subnet/subnet.h"

enum {
	/* Numbers of entries in one block of a table. IBA vol 1, 14.2.5. */
	SL_TO_VL_LEVELS = 16,
	VL_ARB_BLOCK_ENTRIES = 32,
	LFT_BLOCK_LIDS = 64,
	MFT_BLOCK_LIDS = 32,
	MFT_POSITION_PORTS = 16,
	PKEY_BLOCK_KEYS = 32,
	/*
	 * Numbers of the VL arbitration blocks: 1 and 2 are for low priority,
	 * 3 and 4 for high priority.
	 */
	VL_ARB_BLOCK_FIRST = 1,
	VL_ARB_BLOCK_LAST = 4,

	/* Capacity of P_Key tables. */
	PKEY_CAP_SWITCH = 8, /* of port 0 */
	PKEY_CAP_LINK = 64,  /* of its external ports */
	PKEY_CAP_ADAPTER = 64,
};

/* Fill @out with the SwitchInfo of a switch; the LID of the record is 0. */
void ibsa__table_switch_info(const struct subnet *subnet,
			     const struct topo_node *node,
			     struct ibsa_switch_info *out);

/*
 * Fill the SLtoVL table, the virtual lane of each service level; it is equal
 * for all ports.
 */
void ibsa__table_sl_to_vl(uint8_t out[SL_TO_VL_LEVELS]);

/*
 * Fill a block of the VL arbitration table: a virtual lane in each upper byte,
 * its weight in the lower byte.
 */
void ibsa__table_vl_arb(unsigned int block, uint16_t out[VL_ARB_BLOCK_ENTRIES]);

/* Fill a block of a switch's linear forwarding table. */
void ibsa__table_lft(struct subnet *subnet, const struct topo_node *node,
		     uint32_t block, uint8_t out[LFT_BLOCK_LIDS]);

/*
 * Return: the last block of the linear forwarding table that contains a LID
 * which is or was in use.
 */
uint32_t ibsa__table_lft_last(const struct subnet *subnet);

/*
 * ibsa__table_pkeys() fills a block of a port's P_Key table;
 * ibsa__table_pkey_blocks() returns the number of blocks.
 */
void ibsa__table_pkeys(const struct subnet *subnet,
		       const struct topo_port *port, uint32_t block,
		       uint16_t out[PKEY_BLOCK_KEYS]);
uint32_t ibsa__table_pkey_blocks(const struct subnet *subnet,
				 const struct topo_port *port);

#endif
