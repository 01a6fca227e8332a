/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries for PathRecords: between two ports, from one port to all, or between
 * all ports.
 *
 * Source: IBA vol 1, 15.2.5.16; OpenSM 3.3, osm_sa_path_record.c, for what the
 * specification leaves open.
 */
#include "fabric/sa/path.h"
#include "wire/array.h"
#include "wire/word.h"

/*
 * The codec of PathRecords is inlined for speed: a table has up to a million
 * records.
 */
#define CODEC_ONLY
#define RECORD path
#define FIELDS IBSA_PATH_FIELDS
#include "wire/record.inc"
#undef CODEC_ONLY

/* The first multicast LID of Omni-Path. */
#define OPA_LID_MULTICAST UINT32_C(0xf0000000)

enum {
	HOP_LIMIT_ROUTED = 255,
	MTU_CODE_MAX = 5,
	MTU_CODE_MAX_OPA = 7,
	PREFERENCE_NOT_REDUNDANT = 2,
};

#define PATH_FIELDS_COPIED(F) \
	PATH_FIELDS_SHARED(F) \
	F(service_id)         \
	F(dgid)               \
	F(sgid)               \
	F(preference)
#define PATH_COPY(field) to->field = from->field;

/*
 * Copy all fields of an Omni-Path PathRecord except the LIDs, which have
 * another width.
 */
static void path_from_opa(const struct ibsa_opa_path *from,
			  struct ibsa_path *to)
{
	PATH_FIELDS_COPIED(PATH_COPY)
}

static void path_to_opa(const struct ibsa_path *from, struct ibsa_opa_path *to)
{
	PATH_FIELDS_COPIED(PATH_COPY)
}

static void path_append_opa(const struct path_query *query,
			    const struct ibsa_path *path, uint32_t from_lid,
			    uint32_t to_lid)
{
	struct ibsa_opa_path row = { .dlid = to_lid, .slid = from_lid };

	path_to_opa(path, &row);
	ibsa__sa_append(query->work, &row);
}

static inline void path_append(const struct path_query *query,
			       struct ibsa_path *path, uint32_t from_lid,
			       uint32_t to_lid)
{
	if (query->work->is_opa) {
		path_append_opa(query, path, from_lid, to_lid);
		return;
	}
	path->dlid = (uint16_t)to_lid;
	path->slid = (uint16_t)from_lid;
	sa_append(query->work, path_encode, path);
}

static struct ibsa_gid gid_of_id(uint64_t prefix, uint64_t id)
{
	struct ibsa_gid gid;

	ibsa_put_be64(gid.raw, prefix);
	ibsa_put_be64(gid.raw + 8, id);
	return gid;
}

/* Write the interface ID that Omni-Path derives from a LID into a GID. */
static void put_lid_in_gid(struct ibsa_gid *gid, uint32_t lid)
{
	ibsa_put_be64(gid->raw + 8, (uint64_t)OPA_GID_OUI << 40 | lid);
}

/*
 * Append a path between two LIDs to the reply. The source GID of the path is
 * that of the request; if the request has none, it is made from the source
 * port's GUID. The destination GID of the path is made from the destination
 * port's GUID; but if the request is for a GID of another subnet, it is that
 * GID.
 */
void ibsa__path_put(const struct path_query *query, const struct path *path,
		    uint32_t from_lid, uint32_t to_lid, uint8_t preference)
{
	const uint64_t prefix = query->work->subnet->gid_prefix;
	const bool is_routed = query->ends.is_routed;
	const struct ibsa_path *want = query->want;
	struct ibsa_path row = {
		.dgid = is_routed ? want->dgid
				  : gid_of_id(prefix, path->to.guid),
		.sgid = HAS(query, sgid) ? want->sgid
					 : gid_of_id(prefix, path->from.guid),
		.hop_limit = is_routed ? HOP_LIMIT_ROUTED : 0,
		.reversible = 1,
		.pkey = path->pkey,
		.sl = HAS(query, sl) ? want->sl : 0,
		.mtu_selector = IBSA_SELECT_EXACTLY,
		.mtu = path->mtu,
		.rate_selector = IBSA_SELECT_EXACTLY,
		.rate = ibsa__rate_code(path->rate),
		.packet_life_time_selector = IBSA_SELECT_EXACTLY,
		.packet_life_time = path->life_time,
		.preference = preference,
	};

	/*
	 * An Omni-Path LID that does not fit into 16 bits is returned in a
	 * GID. The other end then has its LID in its GID as well, because the
	 * kernel takes either both LIDs from the GIDs or none.
	 */
	if (!query->work->is_opa &&
	    (!lid_in_16_bits(from_lid) || !lid_in_16_bits(to_lid))) {
		put_lid_in_gid(&row.dgid, to_lid);
		put_lid_in_gid(&row.sgid, from_lid);
		from_lid = to_lid = 0;
	}
	path_append(query, &row, from_lid, to_lid);
}

/* The ranges of LIDs of the two ports of a path. */
struct lid_ranges {
	uint32_t from;
	uint32_t to;
	unsigned int from_count;
	unsigned int to_count;
};

/*
 * Append paths from the n-th LID of one port to the n-th LID of the other. No
 * two of these paths have a common LID.
 */
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

/*
 * Append the paths between the other pairs of LIDs, each of which has a LID in
 * common with a path that was appended before.
 */
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

/* Whether the query needs no more paths: a Get needs only one path. */
static bool is_done(const struct path_query *query)
{
	return query->work->status ||
	       (query->work->method == IBSA_METHOD_GET && query->work->count);
}

/*
 * Get the next GUID that the source or the destination of the query may have.
 */
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
	while (ibsa__name_next(query->work->subnet, walk, out)) {
		if (!wanted->end || wanted->end == out->end)
			return true;
	}
	return false;
}

/*
 * If a port has no alias GUIDs, use its own GUID, so that the query need not
 * search all GUIDs.
 */
static void settle_name(const struct subnet *subnet, struct path_end *end)
{
	if (end->end && !end->guid &&
	    !ibsa__aliases_table(&subnet->aliases, end->end->guid))
		end->guid = end->end->guid;
}

/*
 * Append the paths between all pairs of GUIDs, in OpenSM's order: if the
 * request has a source LID, the outer loop is over the sources.
 */
static void add_paths(const struct path_query *query)
{
	const struct path_end *from = &query->ends.from;
	const struct path_end *to = &query->ends.to;
	const bool is_from_first = from->end && !from->guid;
	struct sa_slice *slice = &query->work->slice;
	struct name_walk outer = slice->outer;
	struct port_name first;
	struct port_name second;

	while (next_name(query, is_from_first ? from : to, &outer, &first)) {
		while (next_name(query, is_from_first ? to : from,
				 &slice->inner, &second)) {
			if (is_from_first)
				ibsa__path_add_pair(query, &first, &second);
			else
				ibsa__path_add_pair(query, &second, &first);
			if (sa_pauses(query->work))
				return;
		}
		slice->outer = outer;
		slice->inner = (struct name_walk){ 0 };
	}
}

static bool is_link_local(const uint8_t *gid)
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

bool ibsa__gid_is_of_subnet(const struct subnet *subnet, const uint8_t *gid)
{
	return is_link_local(gid) || ibsa_be64(gid) == subnet->gid_prefix;
}

/*
 * Find the end port with a GID; an Omni-Path GID may contain a LID. Return:
 * false: no port has this GID.
 */
static bool find_gid(const struct subnet *subnet, const uint8_t *gid,
		     struct path_end *out)
{
	const uint64_t id = ibsa_be64(gid + 8);

	if (lid_in_gid(subnet, id)) {
		out->end = end_by_lid(subnet, lid_in_gid(subnet, id));
		out->guid = out->end ? out->end->guid : 0;
	} else {
		out->end = ibsa__end_named(subnet, id);
		out->guid = id;
	}
	return out->end;
}

/*
 * Find the source of the path. As in OpenSM, an unknown source is not an
 * error: the answer has no paths.
 */
static bool find_source(const struct path_query *query, struct path_ends *ends)
{
	const struct subnet *subnet = query->work->subnet;
	const uint8_t *gid = query->want->sgid.raw;

	if (!HAS(query, sgid))
		return true;
	if (!ibsa__gid_is_of_subnet(subnet, gid))
		return false;
	return find_gid(subnet, gid, &ends->from);
}

static bool find_destination(const struct path_query *query,
			     struct path_ends *ends)
{
	const struct subnet *subnet = query->work->subnet;
	const uint8_t *gid = query->want->dgid.raw;

	if (!HAS(query, dgid))
		return true;
	ends->is_routed = !ibsa__gid_is_of_subnet(subnet, gid);
	if (!ends->is_routed)
		return find_gid(subnet, gid, &ends->to);
	if (subnet->router_end == NO_INDEX)
		return false;
	ends->to.end = &subnet->ends[subnet->router_end];
	ends->to.guid = ends->to.end->guid;
	return true;
}

/*
 * Return: a LID of the request if it can be a unicast LID, otherwise 0. Only
 * the Omni-Path layout has unicast LIDs of more than 16 bits.
 */
static uint32_t unicast_lid(const struct path_query *query, uint32_t lid)
{
	return query->work->is_opa ? lid : lid_in_16_bits(lid);
}

/*
 * Set an end of the query by its LID. @differ is set if the request also has a
 * GID, and it is the GID of another port.
 */
static bool add_lid(const struct path_query *query, uint32_t lid,
		    struct path_end *end, bool *differ)
{
	const struct end_port *found;

	end->lid = unicast_lid(query, lid);
	found = end_by_lid(query->work->subnet, end->lid);
	if (!found)
		return false;
	if (end->end && end->end != found)
		*differ = true;
	end->end = found;
	return true;
}

/*
 * Find both ends of the query. Return: false: there are no paths, or the
 * request is refused because the LID and the GID of an end belong to different
 * ports.
 */
static bool find_ends(struct path_query *query)
{
	struct path_ends *ends = &query->ends;
	bool differ = false;

	if (!find_source(query, ends))
		return false;
	if (HAS(query, slid) &&
	    !add_lid(query, query->want_slid, &ends->from, &differ))
		return false;
	if (!find_destination(query, ends))
		return false;
	if (HAS(query, dlid) &&
	    !add_lid(query, query->want_dlid, &ends->to, &differ))
		return false;
	if (differ)
		sa_fail(query->work, IBSA_STATUS_REQ_INVALID);
	return !differ;
}

/* Return: the LID of a multicast group in the layout of the request. */
static uint32_t group_lid(const struct path_query *query,
			  const struct group *group)
{
	const uint16_t mlid = group->record.mlid;

	if (!query->work->is_opa)
		return mlid;
	return OPA_LID_MULTICAST + mlid - IBSA_LID_MULTICAST_MIN;
}

/*
 * Whether the source in the request is a member of the multicast group; true
 * if the request has no source.
 */
static bool is_from_member(const struct path_query *query,
			   const struct group *group)
{
	const struct subnet *subnet = query->work->subnet;
	struct path_end from = { 0 };

	/*
	 * A port remains a member of the group after its alias GUID was
	 * deleted.
	 */
	if (HAS(query, sgid)) {
		(void)find_gid(subnet, query->want->sgid.raw, &from);
		if (!ibsa__group_member(group, from.guid))
			return false;
	}
	if (!HAS(query, slid))
		return true;
	from.end = end_by_lid(subnet, unicast_lid(query, query->want_slid));
	return from.end && ibsa__group_has_port(group, from.end->guid);
}

/* Whether the multicast group has the values that the request selects. */
static bool is_of_group(const struct path_query *query,
			const struct group *group)
{
	const struct ibsa_mcmember *have = &group->record;
	const struct ibsa_path *want = query->want;

	if (HAS(query, dlid) && query->want_dlid != group_lid(query, group))
		return false;
	if (HAS(query, pkey) && want->pkey != have->pkey)
		return false;
	if (HAS(query, numb_path) && !query->paths)
		return false;
	if (HAS(query, flow_label) && want->flow_label != have->flow_label)
		return false;
	return !(HAS(query, sl) && want->sl != have->sl) &&
	       !(HAS(query, hop_limit) && want->hop_limit != have->hop_limit) &&
	       !(HAS(query, tclass) && want->tclass != have->tclass);
}

/*
 * Return: the hop limit of a path to a group: that of the group if its scope is
 * link-local, otherwise HOP_LIMIT_ROUTED.
 */
static uint8_t hop_limit(const struct group *group)
{
	enum { SCOPE_LINK_LOCAL = 2 };

	return (group->record.mgid.raw[1] & 0x0f) == SCOPE_LINK_LOCAL
		       ? group->record.hop_limit
		       : HOP_LIMIT_ROUTED;
}

/*
 * Append the path to a multicast group. OpenSM writes the Reversible bit to the
 * place of NumbPath, and so does this: the path has NumbPath 1 and Reversible
 * 0.
 */
static void path_append_group(const struct path_query *query,
			      const struct group *group)
{
	const struct ibsa_mcmember *have = &group->record;
	struct ibsa_path row = *query->want;

	row.raw_traffic = 0;
	row.flow_label = have->flow_label;
	row.hop_limit = hop_limit(group);
	row.tclass = have->tclass;
	row.reversible = 0;
	row.numb_path = 1;
	row.pkey = have->pkey;
	row.qos_class = 0;
	row.sl = have->sl;
	row.mtu_selector = have->mtu_selector;
	row.mtu = have->mtu;
	row.rate_selector = have->rate_selector;
	row.rate = have->rate;
	row.packet_life_time_selector = have->packet_life_time_selector;
	row.packet_life_time = have->packet_life_time;
	path_append(query, &row, query->want_slid, group_lid(query, group));
}

static void add_multicast(const struct path_query *query)
{
	const struct group *group = ibsa__groups_find(&query->work->sa->groups,
						      query->want->dgid.raw);

	if (group && is_from_member(query, group) && is_of_group(query, group))
		path_append_group(query, group);
}

uint16_t ibsa__path_check(const struct path_query *query)
{
	const uint64_t service = query->mask & IBSA_PATH_CM(service_id);
	const uint8_t mtu_max = query->work->is_opa ? MTU_CODE_MAX_OPA
						    : MTU_CODE_MAX;
	const struct ibsa_path *want = query->want;

	if (HAS(query, rate_selector) && HAS(query, rate) &&
	    !ibsa__rate_rank_of_code(want->rate))
		return IBSA_STATUS_REQ_INVALID;
	if (HAS(query, mtu_selector) && HAS(query, mtu) &&
	    (!want->mtu || want->mtu > mtu_max))
		return IBSA_STATUS_REQ_INVALID;
	if (service && service != IBSA_PATH_CM(service_id))
		return IBSA_STATUS_REQ_INSUFFICIENT;
	return 0;
}

static void path_answer(struct path_query *query)
{
	struct sa_work *work = query->work;

	if (!ibsa__sa_is_query(work))
		return;
	sa_fail(work, ibsa__path_check(query));
	if (work->status)
		return;
	query->paths = UINT32_MAX;
	if (HAS(query, numb_path))
		query->paths = query->want->numb_path;
	if (work->method == IBSA_METHOD_GET)
		query->paths = 1;
	if (HAS(query, dgid) && query->want->dgid.raw[0] == 0xff)
		add_multicast(query);
	else if (find_ends(query) && ibsa__path_choose_pkey(query)) {
		settle_name(work->subnet, &query->ends.from);
		settle_name(work->subnet, &query->ends.to);
		add_paths(query);
	}
}

void ibsa__sa_path(struct sa_work *work)
{
	struct path_query query = {
		.work = work,
		.want = &work->want->path,
		.want_dlid = work->want->path.dlid,
		.want_slid = work->want->path.slid,
		.mask = work->mask,
	};

	path_answer(&query);
}

void ibsa__sa_opa_path(struct sa_work *work)
{
	struct ibsa_path want = { 0 };
	struct path_query query = {
		.work = work,
		.want = &want,
		.want_dlid = work->want->opa_path.dlid,
		.want_slid = work->want->opa_path.slid,
		.mask = work->mask,
	};

	path_from_opa(&work->want->opa_path, &want);
	path_answer(&query);
}
