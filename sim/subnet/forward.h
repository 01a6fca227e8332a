/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The forwarding tables of switches: as an SM has set them, else as the
 * built-in SM has them, by its routes and its groups.
 */
#ifndef SIM_SUBNET_FORWARD_H
#define SIM_SUBNET_FORWARD_H

#include "sim/subnet/tables.h"

enum {
	LFT_BLOCKS = (IBSA_LID_UNICAST_MAX + 1) / LFT_BLOCK_LIDS,
	MFT_LIDS = 1024,    /* in a multicast forwarding table */
	MFT_POSITIONS = 16, /* of 16 ports each */
	MFT_BLOCKS = MFT_LIDS / MFT_BLOCK_LIDS,
};

/* What an SM has set of one switch. */
struct switch_tables {
	uint8_t *lft;	   /* by LID; NULL: as the built-in SM has it */
	uint32_t lft_room; /* LIDs that it has an entry for */
	uint16_t lft_top;  /* the last LID to be looked up */
	uint16_t *mft[MFT_POSITIONS]; /* port masks of MFT_LIDS */
	uint8_t life_time;
	bool has_switch_info; /* the top and the life time were set */
	bool has_mft;	      /* any mask was */
};

/* The tables of a node; NULL: none were set, or out of memory. */
const struct switch_tables *ibsa__switch_tables(const struct subnet *subnet,
						uint32_t node);
struct switch_tables *ibsa__switch_tables_make(struct subnet *subnet,
					       uint32_t node);
void ibsa__switch_tables_done(struct subnet *subnet);

/* The last LID that a switch looks up. */
uint16_t ibsa__lft_top(const struct subnet *subnet,
		       const struct switch_tables *tables);

/*
 * The port by which a switch sends on what is for that LID, and the ports, a
 * bit each, by which it does for a multicast LID: by its tables.
 */
uint8_t ibsa__switch_exit(struct subnet *subnet, const struct topo_node *node,
			  uint32_t dlid);
void ibsa__switch_fan(struct subnet *subnet, const struct topo_node *node,
		      uint32_t mlid, uint16_t masks[MFT_POSITIONS]);

/* One of LFT_BLOCKS. False: out of memory. */
void ibsa__switch_lft(struct subnet *subnet, const struct topo_node *node,
		      uint32_t block, uint8_t out[LFT_BLOCK_LIDS]);
bool ibsa__switch_set_lft(struct subnet *subnet, const struct topo_node *node,
			  uint32_t block, const uint8_t ports[LFT_BLOCK_LIDS]);

/* Positions that the switch has ports for. */
static inline uint32_t mft_positions(const struct topo_node *node)
{
	return node->port_count / MFT_POSITION_PORTS + 1u;
}

/* One of MFT_BLOCKS at one of mft_positions(), as above. */
void ibsa__switch_mft(struct subnet *subnet, const struct topo_node *node,
		      uint32_t block, uint32_t position,
		      uint16_t out[MFT_BLOCK_LIDS]);
bool ibsa__switch_set_mft(struct subnet *subnet, const struct topo_node *node,
			  uint32_t block, uint32_t position,
			  const uint16_t masks[MFT_BLOCK_LIDS]);

#endif
