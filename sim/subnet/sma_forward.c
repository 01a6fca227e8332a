/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The forwarding tables of switches: as an SM has set them, else as the
 * built-in SM would have them, by its routes and its groups.
 *
 * Source: IBA vol 1, 14.2.5.10 and 14.2.5.12.
 */
#include <string.h>

#include "base/alloc.h"
#include "sim/node/sma.h"

enum { LINEAR_BLOCKS = (IBSA_LID_UNICAST_MAX + 1) / LFT_BLOCK_LIDS };

uint16_t ibsa__lft_top(const struct ibsa_fabric *fabric,
		       const struct sma_node *sma)
{
	if (sma && sma->has_switch_info)
		return sma->lft_top;
	return lid_in_16_bits(fabric->lids.top);
}

uint8_t ibsa__switch_exit(struct ibsa_fabric *fabric,
			  const struct topo_node *node, uint32_t dlid)
{
	const struct sma_node *sma = ibsa__sma_node(
		fabric, fabric->topo.ports[node->first_port].node);

	if (fabric->is_bare || (sma && sma->lft)) {
		return sma && dlid < sma->lft_room &&
				       dlid <= ibsa__lft_top(fabric, sma)
			       ? sma->lft[dlid]
			       : ABOVE_ALL_PORTS;
	}
	return ibsa__route_exit(fabric, node, dlid);
}

/* Room for LIDs below @limit; what was there stays. */
static bool grow(struct ibsa_fabric *fabric, const struct topo_node *node,
		 struct sma_node *sma, uint32_t limit)
{
	const bool is_new = !sma->lft;
	uint8_t *lft;

	if (is_new && !fabric->is_bare && limit <= fabric->lids.top)
		limit = (lid_in_16_bits(fabric->lids.top) / LFT_BLOCK_LIDS +
			 1) *
			LFT_BLOCK_LIDS;
	if (limit <= sma->lft_room)
		return true;
	lft = ibsa__realloc(sma->lft, limit, 1);
	if (!lft)
		return false;
	memset(lft + sma->lft_room, ABOVE_ALL_PORTS, limit - sma->lft_room);
	for (uint32_t lid = 1; is_new && !fabric->is_bare && lid < limit; lid++)
		lft[lid] = ibsa__route_exit(fabric, node, lid);
	sma->lft = lft;
	sma->lft_room = limit;
	return true;
}

static void set_linear(struct smp *smp, uint32_t first)
{
	struct sma_node *sma = ibsa__sma_make(smp->fabric, smp->index);

	if (!sma ||
	    !grow(smp->fabric, smp->node, sma, first + LFT_BLOCK_LIDS)) {
		smp->status = SMP_BUSY;
		return;
	}
	memcpy(sma->lft + first, smp->data, LFT_BLOCK_LIDS);
}

void ibsa__sma_linear_forwarding(struct smp *smp)
{
	const uint32_t first = smp->modifier * LFT_BLOCK_LIDS;
	const struct sma_node *sma;

	if (smp->modifier >= LINEAR_BLOCKS) {
		smp->status = SMP_INVALID;
		return;
	}
	if (smp->is_set)
		set_linear(smp, first);
	sma = ibsa__sma_node(smp->fabric, smp->index);
	memset(smp->data, ABOVE_ALL_PORTS, SMP_DATA_BYTES);
	/* What is above the top is kept, too. */
	if (sma && first < sma->lft_room)
		memcpy(smp->data, sma->lft + first, LFT_BLOCK_LIDS);
	else if (!smp->fabric->is_bare && !(sma && sma->lft))
		ibsa__table_lft(smp->fabric, smp->node, smp->modifier,
				smp->data);
}

static uint32_t positions_of(const struct topo_node *node)
{
	return node->port_count / MFT_POSITION_PORTS + 1u;
}

static bool has_masks(const struct ibsa_fabric *fabric,
		      const struct sma_node *sma)
{
	return fabric->is_bare || (sma && sma->has_mft);
}

/* A block of the table for 16 ports, in bytes, as an SMP has it. */
static void show_masks(struct ibsa_fabric *fabric, const struct topo_node *node,
		       uint32_t block, uint32_t position, uint8_t *out)
{
	const struct sma_node *sma = ibsa__sma_node(
		fabric, fabric->topo.ports[node->first_port].node);
	const uint16_t *masks = sma ? sma->mft[position] : NULL;

	memset(out, 0, BLOCK_BYTES);
	if (!has_masks(fabric, sma))
		ibsa__table_mft(fabric, node, block, position, out);
	for (uint32_t i = 0; masks && i < MFT_BLOCK_LIDS; i++)
		ibsa_put_be16(out + 2 * i, masks[block * MFT_BLOCK_LIDS + i]);
}

void ibsa__switch_fan(struct ibsa_fabric *fabric, const struct topo_node *node,
		      uint32_t mlid, uint16_t masks[MFT_POSITIONS])
{
	const uint32_t index = mlid - IBSA_LID_MULTICAST_MIN;
	uint8_t block[BLOCK_BYTES];

	memset(masks, 0, MFT_POSITIONS * sizeof(*masks));
	if (index >= MLIDS_MAX)
		return;
	for (uint32_t i = 0; i < positions_of(node); i++) {
		show_masks(fabric, node, index / MFT_BLOCK_LIDS, i, block);
		masks[i] = ibsa_be16(block + 2 * (index % MFT_BLOCK_LIDS));
	}
}

static void free_masks(uint16_t *masks[MFT_POSITIONS])
{
	for (int i = 0; i < MFT_POSITIONS; i++)
		ibsa__free(masks[i]);
}

/* A table of its own, which begins as the one that it has had. */
static bool make_masks(struct smp *smp, struct sma_node *sma)
{
	uint16_t *made[MFT_POSITIONS] = { NULL };
	uint8_t block[BLOCK_BYTES];

	if (sma->has_mft)
		return true;
	for (uint32_t i = 0; i < positions_of(smp->node); i++) {
		made[i] = ibsa__calloc(MLIDS_MAX, sizeof(**made));
		if (!made[i]) {
			free_masks(made);
			return false;
		}
		for (uint32_t k = 0; k < MLIDS_MAX; k++) {
			if (!(k % MFT_BLOCK_LIDS))
				show_masks(smp->fabric, smp->node,
					   k / MFT_BLOCK_LIDS, i, block);
			made[i][k] =
				ibsa_be16(block + 2 * (k % MFT_BLOCK_LIDS));
		}
	}
	memcpy(sma->mft, made, sizeof(made));
	sma->has_mft = true;
	return true;
}

static void set_masks(struct smp *smp, uint32_t position, uint32_t first)
{
	struct sma_node *sma = ibsa__sma_make(smp->fabric, smp->index);

	if (!sma || !make_masks(smp, sma)) {
		smp->status = SMP_BUSY;
		return;
	}
	for (uint32_t i = 0; i < MFT_BLOCK_LIDS; i++)
		sma->mft[position][first + i] = ibsa_be16(smp->data + 2 * i);
}

void ibsa__sma_multicast_forwarding(struct smp *smp)
{
	const uint32_t position = smp->modifier >> 28;
	const uint32_t block = smp->modifier & 0x1ff;

	if (block >= MLIDS_MAX / MFT_BLOCK_LIDS ||
	    position >= positions_of(smp->node)) {
		smp->status = SMP_INVALID;
		return;
	}
	if (smp->is_set)
		set_masks(smp, position, block * MFT_BLOCK_LIDS);
	if (!smp->status)
		show_masks(smp->fabric, smp->node, block, position, smp->data);
}
