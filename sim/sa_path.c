/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PathRecord: from one end to another, from one to all, from all to all.
 *
 * Source: IBA vol 1, 15.2.5.16; OpenSM 3.3, osm_sa_path_record.c, for what
 * the specification leaves open.
 */
#include "sim/path.h"

/* The first multicast LID of Omni-Path. */
#define OPA_LID_MULTICAST UINT32_C(0xf0000000)

enum {
	HOP_LIMIT_ROUTED = 255,
	EXACTLY = IBSA_SELECT_EXACTLY << 6,
	PREFERENCE_NOT_REDUNDANT = 2,
};

static const struct layout layout_ib = {
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

/* The GID that was asked by, else the port's own. */
static void put_gids(const struct path_query *query, const struct path *path,
		     uint8_t *out)
{
	const uint8_t *want = query->want;
	const struct ibsa_fabric *fabric = query->work->fabric;

	if (query->ends.is_routed)
		memcpy(out + AT_DGID, want + AT_DGID, GID_BYTES);
	else
		end_gid(fabric, path->to, out + AT_DGID);
	if (HAS(query, sgid))
		memcpy(out + AT_SGID, want + AT_SGID, GID_BYTES);
	else
		end_gid(fabric, path->from, out + AT_SGID);
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

static void put_path(const struct path_query *query, const struct path *path,
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
		put_path(query, path, lids->from + done, lids->to + done, 0);
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
		put_path(query, path, lids->from + from, lids->to + to,
			 PREFERENCE_NOT_REDUNDANT);
		done++;
	}
}

static void add_pair(const struct path_query *query,
		     const struct end_port *from, const struct end_port *to)
{
	const struct path_ends *ends = &query->ends;
	struct lid_ranges lids = { from->lid, to->lid, from->lid_count,
				   to->lid_count };
	struct path path;
	unsigned int done;

	if (!ibsa__path_find(query, from, to, &path))
		return;
	if (ends->from_lid) {
		lids.from = ends->from_lid;
		lids.from_count = 1;
	}
	if (ends->to_lid) {
		lids.to = ends->to_lid;
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

static void add_to(const struct path_query *query, const struct end_port *to)
{
	const struct ibsa_fabric *fabric = query->work->fabric;

	if (query->ends.from) {
		add_pair(query, query->ends.from, to);
		return;
	}
	for (uint32_t i = 0; i < fabric->end_count && !is_done(query); i++) {
		if (fabric->ends[i].is_seen)
			add_pair(query, &fabric->ends[i], to);
	}
}

static void add_paths(const struct path_query *query)
{
	const struct ibsa_fabric *fabric = query->work->fabric;

	if (query->ends.to) {
		add_to(query, query->ends.to);
		return;
	}
	for (uint32_t i = 0; i < fabric->end_count && !is_done(query); i++) {
		if (fabric->ends[i].is_seen)
			add_to(query, &fabric->ends[i]);
	}
}

static bool is_link_local(const uint8_t *gid)
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

/* Whether the GID's prefix is this subnet's, or the one of all subnets. */
static bool is_of_subnet(const struct ibsa_fabric *fabric, const uint8_t *gid)
{
	return is_link_local(gid) || ibsa_be64(gid) == fabric->gid_prefix;
}

/* The port that a GID names, on Omni-Path perhaps by its LID; or NULL. */
static const struct end_port *end_by_gid(const struct ibsa_fabric *fabric,
					 const uint8_t *gid)
{
	const uint64_t id = ibsa_be64(gid + 8);

	if (fabric->is_opa && id >> 40 == OPA_GID_OUI)
		return end_by_lid(fabric, (uint32_t)id);
	return end_by_guid(fabric, id);
}

/* An unknown end is no error to OpenSM: there are just no paths. */
static bool find_source(const struct path_query *query, struct path_ends *ends)
{
	const struct ibsa_fabric *fabric = query->work->fabric;
	const uint8_t *gid = query->want + AT_SGID;

	if (!HAS(query, sgid))
		return true;
	if (!is_of_subnet(fabric, gid))
		return false;
	ends->from = end_by_gid(fabric, gid);
	return ends->from;
}

static bool find_destination(const struct path_query *query,
			     struct path_ends *ends)
{
	const struct ibsa_fabric *fabric = query->work->fabric;
	const uint8_t *gid = query->want + AT_DGID;

	if (!HAS(query, dgid))
		return true;
	ends->is_routed = !is_of_subnet(fabric, gid);
	if (!ends->is_routed)
		ends->to = end_by_gid(fabric, gid);
	else if (fabric->router_end != SIM_NONE)
		ends->to = &fabric->ends[fabric->router_end];
	return ends->to;
}

/* A LID of the request, which says more in Omni-Path's layout. */
static uint32_t wanted_lid(const struct path_query *query, uint8_t at)
{
	if (query->at->has_wide_lids)
		return ibsa_be32(query->want + at);
	return lid_in_16_bits(ibsa_be16(query->want + at));
}

/* A LID says which port too; with a GID both must be of the same one. */
static bool add_lid(const struct path_query *query, uint32_t lid,
		    const struct end_port **end, bool *differ)
{
	const struct end_port *found = end_by_lid(query->work->fabric, lid);

	if (!found)
		return false;
	if (*end && *end != found)
		*differ = true;
	*end = found;
	return true;
}

/* False: no path can be there. A contradiction is refused. */
static bool find_ends(struct path_query *query)
{
	struct path_ends *ends = &query->ends;
	bool differ = false;

	if (!find_source(query, ends))
		return false;
	if (HAS(query, slid)) {
		ends->from_lid = wanted_lid(query, query->at->slid);
		if (!add_lid(query, ends->from_lid, &ends->from, &differ))
			return false;
	}
	if (!find_destination(query, ends))
		return false;
	if (HAS(query, dlid)) {
		ends->to_lid = wanted_lid(query, AT_DLID);
		if (!add_lid(query, ends->to_lid, &ends->to, &differ))
			return false;
	}
	if (differ)
		sa_fail(query->work, IBSA_STATUS_REQ_INVALID);
	return !differ;
}

/* What a group's LID is in the layout of the request. */
static uint32_t group_lid(const struct path_query *query,
			  const struct sa_group *group)
{
	if (!query->at->has_wide_lids)
		return group->mlid;
	return OPA_LID_MULTICAST + group->mlid - IBSA_LID_MULTICAST_MIN;
}

static bool is_of_lid(const struct path_query *query, uint32_t lid)
{
	return lid == (query->at->has_wide_lids
			       ? ibsa_be32(query->want + AT_DLID)
			       : ibsa_be16(query->want + AT_DLID));
}

/* Whether the request agrees with the group in all that it selects. */
static bool is_of_group(const struct path_query *query,
			const struct sa_group *group)
{
	const struct layout *at = query->at;
	const uint8_t *want = query->want;

	/* No port has joined, so none can be the source. */
	if (HAS(query, sgid) || HAS(query, slid))
		return false;
	if (HAS(query, dlid) && !is_of_lid(query, group_lid(query, group)))
		return false;
	if (HAS(query, pkey) && ibsa_be16(want + at->pkey) != group->pkey)
		return false;
	if (HAS(query, numb_path) && !query->paths)
		return false;
	return !(HAS(query, sl) && want[at->sl] & at->sl_max) &&
	       !(HAS(query, flow_label) &&
		 ibsa_be32(want + at->raw_traffic) >> 8 & 0xfffff) &&
	       !(HAS(query, hop_limit) && want[at->hop_limit]) &&
	       !(HAS(query, tclass) && want[at->tclass]);
}

static void put_group(const struct path_query *query,
		      const struct sa_group *group, uint8_t *out)
{
	const struct layout *at = query->at;

	memcpy(out, query->want, query->work->stride);
	if (at->has_wide_lids)
		ibsa_put_be32(out + AT_DLID, group_lid(query, group));
	else
		ibsa_put_be16(out + AT_DLID, group->mlid);
	memset(out + at->raw_traffic, 0, 4);
	out[at->tclass] = 0;
	out[at->reversible] = 1;
	ibsa_put_be16(out + at->pkey, group->pkey);
	memset(out + at->pkey + 2, 0, at->sl - at->pkey - 1u);
	out[at->mtu] = EXACTLY | group->mtu;
	out[at->rate] = EXACTLY | group->rate;
	out[at->life_time] = EXACTLY | group->packet_life_time;
}

static void add_multicast(const struct path_query *query)
{
	const struct sa_group *group =
		ibsa__sa_group_find(query->want + AT_DGID);
	uint8_t *out;

	if (!group || !is_of_group(query, group))
		return;
	out = ibsa__sa_add(query->work);
	if (out)
		put_group(query, group, out);
}

/* What OpenSM refuses before it looks at the ends. */
static uint16_t check(const struct path_query *query)
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
		.at = work->is_opa ? &layout_opa : &layout_ib,
		.want = work->want,
		.mask = work->mask,
		.paths = UINT32_MAX,
	};

	if (!ibsa__sa_is_query(work))
		return;
	sa_fail(work, check(&query));
	if (work->status)
		return;
	if (HAS(&query, numb_path))
		query.paths = work->want[query.at->reversible] & 0x7f;
	if (work->method == IBSA_METHOD_GET)
		query.paths = 1;
	if (HAS(&query, dgid) && work->want[AT_DGID] == 0xff)
		add_multicast(&query);
	else if (find_ends(&query) && ibsa__path_choose_pkey(&query))
		add_paths(&query);
}
