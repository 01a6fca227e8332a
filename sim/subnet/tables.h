/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of nodes and ports as the embedded SM configures them. The SA's
 * records and the answers of the nodes use these until an SM outside of the
 * fabric sets others.
 */
#ifndef SIM_SUBNET_TABLES_H
#define SIM_SUBNET_TABLES_H

#include <ibsa/records.h>

#include "sim/subnet/subnet.h"

enum {
	/* Entries in one block of a table. IBA vol 1, 14.2.5. */
	SL_TO_VL_LEVELS = 16,
	VL_ARB_BLOCK_ENTRIES = 32,
	LFT_BLOCK_LIDS = 64,
	MFT_BLOCK_LIDS = 32,
	MFT_POSITION_PORTS = 16,
	PKEY_BLOCK_KEYS = 32,
	/* 1 and 2: low priority; 3 and 4: high priority */
	VL_ARB_BLOCK_FIRST = 1,
	VL_ARB_BLOCK_LAST = 4,

	/* Capacity of P_Key tables. */
	PKEY_CAP_SWITCH = 8, /* of port 0 */
	PKEY_CAP_LINK = 64,  /* of its external ports */
	PKEY_CAP_ADAPTER = 64,
};

/* SwitchInfo, as a record without its LID. */
void ibsa__table_switch_info(const struct subnet *subnet,
			     struct ibsa_switch_info *out);

/* The virtual lane of each service level; the same for all ports. */
void ibsa__table_sl_to_vl(uint8_t out[SL_TO_VL_LEVELS]);

/*
 * A block of the VL arbitration table: lanes in the upper bytes, weights in the
 * lower.
 */
void ibsa__table_vl_arb(unsigned int block, uint16_t out[VL_ARB_BLOCK_ENTRIES]);

/* A block of a switch's linear forwarding table. */
void ibsa__table_lft(struct subnet *subnet, const struct topo_node *node,
		     uint32_t block, uint8_t out[LFT_BLOCK_LIDS]);

/* The last block with a LID in use. */
uint32_t ibsa__table_lft_last(const struct subnet *subnet);

/* A block of a port's P_Key table, and the number of its blocks. */
void ibsa__table_pkeys(const struct subnet *subnet,
		       const struct topo_port *port, uint32_t block,
		       uint16_t out[PKEY_BLOCK_KEYS]);
uint32_t ibsa__table_pkey_blocks(const struct subnet *subnet,
				 const struct topo_port *port);

#endif
