/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of the tables of switches and ports: SwitchInfo, linear and
 * multicast forwarding, SLtoVL, VL arbitration, P_Keys.
 *
 * Source: IBA vol 1, 15.2.5.4 to 15.2.5.10; OpenSM 3.3.23,
 * osm_sa_sw_info_record.c, osm_sa_lft_record.c, osm_sa_mft_record.c,
 * osm_sa_slvl_record.c, osm_sa_vlarb_record.c and osm_sa_pkey_record.c, for
 * what is matched and how.
 */
#include "sim/sa/sa.h"
#include "sim/sa/multicast.h"

/* Component masks: a LID is the first of all of them. */
enum {
	CM_LID = 1 << 0,
	CM_LFT_BLOCK = 1 << 1,
	CM_MFT_POSITION = 1 << 1,
	CM_MFT_BLOCK = 1 << 3,
	CM_SL_TO_VL_IN = 1 << 1,
	CM_SL_TO_VL_OUT = 1 << 2,
	CM_VL_ARB_PORT = 1 << 1,
	CM_VL_ARB_BLOCK = 1 << 2,
	CM_PKEY_BLOCK = 1 << 1,
	CM_PKEY_PORT = 1 << 2,
};

/* Where the records have what they are found by, and what they hold. */
enum {
	AT_SWITCH_INFO = 4,
	AT_BLOCK = 2,
	AT_IN_PORT = 2,
	AT_OUT_PORT = 3,
	AT_VL_ARB_PORT = 2,
	AT_VL_ARB_BLOCK = 3,
	AT_PKEY_PORT = 4,
	AT_TABLE = 8,
};

typedef void (*add_fn)(struct sa_work *work, const struct end_port *end);

static bool has(const struct sa_work *work, uint64_t bit)
{
	return work->mask & bit;
}

static bool is_switch(const struct sa_work *work, const struct end_port *end)
{
	return end_topo_node(work->fabric, end)->type == IBSA_NODE_SWITCH;
}

/* The one port of the wanted LID, or all end ports, in GUID order. */
static void for_ends(struct sa_work *work, add_fn add, bool switches_only)
{
	const struct ibsa_fabric *fabric = work->fabric;
	uint32_t first = 0;
	uint32_t limit = fabric->end_count;

	if (has(work, CM_LID)) {
		first = end_of_lid(fabric,
				   lid_in_16_bits(ibsa_be16(work->want)));
		if (first == SIM_NONE)
			return;
		limit = first + 1;
	}
	for (uint32_t i = first; i < limit && !sa_is_full(work); i++) {
		const struct end_port *end = &fabric->ends[i];

		if (end->is_seen && (!switches_only || is_switch(work, end)))
			add(work, end);
	}
}

static bool may_know(const struct sa_work *work, const struct end_port *end)
{
	return sa_may_know_port(work, end_topo_port(work->fabric, end));
}

/* A port of an end port's node. */
static const struct topo_port *
port_of(const struct sa_work *work, const struct end_port *end, uint32_t number)
{
	const struct ibsa_fabric *fabric = work->fabric;

	return &fabric->topo
			.ports[end_topo_node(fabric, end)->first_port + number];
}

/* A new record of that port's LID, or NULL. */
static uint8_t *add_record(struct sa_work *work, const struct end_port *end)
{
	uint8_t *out = ibsa__sa_add(work);

	if (out)
		ibsa_put_be16(out, lid_in_16_bits(end->lid));
	return out;
}

static void add_switch(struct sa_work *work, const struct end_port *end)
{
	uint8_t *out = may_know(work, end) ? add_record(work, end) : NULL;

	if (out)
		ibsa__table_switch_info(work->fabric, out + AT_SWITCH_INFO);
}

void ibsa__sa_switch_info(struct sa_work *work)
{
	if (ibsa__sa_is_query(work))
		for_ends(work, add_switch, true);
}

/* First and last of a range that a component may narrow to one of it. */
struct range {
	uint32_t first;
	uint32_t last;
};

/* False: what is asked for is beyond the last. */
static bool narrow(struct range *range, bool is_asked, uint32_t want)
{
	if (!is_asked)
		return true;
	if (want > range->last)
		return false;
	range->first = range->last = want;
	return true;
}

static void add_lft(struct sa_work *work, const struct end_port *end)
{
	struct range blocks = { 0, ibsa__table_lft_last(work->fabric) };

	if (!may_know(work, end) || !narrow(&blocks, has(work, CM_LFT_BLOCK),
					    ibsa_be16(work->want + AT_BLOCK)))
		return;
	for (uint32_t i = blocks.first; i <= blocks.last; i++) {
		uint8_t *out = add_record(work, end);

		if (!out)
			return;
		ibsa_put_be16(out + AT_BLOCK, (uint16_t)i);
		ibsa__table_lft(work->fabric, end_topo_node(work->fabric, end),
				i, out + AT_TABLE);
	}
}

void ibsa__sa_lft(struct sa_work *work)
{
	if (ibsa__sa_is_query(work))
		for_ends(work, add_lft, true);
}

static void add_mft_block(struct sa_work *work, const struct end_port *end,
			  uint32_t block, const struct range *positions)
{
	enum { POSITION_SHIFT = 12 };

	for (uint32_t i = positions->first; i <= positions->last; i++) {
		uint8_t *out = add_record(work, end);

		if (!out)
			return;
		ibsa_put_be16(out + AT_BLOCK,
			      (uint16_t)(i << POSITION_SHIFT | block));
		ibsa__table_mft(work->fabric, end_topo_node(work->fabric, end),
				block, i, out + AT_TABLE);
	}
}

static void add_mft(struct sa_work *work, const struct end_port *end)
{
	enum { BLOCK_MASK = 0x1ff };
	const struct topo_node *node = end_topo_node(work->fabric, end);
	const uint16_t want = ibsa_be16(work->want + AT_BLOCK);
	const uint32_t count = ibsa__table_mft_blocks(work->fabric, node);
	struct range blocks = { 0, count - 1 };
	struct range positions = { 0, node->port_count / MFT_POSITION_PORTS };

	if (!count || !may_know(work, end) ||
	    !narrow(&blocks, has(work, CM_MFT_BLOCK), want & BLOCK_MASK) ||
	    !narrow(&positions, has(work, CM_MFT_POSITION), want >> 12))
		return;
	for (uint32_t i = blocks.first; i <= blocks.last; i++)
		add_mft_block(work, end, i, &positions);
}

void ibsa__sa_mft(struct sa_work *work)
{
	if (ibsa__sa_is_query(work))
		for_ends(work, add_mft, true);
}

static void add_lanes(struct sa_work *work, const struct end_port *end,
		      uint32_t in, uint32_t out_port)
{
	uint8_t *out = add_record(work, end);

	if (!out)
		return;
	out[AT_IN_PORT] = (uint8_t)in;
	out[AT_OUT_PORT] = (uint8_t)out_port;
	ibsa__table_sl_to_vl(out + AT_TABLE);
}

/* From every port of a switch to every other; an adapter has no others. */
static void add_sl_to_vl(struct sa_work *work, const struct end_port *end)
{
	const uint32_t ports =
		is_switch(work, end)
			? end_topo_node(work->fabric, end)->port_count
			: 0;
	struct range in = { 0, ports };
	struct range out = { 0, ports };

	if (is_switch(work, end) &&
	    (!narrow(&in, has(work, CM_SL_TO_VL_IN), work->want[AT_IN_PORT]) ||
	     !narrow(&out, has(work, CM_SL_TO_VL_OUT),
		     work->want[AT_OUT_PORT])))
		return;
	for (uint32_t i = out.first; i <= out.last; i++) {
		if (is_switch(work, end)
			    ? !sa_may_know_port(work, port_of(work, end, i))
			    : !may_know(work, end))
			continue;
		for (uint32_t k = in.first; k <= in.last; k++)
			add_lanes(work, end, k, i);
	}
}

void ibsa__sa_sl_to_vl(struct sa_work *work)
{
	if (ibsa__sa_is_query(work))
		for_ends(work, add_sl_to_vl, false);
}

/* All ports of a switch, unless one is asked for; of an adapter, the one. */
static bool choose_ports(const struct sa_work *work, const struct end_port *end,
			 bool is_asked, uint8_t want, struct range *out)
{
	const uint8_t number = end_topo_port(work->fabric, end)->number;

	if (number) {
		*out = (struct range){ number, number };
		return true;
	}
	*out = (struct range){ 0,
			       end_topo_node(work->fabric, end)->port_count };
	return narrow(out, is_asked, want);
}

static void add_arbitration(struct sa_work *work, const struct end_port *end,
			    uint32_t port)
{
	if (!sa_may_know_port(work, port_of(work, end, port)))
		return;
	for (uint32_t i = VL_ARB_BLOCK_FIRST; i <= VL_ARB_BLOCK_LAST; i++) {
		uint8_t *out;

		if (has(work, CM_VL_ARB_BLOCK) &&
		    work->want[AT_VL_ARB_BLOCK] != i)
			continue;
		out = add_record(work, end);
		if (!out)
			return;
		out[AT_VL_ARB_PORT] = (uint8_t)port;
		out[AT_VL_ARB_BLOCK] = (uint8_t)i;
		ibsa__table_vl_arb(i, out + AT_TABLE);
	}
}

static void add_vl_arb(struct sa_work *work, const struct end_port *end)
{
	struct range ports;

	if (!choose_ports(work, end, has(work, CM_VL_ARB_PORT),
			  work->want[AT_VL_ARB_PORT], &ports))
		return;
	for (uint32_t i = ports.first; i <= ports.last; i++)
		add_arbitration(work, end, i);
}

void ibsa__sa_vl_arb(struct sa_work *work)
{
	if (ibsa__sa_is_query(work))
		for_ends(work, add_vl_arb, false);
}

/* A block that is asked for is there, however far it may be. */
static void add_port_pkeys(struct sa_work *work, const struct end_port *end,
			   uint32_t number)
{
	const struct ibsa_fabric *fabric = work->fabric;
	const struct topo_port *port = port_of(work, end, number);
	uint32_t block = 0;
	uint32_t limit = ibsa__table_pkey_blocks(fabric, port);

	if (!sa_may_know_port(work, port))
		return;
	if (has(work, CM_PKEY_BLOCK)) {
		block = ibsa_be16(work->want + AT_BLOCK);
		limit = block + 1;
	}
	for (; block < limit; block++) {
		uint8_t *out = add_record(work, end);

		if (!out)
			return;
		ibsa_put_be16(out + AT_BLOCK, (uint16_t)block);
		out[AT_PKEY_PORT] = (uint8_t)number;
		ibsa__table_pkeys(fabric, port, block, out + AT_TABLE);
	}
}

static void add_pkeys(struct sa_work *work, const struct end_port *end)
{
	struct range ports;

	if (!choose_ports(work, end, has(work, CM_PKEY_PORT),
			  work->want[AT_PKEY_PORT], &ports))
		return;
	for (uint32_t i = ports.first; i <= ports.last; i++)
		add_port_pkeys(work, end, i);
}

/* P_Keys are for those who know the SM_Key. */
void ibsa__sa_pkey_table(struct sa_work *work)
{
	if (!ibsa__sa_is_query(work))
		return;
	if (work->is_trusted)
		for_ends(work, add_pkeys, false);
	else
		sa_fail_untrusted(work);
}
