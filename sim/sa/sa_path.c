/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PathRecord: from one end to another, from one to all, from all to all.
 *
 * Source: IBA vol 1, 15.2.5.16; OpenSM 3.3, osm_sa_path_record.c, for what
 * the specification leaves open.
 */
#include "sim/sa/path.h"

/* The first multicast LID of Omni-Path. */
#define OPA_LID_MULTICAST UINT32_C(0xf0000000)

enum {
	HOP_LIMIT_ROUTED = 255,
	EXACTLY = IBSA_SELECT_EXACTLY << 6,
	PREFERENCE_NOT_REDUNDANT = 2,
};

const struct layout ibsa__layout_ib = {
	.slid = 42,
	.raw_traffic = 44,
	.hop_limit = 47,
	.tclass = 48,
	.reversible = 49,
	.pkey = 50,
	.sl = 53,
	.sl_max = 15,
	.mtu = 54,
	.mtu_max = 5,
	.rate = 55,
	.life_time = 56,
	.preference = 57,
};

static const struct layout layout_opa = {
	.has_wide_lids = true,
	.slid = 44,
	.raw_traffic = 48,
	.hop_limit = 51,
	.tclass = 52,
	.reversible = 53,
	.pkey = 54,
	.sl = 58,
	.sl_max = 31,
	.mtu = 60,
	.mtu_max = 7,
	.rate = 61,
	.life_time = 62,
	.preference = 63,
};

static void put_name(const struct ibsa_fabric *fabric,
		     const struct port_name *name, uint8_t *out)
{
	ibsa_put_be64(out, fabric->gid_prefix);
	ibsa_put_be64(out + 8, name->guid);
}

/* The GID that was asked by, else that of the name. */
static void put_gids(const struct path_query *query, const struct path *path,
		     uint8_t *out)
{
	const uint8_t *want = query->want;
	const struct ibsa_fabric *fabric = query->work->fabric;

	if (query->ends.is_routed)
		memcpy(out + AT_DGID, want + AT_DGID, GID_BYTES);
	else
		put_name(fabric, &path->to, out + AT_DGID);
	if (HAS(query, sgid))
		memcpy(out + AT_SGID, want + AT_SGID, GID_BYTES);
	else
		put_name(fabric, &path->from, out + AT_SGID);
}

/* The interface id that stands for a LID. */
static void put_lid_in_gid(uint8_t *gid, uint32_t lid)
{
	ibsa_put_be64(gid + 8, (uint64_t)OPA_GID_OUI << 40 | lid);
}

/*
 * A LID that 16 bits cannot hold goes into a GID, and its other end's then
 * too: the kernel reads either both LIDs from there, or none.
 */
static void put_lids(const struct path_query *query, uint32_t from, uint32_t to,
		     uint8_t *out)
{
	if (query->at->has_wide_lids) {
		ibsa_put_be32(out + AT_DLID, to);
		ibsa_put_be32(out + query->at->slid, from);
	} else if (lid_in_16_bits(from) && lid_in_16_bits(to)) {
		ibsa_put_be16(out + AT_DLID, (uint16_t)to);
		ibsa_put_be16(out + query->at->slid, (uint16_t)from);
	} else {
		put_lid_in_gid(out + AT_DGID, to);
		put_lid_in_gid(out + AT_SGID, from);
	}
}

void ibsa__path_put(const struct path_query *query, const struct path *path,
		    uint32_t from_lid, uint32_t to_lid, uint8_t preference)
{
	const struct layout *at = query->at;
	uint8_t *out = ibsa__sa_add(query->work);

	if (!out)
		return;
	put_gids(query, path, out);
	put_lids(query, from_lid, to_lid, out);
	out[at->hop_limit] = query->ends.is_routed ? HOP_LIMIT_ROUTED : 0;
	out[at->reversible] = 0x80;
	ibsa_put_be16(out + at->pkey, path->pkey);
	out[at->sl] = HAS(query, sl) ? query->want[at->sl] & at->sl_max : 0;
	out[at->mtu] = EXACTLY | path->mtu;
	out[at->rate] = EXACTLY | ibsa__rate_code(path->rate);
	out[at->life_time] = EXACTLY | path->life_time;
	out[at->preference] = preference;
}

/* The LIDs of a pair of ports that a query is about. */
struct lid_ranges {
	uint32_t from;
	uint32_t to;
	unsigned int from_count;
	unsigned int to_count;
};

/* Pairs of the n-th LID at both ends: those differ at both ends. */
static unsigned int put_redundant(const struct path_query *query,
				  const struct path *path,
				  const struct lid_ranges *lids)
{
	unsigned int done = 0;

	while (done < query->paths && done < lids->from_count &&
	       done < lids->to_count && !query->work->status) {
		ibsa__path_put(query, path, lids->from + done, lids->to + done,
			       0);
		done++;
	}
	return done;
}

/* All other pairs, which share a LID with one of those. */
static void put_rest(const struct path_query *query, const struct path *path,
		     const struct lid_ranges *lids, unsigned int done)
{
	const unsigned int pairs = lids->from_count * lids->to_count;

	for (unsigned int i = 0; i < pairs && done < query->paths; i++) {
		const unsigned int from = i / lids->to_count;
		const unsigned int to = i % lids->to_count;

		if (query->work->status)
			return;
		if (from == to)
			continue;
		ibsa__path_put(query, path, lids->from + from, lids->to + to,
			       PREFERENCE_NOT_REDUNDANT);
		done++;
	}
}

void ibsa__path_add_pair(const struct path_query *query,
			 const struct port_name *from,
			 const struct port_name *to)
{
	const struct path_ends *ends = &query->ends;
	struct lid_ranges lids = { from->end->lid, to->end->lid,
				   from->end->lid_count, to->end->lid_count };
	struct path path;
	unsigned int done;

	if (!ibsa__path_find(query, from, to, &path))
		return;
	if (ends->from.lid) {
		lids.from = ends->from.lid;
		lids.from_count = 1;
	}
	if (ends->to.lid) {
		lids.to = ends->to.lid;
		lids.to_count = 1;
	}
	done = put_redundant(query, &path, &lids);
	put_rest(query, &path, &lids, done);
}

/* A Get ends with the first path that is found. */
static bool is_done(const struct path_query *query)
{
	return query->work->status ||
	       (query->work->method == IBSA_METHOD_GET && query->work->count);
}

/* The next name that an end of the query may have. */
static bool next_name(const struct path_query *query,
		      const struct path_end *wanted, struct name_walk *walk,
		      struct port_name *out)
{
	if (is_done(query))
		return false;
	if (wanted->guid) {
		*out = (struct port_name){ wanted->end, wanted->guid };
		return !walk->end++;
	}
	while (ibsa__name_next(query->work->fabric, walk, out)) {
		if (!wanted->end || wanted->end == out->end)
			return true;
	}
	return false;
}

/* A port without aliases need not be looked for among all names. */
static void settle_name(const struct ibsa_fabric *fabric, struct path_end *end)
{
	if (end->end && !end->guid &&
	    !ibsa__aliases_table(&fabric->aliases, end->end->guid))
		end->guid = end->end->guid;
}

/* By the name at one end first; OpenSM has that of the source, given a LID. */
static void add_paths(const struct path_query *query)
{
	const struct path_end *from = &query->ends.from;
	const struct path_end *to = &query->ends.to;
	const bool is_from_first = from->end && !from->guid;
	struct name_walk outer = { 0 };
	struct port_name first;
	struct port_name second;

	while (next_name(query, is_from_first ? from : to, &outer, &first)) {
		struct name_walk inner = { 0 };

		while (next_name(query, is_from_first ? to : from, &inner,
				 &second)) {
			if (is_from_first)
				ibsa__path_add_pair(query, &first, &second);
			else
				ibsa__path_add_pair(query, &second, &first);
		}
	}
}

static bool is_link_local(const uint8_t *gid)
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

bool ibsa__gid_is_of_subnet(const struct ibsa_fabric *fabric,
			    const uint8_t *gid)
{
	return is_link_local(gid) || ibsa_be64(gid) == fabric->gid_prefix;
}

/* The name that a GID is of, on Omni-Path perhaps a LID. False: none. */
static bool find_gid(const struct ibsa_fabric *fabric, const uint8_t *gid,
		     struct path_end *out)
{
	const uint64_t id = ibsa_be64(gid + 8);

	if (lid_in_gid(fabric, id)) {
		out->end = end_by_lid(fabric, lid_in_gid(fabric, id));
		out->guid = out->end ? out->end->guid : 0;
	} else {
		out->end = ibsa__end_named(fabric, id);
		out->guid = id;
	}
	return out->end;
}

/* An unknown end is no error to OpenSM: there are just no paths. */
static bool find_source(const struct path_query *query, struct path_ends *ends)
{
	const struct ibsa_fabric *fabric = query->work->fabric;
	const uint8_t *gid = query->want + AT_SGID;

	if (!HAS(query, sgid))
		return true;
	if (!ibsa__gid_is_of_subnet(fabric, gid))
		return false;
	return find_gid(fabric, gid, &ends->from);
}

static bool find_destination(const struct path_query *query,
			     struct path_ends *ends)
{
	const struct ibsa_fabric *fabric = query->work->fabric;
	const uint8_t *gid = query->want + AT_DGID;

	if (!HAS(query, dgid))
		return true;
	ends->is_routed = !ibsa__gid_is_of_subnet(fabric, gid);
	if (!ends->is_routed)
		return find_gid(fabric, gid, &ends->to);
	if (fabric->router_end == SIM_NONE)
		return false;
	ends->to.end = &fabric->ends[fabric->router_end];
	ends->to.guid = ends->to.end->guid;
	return true;
}

/* A LID of the request, which says more in Omni-Path's layout. */
static uint32_t wanted_lid(const struct path_query *query, uint8_t at)
{
	if (query->at->has_wide_lids)
		return ibsa_be32(query->want + at);
	return lid_in_16_bits(ibsa_be16(query->want + at));
}

/* A LID says which port too; with a GID both must be of the same one. */
static bool add_lid(const struct path_query *query, uint8_t at,
		    struct path_end *end, bool *differ)
{
	const struct end_port *found;

	end->lid = wanted_lid(query, at);
	found = end_by_lid(query->work->fabric, end->lid);
	if (!found)
		return false;
	if (end->end && end->end != found)
		*differ = true;
	end->end = found;
	return true;
}

/* False: no path can be there. A contradiction is refused. */
static bool find_ends(struct path_query *query)
{
	struct path_ends *ends = &query->ends;
	bool differ = false;

	if (!find_source(query, ends))
		return false;
	if (HAS(query, slid) &&
	    !add_lid(query, query->at->slid, &ends->from, &differ))
		return false;
	if (!find_destination(query, ends))
		return false;
	if (HAS(query, dlid) && !add_lid(query, AT_DLID, &ends->to, &differ))
		return false;
	if (differ)
		sa_fail(query->work, IBSA_STATUS_REQ_INVALID);
	return !differ;
}

/* What a group's LID is in the layout of the request. */
static uint32_t group_lid(const struct path_query *query,
			  const struct group *group)
{
	const uint16_t mlid = ibsa_be16(group->record + GROUP_AT_MLID);

	if (!query->at->has_wide_lids)
		return mlid;
	return OPA_LID_MULTICAST + mlid - IBSA_LID_MULTICAST_MIN;
}

static bool is_of_lid(const struct path_query *query, uint32_t lid)
{
	return lid == (query->at->has_wide_lids
			       ? ibsa_be32(query->want + AT_DLID)
			       : ibsa_be16(query->want + AT_DLID));
}

/* Only a member can be the source. */
static bool is_from_member(const struct path_query *query,
			   const struct group *group)
{
	const struct ibsa_fabric *fabric = query->work->fabric;
	struct path_end from = { 0 };

	/* A member whose alias was taken away is one all the same. */
	if (HAS(query, sgid)) {
		(void)find_gid(fabric, query->want + AT_SGID, &from);
		if (!ibsa__group_member(group, from.guid))
			return false;
	}
	if (!HAS(query, slid))
		return true;
	from.end = end_by_lid(fabric, wanted_lid(query, query->at->slid));
	return from.end && ibsa__group_has_port(group, from.end->guid);
}

/* Whether the request agrees with the group in all that it selects. */
static bool is_of_group(const struct path_query *query,
			const struct group *group)
{
	const struct layout *at = query->at;
	const uint8_t *want = query->want;
	struct ibsa_mcmember have;

	ibsa_mcmember_record.decode(group->record, &have);
	if (HAS(query, dlid) && !is_of_lid(query, group_lid(query, group)))
		return false;
	if (HAS(query, pkey) && ibsa_be16(want + at->pkey) != have.pkey)
		return false;
	if (HAS(query, numb_path) && !query->paths)
		return false;
	if (HAS(query, flow_label) && (ibsa_be32(want + at->raw_traffic) >> 8 &
				       0xfffff) != have.flow_label)
		return false;
	return !(HAS(query, sl) && (want[at->sl] & at->sl_max) != have.sl) &&
	       !(HAS(query, hop_limit) &&
		 want[at->hop_limit] != have.hop_limit) &&
	       !(HAS(query, tclass) && want[at->tclass] != have.tclass);
}

/* Only groups of one subnet keep their hop limit. */
static uint8_t hop_limit(const struct group *group)
{
	enum { SCOPE_LINK_LOCAL = 2 };

	return (group->record[1] & 0x0f) == SCOPE_LINK_LOCAL
		       ? group->record[GROUP_AT_SL_FLOW_HOP + 3]
		       : HOP_LIMIT_ROUTED;
}

static void put_group(const struct path_query *query, const struct group *group,
		      uint8_t *out)
{
	const struct layout *at = query->at;
	const uint8_t *have = group->record;

	memcpy(out, query->want, query->work->stride);
	if (at->has_wide_lids)
		ibsa_put_be32(out + AT_DLID, group_lid(query, group));
	else
		memcpy(out + AT_DLID, have + GROUP_AT_MLID, 2);
	memcpy(out + at->raw_traffic, have + GROUP_AT_SL_FLOW_HOP, 3);
	out[at->raw_traffic] &= 0x0f;
	out[at->hop_limit] = hop_limit(group);
	out[at->tclass] = have[GROUP_AT_TCLASS];
	out[at->reversible] = 1;
	memcpy(out + at->pkey, have + GROUP_AT_PKEY, 2);
	memset(out + at->pkey + 2, 0, at->sl - at->pkey - 2u);
	out[at->sl] = have[GROUP_AT_SL_FLOW_HOP] >> 4;
	out[at->mtu] = have[GROUP_AT_MTU];
	out[at->rate] = have[GROUP_AT_RATE];
	out[at->life_time] = have[GROUP_AT_LIFE_TIME];
}

static void add_multicast(const struct path_query *query)
{
	const struct group *group = ibsa__groups_find(
		&query->work->fabric->groups, query->want + AT_DGID);
	uint8_t *out;

	if (!group || !is_from_member(query, group) ||
	    !is_of_group(query, group))
		return;
	out = ibsa__sa_add(query->work);
	if (out)
		put_group(query, group, out);
}

uint16_t ibsa__path_check(const struct path_query *query)
{
	const uint64_t service = query->mask & IBSA_PATH_CM(service_id);
	const uint8_t mtu = path_quantity(query, query->at->mtu);

	if (HAS(query, rate_selector) && HAS(query, rate) &&
	    !ibsa__rate_rank_of_code(path_quantity(query, query->at->rate)))
		return IBSA_STATUS_REQ_INVALID;
	if (HAS(query, mtu_selector) && HAS(query, mtu) &&
	    (!mtu || mtu > query->at->mtu_max))
		return IBSA_STATUS_REQ_INVALID;
	if (service && service != IBSA_PATH_CM(service_id))
		return IBSA_STATUS_REQ_INSUFFICIENT;
	return 0;
}

void ibsa__sa_path(struct sa_work *work)
{
	struct path_query query = {
		.work = work,
		.at = work->is_opa ? &layout_opa : &ibsa__layout_ib,
		.want = work->bytes,
		.mask = work->mask,
		.paths = UINT32_MAX,
	};

	if (!ibsa__sa_is_query(work))
		return;
	sa_fail(work, ibsa__path_check(&query));
	if (work->status)
		return;
	if (HAS(&query, numb_path))
		query.paths = work->bytes[query.at->reversible] & 0x7f;
	if (work->method == IBSA_METHOD_GET)
		query.paths = 1;
	if (HAS(&query, dgid) && work->bytes[AT_DGID] == 0xff)
		add_multicast(&query);
	else if (find_ends(&query) && ibsa__path_choose_pkey(&query)) {
		settle_name(work->fabric, &query.ends.from);
		settle_name(work->fabric, &query.ends.to);
		add_paths(&query);
	}
}
