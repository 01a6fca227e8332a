/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds end ports by GUID: each port's own GUID and its alias GUIDs. */
#include "fabric/sa/notice.h"

const struct end_port *ibsa__end_named(const struct subnet *subnet,
				       uint64_t guid)
{
	const struct end_port *end = end_by_guid(subnet, guid);
	uint64_t port_guid;

	if (end)
		return end;
	port_guid = ibsa__aliases_find(&subnet->aliases, guid);
	return port_guid ? end_by_guid(subnet, port_guid) : NULL;
}

/* Get the next GUID in order, of a discovered port or not. */
static bool name_next_any(const struct subnet *subnet, struct name_walk *walk,
			  struct port_name *out)
{
	const struct aliases *aliases = &subnet->aliases;
	const struct end_port *ends = &subnet->ends[subnet->ends_from];
	const struct alias *alias = NULL;

	if (walk->alias < aliases->count)
		alias = &aliases->all[walk->alias];
	if (walk->end < subnet->ends_to - subnet->ends_from &&
	    (!alias || ends[walk->end].guid < alias->guid)) {
		out->end = &ends[walk->end++];
		out->guid = out->end->guid;
		return true;
	}
	if (!alias)
		return false;
	out->end = end_by_guid(subnet, alias->port_guid);
	out->guid = alias->guid;
	walk->alias++;
	return true;
}

bool ibsa__name_next(const struct subnet *subnet, struct name_walk *walk,
		     struct port_name *out)
{
	while (name_next_any(subnet, walk, out)) {
		if (out->end && out->end->is_seen)
			return true;
	}
	return false;
}

static void forget_members(struct sa *sa, struct group *group, uint64_t now_ns)
{
	struct groups *groups = &sa->groups;
	const size_t group_count = groups->count;

	for (size_t i = group->count; i > 0; i--) {
		struct member *member = &group->members[i - 1];

		if (end_by_guid(sa->subnet, member->port_guid))
			continue;
		if (ibsa__group_ends(group, member, member->join_state))
			ibsa__notice_group(sa, TRAP_GROUP_DELETED, group,
					   now_ns);
		(void)ibsa__group_leave(groups, group, member,
					member->join_state);
		/*
		 * If the last full member has left, the SA has removed the
		 * group or all its members.
		 */
		if (groups->count != group_count || !group->count)
			return;
	}
}

void ibsa__names_forget_lost(struct sa *sa, uint64_t now_ns)
{
	struct aliases *aliases = &sa->subnet->aliases;

	for (size_t i = sa->groups.count; i > 0; i--)
		forget_members(sa, sa->groups.all[i - 1], now_ns);
	for (uint32_t i = 0; i < aliases->table_count; i++) {
		struct guid_table *table = &aliases->tables[i];

		if (end_by_guid(sa->subnet, table->port_guid))
			continue;
		for (unsigned int entry = 0; entry < GUID_CAP_ADAPTER; entry++)
			ibsa__aliases_clear(aliases, table, entry);
	}
}
