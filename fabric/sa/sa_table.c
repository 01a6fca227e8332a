/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries for records of the tables of switches and ports: SwitchInfo, linear
 * and multicast forwarding, SLtoVL, VL arbitration, P_Keys.
 *
 * Source: IBA vol 1, 15.2.5.4 to 15.2.5.11; OpenSM 3.3.23,
 * osm_sa_sw_info_record.c, osm_sa_lft_record.c, osm_sa_mft_record.c,
 * osm_sa_slvl_record.c, osm_sa_vlarb_record.c and osm_sa_pkey_record.c, for the
 * rules of matching.
 */
#include "fabric/sa/sa.h"
#include "fabric/sa/multicast.h"
#include "wire/array.h"
#include "wire/word.h"

/*
 * The codec of these table records is inlined for speed: a reply has many of
 * them.
 */
#define CODEC_ONLY
#define RECORD switch_info
#define FIELDS IBSA_SWITCH_INFO_FIELDS
#include "wire/record.inc"
#define RECORD sl_to_vl
#define FIELDS IBSA_SL_TO_VL_FIELDS
#include "wire/record.inc"
#define RECORD vl_arbitration
#define FIELDS IBSA_VL_ARBITRATION_FIELDS
#include "wire/record.inc"
#undef CODEC_ONLY

typedef void (*add_fn)(struct sa_work *work, const struct end_port *end);

static bool is_switch(const struct sa_work *work, const struct end_port *end)
{
	return end_topo_node(work->subnet, end)->type == IBSA_NODE_SWITCH;
}

/*
 * Call @add for the end port with @lid, or, without a LID, for all end ports
 * in the order of GUIDs.
 */
static void for_ends(struct sa_work *work, bool has_lid, uint16_t lid,
		     bool switches_only, add_fn add)
{
	const struct subnet *subnet = work->subnet;
	uint32_t first = subnet->ends_from;
	uint32_t count = subnet->ends_to - subnet->ends_from;
	size_t i;

	if (!ibsa__sa_is_query(work))
		return;
	if (has_lid) {
		first = end_of_lid(subnet, lid_in_16_bits(lid));
		if (first == NO_INDEX)
			return;
		count = 1;
	}
	while (sa_next(work, count, &i)) {
		const struct end_port *end = &subnet->ends[first + i];

		if (end->is_seen && (!switches_only || is_switch(work, end)))
			add(work, end);
	}
}

static bool may_know(const struct sa_work *work, const struct end_port *end)
{
	return sa_may_know_port(work, end_topo_port(work->subnet, end));
}

/* Return: the port with this number of an end port's node. */
static const struct topo_port *
port_of(const struct sa_work *work, const struct end_port *end, uint32_t number)
{
	const struct subnet *subnet = work->subnet;

	return &subnet->topo
			.ports[end_topo_node(subnet, end)->first_port + number];
}

/*
 * Call @add for those switches, or end ports, that the LID in the request
 * selects.
 */
#define FOR_ENDS(work, record, switches_only, add)             \
	for_ends(work, sa_has_any(work, IBSA_CM(record, lid)), \
		 (work)->want->record.lid, switches_only, add)

static void switch_info_add(struct sa_work *work, const struct end_port *end)
{
	struct ibsa_switch_info row;

	if (!may_know(work, end))
		return;
	ibsa__table_switch_info(work->subnet, end_topo_node(work->subnet, end),
				&row);
	row.lid = lid_in_16_bits(end->lid);
	sa_append(work, switch_info_encode, &row);
}

void ibsa__sa_switch_info(struct sa_work *work)
{
	FOR_ENDS(work, switch_info, true, switch_info_add);
}

/* A range of blocks or ports. */
struct range {
	uint32_t first;
	uint32_t last;
};

/*
 * If the request selects a component, such as a block number, reduce the range
 * to its value. Return: false: this value is beyond the range.
 */
static bool range_narrow(struct range *range, bool is_asked, uint32_t want)
{
	if (!is_asked)
		return true;
	if (want > range->last)
		return false;
	range->first = range->last = want;
	return true;
}

static void lft_add(struct sa_work *work, const struct end_port *end)
{
	struct range blocks = { 0, ibsa__table_lft_last(work->subnet) };
	struct ibsa_lft row = { .lid = lid_in_16_bits(end->lid) };

	if (!may_know(work, end) ||
	    !range_narrow(&blocks, sa_has_any(work, IBSA_LFT_CM(block_num)),
			  work->want->lft.block_num))
		return;
	for (uint32_t i = blocks.first; i <= blocks.last && !work->status;
	     i++) {
		row.block_num = (uint16_t)i;
		ibsa__table_lft(work->subnet, end_topo_node(work->subnet, end),
				i, row.port);
		ibsa__sa_append(work, &row);
	}
}

void ibsa__sa_lft(struct sa_work *work)
{
	FOR_ENDS(work, lft, true, lft_add);
}

static void mft_add_block(struct sa_work *work, const struct end_port *end,
			  uint32_t block, const struct range *positions)
{
	struct ibsa_mft row = {
		.lid = lid_in_16_bits(end->lid),
		.block_num = (uint16_t)block,
	};

	for (uint32_t i = positions->first;
	     i <= positions->last && !work->status; i++) {
		row.position = (uint8_t)i;
		ibsa__table_mft(work->sa, end_topo_node(work->subnet, end),
				block, i, row.port_mask);
		ibsa__sa_append(work, &row);
	}
}

static void mft_add(struct sa_work *work, const struct end_port *end)
{
	const struct ibsa_mft *want = &work->want->mft;
	const struct topo_node *node = end_topo_node(work->subnet, end);
	const uint32_t count = ibsa__table_mft_blocks(work->sa, node);
	struct range blocks = { 0, count - 1 };
	struct range positions = { 0, node->port_count / MFT_POSITION_PORTS };

	if (!count || !may_know(work, end) ||
	    !range_narrow(&blocks, sa_has_any(work, IBSA_MFT_CM(block_num)),
			  want->block_num) ||
	    !range_narrow(&positions, sa_has_any(work, IBSA_MFT_CM(position)),
			  want->position))
		return;
	for (uint32_t i = blocks.first; i <= blocks.last; i++)
		mft_add_block(work, end, i, &positions);
}

void ibsa__sa_mft(struct sa_work *work)
{
	FOR_ENDS(work, mft, true, mft_add);
}

/*
 * Append the SLtoVL records from each port of @in to port @out; they have
 * equal tables.
 */
static void lanes_add(struct sa_work *work, const struct end_port *end,
		      const struct range *in, uint32_t out)
{
	struct ibsa_sl_to_vl row = {
		.lid = lid_in_16_bits(end->lid),
		.output_port_num = (uint8_t)out,
	};

	ibsa__table_sl_to_vl(row.vl);
	for (uint32_t i = in->first; i <= in->last && !work->status; i++) {
		row.input_port_num = (uint8_t)i;
		sa_append(work, sl_to_vl_encode, &row);
	}
}

/*
 * Append the SLtoVL records from each port of a switch to each of its ports. An
 * adapter has a single record.
 */
static void sl_to_vl_add(struct sa_work *work, const struct end_port *end)
{
	const struct ibsa_sl_to_vl *want = &work->want->sl_to_vl;
	const uint32_t ports =
		is_switch(work, end)
			? end_topo_node(work->subnet, end)->port_count
			: 0;
	struct range in = { 0, ports };
	struct range out = { 0, ports };

	if (is_switch(work, end) &&
	    (!range_narrow(&in,
			   sa_has_any(work, IBSA_SL_TO_VL_CM(input_port_num)),
			   want->input_port_num) ||
	     !range_narrow(&out,
			   sa_has_any(work, IBSA_SL_TO_VL_CM(output_port_num)),
			   want->output_port_num)))
		return;
	for (uint32_t i = out.first; i <= out.last; i++) {
		if (is_switch(work, end)
			    ? sa_may_know_port(work, port_of(work, end, i))
			    : may_know(work, end))
			lanes_add(work, end, &in, i);
	}
}

void ibsa__sa_sl_to_vl(struct sa_work *work)
{
	FOR_ENDS(work, sl_to_vl, false, sl_to_vl_add);
}

/*
 * Set the range of a switch's ports that the request selects, or the single
 * port of an adapter.
 */
static bool choose_ports(const struct sa_work *work, const struct end_port *end,
			 bool is_asked, uint8_t want, struct range *out)
{
	const uint8_t number = end_topo_port(work->subnet, end)->number;

	if (number) {
		*out = (struct range){ number, number };
		return true;
	}
	*out = (struct range){ 0,
			       end_topo_node(work->subnet, end)->port_count };
	return range_narrow(out, is_asked, want);
}

static void vl_arb_add_port(struct sa_work *work, const struct end_port *end,
			    uint32_t port)
{
	struct ibsa_vl_arbitration row = {
		.lid = lid_in_16_bits(end->lid),
		.output_port_num = (uint8_t)port,
	};

	if (!sa_may_know_port(work, port_of(work, end, port)))
		return;
	for (uint8_t i = VL_ARB_BLOCK_FIRST;
	     i <= VL_ARB_BLOCK_LAST && !work->status; i++) {
		if (sa_has_any(work, IBSA_VL_ARBITRATION_CM(block_num)) &&
		    work->want->vl_arbitration.block_num != i)
			continue;
		row.block_num = i;
		ibsa__table_vl_arb(i, row.vl_weight);
		sa_append(work, vl_arbitration_encode, &row);
	}
}

static void vl_arb_add(struct sa_work *work, const struct end_port *end)
{
	struct range ports;

	if (!choose_ports(work, end,
			  sa_has_any(work,
				     IBSA_VL_ARBITRATION_CM(output_port_num)),
			  work->want->vl_arbitration.output_port_num, &ports))
		return;
	for (uint32_t i = ports.first; i <= ports.last; i++)
		vl_arb_add_port(work, end, i);
}

void ibsa__sa_vl_arb(struct sa_work *work)
{
	FOR_ENDS(work, vl_arbitration, false, vl_arb_add);
}

/*
 * Append the blocks of a port's P_Key table. A block that the request selects
 * is always appended, even beyond the end of the table.
 */
static void pkeys_add_port(struct sa_work *work, const struct end_port *end,
			   uint32_t number)
{
	const struct subnet *subnet = work->subnet;
	const struct topo_port *port = port_of(work, end, number);
	struct ibsa_pkey_table row = {
		.lid = lid_in_16_bits(end->lid),
		.port_num = (uint8_t)number,
	};
	uint32_t block = 0;
	uint32_t limit = ibsa__table_pkey_blocks(subnet, port);

	if (!sa_may_know_port(work, port))
		return;
	if (sa_has_any(work, IBSA_PKEY_TABLE_CM(block_num))) {
		block = work->want->pkey_table.block_num;
		limit = block + 1;
	}
	for (; block < limit && !work->status; block++) {
		row.block_num = (uint16_t)block;
		ibsa__table_pkeys(subnet, port, block, row.pkey);
		ibsa__sa_append(work, &row);
	}
}

static void pkeys_add(struct sa_work *work, const struct end_port *end)
{
	struct range ports;

	if (!choose_ports(work, end,
			  sa_has_any(work, IBSA_PKEY_TABLE_CM(port_num)),
			  work->want->pkey_table.port_num, &ports))
		return;
	for (uint32_t i = ports.first; i <= ports.last; i++)
		pkeys_add_port(work, end, i);
}

/*
 * Answer a query for P_Key tables, which the SA shows only to trusted
 * requests.
 */
void ibsa__sa_pkey_table(struct sa_work *work)
{
	if (ibsa__sa_is_query(work) && !work->is_trusted)
		sa_fail_untrusted(work);
	else
		FOR_ENDS(work, pkey_table, false, pkeys_add);
}
