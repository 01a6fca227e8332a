/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Set and Delete of MCMemberRecord: join a group, which may create it, and
 * leave a group, which may delete it.
 *
 * Source: IBA vol 1, 15.2.5.17.2, o15-0.1.5 to o15-0.2.4; OpenSM 3.3.23,
 * osm_sa_mcmember_record.c and osm_multicast.c, for the order of the checks and
 * what the specification leaves open.
 */
#include <errno.h>

#include "fabric/sa/notice.h"
#include "fabric/sa/sa_group.h"

enum {
	SCOPE_LINK_LOCAL = 2,
	SIGNATURE_IPV4 = 0x401b,
	SIGNATURE_IPV6 = 0x601b,
	SIGNATURE_SA = 0xa01b,
	/* maximum number of attempts to find an unused MGID */
	INVENTIONS_MAX = 1000,
};

/* A request to join or leave. */
struct membership {
	struct sa_work *work;
	struct groups *groups;
	struct group *group; /* NULL: no group has the MGID */
	/* The end port that joins or leaves the group. */
	const struct end_port *end;
	/*
	 * The GUID in the request's PortGID; it may be an alias GUID of the
	 * port.
	 */
	uint64_t guid;
	uint8_t states;
};

static uint8_t scope_of(const uint8_t *mgid)
{
	return mgid[1] & 0x0f;
}

/*
 * Check those fields of the request that need no lookup. Return: the status of
 * the refusal, or 0.
 */
static uint16_t request_check(const struct sa_work *work)
{
	const uint64_t needed = IBSA_MCMEMBER_CM(mgid) |
				IBSA_MCMEMBER_CM(port_gid) |
				IBSA_MCMEMBER_CM(join_state);

	if (!sa_has_all(work, needed))
		return IBSA_STATUS_REQ_INSUFFICIENT;
	if (!ibsa__sa_group_is_possible(work))
		return IBSA_STATUS_REQ_INVALID;
	if (ibsa_be64(work->want->mcmember.port_gid.raw) !=
	    work->subnet->gid_prefix)
		return IBSA_STATUS_REQ_INVALID_GID;
	return 0;
}

/*
 * Begin to process a join or leave request. Return: false: the request is
 * refused.
 */
static bool membership_start(struct sa_work *work, struct membership *out)
{
	const struct ibsa_mcmember *want = &work->want->mcmember;
	struct groups *groups = &work->sa->groups;

	*out = (struct membership){
		.work = work,
		.groups = groups,
		.group = ibsa__groups_find(groups, want->mgid.raw),
		.guid = ibsa_be64(want->port_gid.raw + 8),
		.states = want->join_state,
	};
	sa_fail(work, request_check(work));
	return !work->status;
}

/*
 * Whether the requester may change the membership: a new membership; its own
 * membership; or, if the requester is a member of the group's partition, the
 * membership of a port that another port has joined.
 */
static bool requester_may_change(const struct membership *request,
				 const struct member *member)
{
	const struct sa_work *work = request->work;

	if (!member)
		return true;
	if (!member->is_proxy)
		return member->port_guid == work->from->guid;
	return sa_has_pkey(work, work->from, request->group->record.pkey);
}

/*
 * Answer the request: with the group's record and the PortGID and ProxyJoin of
 * the request; without a group, with the request's record. In both cases with
 * @scope and @join_state.
 */
static void membership_answer(const struct membership *request, uint8_t scope,
			      uint8_t join_state)
{
	const struct ibsa_mcmember *want = &request->work->want->mcmember;
	struct ibsa_mcmember row = *want;

	if (request->group) {
		row = request->group->record;
		row.port_gid = want->port_gid;
		row.proxy_join = want->proxy_join;
	}
	row.scope = scope;
	row.join_state = join_state;
	row.mtu_selector = IBSA_SELECT_EXACTLY;
	row.rate_selector = IBSA_SELECT_EXACTLY;
	row.packet_life_time_selector = IBSA_SELECT_EXACTLY;
	ibsa__sa_append(request->work, &row);
}

static uint8_t port_mtu(const struct membership *request)
{
	const struct subnet *subnet = request->work->subnet;

	return ibsa__is_base_port0(&subnet->topo,
				   end_topo_port(subnet, request->end))
		       ? SWITCH_PORT_MTU
		       : request->end->mtu;
}

/*
 * Return: the group's value that the request selects: with the selector
 * "exactly" the wanted value, even if it is above the port's; otherwise the
 * largest value up to the port's that satisfies the selector; 0: no value
 * does.
 */
static uint8_t quantity_choose(bool is_asked, unsigned int selector,
			       uint8_t want, uint8_t port)
{
	if (!is_asked)
		return port;
	switch (selector) {
	case IBSA_SELECT_GREATER:
		return want >= port ? 0 : port;
	case IBSA_SELECT_LESS:
		return want <= port ? (uint8_t)(want - 1) : port;
	case IBSA_SELECT_EXACTLY:
		return want;
	default:
		return port;
	}
}

/* Return: false: no MTU satisfies the request. */
static bool record_choose_mtu(const struct membership *request,
			      struct ibsa_mcmember *record)
{
	const bool is_asked = sa_has_all(
		request->work,
		IBSA_MCMEMBER_CM(mtu) | IBSA_MCMEMBER_CM(mtu_selector));

	record->mtu = quantity_choose(is_asked, record->mtu_selector,
				      record->mtu, port_mtu(request));
	record->mtu_selector = IBSA_SELECT_EXACTLY;
	return record->mtu;
}

/* Return: false: no rate satisfies the request. */
static bool record_choose_rate(const struct membership *request,
			       struct ibsa_mcmember *record)
{
	const bool is_asked = sa_has_all(
		request->work,
		IBSA_MCMEMBER_CM(rate) | IBSA_MCMEMBER_CM(rate_selector));
	const uint8_t rank = quantity_choose(
		is_asked, record->rate_selector,
		ibsa__rate_rank_of_code(record->rate), request->end->rate);

	if (!rank)
		return false;
	record->rate_selector = IBSA_SELECT_EXACTLY;
	record->rate = ibsa__rate_code(rank);
	return true;
}

/*
 * Generate an unused MGID: FF1S:A01B, most of the subnet prefix, and a number.
 * Return: false: INVENTIONS_MAX numbers in a row are in use.
 */
static bool mgid_generate(const struct membership *request, uint8_t *mgid)
{
	enum {
		AT_PREFIX = 4,
		AT_NUMBER = 10,
	};
	struct groups *groups = request->groups;
	uint8_t scope = SCOPE_LINK_LOCAL;

	if (sa_has_all(request->work, IBSA_MCMEMBER_CM(scope)))
		scope = request->work->want->mcmember.scope;
	mgid[0] = 0xff;
	mgid[1] = 0x10 | scope;
	ibsa_put_be16(mgid + 2, SIGNATURE_SA);
	ibsa_put_be64(mgid + AT_PREFIX, request->work->subnet->gid_prefix);
	for (int i = 0; i < INVENTIONS_MAX; i++) {
		const uint32_t number = groups->invented++;

		for (int k = 0; k < 4; k++)
			mgid[AT_NUMBER + k] = (uint8_t)(number >> 8 * k);
		if (!ibsa__groups_find(groups, mgid))
			return true;
	}
	return false;
}

/*
 * Whether the new group may be an IPoIB group: the broadcast group of its
 * scope and partition must exist and have equal values.
 */
static bool request_matches_broadcast(const struct membership *request)
{
	const uint8_t *mgid = request->work->want->mcmember.mgid.raw;
	const uint8_t broadcast[MGID_BYTES] = {
		0xff,	 0x10 | scope_of(mgid), 0x40, 0x1b, mgid[4],
		mgid[5], [12] = 0xff,		0xff, 0xff, 0xff
	};
	const struct group *group;

	if (!memcmp(broadcast, mgid, MGID_BYTES))
		return true;
	group = ibsa__groups_find(request->groups, broadcast);
	return group && ibsa__sa_group_agrees(request->work, group);
}

/* Whether a group may be created with the MGID in the request. */
static bool mgid_is_allowed(const struct membership *request)
{
	const uint8_t *mgid = request->work->want->mcmember.mgid.raw;
	const uint16_t signature = ibsa_be16(mgid + 2);

	if (mgid[0] != 0xff)
		return false;
	if (signature == SIGNATURE_IPV4 || signature == SIGNATURE_IPV6)
		return request_matches_broadcast(request);
	/*
	 * The MGID's reserved flags must be 0. With link-local scope, the
	 * signature of MGIDs that the SA generates is refused, too.
	 */
	return !(mgid[1] & 0xe0) && (signature != SIGNATURE_SA ||
				     scope_of(mgid) != SCOPE_LINK_LOCAL);
}

/*
 * Create the group that the request describes. Return: 0, or the status of the
 * refusal.
 */
static uint16_t group_create(struct membership *request)
{
	static const uint8_t no_mgid[MGID_BYTES];
	const uint64_t needed = IBSA_MCMEMBER_CM(qkey) |
				IBSA_MCMEMBER_CM(tclass) |
				IBSA_MCMEMBER_CM(pkey) |
				IBSA_MCMEMBER_CM(flow_label) |
				IBSA_MCMEMBER_CM(sl);
	struct ibsa_mcmember record = request->work->want->mcmember;

	if (!(request->states & JOIN_ANY_FULL))
		return IBSA_STATUS_REQ_INVALID;
	if (!sa_has_all(request->work, needed))
		return IBSA_STATUS_REQ_INSUFFICIENT;
	if (!memcmp(record.mgid.raw, no_mgid, MGID_BYTES)) {
		if (!mgid_generate(request, record.mgid.raw))
			return IBSA_STATUS_NO_RESOURCES;
	} else if (!mgid_is_allowed(request)) {
		return IBSA_STATUS_REQ_INVALID;
	}
	if (!record_choose_mtu(request, &record) ||
	    !record_choose_rate(request, &record))
		return IBSA_STATUS_REQ_INVALID;
	record.packet_life_time_selector = IBSA_SELECT_EXACTLY;
	if (ibsa__groups_add(request->groups, &record, &request->group))
		return IBSA_STATUS_NO_RESOURCES;
	return 0;
}

/*
 * Check whether the port can join the group, which exists: its MTU and rate are
 * large enough, it has the group's P_Key, the group has the MTU and rate that
 * the request selects, and the request has a join state. Return: 0, or the
 * status of the refusal.
 */
static uint16_t port_check(const struct membership *request)
{
	const struct ibsa_mcmember *record = &request->group->record;
	const struct end_port *end = request->end;

	if (!ibsa__sa_group_selects(request->work, request->group) ||
	    port_mtu(request) < record->mtu ||
	    end->rate < ibsa__rate_rank_of_code(record->rate) ||
	    !request->states || !sa_has_pkey(request->work, end, record->pkey))
		return IBSA_STATUS_REQ_INVALID;
	return 0;
}

static void add_member(struct membership *request)
{
	const struct member profile = {
		.guid = request->guid,
		.port_guid = request->end->guid,
		.join_state = request->states,
		.is_proxy = request->end != request->work->from,
	};
	const bool had_members = request->group->full_members;
	struct sa_work *work = request->work;
	struct member *member;

	if (ibsa__group_join(request->groups, request->group, &profile,
			     &member)) {
		sa_fail(work, IBSA_STATUS_NO_RESOURCES);
		return;
	}
	if (!had_members && request->group->full_members)
		ibsa__notice_group(work->sa, TRAP_GROUP_CREATED, request->group,
				   work->now_ns);
	membership_answer(request, request->group->record.scope,
			  member->join_state);
}

/*
 * Whether the port exists and shares a partition with the requester, and the
 * request's P_Key is valid if it selects one.
 */
static bool request_is_possible(const struct membership *request)
{
	const struct end_port *from = request->work->from;
	const uint16_t pkey = request->work->want->mcmember.pkey;

	if (!request->end ||
	    (request->end != from &&
	     !sa_share_pkey(request->work, from, request->end)))
		return false;
	return pkey & ~IBSA_PKEY_FULL ||
	       !sa_has_any(request->work, IBSA_MCMEMBER_CM(pkey));
}

void ibsa__sa_join(struct sa_work *work)
{
	struct membership request;
	bool is_new;

	if (!membership_start(work, &request))
		return;
	request.end = ibsa__end_named(work->subnet, request.guid);
	is_new = !request.group;
	if (!request_is_possible(&request))
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
	else if (is_new)
		sa_fail(work, group_create(&request));
	else if (!ibsa__sa_group_agrees(work, request.group) ||
		 !requester_may_change(&request,
				       ibsa__group_member(request.group,
							  request.guid)))
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
	if (!work->status)
		sa_fail(work, port_check(&request));
	if (!work->status)
		add_member(&request);
	if (work->status && is_new && request.group)
		ibsa__groups_remove(request.groups, request.group);
}

/*
 * Whether the requester may leave the group: the request must select at least
 * one join state, and only states that the member has.
 */
static bool requester_may_leave(const struct membership *request,
				const struct member *member)
{
	return member && request->states &&
	       !(request->states & ~member->join_state) &&
	       requester_may_change(request, member);
}

void ibsa__sa_leave(struct sa_work *work)
{
	struct member *member = NULL;
	struct membership request;
	struct group *group;
	uint8_t scope;

	if (!membership_start(work, &request))
		return;
	group = request.group;
	if (group)
		member = ibsa__group_member(group, request.guid);
	if (!requester_may_leave(&request, member)) {
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
		return;
	}
	if (ibsa__group_ends(group, member, request.states))
		ibsa__notice_group(work->sa, TRAP_GROUP_DELETED, group,
				   work->now_ns);
	/*
	 * The answer is made from the request alone, since the group may not
	 * exist any more.
	 */
	request.group = NULL;
	scope = group->record.scope;
	membership_answer(&request, scope,
			  ibsa__group_leave(request.groups, group, member,
					    request.states));
}
