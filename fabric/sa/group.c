/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The multicast groups of the embedded SA, and their members. */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/array.h"
#include "fabric/sa/group.h"
#include "fabric/tools/order.h"

/*
 * The broadcast group of IPoIB in the default partition: Q_Key 0xb1b, MTU 2048,
 * 10 Gb/s, life time 18, link-local. Source: RFC 4391, 4; OpenSM, where the RFC
 * leaves a choice.
 */
static const struct ibsa_mcmember broadcast = {
	.mgid.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff,
		      0xff, 0xff },
	.qkey = 0xb1b,
	.mtu_selector = IBSA_SELECT_EXACTLY,
	.mtu = 4,
	.pkey = IBSA_PKEY_DEFAULT,
	.rate_selector = IBSA_SELECT_EXACTLY,
	.rate = 3,
	.packet_life_time_selector = IBSA_SELECT_EXACTLY,
	.packet_life_time = 18,
	.scope = 2,
	.join_state = JOIN_FULL,
};

static bool mlid_is_taken(const struct groups *groups, uint32_t index)
{
	return groups->mlids[index / 64] >> index % 64 & 1;
}

static void mlid_set_taken(struct groups *groups, uint16_t mlid, bool is_now)
{
	const uint32_t index = mlid - (uint32_t)IBSA_LID_MULTICAST_MIN;
	const uint64_t bit = UINT64_C(1) << index % 64;

	if (is_now)
		groups->mlids[index / 64] |= bit;
	else
		groups->mlids[index / 64] &= ~bit;
}

/*
 * Return: @wanted if it is a free MLID, otherwise the lowest free MLID. An MLID
 * is always free when a group is created, because the maximum number of groups
 * is the number of MLIDs.
 */
static uint16_t mlid_choose(const struct groups *groups, uint16_t wanted)
{
	uint32_t index = wanted - (uint32_t)IBSA_LID_MULTICAST_MIN;

	if (index < GROUPS_MAX && !mlid_is_taken(groups, index))
		return wanted;
	index = 0;
	while (groups->mlids[index / 64] == UINT64_MAX)
		index += 64;
	while (mlid_is_taken(groups, index))
		index++;
	return (uint16_t)(IBSA_LID_MULTICAST_MIN + index);
}

static int by_mgid(const void *mgid, const void *element)
{
	const struct group *const *group = element;

	return memcmp(mgid, (*group)->record.mgid.raw, MGID_BYTES);
}

/*
 * Return: the index of the group with this MGID, or the index at which to
 * insert it.
 */
static size_t group_position(const struct groups *groups, const uint8_t *mgid)
{
	return order_position(mgid, groups->all, groups->count,
			      sizeof(struct group *), by_mgid);
}

struct group *ibsa__groups_find(const struct groups *groups,
				const uint8_t *mgid)
{
	const size_t position = group_position(groups, mgid);

	if (position == groups->count ||
	    memcmp(groups->all[position]->record.mgid.raw, mgid, MGID_BYTES))
		return NULL;
	return groups->all[position];
}

static int groups_grow(struct groups *groups)
{
	if (groups->count == GROUPS_MAX)
		return -ENOSPC;
	return ARRAY_GROW(groups->all, groups->room, groups->count + 1);
}

int ibsa__groups_add(struct groups *groups, const struct ibsa_mcmember *record,
		     struct group **out)
{
	const size_t position = group_position(groups, record->mgid.raw);
	const int err = groups_grow(groups);
	struct group *group;

	if (err)
		return err;
	group = ibsa__calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->record = *record;
	group->record.mlid = mlid_choose(groups, record->mlid);
	mlid_set_taken(groups, group->record.mlid, true);
	memmove(groups->all + position + 1, groups->all + position,
		(groups->count - position) * sizeof(struct group *));
	groups->all[position] = group;
	groups->count++;
	*out = group;
	return 0;
}

static void group_clear(struct groups *groups, struct group *group)
{
	groups->members -= group->count;
	ibsa__free(group->members);
	group->members = NULL;
	group->count = 0;
	group->room = 0;
	group->full_members = 0;
}

static void group_free(struct groups *groups, struct group *group)
{
	mlid_set_taken(groups, group->record.mlid, false);
	group_clear(groups, group);
	ibsa__free(group);
}

void ibsa__groups_remove(struct groups *groups, struct group *group)
{
	const size_t position = group_position(groups, group->record.mgid.raw);

	groups->count--;
	memmove(groups->all + position, groups->all + position + 1,
		(groups->count - position) * sizeof(struct group *));
	group_free(groups, group);
}

int ibsa__groups_init(struct groups *groups)
{
	struct group *group;
	const int err = ibsa__groups_add(groups, &broadcast, &group);

	if (!err)
		group->is_permanent = true;
	return err;
}

void ibsa__groups_reset(struct groups *groups)
{
	size_t count_left = 0;

	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = groups->all[i];

		if (!group->is_permanent) {
			group_free(groups, group);
			continue;
		}
		group_clear(groups, group);
		groups->all[count_left++] = group;
	}
	groups->count = count_left;
	groups->invented = 0;
}

void ibsa__groups_done(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		group_free(groups, groups->all[i]);
	ibsa__free(groups->all);
	*groups = (struct groups){ 0 };
}

static int by_guid(const void *guid, const void *element)
{
	const struct member *member = element;

	return order_of_numbers(*(const uint64_t *)guid, member->guid);
}

/*
 * Return: the index of the group's member with this GUID, or the index at
 * which to insert it.
 */
static size_t member_position(const struct group *group, uint64_t guid)
{
	return order_position(&guid, group->members, group->count,
			      sizeof(*group->members), by_guid);
}

struct member *ibsa__group_member(const struct group *group, uint64_t guid)
{
	const size_t position = member_position(group, guid);

	if (position == group->count || group->members[position].guid != guid)
		return NULL;
	return &group->members[position];
}

bool ibsa__group_has_port(const struct group *group, uint64_t port_guid)
{
	for (size_t i = 0; i < group->count; i++) {
		if (group->members[i].port_guid == port_guid)
			return true;
	}
	return false;
}

bool ibsa__groups_use(const struct groups *groups, uint64_t guid)
{
	for (size_t i = 0; i < groups->count; i++) {
		if (ibsa__group_member(groups->all[i], guid))
			return true;
	}
	return false;
}

/*
 * Insert a member with this GUID into a group. The content of the member is
 * undefined.
 */
static int member_insert(struct groups *groups, struct group *group,
			 uint64_t guid, struct member **out)
{
	const size_t position = member_position(group, guid);

	if (groups->members == MEMBERS_MAX)
		return -ENOSPC;
	if (ARRAY_GROW(group->members, group->room, group->count + 1))
		return -ENOMEM;
	*out = &group->members[position];
	memmove(*out + 1, *out, (group->count - position) * sizeof(**out));
	group->count++;
	groups->members++;
	return 0;
}

int ibsa__group_join(struct groups *groups, struct group *group,
		     const struct member *added, struct member **out)
{
	struct member *member = ibsa__group_member(group, added->guid);
	uint8_t before = 0;

	if (member) {
		before = member->join_state;
		member->join_state |= added->join_state;
	} else {
		const int err = member_insert(groups, group, added->guid,
					      &member);

		if (err)
			return err;
		*member = *added;
	}
	if (member->join_state & JOIN_ANY_FULL && !(before & JOIN_ANY_FULL))
		group->full_members++;
	*out = member;
	return 0;
}

static void member_remove(struct groups *groups, struct group *group,
			  struct member *member)
{
	const size_t index = (size_t)(member - group->members);

	group->count--;
	groups->members--;
	memmove(member, member + 1, (group->count - index) * sizeof(*member));
}

bool ibsa__group_ends(const struct group *group, const struct member *member,
		      uint8_t states)
{
	return group->full_members == 1 && member->join_state & JOIN_ANY_FULL &&
	       !(member->join_state & ~states & JOIN_ANY_FULL);
}

uint8_t ibsa__group_leave(struct groups *groups, struct group *group,
			  struct member *member, uint8_t states)
{
	const uint8_t before = member->join_state;
	const bool was_full = before & JOIN_ANY_FULL;
	uint8_t left = before & (uint8_t)~states;

	/*
	 * Like OpenSM: if the member was the last full member (JOIN_FULL), or
	 * if the group has no full member, the member also loses its other join
	 * states.
	 */
	if (!(left & JOIN_ANY_FULL) &&
	    group->full_members <= (before & JOIN_FULL))
		left = 0;
	member->join_state = left;
	if (!left)
		member_remove(groups, group, member);
	if (!was_full || left & JOIN_ANY_FULL || --group->full_members)
		return left;
	if (group->is_permanent)
		group_clear(groups, group);
	else
		ibsa__groups_remove(groups, group);
	return left;
}
