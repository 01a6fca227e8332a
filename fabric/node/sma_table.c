/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SMPs for the tables of a port: P_KeyTable, SLtoVLMappingTable,
 * VLArbitrationTable.
 *
 * Source: IBA vol 1, 14.2.5.7 to 14.2.5.9.
 */
#include <string.h>

#include "base/alloc.h"
#include "fabric/node/sma.h"

enum {
	VL_ARB_ENTRIES = 8, /* maximum number of VL arbitration entries that an
			     * SM can set for each priority */
};

static struct sma_port *sma_of(struct smp *smp, uint32_t number)
{
	struct sma_node *sma = ibsa__sma_make(smp->nodes, smp->index);

	if (!sma)
		smp->status = SMP_BUSY;
	return sma ? &sma->ports[number] : NULL;
}

/*
 * Return: the P_Key table of an end port, with room for at least @size
 * entries. Clients at the port read the same table.
 */
static uint16_t *end_pkeys(struct smp *smp, uint32_t size)
{
	struct end_setup *setup = &smp->nodes->subnet->setups[smp->port->end];
	uint16_t *grown;

	if (setup->pkeys && setup->pkey_count >= size)
		return setup->pkeys;
	grown = ibsa__realloc(setup->pkeys, size, sizeof(*grown));
	if (!grown) {
		smp->status = SMP_BUSY;
		return NULL;
	}
	if (!setup->pkeys) {
		smp->nodes->subnet->pkey_tables++;
		grown[0] = IBSA_PKEY_DEFAULT;
		setup->pkey_count = 1;
	}
	memset(grown + setup->pkey_count, 0,
	       (size - setup->pkey_count) * sizeof(*grown));
	setup->pkeys = grown;
	setup->pkey_count = (uint16_t)size;
	return grown;
}

/*
 * Return: the P_Key table of a switch's external port, by which it filters
 * packets.
 */
static uint16_t *link_pkeys(struct smp *smp, uint32_t number)
{
	struct sma_port *sma = sma_of(smp, number);

	if (!sma)
		return NULL;
	if (sma->pkeys)
		return sma->pkeys;
	sma->pkeys = ibsa__calloc(PKEY_CAP_LINK, sizeof(*sma->pkeys));
	if (sma->pkeys)
		sma->pkeys[0] = IBSA_PKEY_DEFAULT;
	else
		smp->status = SMP_BUSY;
	return sma->pkeys;
}

/*
 * Write a block of a port's P_Key table into the reply to a SubnGet(P_KeyTable)
 * or SubnSet(). If no SM has set P_Keys at a switch's external port, the
 * embedded SM's are written: those of the end port at the other end of the
 * cable, or, between two switches, the default P_Key. Without an embedded SM,
 * or without a link, only the default P_Key is written, as after power-on. The
 * SA's records of a port without a link are empty, as those of OpenSM.
 */
static void show_pkeys(const struct smp *smp, uint32_t number, uint32_t first,
		       uint32_t size)
{
	const struct sma_node *sma = ibsa__sma_node(smp->nodes, smp->index);
	const struct topo_port *port = smp->port;
	struct ibsa_pkey_table have = { 0 };
	const uint16_t *pkeys = NULL;
	bool is_unset;

	if (number)
		port = &smp->nodes->subnet->topo
				.ports[smp->node->first_port + number];
	if (number && sma)
		pkeys = sma->ports[number].pkeys;
	is_unset = number &&
		   (smp->nodes->subnet->is_bare || port->peer == NO_INDEX);
	if (!pkeys && is_unset && !first)
		have.pkey[0] = IBSA_PKEY_DEFAULT;
	else if (!pkeys && !is_unset)
		ibsa__table_pkeys(smp->nodes->subnet, port,
				  first / PKEY_BLOCK_KEYS, have.pkey);
	for (uint32_t i = 0; pkeys && i < PKEY_BLOCK_KEYS && first + i < size;
	     i++)
		have.pkey[i] = pkeys[first + i];
	SMA_ENCODE(pkey_table, pkey, &have, smp->data);
}

void ibsa__sma_pkey_table(struct smp *smp)
{
	const bool is_switch = smp->node->type == IBSA_NODE_SWITCH;
	/* 0: of the end port itself */
	const uint32_t number = is_switch ? smp->modifier >> 16 : 0;
	const uint32_t first = (smp->modifier & UINT16_MAX) * PKEY_BLOCK_KEYS;
	const uint32_t size = number	  ? PKEY_CAP_LINK
			      : is_switch ? PKEY_CAP_SWITCH
					  : PKEY_CAP_ADAPTER;
	struct ibsa_pkey_table want;
	uint16_t *pkeys;

	if (number > smp->node->port_count || first >= size) {
		smp->status = SMP_INVALID;
		return;
	}
	if (smp->is_set) {
		SMA_DECODE(pkey_table, pkey, smp->data, &want);
		pkeys = number ? link_pkeys(smp, number) : end_pkeys(smp, size);
		for (uint32_t i = 0;
		     pkeys && i < PKEY_BLOCK_KEYS && first + i < size; i++)
			pkeys[first + i] = want.pkey[i];
	}
	show_pkeys(smp, number, first, size);
}

static void set_sl_to_vl(struct smp *smp, uint32_t out, uint32_t in)
{
	const uint32_t count = smp->node->port_count + 1u;
	struct sma_port *sma = sma_of(smp, out);
	struct ibsa_sl_to_vl want;

	if (!sma)
		return;
	if (!sma->sl_to_vl) {
		sma->sl_to_vl = ibsa__calloc(count, SL_TO_VL_LEVELS);
		if (!sma->sl_to_vl) {
			smp->status = SMP_BUSY;
			return;
		}
		for (uint32_t i = 0; i < count; i++)
			ibsa__table_sl_to_vl(sma->sl_to_vl +
					     i * SL_TO_VL_LEVELS);
	}
	SMA_DECODE(sl_to_vl, vl, smp->data, &want);
	memcpy(sma->sl_to_vl + in * SL_TO_VL_LEVELS, want.vl, SL_TO_VL_LEVELS);
}

void ibsa__sma_sl_to_vl(struct smp *smp)
{
	const bool is_switch = smp->node->type == IBSA_NODE_SWITCH;
	const uint32_t in = is_switch ? smp->modifier >> 8 & UINT8_MAX : 0;
	const uint32_t out = is_switch ? smp->modifier & UINT8_MAX
				       : smp->port->number;
	const struct sma_node *sma;
	const uint8_t *table = NULL;
	struct ibsa_sl_to_vl have = { 0 };

	if (in > smp->node->port_count || out > smp->node->port_count) {
		smp->status = SMP_INVALID;
		return;
	}
	if (smp->is_set)
		set_sl_to_vl(smp, out, in);
	sma = ibsa__sma_node(smp->nodes, smp->index);
	if (sma)
		table = sma->ports[out].sl_to_vl;
	if (table)
		memcpy(have.vl, table + in * SL_TO_VL_LEVELS, SL_TO_VL_LEVELS);
	else
		ibsa__table_sl_to_vl(have.vl);
	SMA_ENCODE(sl_to_vl, vl, &have, smp->data);
}

static void set_arbitration(struct smp *smp, uint32_t number, uint32_t block)
{
	struct sma_port *sma = sma_of(smp, number);
	struct ibsa_vl_arbitration want;

	if (!sma)
		return;
	if (!sma->vl_arb) {
		sma->vl_arb = ibsa__calloc(VL_ARB_BLOCKS,
					   VL_ARB_BLOCK_ENTRIES *
						   sizeof(*sma->vl_arb));
		if (!sma->vl_arb) {
			smp->status = SMP_BUSY;
			return;
		}
		for (uint32_t i = 0; i < VL_ARB_BLOCKS; i++)
			ibsa__table_vl_arb(VL_ARB_BLOCK_FIRST + i,
					   sma->vl_arb +
						   i * VL_ARB_BLOCK_ENTRIES);
	}
	SMA_DECODE(vl_arbitration, vl_weight, smp->data, &want);
	memcpy(sma->vl_arb + block * VL_ARB_BLOCK_ENTRIES, want.vl_weight,
	       VL_ARB_ENTRIES * sizeof(*want.vl_weight));
}

/*
 * Handle the VL arbitration table. Blocks 1 and 3 are the first halves of the
 * tables for low and high priority; the second halves do not exist.
 */
void ibsa__sma_vl_arbitration(struct smp *smp)
{
	const bool is_switch = smp->node->type == IBSA_NODE_SWITCH;
	const uint32_t number = is_switch ? smp->modifier & UINT16_MAX
					  : smp->port->number;
	const uint32_t block = (smp->modifier >> 16) - 1;
	struct ibsa_vl_arbitration have = { 0 };
	const struct sma_node *sma;

	if (number > smp->node->port_count || (block != 0 && block != 2)) {
		smp->status = SMP_INVALID;
		return;
	}
	if (smp->is_set)
		set_arbitration(smp, number, block);
	sma = ibsa__sma_node(smp->nodes, smp->index);
	if (sma && sma->ports[number].vl_arb)
		memcpy(have.vl_weight,
		       sma->ports[number].vl_arb + block * VL_ARB_BLOCK_ENTRIES,
		       VL_ARB_ENTRIES * sizeof(*have.vl_weight));
	else
		ibsa__table_vl_arb(VL_ARB_BLOCK_FIRST + block, have.vl_weight);
	SMA_ENCODE(vl_arbitration, vl_weight, &have, smp->data);
}
