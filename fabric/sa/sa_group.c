/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries for MCMemberRecords: the SA lists the groups and, to trusted
 * requests, their members. Joining and leaving are in sa_join.c.
 *
 * Source: IBA vol 1, 15.2.5.17; OpenSM 3.3, osm_sa_mcmember_record.c, for the
 * rules of matching.
 */
#include "fabric/sa/sa_group.h"

enum { MTU_CODE_MAX = 5 };

/*
 * Whether the group's value @have satisfies a selector with the wanted value.
 */
static bool is_selected(unsigned int selector, unsigned int have,
			unsigned int want)
{
	switch (selector) {
	case IBSA_SELECT_GREATER:
		return have > want;
	case IBSA_SELECT_LESS:
		return have < want;
	case IBSA_SELECT_EXACTLY:
		return have == want;
	default:
		return true;
	}
}

bool ibsa__sa_group_selects(const struct sa_work *work,
			    const struct group *group)
{
	const struct ibsa_mcmember *have = &group->record;
	const struct ibsa_mcmember *want = &work->want->mcmember;

	if (sa_has_any(work, IBSA_MCMEMBER_CM(mtu_selector)) &&
	    !is_selected(want->mtu_selector, have->mtu, want->mtu))
		return false;
	return !sa_has_any(work, IBSA_MCMEMBER_CM(rate_selector)) ||
	       is_selected(want->rate_selector,
			   ibsa__rate_rank_of_code(have->rate),
			   ibsa__rate_rank_of_code(want->rate));
}

bool ibsa__sa_group_is_possible(const struct sa_work *work)
{
	const struct ibsa_mcmember *want = &work->want->mcmember;
	const uint64_t rate = IBSA_MCMEMBER_CM(rate_selector) |
			      IBSA_MCMEMBER_CM(rate);
	const uint64_t mtu = IBSA_MCMEMBER_CM(mtu_selector) |
			     IBSA_MCMEMBER_CM(mtu);

	if (sa_has_all(work, rate) && !ibsa__rate_rank_of_code(want->rate))
		return false;
	return !sa_has_all(work, mtu) ||
	       (want->mtu && want->mtu <= MTU_CODE_MAX);
}

/*
 * Whether two P_Keys are of one partition, and at least one has full
 * membership.
 */
static bool is_same_partition(uint16_t a, uint16_t b)
{
	return (a | b) & IBSA_PKEY_FULL &&
	       (a | IBSA_PKEY_FULL) == (b | IBSA_PKEY_FULL);
}

bool ibsa__sa_group_agrees(const struct sa_work *work,
			   const struct group *group)
{
	const uint64_t exact = IBSA_MCMEMBER_CM(qkey) |
			       IBSA_MCMEMBER_CM(tclass) | IBSA_MCMEMBER_CM(sl) |
			       IBSA_MCMEMBER_CM(flow_label) |
			       IBSA_MCMEMBER_CM(hop_limit);
	struct sa_match match;

	if (sa_has_any(work, IBSA_MCMEMBER_CM(pkey)) &&
	    !is_same_partition(work->want->mcmember.pkey, group->record.pkey))
		return false;
	ibsa__sa_select(&ibsa_mcmember_record, work->mask & exact, &match);
	return ibsa__sa_agree(&match, &group->record, work->want);
}

/* A query for groups: the values that it selects. */
struct group_query {
	struct sa_work *work;
	/* The selected values of fields that all members of a group share. */
	struct sa_match group;
	struct sa_match member; /* among a member's own values */
};

/* Write the PortGID of a member into its MCMemberRecord. */
static void member_name(const struct subnet *subnet,
			const struct member *member,
			struct ibsa_mcmember *record)
{
	ibsa_put_be64(record->port_gid.raw, subnet->gid_prefix);
	ibsa_put_be64(record->port_gid.raw + 8, member->guid);
	record->proxy_join |= member->is_proxy;
}

/*
 * Append one MCMemberRecord to the answer: of the member, or of the group if
 * @member is NULL. If the request is not trusted, a member's record does not
 * contain its PortGID.
 */
static void group_append(const struct group_query *query,
			 const struct group *group, const struct member *member)
{
	struct sa_work *work = query->work;
	struct ibsa_mcmember row = group->record;

	row.port_gid = (struct ibsa_gid){ 0 };
	row.proxy_join = 0;
	if (member)
		row.join_state = member->join_state;
	if (!ibsa__sa_agree(&query->member, &row, work->want))
		return;
	if (!work->is_trusted)
		row.join_state = 0;
	else if (member)
		member_name(work->subnet, member, &row);
	ibsa__sa_append(work, &row);
}

/*
 * Append the member with the request's PortGID. The prefix of the PortGID is
 * ignored, as in OpenSM.
 */
static void group_append_port(const struct group_query *query,
			      const struct group *group)
{
	const uint8_t *gid = query->work->want->mcmember.port_gid.raw;
	const struct member *member = ibsa__group_member(group,
							 ibsa_be64(gid + 8));

	if (member)
		group_append(query, group, member);
}

/*
 * Append the records of a group to the answer, if the requester belongs to the
 * group's partition, and the group has the values that the request selects. If
 * the request selects a PortGID: the record of this member; if the request is
 * trusted: a record for each member; otherwise one record of the group.
 */
static void group_add(const struct group_query *query,
		      const struct group *group)
{
	struct sa_work *work = query->work;

	if (!sa_has_pkey(work, work->from, group->record.pkey) ||
	    !ibsa__sa_agree(&query->group, &group->record, work->want) ||
	    !ibsa__sa_group_agrees(work, group) ||
	    !ibsa__sa_group_selects(work, group))
		return;
	if (sa_has_any(work, IBSA_MCMEMBER_CM(port_gid))) {
		group_append_port(query, group);
		return;
	}
	if (!work->is_trusted) {
		group_append(query, group, NULL);
		return;
	}
	for (size_t i = 0; i < group->count && !sa_is_full(work); i++)
		group_append(query, group, &group->members[i]);
}

static void group_list(struct sa_work *work)
{
	const uint64_t exact = IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(mlid) |
			       IBSA_MCMEMBER_CM(proxy_join);
	const uint64_t own = IBSA_MCMEMBER_CM(scope) |
			     IBSA_MCMEMBER_CM(join_state);
	const struct groups *groups = &work->sa->groups;
	struct group_query query = { .work = work };
	size_t i;

	ibsa__sa_select(work->record, work->mask & exact, &query.group);
	ibsa__sa_select(work->record, work->mask & own, &query.member);
	if (sa_has_any(work, IBSA_MCMEMBER_CM(mgid))) {
		const struct group *group = ibsa__groups_find(
			groups, work->want->mcmember.mgid.raw);

		if (group)
			group_add(&query, group);
		return;
	}
	while (sa_next(work, groups->count, &i))
		group_add(&query, groups->all[i]);
}

void ibsa__sa_group(struct sa_work *work)
{
	switch (work->method) {
	case IBSA_METHOD_SET:
		ibsa__sa_join(work);
		break;
	case IBSA_METHOD_DELETE:
		ibsa__sa_leave(work);
		break;
	default:
		if (!ibsa__sa_is_query(work))
			break;
		if (ibsa__sa_group_is_possible(work))
			group_list(work);
		else
			sa_fail(work, IBSA_STATUS_REQ_INVALID);
	}
}
