/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast forwarding tables, by the groups of the SA. */
#ifndef SIM_SA_MULTICAST_H
#define SIM_SA_MULTICAST_H

#include "sim/sa/sa.h"
#include "sim/subnet/forward.h"

/* Fill in the subnet's source of multicast tables. */
void ibsa__multicast_init(struct sa *sa);

/*
 * A block of a switch's table, for 16 ports from the position on; and how many
 * blocks say anything of any group.
 */
void ibsa__table_mft(struct sa *sa, const struct topo_node *node,
		     uint32_t block, unsigned int position,
		     uint16_t out[MFT_BLOCK_LIDS]);
uint32_t ibsa__table_mft_blocks(struct sa *sa, const struct topo_node *node);

#endif
