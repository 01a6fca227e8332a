/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The forwarding tables of switches: as an SM has set them, else computed from
 * the routes and groups of the embedded SM.
 */
#ifndef SIM_SUBNET_FORWARD_H
#define SIM_SUBNET_FORWARD_H

#include "sim/subnet/tables.h"

enum {
	LFT_BLOCKS = (IBSA_LID_UNICAST_MAX + 1) / LFT_BLOCK_LIDS,
	MFT_LIDS = 1024,    /* LIDs in a multicast forwarding table */
	MFT_POSITIONS = 16, /* each for 16 ports */
	MFT_BLOCKS = MFT_LIDS / MFT_BLOCK_LIDS,
};

/* Tables that an SM outside of the fabric has set at one switch. */
struct switch_tables {
	uint8_t *lft; /* exit port by LID; NULL: computed by the embedded SM */
	uint32_t lft_room; /* LIDs for which lft has memory */
	/* LinearFDBTop: the last LID that the switch looks up */
	uint16_t lft_top;
	uint16_t *mft[MFT_POSITIONS]; /* port masks of MFT_LIDS */
	uint8_t life_time;
	bool has_switch_info; /* lft_top and life_time were set */
	bool has_mft;	      /* a mask was set */
};

/*
 * The tables that an SM has set at a node. ibsa__switch_tables() returns NULL
 * if there are none, ibsa__switch_tables_make() if memory runs out.
 */
const struct switch_tables *ibsa__switch_tables(const struct subnet *subnet,
						uint32_t node);
struct switch_tables *ibsa__switch_tables_make(struct subnet *subnet,
					       uint32_t node);
void ibsa__switch_tables_done(struct subnet *subnet);

/* The last LID that a switch looks up. */
uint16_t ibsa__lft_top(const struct subnet *subnet,
		       const struct switch_tables *tables);

/*
 * The exit port of a switch for a LID, and the mask of exit ports for a
 * multicast LID, by the switch's tables.
 */
uint8_t ibsa__switch_exit(struct subnet *subnet, const struct topo_node *node,
			  uint32_t dlid);
void ibsa__switch_fan(struct subnet *subnet, const struct topo_node *node,
		      uint32_t mlid, uint16_t masks[MFT_POSITIONS]);

/* Get or set one of LFT_BLOCKS blocks. Set returns false if memory runs out. */
void ibsa__switch_lft(struct subnet *subnet, const struct topo_node *node,
		      uint32_t block, uint8_t out[LFT_BLOCK_LIDS]);
bool ibsa__switch_set_lft(struct subnet *subnet, const struct topo_node *node,
			  uint32_t block, const uint8_t ports[LFT_BLOCK_LIDS]);

/* Number of positions for the ports of the switch. */
static inline uint32_t mft_positions(const struct topo_node *node)
{
	return node->port_count / MFT_POSITION_PORTS + 1u;
}

/*
 * Get or set one of MFT_BLOCKS blocks at one of mft_positions(). Set returns
 * false if memory runs out.
 */
void ibsa__switch_mft(struct subnet *subnet, const struct topo_node *node,
		      uint32_t block, uint32_t position,
		      uint16_t out[MFT_BLOCK_LIDS]);
bool ibsa__switch_set_mft(struct subnet *subnet, const struct topo_node *node,
			  uint32_t block, uint32_t position,
			  const uint16_t masks[MFT_BLOCK_LIDS]);

#endif
