/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MCMemberRecord: the groups that there are, and to the trusted who is in
 * them. Joining and leaving is in sa_join.c.
 *
 * Source: IBA vol 1, 15.2.5.17; OpenSM 3.3, osm_sa_mcmember_record.c, for
 * what is matched and how.
 */
#include "sim/sa/sa_group.h"

enum { GID_BYTES = 16, MTU_CODE_MAX = 5 };

static bool has(const struct sa_work *work, uint64_t mask)
{
	return work->mask & mask;
}

/* Whether a quantity is greater than, less than or equal to a wanted one. */
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
	const uint8_t *have = group->record;
	const uint8_t *want = work->bytes;

	if (has(work, IBSA_MCMEMBER_CM(mtu_selector)) &&
	    !is_selected(want[GROUP_AT_MTU] >> 6,
			 GROUP_VALUE(have[GROUP_AT_MTU]),
			 GROUP_VALUE(want[GROUP_AT_MTU])))
		return false;
	return !has(work, IBSA_MCMEMBER_CM(rate_selector)) ||
	       is_selected(want[GROUP_AT_RATE] >> 6, group_rate_rank(have),
			   group_rate_rank(want));
}

bool ibsa__sa_group_is_possible(const struct sa_work *work)
{
	const uint64_t rate = IBSA_MCMEMBER_CM(rate_selector) |
			      IBSA_MCMEMBER_CM(rate);
	const uint64_t mtu = IBSA_MCMEMBER_CM(mtu_selector) |
			     IBSA_MCMEMBER_CM(mtu);
	const uint8_t code = GROUP_VALUE(work->bytes[GROUP_AT_MTU]);

	if ((work->mask & rate) == rate && !group_rate_rank(work->bytes))
		return false;
	return (work->mask & mtu) != mtu || (code && code <= MTU_CODE_MAX);
}

/* Two P_Keys of one partition, one of them at least of a full member. */
static bool is_same_partition(const uint8_t *a, const uint8_t *b)
{
	const uint16_t x = ibsa_be16(a + GROUP_AT_PKEY);
	const uint16_t y = ibsa_be16(b + GROUP_AT_PKEY);

	return (x | y) & IBSA_PKEY_FULL &&
	       (x | IBSA_PKEY_FULL) == (y | IBSA_PKEY_FULL);
}

bool ibsa__sa_group_agrees(const struct sa_work *work,
			   const struct group *group)
{
	const uint64_t exact = IBSA_MCMEMBER_CM(qkey) |
			       IBSA_MCMEMBER_CM(tclass) | IBSA_MCMEMBER_CM(sl) |
			       IBSA_MCMEMBER_CM(flow_label) |
			       IBSA_MCMEMBER_CM(hop_limit);
	struct sa_filter filter;

	if (has(work, IBSA_MCMEMBER_CM(pkey)) &&
	    !is_same_partition(work->bytes, group->record))
		return false;
	ibsa__sa_filter(&ibsa_mcmember_record, exact, work, &filter);
	return ibsa__sa_matches(&filter, work, group->record);
}

/* Which bits of scope and join state have to agree. */
static uint8_t scope_state_mask(const struct sa_work *work)
{
	uint8_t mask = 0;

	if (has(work, IBSA_MCMEMBER_CM(scope)))
		mask |= 0xf0;
	if (has(work, IBSA_MCMEMBER_CM(join_state)))
		mask |= 0x0f;
	return mask;
}

/*
 * One record: of the member, or of the group if that is NULL. Who is not
 * trusted learns from it that there is such a member, but not who.
 */
static void add_record(struct sa_work *work, const struct group *group,
		       const struct member *member)
{
	uint8_t wire[GROUP_BYTES];
	uint8_t *scope_state = &wire[GROUP_AT_SCOPE_STATE];
	uint8_t *out;

	memcpy(wire, group->record, sizeof(wire));
	memset(wire + GROUP_AT_PORT_GID, 0, GID_BYTES);
	wire[GROUP_AT_PROXY] &= GROUP_NOT_PROXY;
	if (member)
		*scope_state = (*scope_state & 0xf0) | member->join_state;
	if ((*scope_state ^ work->bytes[GROUP_AT_SCOPE_STATE]) &
	    scope_state_mask(work))
		return;
	if (!work->is_trusted)
		*scope_state &= 0xf0;
	else if (member)
		ibsa__sa_put_member(work->fabric, member, wire);
	out = ibsa__sa_add(work);
	if (out)
		memcpy(out, wire, sizeof(wire));
}

void ibsa__sa_put_member(const struct ibsa_fabric *fabric,
			 const struct member *member, uint8_t *record)
{
	ibsa_put_be64(record + GROUP_AT_PORT_GID, fabric->gid_prefix);
	ibsa_put_be64(record + GROUP_AT_PORT_GID + 8, member->guid);
	if (member->is_proxy)
		record[GROUP_AT_PROXY] |= (uint8_t)~GROUP_NOT_PROXY;
}

/* To OpenSM a PortGID is its GUID, whatever the prefix. */
static void add_port(struct sa_work *work, const struct group *group)
{
	const struct member *member = ibsa__group_member(
		group, ibsa_be64(work->bytes + GROUP_AT_PORT_GID + 8));

	if (member)
		add_record(work, group, member);
}

/* Groups of partitions that the requester is not in are not for it. */
static void add_group(struct sa_work *work, const struct sa_filter *filter,
		      const struct group *group)
{
	const uint16_t pkey = ibsa_be16(group->record + GROUP_AT_PKEY);

	if (!sa_has_pkey(work, work->from, pkey) ||
	    !ibsa__sa_matches(filter, work, group->record) ||
	    !ibsa__sa_group_agrees(work, group) ||
	    !ibsa__sa_group_selects(work, group))
		return;
	if (has(work, IBSA_MCMEMBER_CM(port_gid))) {
		add_port(work, group);
		return;
	}
	if (!work->is_trusted) {
		add_record(work, group, NULL);
		return;
	}
	for (size_t i = 0; i < group->count && !sa_is_full(work); i++)
		add_record(work, group, &group->members[i]);
}

static void list_groups(struct sa_work *work)
{
	const uint64_t exact = IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(mlid) |
			       IBSA_MCMEMBER_CM(proxy_join);
	const struct groups *groups = &work->fabric->groups;
	struct sa_filter filter;

	ibsa__sa_filter(&ibsa_mcmember_record, exact, work, &filter);
	if (has(work, IBSA_MCMEMBER_CM(mgid))) {
		const struct group *group = ibsa__groups_find(groups,
							      work->bytes);

		if (group)
			add_group(work, &filter, group);
		return;
	}
	for (size_t i = 0; i < groups->count && !sa_is_full(work); i++)
		add_group(work, &filter, groups->all[i]);
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
			list_groups(work);
		else
			sa_fail(work, IBSA_STATUS_REQ_INVALID);
	}
}
