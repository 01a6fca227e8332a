/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PathRecord: from one end to another, from one to all, from all to all.
 *
 * Source: IBA vol 1, 15.2.5.16; OpenSM 3.3, osm_sa_path_record.c, for what
 * the specification leaves open.
 */
#include <errno.h>

#include "sim/sa.h"

enum {
	LIFE_TIME = 18, /* of every path that leaves its port */
	HOP_LIMIT_ROUTED = 255,
	MTU_CODE_MAX = 5,
	EXACTLY = IBSA_SELECT_EXACTLY << 6,
	PREFERENCE_NOT_REDUNDANT = 2,
};

/* What both ends of a path are asked to be. */
struct path_ends {
	const struct end_port *from; /* NULL: all */
	const struct end_port *to;
	uint16_t from_lid; /* 0: any of the port's */
	uint16_t to_lid;
	bool is_routed; /* the way leads off the subnet */
};

/* What a path is. */
struct path {
	const struct end_port *from;
	const struct end_port *to;
	uint8_t rate; /* rank */
	uint8_t mtu;
	uint8_t life_time;
};

/* One request for PathRecords. */
struct path_query {
	struct sa_work *work;
	uint64_t mask;
	struct path_ends ends;
	unsigned int paths; /* for each pair of ports */
	uint16_t pkey;	    /* of every path */
};

#define HAS(query, field) \
	(((query)->mask & IBSA_PATH_CM(field)) == IBSA_PATH_CM(field))
#define WANT(query, field) ((uint8_t)IBSA_GET(path, field, (query)->work->want))

/*
 * What a selector makes of a quantity: the largest one that satisfies it.
 * False if none does. "Exactly" may ask for less than there is.
 */
static bool select_up_to(unsigned int selector, uint8_t want, uint8_t *have)
{
	switch (selector) {
	case IBSA_SELECT_GREATER:
		return *have > want;
	case IBSA_SELECT_LESS:
		if (*have >= want)
			*have = want - 1;
		return want > 1;
	case IBSA_SELECT_EXACTLY:
		if (*have < want)
			return false;
		*have = want;
		return true;
	default:
		return true;
	}
}

static bool select_mtu(const struct path_query *query, struct path *path)
{
	if (!HAS(query, mtu_selector) || !HAS(query, mtu))
		return true;
	return select_up_to(WANT(query, mtu_selector), WANT(query, mtu),
			    &path->mtu);
}

/* A rate cannot be lowered to a wanted one: that may not exist here. */
static bool select_rate(const struct path_query *query, struct path *path)
{
	uint8_t want;

	if (!HAS(query, rate_selector) || !HAS(query, rate))
		return true;
	want = ibsa__rate_rank_of_code(WANT(query, rate));
	if (WANT(query, rate_selector) == IBSA_SELECT_EXACTLY)
		return path->rate == want;
	return select_up_to(WANT(query, rate_selector), want, &path->rate);
}

static bool select_life_time(const struct path_query *query, struct path *path)
{
	uint8_t want = WANT(query, packet_life_time);

	if (!HAS(query, packet_life_time_selector) ||
	    !HAS(query, packet_life_time))
		return true;
	/* A loopback path has none, and none is less than any. */
	if (WANT(query, packet_life_time_selector) == IBSA_SELECT_LESS &&
	    path->life_time < want)
		return true;
	return select_up_to(WANT(query, packet_life_time_selector), want,
			    &path->life_time);
}

/*
 * Every port is a full member of the default partition and of no other, so
 * that one P_Key does for all paths; false if there can be none.
 */
static bool choose_pkey(struct path_query *query)
{
	query->pkey = IBSA_PKEY_DEFAULT;
	if (HAS(query, raw_traffic) && WANT(query, raw_traffic)) {
		query->pkey = 0;
		return true;
	}
	if (!HAS(query, pkey))
		return true;
	query->pkey = (uint16_t)IBSA_GET(path, pkey, query->work->want);
	return (query->pkey | IBSA_PKEY_FULL) == IBSA_PKEY_DEFAULT;
}

/* Find the path between two ports. False if none is as wanted. */
static bool find_path(const struct path_query *query,
		      const struct end_port *from, const struct end_port *to,
		      struct path *out)
{
	struct span span;
	const int err = ibsa__route_span(query->work->fabric, from, to, &span);

	if (err == -ENOMEM)
		sa_fail(query->work, IBSA_STATUS_NO_RESOURCES);
	if (err)
		return false;
	*out = (struct path){
		.from = from,
		.to = to,
		.rate = span.rate,
		.mtu = span.mtu,
		.life_time = from == to ? 0 : LIFE_TIME,
	};
	return select_mtu(query, out) && select_rate(query, out) &&
	       select_life_time(query, out);
}

/* Where fields of a PathRecord lie, in bytes. IBA vol 1, 15.2.5.16. */
enum {
	AT_DGID = 8,
	AT_SGID = 24,
	AT_DLID = 40,
	AT_SLID = 42,
	AT_RAW_TRAFFIC = 44,
	AT_HOP_LIMIT = 47,
	AT_TCLASS = 48,
	AT_REVERSIBLE = 49,
	AT_PKEY = 50,
	AT_SL = 53,
	AT_MTU = 54,
	AT_RATE = 55,
	AT_LIFE_TIME = 56,
	AT_PREFERENCE = 57,
	GID_BYTES = 16,
};

/* The GID that was asked by, else the port's own. */
static void put_gids(const struct path_query *query, const struct path *path,
		     uint8_t *out)
{
	const uint8_t *want = query->work->want;
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

static void put_path(const struct path_query *query, const struct path *path,
		     uint16_t from_lid, uint16_t to_lid, uint8_t preference)
{
	uint8_t *out = ibsa__sa_add(query->work);
	const uint8_t *want = query->work->want;

	if (!out)
		return;
	put_gids(query, path, out);
	ibsa_put_be16(out + AT_DLID, to_lid);
	ibsa_put_be16(out + AT_SLID, from_lid);
	out[AT_HOP_LIMIT] = query->ends.is_routed ? HOP_LIMIT_ROUTED : 0;
	out[AT_REVERSIBLE] = 0x80;
	ibsa_put_be16(out + AT_PKEY, query->pkey);
	out[AT_SL] = HAS(query, sl) ? want[AT_SL] & 0x0f : 0;
	out[AT_MTU] = EXACTLY | path->mtu;
	out[AT_RATE] = EXACTLY | ibsa__rate_code(path->rate);
	out[AT_LIFE_TIME] = EXACTLY | path->life_time;
	out[AT_PREFERENCE] = preference;
}

/* The LIDs of a pair of ports that a query is about. */
struct lid_ranges {
	uint16_t from;
	uint16_t to;
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
		put_path(query, path, (uint16_t)(lids->from + done),
			 (uint16_t)(lids->to + done), 0);
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
		put_path(query, path, (uint16_t)(lids->from + from),
			 (uint16_t)(lids->to + to), PREFERENCE_NOT_REDUNDANT);
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

	if (!find_path(query, from, to, &path))
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
	for (uint32_t i = 0; i < fabric->end_count && !is_done(query); i++)
		add_pair(query, &fabric->ends[i], to);
}

static void add_paths(const struct path_query *query)
{
	const struct ibsa_fabric *fabric = query->work->fabric;

	if (query->ends.to) {
		add_to(query, query->ends.to);
		return;
	}
	for (uint32_t i = 0; i < fabric->end_count && !is_done(query); i++)
		add_to(query, &fabric->ends[i]);
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

/* An unknown end is no error to OpenSM: there are just no paths. */
static bool find_source(const struct path_query *query, struct path_ends *ends)
{
	const struct ibsa_fabric *fabric = query->work->fabric;
	const uint8_t *gid = query->work->want + AT_SGID;

	if (!HAS(query, sgid))
		return true;
	if (!is_of_subnet(fabric, gid))
		return false;
	ends->from = end_by_guid(fabric, ibsa_be64(gid + 8));
	return ends->from;
}

static bool find_destination(const struct path_query *query,
			     struct path_ends *ends)
{
	const struct ibsa_fabric *fabric = query->work->fabric;
	const uint8_t *gid = query->work->want + AT_DGID;

	if (!HAS(query, dgid))
		return true;
	ends->is_routed = !is_of_subnet(fabric, gid);
	if (!ends->is_routed)
		ends->to = end_by_guid(fabric, ibsa_be64(gid + 8));
	else if (fabric->router_end != SIM_NONE)
		ends->to = &fabric->ends[fabric->router_end];
	return ends->to;
}

/* A LID says which port too; with a GID both must be of the same one. */
static bool add_lid(const struct path_query *query, uint16_t lid,
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
	const uint8_t *want = query->work->want;
	bool differ = false;

	if (!find_source(query, ends))
		return false;
	if (HAS(query, slid)) {
		ends->from_lid = ibsa_be16(want + AT_SLID);
		if (!add_lid(query, ends->from_lid, &ends->from, &differ))
			return false;
	}
	if (!find_destination(query, ends))
		return false;
	if (HAS(query, dlid)) {
		ends->to_lid = ibsa_be16(want + AT_DLID);
		if (!add_lid(query, ends->to_lid, &ends->to, &differ))
			return false;
	}
	if (differ)
		sa_fail(query->work, IBSA_STATUS_REQ_INVALID);
	return !differ;
}

/* Whether the request agrees with the group in all that it selects. */
static bool is_of_group(const struct path_query *query,
			const struct sa_group *group)
{
	const uint8_t *want = query->work->want;

	/* No port has joined, so none can be the source. */
	if (HAS(query, sgid) || HAS(query, slid))
		return false;
	if (HAS(query, dlid) && ibsa_be16(want + AT_DLID) != group->mlid)
		return false;
	if (HAS(query, pkey) && ibsa_be16(want + AT_PKEY) != group->pkey)
		return false;
	if (HAS(query, numb_path) && !query->paths)
		return false;
	return !(HAS(query, sl) && WANT(query, sl)) &&
	       !(HAS(query, flow_label) && IBSA_GET(path, flow_label, want)) &&
	       !(HAS(query, hop_limit) && WANT(query, hop_limit)) &&
	       !(HAS(query, tclass) && WANT(query, tclass));
}

static void add_multicast(const struct path_query *query)
{
	const struct sa_group *group =
		ibsa__sa_group_find(query->work->want + AT_DGID);
	uint8_t *out;

	if (!group || !is_of_group(query, group))
		return;
	out = ibsa__sa_add(query->work);
	if (!out)
		return;
	memcpy(out, query->work->want, query->work->stride);
	ibsa_put_be16(out + AT_DLID, group->mlid);
	memset(out + AT_RAW_TRAFFIC, 0, AT_TCLASS - AT_RAW_TRAFFIC);
	out[AT_TCLASS] = 0;
	out[AT_REVERSIBLE] = 1;
	ibsa_put_be16(out + AT_PKEY, group->pkey);
	ibsa_put_be16(out + AT_PKEY + 2, 0);
	out[AT_MTU] = EXACTLY | group->mtu;
	out[AT_RATE] = EXACTLY | group->rate;
	out[AT_LIFE_TIME] = EXACTLY | group->packet_life_time;
}

/* What OpenSM refuses before it looks at the ends. */
static uint16_t check(const struct path_query *query)
{
	const uint64_t service = query->mask & IBSA_PATH_CM(service_id);

	if (HAS(query, rate_selector) && HAS(query, rate) &&
	    !ibsa__rate_rank_of_code(WANT(query, rate)))
		return IBSA_STATUS_REQ_INVALID;
	if (HAS(query, mtu_selector) && HAS(query, mtu) &&
	    (!WANT(query, mtu) || WANT(query, mtu) > MTU_CODE_MAX))
		return IBSA_STATUS_REQ_INVALID;
	if (service && service != IBSA_PATH_CM(service_id))
		return IBSA_STATUS_REQ_INSUFFICIENT;
	return 0;
}

void ibsa__sa_path(struct sa_work *work)
{
	struct path_query query = {
		.work = work,
		.mask = work->mask,
		.paths = UINT32_MAX,
	};

	if (!ibsa__sa_is_query(work))
		return;
	sa_fail(work, check(&query));
	if (work->status)
		return;
	if (HAS(&query, numb_path))
		query.paths = WANT(&query, numb_path);
	if (work->method == IBSA_METHOD_GET)
		query.paths = 1;
	if (HAS(&query, dgid) && work->want[AT_DGID] == 0xff)
		add_multicast(&query);
	else if (find_ends(&query) && choose_pkey(&query))
		add_paths(&query);
}
