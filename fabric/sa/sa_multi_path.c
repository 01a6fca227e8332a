/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MultiPathRecord: paths from a set of source GIDs to a set of destination
 * GIDs, by GetMulti. The request is converted to one for PathRecords, and the
 * answer has PathRecords.
 *
 * Source: IBA vol 1, 15.2.5.20; OpenSM 3.3.23, osm_sa_multipath_record.c, for
 * the order of the checks and the choice of two independent paths.
 */
#include "fabric/sa/path.h"
#include "fabric/subnet/forward.h"

enum {
	GIDS_MAX = 11, /* that fit into one MAD */
	PATHS_MAX = 127,
	HOPS_MAX = 64,
};

/*
 * The ServiceID of a PathRecord has two mask bits: for its first byte and for
 * the rest.
 */
#define SERVICE_ID_HIGH (IBSA_PATH_CM(service_id) & -IBSA_PATH_CM(service_id))
#define SERVICE_ID_LOW (IBSA_PATH_CM(service_id) & ~SERVICE_ID_HIGH)

/* A request for MultiPathRecords. */
struct multi {
	struct sa_work *work;
	struct path_query query;
	struct ibsa_path want; /* converted to a PathRecord */
	struct port_name names[GIDS_MAX];
	unsigned int from_count;
	unsigned int to_count;
};

/* Convert the request and its mask. */
static void multi_to_path(struct multi *multi)
{
	const struct ibsa_multi_path *from = &multi->work->want->multi_path;
	const uint64_t mask = multi->work->mask;
	struct path_query *query = &multi->query;

	*query = (struct path_query){
		.work = multi->work,
		.want = &multi->want,
	};
#define MULTI_COPY(field)                     \
	multi->want.field = from->field;      \
	if (mask & IBSA_MULTI_PATH_CM(field)) \
		query->mask |= IBSA_PATH_CM(field);
	PATH_FIELDS_SHARED(MULTI_COPY)
#undef MULTI_COPY
	if (mask & IBSA_MULTI_PATH_CM(service_id_high))
		query->mask |= SERVICE_ID_HIGH;
	if (mask & IBSA_MULTI_PATH_CM(service_id_low))
		query->mask |= SERVICE_ID_LOW;
}

/*
 * Check those fields of the request that do not need the GIDs. Return: the
 * status of the refusal, or 0.
 */
static uint16_t multi_check(const struct multi *multi)
{
	const uint64_t counts = IBSA_MULTI_PATH_CM(sgid_count) |
				IBSA_MULTI_PATH_CM(dgid_count);
	const struct sa_work *work = multi->work;

	if (!(work->mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE))
		return IBSA_STATUS_REQ_INVALID;
	if (work->method != IBSA_METHOD_GET_MULTI)
		return IBSA_STATUS_BAD_METHOD_ATTRIBUTE;
	if (!sa_has_all(work, counts))
		return IBSA_STATUS_REQ_INSUFFICIENT;
	return ibsa__path_check(&multi->query);
}

static bool find_name(struct multi *multi, unsigned int index)
{
	const struct subnet *subnet = multi->work->subnet;
	const uint8_t *gid = multi->work->want->multi_path.gid[index].raw;
	struct port_name *name = &multi->names[index];

	if (!ibsa__gid_is_of_subnet(subnet, gid))
		return false;
	name->guid = ibsa_be64(gid + 8);
	name->end = ibsa__end_named(subnet, name->guid);
	return name->end;
}

static unsigned int at_most(unsigned int count, unsigned int most)
{
	return count < most ? count : most;
}

/* Find the ports of the request's GIDs. GIDs beyond GIDS_MAX are ignored. */
static uint16_t find_names(struct multi *multi)
{
	const struct ibsa_multi_path *want = &multi->work->want->multi_path;

	multi->from_count = at_most(want->sgid_count, GIDS_MAX);
	multi->to_count = at_most(want->dgid_count,
				  GIDS_MAX - multi->from_count);
	for (unsigned int i = 0; i < multi->from_count + multi->to_count; i++) {
		if (!find_name(multi, i))
			return IBSA_STATUS_REQ_INVALID_GID;
	}
	return multi->from_count && multi->to_count ? 0
						    : IBSA_STATUS_REQ_INVALID;
}

/*
 * Append paths from each source to each destination, up to the number in the
 * request, or PATHS_MAX without one.
 */
static void add_pairs(struct multi *multi)
{
	const unsigned int pairs = multi->from_count * multi->to_count;
	const struct port_name *to = &multi->names[multi->from_count];
	const struct sa_work *work = multi->work;
	unsigned int most = PATHS_MAX;

	if (HAS(&multi->query, numb_path))
		most = multi->want.numb_path;
	for (unsigned int i = 0; i < pairs; i++) {
		if (work->count >= most || work->status)
			return;
		multi->query.paths = most - (unsigned int)work->count;
		ibsa__path_add_pair(&multi->query,
				    &multi->names[i / multi->to_count],
				    &to[i % multi->to_count]);
	}
}

/* Return: the number of cables on the route from one port to another. */
static unsigned int hop_count(struct subnet *subnet,
			      const struct end_port *from,
			      const struct end_port *to)
{
	const struct topology *topo = &subnet->topo;
	uint32_t port = from->port;
	unsigned int count = 0;

	while (topo->ports[port].node != topo->ports[to->port].node &&
	       count < HOPS_MAX) {
		const struct topo_node *node =
			&topo->nodes[topo->ports[port].node];

		if (node->type == IBSA_NODE_SWITCH) {
			const uint8_t exit = ibsa__switch_exit(subnet, node,
							       to->lid);

			if (exit > node->port_count)
				break;
			port = node->first_port + exit;
		}
		port = topo->ports[port].peer;
		if (port == NO_INDEX)
			break;
		count++;
	}
	return count;
}

/* OpenSM compares big-endian GUIDs as little-endian numbers. */
static bool name_is_before(const struct port_name *a, const struct port_name *b)
{
	return __builtin_bswap64(a->end->guid) <
	       __builtin_bswap64(b->end->guid);
}

static void pair_sort(struct port_name *pair)
{
	const struct port_name first = pair[0];

	if (name_is_before(&pair[0], &pair[1]))
		return;
	pair[0] = pair[1];
	pair[1] = first;
}

/*
 * Return: 2^LMC of the subnet, with which OpenSM computes. The embedded subnet
 * has no LMC of its own: this is the largest number of LIDs of the SA's port
 * and of the ports in the request. The number of LIDs of a single port is not
 * enough, because a switch has one LID even if the subnet has an LMC.
 */
static unsigned int lids_usual(const struct multi *multi)
{
	const struct subnet *subnet = multi->work->subnet;
	unsigned int most = subnet->ends[subnet->sa_end].lid_count;

	for (unsigned int i = 0; i < multi->from_count + multi->to_count; i++) {
		if (multi->names[i].end->lid_count > most)
			most = multi->names[i].end->lid_count;
	}
	return most;
}

/*
 * Return: the LID in little-endian byte order, as OpenSM uses it in its hash.
 */
static uint32_t lid_to_hash(const struct port_name *name)
{
	return __builtin_bswap16((uint16_t)name->end->lid);
}

/*
 * Return: which LID of a port with several LIDs the path uses, as an offset.
 * The result does not depend on the direction of the path or the order of the
 * ports.
 */
static unsigned int lid_offset(const struct multi *multi)
{
	enum { SHIFT = 4, PRIME = 103 };
	const unsigned int count = lids_usual(multi);
	const uint32_t a = lid_to_hash(&multi->names[0]) / count;
	const uint32_t b = lid_to_hash(&multi->names[2]) / count;

	return (a < b ? a << SHIFT | b : b << SHIFT | a) % PRIME;
}

/*
 * A path from one source to one destination; both are indexes in the order of
 * GUIDs.
 */
struct branch {
	struct path path;
	unsigned int hops;
	bool exists;
};

static struct branch make_branch(struct multi *multi, unsigned int from,
				 unsigned int to)
{
	const struct port_name *names = multi->names;
	struct branch branch = {
		.hops = hop_count(multi->work->subnet, names[from].end,
				  names[2 + to].end),
	};

	branch.exists = ibsa__path_find(&multi->query, &names[from],
					&names[2 + to], &branch.path);
	return branch;
}

static void put_branch(const struct multi *multi, const struct branch *branch,
		       unsigned int offset)
{
	const struct end_port *from = branch->path.from.end;
	const struct end_port *to = branch->path.to.end;

	if (branch->exists && !multi->work->status)
		ibsa__path_put(&multi->query, &branch->path,
			       from->lid + offset % from->lid_count,
			       to->lid + offset % to->lid_count, 0);
}

/*
 * Return: the number of hops of the shorter of two paths. A path that does not
 * exist is ignored; if none of the two exists, 0, as in OpenSM.
 */
static unsigned int branch_shorter_hops(const struct branch *a,
					const struct branch *b)
{
	const unsigned int x = a->exists ? a->hops : 0;
	const unsigned int y = b->exists ? b->hops : 0;

	return x && y && y < x ? y : x ? x : y;
}

/*
 * Add two paths without a common end: each leads from one of two sources to
 * one of two destinations. Of the two possible combinations, choose the one
 * that contains the shortest path. As in OpenSM, a combination without any path
 * counts as shorter than one with a path.
 */
static void add_independent(struct multi *multi)
{
	struct branch straight[2];
	struct branch crossed[2];
	bool is_straight;
	unsigned int offset;

	pair_sort(&multi->names[0]);
	pair_sort(&multi->names[2]);
	offset = lid_offset(multi);
	for (unsigned int i = 0; i < 2; i++) {
		straight[i] = make_branch(multi, i, i);
		crossed[i] = make_branch(multi, i, !i);
	}
	is_straight = branch_shorter_hops(&straight[0], &straight[1]) <=
		      branch_shorter_hops(&crossed[0], &crossed[1]);
	for (unsigned int i = 0; i < 2; i++)
		put_branch(multi, is_straight ? &straight[i] : &crossed[i],
			   offset + i);
}

static bool is_for_two(const struct multi *multi)
{
	return multi->from_count == 2 && multi->to_count == 2 &&
	       multi->want.numb_path == 2;
}

void ibsa__sa_multi_path(struct sa_work *work)
{
	struct multi multi = { .work = work };

	multi_to_path(&multi);
	sa_fail(work, multi_check(&multi));
	if (!work->status)
		sa_fail(work, find_names(&multi));
	if (work->status || !ibsa__path_choose_pkey(&multi.query))
		return;
	if (is_for_two(&multi))
		add_independent(&multi);
	else
		add_pairs(&multi);
}
