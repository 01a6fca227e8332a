/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SwitchInfo and the forwarding tables of a switch.
 *
 * Source: IBA vol 1, 14.2.5.4, 14.2.5.10 and 14.2.5.12.
 */
#include <string.h>

#include "sim/node/sma.h"
#include "sim/subnet/forward.h"

/* Of SwitchInfo, in bytes. */
enum {
	LINEAR_CAP_AT = 0,
	LINEAR_TOP_AT = 6,
	LIFE_TIME_AT = 11,
	LIFE_TIME = 0xf8,	  /* the bits */
	PORT_STATE_CHANGE = 0x04, /* the bit beside the life time */
};

static void set_switch_info(struct smp *smp)
{
	struct switch_tables *tables = ibsa__switch_tables_make(smp->fabric,
								smp->index);
	const uint16_t top = ibsa_be16(smp->data + LINEAR_TOP_AT);
	uint8_t have[SWITCH_INFO_BYTES];

	ibsa__table_switch_info(smp->fabric, have);
	if (!tables || top >= ibsa_be16(have + LINEAR_CAP_AT)) {
		smp->status = tables ? SMP_INVALID : SMP_BUSY;
		return;
	}
	tables->has_switch_info = true;
	tables->lft_top = top;
	tables->life_time = smp->data[LIFE_TIME_AT] & LIFE_TIME;
	/* Written as it was read, it says that the SM has seen it. */
	if (smp->data[LIFE_TIME_AT] & PORT_STATE_CHANGE)
		smp->fabric->topo.nodes[smp->index].is_changed = false;
}

void ibsa__sma_switch_info(struct smp *smp)
{
	const struct switch_tables *tables;

	if (smp->is_set)
		set_switch_info(smp);
	if (smp->status)
		return;
	tables = ibsa__switch_tables(smp->fabric, smp->index);
	memset(smp->data, 0, SMP_DATA_BYTES);
	ibsa__table_switch_info(smp->fabric, smp->data);
	ibsa_put_be16(smp->data + LINEAR_TOP_AT,
		      ibsa__lft_top(smp->fabric, tables));
	if (tables && tables->has_switch_info)
		smp->data[LIFE_TIME_AT] = tables->life_time;
	if (smp->node->is_changed)
		smp->data[LIFE_TIME_AT] |= PORT_STATE_CHANGE;
}

void ibsa__sma_linear_forwarding(struct smp *smp)
{
	if (smp->modifier >= LFT_BLOCKS) {
		smp->status = SMP_INVALID;
		return;
	}
	if (smp->is_set && !ibsa__switch_set_lft(smp->fabric, smp->node,
						 smp->modifier, smp->data))
		smp->status = SMP_BUSY;
	ibsa__switch_lft(smp->fabric, smp->node, smp->modifier, smp->data);
}

void ibsa__sma_multicast_forwarding(struct smp *smp)
{
	const uint32_t position = smp->modifier >> 28;
	const uint32_t block = smp->modifier & 0x1ff;

	if (block >= MFT_BLOCKS || position >= mft_positions(smp->node)) {
		smp->status = SMP_INVALID;
		return;
	}
	if (smp->is_set && !ibsa__switch_set_mft(smp->fabric, smp->node, block,
						 position, smp->data))
		smp->status = SMP_BUSY;
	else
		ibsa__switch_mft(smp->fabric, smp->node, block, position,
				 smp->data);
}
