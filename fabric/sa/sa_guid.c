/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GUIDInfoRecord: the GUID tables of ports, which any port may change.
 *
 * Source: IBA vol 1, 15.2.5.18 and 14.2.5.5 (GUIDInfo); OpenSM 3.3.23,
 * osm_sa_guidinfo_record.c.
 */
#include "fabric/sa/sa.h"
#include "wire/array.h"
#include "wire/word.h"

/*
 * The codec of GUIDInfoRecords is inlined for speed: their tables have many
 * records.
 */
#define CODEC_ONLY
#define RECORD guid_info
#define FIELDS IBSA_GUID_INFO_FIELDS
#include "wire/record.inc"
#undef CODEC_ONLY

enum {
	ALL_BLOCKS = 255,
	/* maximum number of attempts to find an unused GUID */
	INVENTIONS_MAX = 1000,
};

/*
 * The upper bits of GUIDs that the SA assigns: OpenSM's vendor ID and a zero
 * byte.
 */
#define INVENTED UINT64_C(0x0014050000000000)

#define HAS(work, field) ((work)->mask & IBSA_GUID_INFO_CM(field))

/* A request that sets or deletes GUIDs in a block of a port's GUID table. */
struct change {
	struct sa_work *work;
	struct aliases *aliases;
	struct guid_table *table;
	unsigned int first; /* entry of the table */
	unsigned int count; /* entries in the block */
};

static unsigned int guid_cap(const struct subnet *subnet,
			     const struct end_port *end)
{
	return end_topo_node(subnet, end)->type == IBSA_NODE_SWITCH
		       ? GUID_CAP_SWITCH
		       : GUID_CAP_ADAPTER;
}

static unsigned int block_count(const struct subnet *subnet,
				const struct end_port *end)
{
	return (guid_cap(subnet, end) + GUIDS_PER_BLOCK - 1) / GUIDS_PER_BLOCK;
}

static bool entry_is_selected(const struct change *change, unsigned int index)
{
	return sa_has_any(change->work, IBSA_GUID_INFO_CM(guid) << index);
}

static void block_fill(struct ibsa_guid_info *out, uint64_t port_guid,
		       const struct guid_table *table, unsigned int first)
{
	for (unsigned int i = 0; i < GUIDS_PER_BLOCK; i++) {
		const uint64_t guid = table && first + i < GUID_CAP_ADAPTER
					      ? table->guids[first + i]
					      : 0;

		out->guid[i] = first + i ? guid : port_guid;
	}
}

/*
 * Answer the request: the answer is the request's record with the current
 * content of the block.
 */
static void change_answer(const struct change *change)
{
	struct ibsa_guid_info row = change->work->want->guid_info;

	if (change->table)
		block_fill(&row, change->table->port_guid, change->table,
			   change->first);
	ibsa__sa_append(change->work, &row);
}

static bool guid_is_free(const struct change *change, uint64_t guid)
{
	return !ibsa__end_named(change->work->subnet, guid);
}

/*
 * Choose a GUID for an entry of a port's GUID table: the one that the SA chose
 * for this entry before, or a new one. Return: the GUID; 0: the earlier GUID
 * is in use elsewhere, or no GUID is free.
 */
static uint64_t guid_assign(const struct change *change, unsigned int entry)
{
	uint32_t *last = &change->table->invented[entry];

	if (*last)
		return guid_is_free(change, INVENTED | *last) ? INVENTED | *last
							      : 0;
	for (int i = 0; i < INVENTIONS_MAX; i++) {
		const uint32_t number = ++change->aliases->invented;

		if (guid_is_free(change, INVENTED | number)) {
			*last = number;
			return INVENTED | number;
		}
	}
	return 0;
}

/*
 * Set an entry of a port's GUID table. A GUID that is in use is not set; the
 * answer shows the entry's unchanged value.
 */
static void set_entry(const struct change *change, unsigned int index)
{
	const unsigned int entry = change->first + index;
	uint64_t guid = change->work->want->guid_info.guid[index];

	if (!guid) {
		if (change->table->guids[entry])
			return;
		guid = guid_assign(change, entry);
	}
	if (guid && guid_is_free(change, guid) &&
	    ibsa__aliases_set(change->aliases, change->table, entry, guid))
		sa_fail(change->work, IBSA_STATUS_NO_RESOURCES);
}

static void set_guids(struct change *change)
{
	if (!change->first && HAS(change->work, guid)) {
		sa_fail(change->work, IBSA_STATUS_REQ_INVALID);
		return;
	}
	for (unsigned int i = 0; i < change->count; i++) {
		if (entry_is_selected(change, i) && !change->work->status)
			set_entry(change, i);
	}
	if (!change->work->status)
		change_answer(change);
}

/*
 * Check which entries may be deleted: not entry 0, which is the port's own
 * GUID, and not the GUID of a member of a multicast group, which is in use.
 */
static uint16_t check_delete(const struct change *change)
{
	const struct groups *groups = &change->work->sa->groups;

	if (!change->first && HAS(change->work, guid))
		return IBSA_STATUS_REQ_INVALID;
	for (unsigned int i = 0; i < change->count; i++) {
		const uint64_t guid = change->table->guids[change->first + i];

		if (entry_is_selected(change, i) && guid &&
		    ibsa__groups_use(groups, guid))
			return IBSA_STATUS_REQ_DENIED;
	}
	return 0;
}

static void delete_guids(struct change *change)
{
	sa_fail(change->work, check_delete(change));
	if (change->work->status)
		return;
	for (unsigned int i = 0; i < change->count; i++) {
		if (entry_is_selected(change, i))
			ibsa__aliases_clear(change->aliases, change->table,
					    change->first + i);
	}
	change_answer(change);
}

/* Return: the end port with the LID in the request, or NULL. */
static const struct end_port *wanted_end(const struct sa_work *work)
{
	return end_by_lid(work->subnet,
			  lid_in_16_bits(work->want->guid_info.lid));
}

static bool requester_may_see(const struct sa_work *work,
			      const struct end_port *end)
{
	return end == work->from || sa_share_pkey(work, work->from, end);
}

/*
 * Find the block of a port's GUID table that the request selects. Return:
 * false: the request is refused.
 */
static bool change_start(struct sa_work *work, struct change *out,
			 const struct end_port **end)
{
	struct subnet *subnet = work->subnet;
	const unsigned int first = GUIDS_PER_BLOCK *
				   work->want->guid_info.block_num;

	if (!HAS(work, lid) || !HAS(work, block_num)) {
		sa_fail(work, IBSA_STATUS_REQ_INSUFFICIENT);
		return false;
	}
	*end = wanted_end(work);
	if (!*end) {
		sa_fail(work, IBSA_STATUS_NO_RECORDS);
		return false;
	}
	*out = (struct change){
		.work = work,
		.aliases = &subnet->aliases,
		.table = ibsa__aliases_table(&subnet->aliases, (*end)->guid),
		.first = first,
	};
	if (first < guid_cap(subnet, *end))
		out->count = guid_cap(subnet, *end) - first;
	if (out->count > GUIDS_PER_BLOCK)
		out->count = GUIDS_PER_BLOCK;
	return true;
}

static void change_guids(struct sa_work *work)
{
	const bool is_set = work->method == IBSA_METHOD_SET;
	const struct end_port *end;
	struct change change;

	if (!change_start(work, &change, &end))
		return;
	if (!requester_may_see(work, end)) {
		work->is_silent = true;
		return;
	}
	/*
	 * OpenSM does not check a Delete if no GUID of the port was ever set.
	 */
	if (!is_set && !change.table) {
		change_answer(&change);
		return;
	}
	if (!change.count) {
		sa_fail(work, IBSA_STATUS_NO_RECORDS);
		return;
	}
	change.table = ibsa__aliases_make(change.aliases, end->guid);
	if (!change.table)
		sa_fail(work, IBSA_STATUS_NO_RESOURCES);
	else if (is_set)
		set_guids(&change);
	else
		delete_guids(&change);
}

static void block_add(struct sa_work *work, const struct end_port *end,
		      unsigned int block)
{
	struct ibsa_guid_info row = {
		.lid = lid_in_16_bits(end->lid),
		.block_num = (uint8_t)block,
	};

	block_fill(&row, end->guid,
		   ibsa__aliases_table(&work->subnet->aliases, end->guid),
		   GUIDS_PER_BLOCK * block);
	sa_append(work, guid_info_encode, &row);
}

/*
 * Check a query that selects GUIDs. OpenSM does not search for GUIDs: the
 * selected entries must be zero. The exception is the first entry of block 0:
 * it must be the requester's own GUID, and selects the requester's port.
 * Return: false: no record matches.
 */
static bool check_guids(const struct sa_work *work, uint64_t *out_port_guid)
{
	const struct ibsa_guid_info *want = &work->want->guid_info;

	*out_port_guid = 0;
	if (HAS(work, guid) && !want->block_num)
		*out_port_guid = work->from->guid;
	if (HAS(work, guid) && want->guid[0] != *out_port_guid)
		return false;
	for (unsigned int i = 1; i < GUIDS_PER_BLOCK; i++) {
		if (sa_has_any(work, IBSA_GUID_INFO_CM(guid) << i) &&
		    want->guid[i])
			return false;
	}
	return true;
}

static bool port_is_selected(const struct sa_work *work,
			     const struct end_port *end)
{
	return !HAS(work, lid) || !work->want->guid_info.lid ||
	       wanted_end(work) == end;
}

static void add_port(struct sa_work *work, const struct end_port *end)
{
	const uint8_t want = work->want->guid_info.block_num;
	const unsigned int blocks = block_count(work->subnet, end);
	unsigned int block = 0;
	unsigned int last = blocks - 1;

	if (!port_is_selected(work, end) || !requester_may_see(work, end))
		return;
	if (HAS(work, block_num) && want != ALL_BLOCKS) {
		block = want;
		if (block > last)
			return;
		last = block;
	}
	for (; block <= last && !sa_is_full(work); block++)
		block_add(work, end, block);
}

static void add_node(struct sa_work *work, const struct topo_node *node)
{
	const struct subnet *subnet = work->subnet;

	for (uint32_t i = 0; i <= node->port_count; i++) {
		const struct topo_port *port =
			&subnet->topo.ports[node->first_port + i];

		if (sa_is_full(work))
			return;
		if (subnet_port_lid(subnet, port))
			add_port(work, &subnet->ends[port->end]);
	}
}

static void list_guids(struct sa_work *work)
{
	const struct subnet *subnet = work->subnet;
	uint64_t port_guid;
	size_t i;

	if (!check_guids(work, &port_guid))
		return;
	if (port_guid) {
		add_port(work, work->from);
		return;
	}
	while (sa_next(work, subnet->topo.node_count, &i))
		add_node(work, &subnet->topo.nodes[subnet->nodes_by_guid[i]]);
}

void ibsa__sa_guid_info(struct sa_work *work)
{
	if (work->method == IBSA_METHOD_SET ||
	    work->method == IBSA_METHOD_DELETE)
		change_guids(work);
	else if (ibsa__sa_is_query(work))
		list_guids(work);
}
