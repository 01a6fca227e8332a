/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The LIDs in use. Valid LIDs in the topology file are kept. Other ports get
 * LIDs in OpenSM's order: first the SA's own port, then by GUID.
 */
#include "fabric/subnet/subnet.h"

int ibsa__lids_init(struct subnet *subnet)
{
	uint32_t cabled = 0;

	for (uint32_t i = subnet->ends_from; i < subnet->ends_to; i++) {
		const struct topo_port *port = end_topo_port(subnet,
							     &subnet->ends[i]);

		if (!port->number || port->cable != NO_INDEX)
			cabled++;
	}
	return ibsa__map_reserve(&subnet->lids.ends, cabled);
}

bool ibsa__lids_are_valid(const struct lids *lids, uint32_t lid, uint32_t count)
{
	return lid && !(lid % count) && lid < lids->limit &&
	       count <= lids->limit - lid;
}

bool ibsa__lids_are_free(const struct subnet *subnet, uint32_t index,
			 uint32_t lid, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t other = end_of_lid(subnet, lid + i);

		if (other != NO_INDEX && other != index)
			return false;
	}
	return true;
}

void ibsa__lids_take(struct subnet *subnet, uint32_t index, uint32_t lid)
{
	struct end_port *end = &subnet->ends[index];
	struct lids *lids = &subnet->lids;
	const uint32_t last = lid + end->lid_count - 1;

	end->lid = lid;
	lids->count += end->lid_count;
	lids->lmcs |= end->lid_count;
	if (lids->top < last)
		lids->top = last;
	/*
	 * This cannot fail, because the map has room: its memory was reserved,
	 * or another LID was removed from it before.
	 */
	(void)ibsa__map_put(&lids->ends, lid, index);
}

/*
 * @lid was removed from a port, but an SM has set the same LID at another port,
 * too: let the map of LIDs name this other port.
 */
static void lid_pass_on(struct subnet *subnet, uint32_t lid)
{
	for (uint32_t i = subnet->ends_from;
	     subnet->lids.doubles && i < subnet->ends_to; i++) {
		if (subnet->ends[i].lid != lid)
			continue;
		subnet->lids.doubles--;
		(void)ibsa__map_put(&subnet->lids.ends, lid, i);
		return;
	}
}

void ibsa__lids_drop(struct subnet *subnet, uint32_t index)
{
	struct end_port *end = &subnet->ends[index];
	const uint32_t lid = end->lid;

	if (!lid)
		return;
	subnet->lids.count -= end->lid_count;
	end->lid = 0;
	if (map_find(&subnet->lids.ends, lid) != index) {
		subnet->lids.doubles--;
		return;
	}
	ibsa__map_remove(&subnet->lids.ends, lid);
	lid_pass_on(subnet, lid);
}

void ibsa__lids_set(struct subnet *subnet, uint32_t index, uint32_t lid,
		    uint8_t lmc)
{
	struct end_port *end = &subnet->ends[index];
	struct topo_port *port = end_topo_port(subnet, end);

	ibsa__lids_drop(subnet, index);
	port->lmc = lmc;
	end->lid_count = (uint8_t)(1 << lmc);
	if (lid && map_find(&subnet->lids.ends, lid) != NO_INDEX)
		subnet->lids.doubles++;
	if (lid)
		ibsa__lids_take(subnet, index, lid);
	end->is_seen = lid && subnet->walk.seen[end->port];
	port->lid = end->is_seen ? lid : 0;
}

static bool lid_is_usable(const struct subnet *subnet, uint32_t index,
			  uint32_t lid)
{
	const uint32_t count = subnet->ends[index].lid_count;

	return ibsa__lids_are_valid(&subnet->lids, lid, count) &&
	       ibsa__lids_are_free(subnet, index, lid, count);
}

static void end_use_file_lid(struct subnet *subnet, uint32_t index)
{
	const struct end_port *end = &subnet->ends[index];
	const uint32_t wanted = end_topo_port(subnet, end)->wanted_lid;

	if (end->is_seen && !end->lid && lid_is_usable(subnet, index, wanted))
		ibsa__lids_take(subnet, index, wanted);
}

/*
 * Whether a free LID is lost until LIDs are assigned the next time: an end port
 * with several LIDs has skipped it for their alignment. OpenSM then takes the
 * range up to its LIDs out of its list of free ranges, and an end port with a
 * single LID does not get one of them. Source: osm_lid_mgr.c,
 * lid_mgr_find_free_lid_range().
 */
static bool lid_is_lost(const struct subnet *subnet, uint32_t lid)
{
	enum { SKIPPED_END = 1 << IBSA_LMC_MAX, ONE_LID_EACH = 1 };

	if (subnet->lids.lmcs == ONE_LID_EACH)
		return false;
	for (uint32_t i = 1; i < SKIPPED_END; i++) {
		const uint32_t end = end_of_lid(subnet, lid + i);

		if (end != NO_INDEX)
			return subnet->ends[end].is_new;
	}
	return false;
}

/*
 * Assign the lowest free LIDs to an end port. *@next is the LID at which the
 * search begins for this alignment. Return: false: no LIDs are free.
 */
static bool end_assign_lid(struct subnet *subnet, uint32_t index,
			   uint32_t *next)
{
	struct end_port *end = &subnet->ends[index];

	if (!end->is_seen || end->lid)
		return true;
	for (; *next < subnet->lids.limit; *next += end->lid_count) {
		if (!lid_is_usable(subnet, index, *next) ||
		    lid_is_lost(subnet, *next + end->lid_count - 1))
			continue;
		ibsa__lids_take(subnet, index, *next);
		end->is_new = true;
		return true;
	}
	return false;
}

bool ibsa__lids_give(struct subnet *subnet)
{
	uint32_t next[IBSA_LMC_MAX + 1];
	uint32_t index = subnet->sa_end;
	bool is_enough = true;

	for (uint32_t lmc = 0; lmc <= IBSA_LMC_MAX; lmc++) {
		const uint32_t below = (UINT32_C(1) << lmc) - 1;

		next[lmc] = (subnet->lids.first + below) & ~below;
	}
	/* The SA's own port comes first. */
	end_use_file_lid(subnet, index);
	for (uint32_t i = subnet->ends_from; i < subnet->ends_to; i++) {
		subnet->ends[i].is_new = false;
		end_use_file_lid(subnet, i);
	}
	for (uint32_t i = subnet->ends_from; i <= subnet->ends_to;
	     index = i++) {
		const uint8_t lmc =
			end_topo_port(subnet, &subnet->ends[index])->lmc;

		if (!end_assign_lid(subnet, index, &next[lmc]))
			is_enough = false;
	}
	return is_enough;
}
