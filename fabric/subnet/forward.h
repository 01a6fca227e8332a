/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The forwarding tables of switches: as an SM outside of the fabric has set
 * them, otherwise computed from the embedded SM's routes and groups.
 */
#ifndef FABRIC_SUBNET_FORWARD_H
#define FABRIC_SUBNET_FORWARD_H

#include "fabric/subnet/tables.h"

enum {
	LFT_BLOCKS = (IBSA_LID_UNICAST_MAX + 1) / LFT_BLOCK_LIDS,
	MFT_LIDS = 1024,    /* LIDs in a multicast forwarding table */
	MFT_POSITIONS = 16, /* each for 16 ports */
	MFT_BLOCKS = MFT_LIDS / MFT_BLOCK_LIDS,
};

/*
 * The forwarding tables that an SM outside of the fabric has set at one
 * switch.
 */
struct switch_tables {
	/* Exit port for each LID; NULL: the embedded SM's routes are used. */
	uint8_t *lft;
	uint32_t lft_room; /* LIDs for which lft has memory */
	/* LinearFDBTop: the last LID that the switch looks up */
	uint16_t lft_top;
	uint16_t *mft[MFT_POSITIONS]; /* port masks of MFT_LIDS */
	uint8_t life_time;
	bool has_switch_info; /* lft_top and life_time were set */
	bool has_mft;	      /* a mask was set */
};

/*
 * The forwarding tables that an SM outside of the fabric has set at a node.
 * ibsa__switch_tables() returns NULL if it has set none;
 * ibsa__switch_tables_make() creates them if they do not exist, and returns
 * NULL if memory is short.
 */
const struct switch_tables *ibsa__switch_tables(const struct subnet *subnet,
						uint32_t node);
struct switch_tables *ibsa__switch_tables_make(struct subnet *subnet,
					       uint32_t node);
void ibsa__switch_tables_done(struct subnet *subnet);

/* Return: the last LID that the switch looks up in its table. */
uint16_t ibsa__lft_top(const struct subnet *subnet,
		       const struct switch_tables *tables);

/*
 * By the forwarding tables of a switch: ibsa__switch_exit() returns the exit
 * port for a LID; ibsa__switch_fan() writes a mask of the exit ports for a
 * multicast LID.
 */
uint8_t ibsa__switch_exit(struct subnet *subnet, const struct topo_node *node,
			  uint32_t dlid);
void ibsa__switch_fan(struct subnet *subnet, const struct topo_node *node,
		      uint32_t mlid, uint16_t masks[MFT_POSITIONS]);

/*
 * Get or set one of the LFT_BLOCKS blocks of a linear forwarding table. The
 * function that sets a block returns false if memory is short.
 */
void ibsa__switch_lft(struct subnet *subnet, const struct topo_node *node,
		      uint32_t block, uint8_t out[LFT_BLOCK_LIDS]);
bool ibsa__switch_set_lft(struct subnet *subnet, const struct topo_node *node,
			  uint32_t block, const uint8_t ports[LFT_BLOCK_LIDS]);

/* Return: the number of 16-port positions that the ports of the switch need. */
static inline uint32_t mft_positions(const struct topo_node *node)
{
	return node->port_count / MFT_POSITION_PORTS + 1u;
}

/*
 * Get or set one of the MFT_BLOCKS blocks of a multicast forwarding table, at
 * one of mft_positions(). The function that sets a block returns false if
 * memory is short.
 */
void ibsa__switch_mft(struct subnet *subnet, const struct topo_node *node,
		      uint32_t block, uint32_t position,
		      uint16_t out[MFT_BLOCK_LIDS]);
bool ibsa__switch_set_mft(struct subnet *subnet, const struct topo_node *node,
			  uint32_t block, uint32_t position,
			  const uint16_t masks[MFT_BLOCK_LIDS]);

#endif
