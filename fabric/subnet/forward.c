/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The forwarding tables of switches. IBA vol 1, 14.2.5.10 and 14.2.5.12. */
#include <string.h>

#include "base/alloc.h"
#include "fabric/subnet/forward.h"

static uint32_t index_of(const struct subnet *subnet,
			 const struct topo_node *node)
{
	return (uint32_t)(node - subnet->topo.nodes);
}

const struct switch_tables *ibsa__switch_tables(const struct subnet *subnet,
						uint32_t node)
{
	return subnet->switches ? subnet->switches[node] : NULL;
}

static const struct switch_tables *tables_of(const struct subnet *subnet,
					     const struct topo_node *node)
{
	return ibsa__switch_tables(subnet, index_of(subnet, node));
}

struct switch_tables *ibsa__switch_tables_make(struct subnet *subnet,
					       uint32_t node)
{
	if (!subnet->switches)
		subnet->switches = ibsa__calloc(subnet->topo.node_count,
						sizeof(*subnet->switches));
	if (!subnet->switches)
		return NULL;
	if (!subnet->switches[node])
		subnet->switches[node] =
			ibsa__calloc(1, sizeof(struct switch_tables));
	return subnet->switches[node];
}

static void free_masks(uint16_t *masks[MFT_POSITIONS])
{
	for (int i = 0; i < MFT_POSITIONS; i++)
		ibsa__free(masks[i]);
}

void ibsa__switch_tables_done(struct subnet *subnet)
{
	const uint32_t count = subnet->switches ? subnet->topo.node_count : 0;

	for (uint32_t i = 0; i < count; i++) {
		struct switch_tables *tables = subnet->switches[i];

		if (!tables)
			continue;
		free_masks(tables->mft);
		ibsa__free(tables->lft);
		ibsa__free(tables);
	}
	ibsa__free(subnet->switches);
	subnet->switches = NULL;
}

uint16_t ibsa__lft_top(const struct subnet *subnet,
		       const struct switch_tables *tables)
{
	if (tables && tables->has_switch_info)
		return tables->lft_top;
	return lid_in_16_bits(subnet->lids.top);
}

uint8_t ibsa__switch_exit(struct subnet *subnet, const struct topo_node *node,
			  uint32_t dlid)
{
	const struct switch_tables *tables = tables_of(subnet, node);

	if (subnet->is_bare || (tables && tables->lft)) {
		return tables && dlid < tables->lft_room &&
				       dlid <= ibsa__lft_top(subnet, tables)
			       ? tables->lft[dlid]
			       : ABOVE_ALL_PORTS;
	}
	return ibsa__route_exit(subnet, node, dlid);
}

/*
 * Make room in a switch's linear forwarding table for the LIDs below @limit.
 * Existing entries do not change; a new table starts with the routes of the
 * embedded SM.
 */
static bool lft_grow(struct subnet *subnet, const struct topo_node *node,
		     struct switch_tables *tables, uint32_t limit)
{
	const bool is_new = !tables->lft;
	uint8_t *lft;

	if (is_new && !subnet->is_bare && limit <= subnet->lids.top)
		limit = (lid_in_16_bits(subnet->lids.top) / LFT_BLOCK_LIDS +
			 1) *
			LFT_BLOCK_LIDS;
	if (limit <= tables->lft_room)
		return true;
	lft = ibsa__realloc(tables->lft, limit, 1);
	if (!lft)
		return false;
	memset(lft + tables->lft_room, ABOVE_ALL_PORTS,
	       limit - tables->lft_room);
	for (uint32_t lid = 1; is_new && !subnet->is_bare && lid < limit; lid++)
		lft[lid] = ibsa__route_exit(subnet, node, lid);
	tables->lft = lft;
	tables->lft_room = limit;
	return true;
}

bool ibsa__switch_set_lft(struct subnet *subnet, const struct topo_node *node,
			  uint32_t block, const uint8_t ports[LFT_BLOCK_LIDS])
{
	struct switch_tables *tables =
		ibsa__switch_tables_make(subnet, index_of(subnet, node));
	const uint32_t first = block * LFT_BLOCK_LIDS;

	if (!tables || !lft_grow(subnet, node, tables, first + LFT_BLOCK_LIDS))
		return false;
	memcpy(tables->lft + first, ports, LFT_BLOCK_LIDS);
	return true;
}

void ibsa__switch_lft(struct subnet *subnet, const struct topo_node *node,
		      uint32_t block, uint8_t out[LFT_BLOCK_LIDS])
{
	const struct switch_tables *tables = tables_of(subnet, node);
	const uint32_t first = block * LFT_BLOCK_LIDS;

	memset(out, ABOVE_ALL_PORTS, LFT_BLOCK_LIDS);
	/* Entries above LinearFDBTop are stored, too. */
	if (tables && first < tables->lft_room)
		memcpy(out, tables->lft + first, LFT_BLOCK_LIDS);
	else if (!subnet->is_bare && !(tables && tables->lft))
		ibsa__table_lft(subnet, node, block, out);
}

static bool has_masks(const struct subnet *subnet,
		      const struct switch_tables *tables)
{
	return subnet->is_bare || (tables && tables->has_mft);
}

void ibsa__switch_mft(struct subnet *subnet, const struct topo_node *node,
		      uint32_t block, uint32_t position,
		      uint16_t out[MFT_BLOCK_LIDS])
{
	const struct switch_tables *tables = tables_of(subnet, node);
	const uint16_t *masks = tables ? tables->mft[position] : NULL;

	if (masks)
		memcpy(out, masks + block * MFT_BLOCK_LIDS,
		       MFT_BLOCK_LIDS * sizeof(*out));
	else if (has_masks(subnet, tables))
		memset(out, 0, MFT_BLOCK_LIDS * sizeof(*out));
	else
		subnet->multicast.block(subnet->multicast.arg, node, block,
					position, out);
}

void ibsa__switch_fan(struct subnet *subnet, const struct topo_node *node,
		      uint32_t mlid, uint16_t masks[MFT_POSITIONS])
{
	const uint32_t index = mlid - IBSA_LID_MULTICAST_MIN;
	uint16_t block[MFT_BLOCK_LIDS];

	memset(masks, 0, MFT_POSITIONS * sizeof(*masks));
	if (index >= MFT_LIDS)
		return;
	for (uint32_t i = 0; i < mft_positions(node); i++) {
		ibsa__switch_mft(subnet, node, index / MFT_BLOCK_LIDS, i,
				 block);
		masks[i] = block[index % MFT_BLOCK_LIDS];
	}
}

/*
 * Allocate a multicast forwarding table for the switch, unless it has one: with
 * the values of the embedded SM, or with zeros without this SM. Return: false:
 * no memory.
 */
static bool make_masks(struct subnet *subnet, const struct topo_node *node,
		       struct switch_tables *tables)
{
	uint16_t *made[MFT_POSITIONS] = { NULL };

	if (tables->has_mft)
		return true;
	for (uint32_t i = 0; i < mft_positions(node); i++) {
		made[i] = ibsa__calloc(MFT_LIDS, sizeof(**made));
		if (!made[i]) {
			free_masks(made);
			return false;
		}
		for (uint32_t k = 0; k < MFT_BLOCKS; k++)
			ibsa__switch_mft(subnet, node, k, i,
					 made[i] + k * MFT_BLOCK_LIDS);
	}
	memcpy(tables->mft, made, sizeof(made));
	tables->has_mft = true;
	return true;
}

bool ibsa__switch_set_mft(struct subnet *subnet, const struct topo_node *node,
			  uint32_t block, uint32_t position,
			  const uint16_t masks[MFT_BLOCK_LIDS])
{
	struct switch_tables *tables =
		ibsa__switch_tables_make(subnet, index_of(subnet, node));
	const uint32_t first = block * MFT_BLOCK_LIDS;

	if (!tables || !make_masks(subnet, node, tables))
		return false;
	memcpy(tables->mft[position] + first, masks,
	       MFT_BLOCK_LIDS * sizeof(*masks));
	return true;
}
