/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who has which LIDs. LIDs of the file stay if they are valid; the others
 * are given as OpenSM does, to the SA's own port first and then in order of
 * GUIDs.
 */
#include "sim/subnet/fabric.h"

int ibsa__lids_init(struct ibsa_fabric *fabric)
{
	uint32_t cabled = 0;

	for (uint32_t i = 0; i < fabric->end_count; i++) {
		const struct topo_port *port = end_topo_port(fabric,
							     &fabric->ends[i]);

		if (!port->number || port->cable != SIM_NONE)
			cabled++;
	}
	return ibsa__map_reserve(&fabric->lids.ends, cabled);
}

bool ibsa__lids_are_valid(const struct lids *lids, uint32_t lid, uint32_t count)
{
	return lid && !(lid % count) && lid < lids->limit &&
	       count <= lids->limit - lid;
}

bool ibsa__lids_are_free(const struct ibsa_fabric *fabric, uint32_t index,
			 uint32_t lid, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t other = end_of_lid(fabric, lid + i);

		if (other != SIM_NONE && other != index)
			return false;
	}
	return true;
}

void ibsa__lids_take(struct ibsa_fabric *fabric, uint32_t index, uint32_t lid)
{
	struct end_port *end = &fabric->ends[index];
	struct lids *lids = &fabric->lids;
	const uint32_t last = lid + end->lid_count - 1;

	end->lid = lid;
	lids->count += end->lid_count;
	lids->lmcs |= end->lid_count;
	if (lids->top < last)
		lids->top = last;
	/* There is room: it was reserved, or one was dropped before. */
	(void)ibsa__map_put(&lids->ends, lid, index);
}

/* Another port that has the same LID, if an SM has done that, has it now. */
static void pass_on(struct ibsa_fabric *fabric, uint32_t lid)
{
	for (uint32_t i = 0; fabric->lids.doubles && i < fabric->end_count;
	     i++) {
		if (fabric->ends[i].lid != lid)
			continue;
		fabric->lids.doubles--;
		(void)ibsa__map_put(&fabric->lids.ends, lid, i);
		return;
	}
}

void ibsa__lids_drop(struct ibsa_fabric *fabric, uint32_t index)
{
	struct end_port *end = &fabric->ends[index];
	const uint32_t lid = end->lid;

	if (!lid)
		return;
	fabric->lids.count -= end->lid_count;
	end->lid = 0;
	if (map_find(&fabric->lids.ends, lid) != index) {
		fabric->lids.doubles--;
		return;
	}
	ibsa__map_remove(&fabric->lids.ends, lid);
	pass_on(fabric, lid);
}

void ibsa__lids_set(struct ibsa_fabric *fabric, uint32_t index, uint32_t lid,
		    uint8_t lmc)
{
	struct end_port *end = &fabric->ends[index];
	struct topo_port *port = end_topo_port(fabric, end);

	ibsa__lids_drop(fabric, index);
	port->lmc = lmc;
	end->lid_count = (uint8_t)(1 << lmc);
	if (lid && map_find(&fabric->lids.ends, lid) != SIM_NONE)
		fabric->lids.doubles++;
	if (lid)
		ibsa__lids_take(fabric, index, lid);
	end->is_seen = lid && fabric->walk.seen[end->port];
	port->lid = end->is_seen ? lid : 0;
}

static bool may_take(const struct ibsa_fabric *fabric, uint32_t index,
		     uint32_t lid)
{
	const uint32_t count = fabric->ends[index].lid_count;

	return ibsa__lids_are_valid(&fabric->lids, lid, count) &&
	       ibsa__lids_are_free(fabric, index, lid, count);
}

static void keep_lid(struct ibsa_fabric *fabric, uint32_t index)
{
	const struct end_port *end = &fabric->ends[index];
	const uint32_t wanted = end_topo_port(fabric, end)->wanted_lid;

	if (end->is_seen && !end->lid && may_take(fabric, index, wanted))
		ibsa__lids_take(fabric, index, wanted);
}

/*
 * The lowest free LIDs; *@next says below which ones there are none of that
 * alignment. False: there are none at all.
 */
static bool give_lid(struct ibsa_fabric *fabric, uint32_t index, uint32_t *next)
{
	const struct end_port *end = &fabric->ends[index];

	if (!end->is_seen || end->lid)
		return true;
	for (; *next < fabric->lids.limit; *next += end->lid_count) {
		if (!may_take(fabric, index, *next))
			continue;
		ibsa__lids_take(fabric, index, *next);
		return true;
	}
	return false;
}

bool ibsa__lids_give(struct ibsa_fabric *fabric)
{
	uint32_t next[IBSA_LMC_MAX + 1];
	uint32_t index = fabric->sa_end;
	bool is_enough = true;

	for (uint32_t lmc = 0; lmc <= IBSA_LMC_MAX; lmc++) {
		const uint32_t below = (UINT32_C(1) << lmc) - 1;

		next[lmc] = (fabric->lids.first + below) & ~below;
	}
	/* The SA's own port comes first. */
	keep_lid(fabric, index);
	for (uint32_t i = 0; i < fabric->end_count; i++)
		keep_lid(fabric, i);
	for (uint32_t i = 0; i <= fabric->end_count; index = i++) {
		const uint8_t lmc =
			end_topo_port(fabric, &fabric->ends[index])->lmc;

		if (!give_lid(fabric, index, &next[lmc]))
			is_enough = false;
	}
	return is_enough;
}
