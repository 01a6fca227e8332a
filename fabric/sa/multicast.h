/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast forwarding tables, computed from the embedded SA's multicast
 * groups.
 */
#ifndef FABRIC_SA_MULTICAST_H
#define FABRIC_SA_MULTICAST_H

#include "fabric/sa/sa.h"
#include "fabric/subnet/forward.h"

/* Make the SA @sa the source of the subnet's multicast forwarding tables. */
void ibsa__multicast_init(struct sa *sa);

/*
 * ibsa__table_mft() writes a block of a switch's multicast forwarding table,
 * for the 16 ports from @position on. ibsa__table_mft_blocks() returns the
 * number of blocks up to the last one in use.
 */
void ibsa__table_mft(struct sa *sa, const struct topo_node *node,
		     uint32_t block, unsigned int position,
		     uint16_t out[MFT_BLOCK_LIDS]);
uint32_t ibsa__table_mft_blocks(struct sa *sa, const struct topo_node *node);

#endif
