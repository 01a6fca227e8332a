/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the built-in SM has in the tables of nodes and ports: the one source
 * of the SA's records and of what the nodes themselves answer, as long as no
 * other SM has set them.
 */
#ifndef SIM_SUBNET_TABLES_H
#define SIM_SUBNET_TABLES_H

#include <ibsa/records.h>

#include "sim/subnet/subnet.h"

enum {
	/* Entries of the tables' blocks. IBA vol 1, 14.2.5. */
	SL_TO_VL_LEVELS = 16,
	VL_ARB_BLOCK_ENTRIES = 32,
	LFT_BLOCK_LIDS = 64,
	MFT_BLOCK_LIDS = 32,
	MFT_POSITION_PORTS = 16,
	PKEY_BLOCK_KEYS = 32,
	VL_ARB_BLOCK_FIRST = 1, /* 1 and 2 of low, 3 and 4 of high priority */
	VL_ARB_BLOCK_LAST = 4,

	/* Entries of the P_Key tables. */
	PKEY_CAP_SWITCH = 8, /* of its own port */
	PKEY_CAP_LINK = 64,  /* of its others */
	PKEY_CAP_ADAPTER = 64,
};

/* SwitchInfo, as a record without its LID. */
void ibsa__table_switch_info(const struct subnet *subnet,
			     struct ibsa_switch_info *out);

/* The virtual lane of each service level, whichever the ports. */
void ibsa__table_sl_to_vl(uint8_t out[SL_TO_VL_LEVELS]);

/*
 * A block of the arbitration of virtual lanes: lanes in the upper bytes,
 * weights in the lower.
 */
void ibsa__table_vl_arb(unsigned int block, uint16_t out[VL_ARB_BLOCK_ENTRIES]);

/* A block of a switch's linear forwarding table. */
void ibsa__table_lft(struct subnet *subnet, const struct topo_node *node,
		     uint32_t block, uint8_t out[LFT_BLOCK_LIDS]);

/* The last block that says anything of any LID. */
uint32_t ibsa__table_lft_last(const struct subnet *subnet);

/* P_Keys of a port; and the blocks that it has. */
void ibsa__table_pkeys(const struct subnet *subnet,
		       const struct topo_port *port, uint32_t block,
		       uint16_t out[PKEY_BLOCK_KEYS]);
uint32_t ibsa__table_pkey_blocks(const struct subnet *subnet,
				 const struct topo_port *port);

#endif
