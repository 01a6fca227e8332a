/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SMPs for SwitchInfo and for the forwarding tables of a switch.
 *
 * Source: IBA vol 1, 14.2.5.4, 14.2.5.10 and 14.2.5.12.
 */
#include "fabric/node/sma.h"
#include "fabric/subnet/forward.h"

static void switch_info_set(struct smp *smp)
{
	struct switch_tables *tables =
		ibsa__switch_tables_make(smp->nodes->subnet, smp->index);
	struct ibsa_switch_info have;
	struct ibsa_switch_info want;

	ibsa__table_switch_info(smp->nodes->subnet, smp->node, &have);
	SMA_DECODE(switch_info, linear_fdb_cap, smp->data, &want);
	if (!tables || want.linear_fdb_top >= have.linear_fdb_cap) {
		smp->status = tables ? SMP_INVALID : SMP_BUSY;
		return;
	}
	tables->has_switch_info = true;
	tables->lft_top = want.linear_fdb_top;
	tables->life_time = want.life_time_value;
	/*
	 * An SM acknowledges the bit PortStateChange by a Set in which the bit
	 * is 1; this clears it.
	 */
	if (want.port_state_change)
		smp->nodes->subnet->topo.nodes[smp->index].is_changed = false;
}

void ibsa__sma_switch_info(struct smp *smp)
{
	const struct switch_tables *tables;
	struct ibsa_switch_info have;

	if (smp->is_set)
		switch_info_set(smp);
	if (smp->status)
		return;
	tables = ibsa__switch_tables(smp->nodes->subnet, smp->index);
	ibsa__table_switch_info(smp->nodes->subnet, smp->node, &have);
	have.linear_fdb_top = ibsa__lft_top(smp->nodes->subnet, tables);
	if (tables && tables->has_switch_info)
		have.life_time_value = tables->life_time;
	have.port_state_change = smp->node->is_changed;
	SMA_ENCODE(switch_info, linear_fdb_cap, &have, smp->data);
}

void ibsa__sma_linear_forwarding(struct smp *smp)
{
	if (smp->modifier >= LFT_BLOCKS) {
		smp->status = SMP_INVALID;
		return;
	}
	if (smp->is_set && !ibsa__switch_set_lft(smp->nodes->subnet, smp->node,
						 smp->modifier, smp->data))
		smp->status = SMP_BUSY;
	ibsa__switch_lft(smp->nodes->subnet, smp->node, smp->modifier,
			 smp->data);
}

void ibsa__sma_multicast_forwarding(struct smp *smp)
{
	const uint32_t position = smp->modifier >> 28;
	const uint32_t block = smp->modifier & 0x1ff;
	struct ibsa_mft mft = { 0 };

	if (block >= MFT_BLOCKS || position >= mft_positions(smp->node)) {
		smp->status = SMP_INVALID;
		return;
	}
	SMA_DECODE(mft, port_mask, smp->data, &mft);
	if (smp->is_set &&
	    !ibsa__switch_set_mft(smp->nodes->subnet, smp->node, block,
				  position, mft.port_mask)) {
		smp->status = SMP_BUSY;
		return;
	}
	ibsa__switch_mft(smp->nodes->subnet, smp->node, block, position,
			 mft.port_mask);
	SMA_ENCODE(mft, port_mask, &mft, smp->data);
}
