/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The multicast groups of the embedded SA, and their members. */
#ifndef FABRIC_SA_GROUP_H
#define FABRIC_SA_GROUP_H

#include <ibsa/records.h>

enum {
	MGID_BYTES = 16,
	/*
	 * Maximum number of groups: each group has its own multicast LID,
	 * 0xc000 to 0xfffe.
	 */
	GROUPS_MAX = 0x3fff,
	MEMBERS_MAX = 1 << 18, /* in all groups together */
};

/*
 * Join states of a group's member, as bits. A group that is not permanent
 * exists while a member has one of the states JOIN_ANY_FULL.
 */
enum {
	JOIN_FULL = 1,
	JOIN_SEND_ONLY_FULL = 8,
	JOIN_ANY_FULL = JOIN_FULL | JOIN_SEND_ONLY_FULL,
};

struct member {
	/*
	 * The GUID in the member's PortGID; it may be an alias GUID of the
	 * port.
	 */
	uint64_t guid;
	uint64_t port_guid; /* of the port that has this GUID */
	uint8_t join_state;
	bool is_proxy; /* joined by another port */
};

struct group {
	/*
	 * The group's MCMemberRecord from its creation: the values that all
	 * members share.
	 */
	struct ibsa_mcmember record;
	struct member *members; /* in order of GUIDs */
	size_t count;
	size_t room;
	/* Number of members that have a join state of JOIN_ANY_FULL. */
	size_t full_members;
	bool is_permanent;
};

struct groups {
	struct group **all; /* in order of MGIDs */
	size_t count;
	size_t room;
	size_t members;
	uint32_t invented; /* MGIDs generated so far */
	/* MLIDs in use; bit 0 is 0xc000 */
	uint64_t mlids[(GROUPS_MAX + 64) / 64];
};

/*
 * Initialise a set of groups that contains the IPoIB broadcast group. Return:
 * 0 or -ENOMEM.
 */
int ibsa__groups_init(struct groups *groups);

/* Remove all members, and all groups except permanent ones. */
void ibsa__groups_reset(struct groups *groups);

void ibsa__groups_done(struct groups *groups);

/* Return: the group with this MGID, or NULL. */
struct group *ibsa__groups_find(const struct groups *groups,
				const uint8_t *mgid);

/*
 * Add an empty group with the values of @record, whose MGID must be new. The
 * group gets the MLID of @record if it is valid and free, otherwise the lowest
 * free MLID. Return: 0; -ENOMEM; -ENOSPC GROUPS_MAX groups exist.
 */
int ibsa__groups_add(struct groups *groups, const struct ibsa_mcmember *record,
		     struct group **out);

void ibsa__groups_remove(struct groups *groups, struct group *group);

/* Return: the member with this GUID, or NULL. */
struct member *ibsa__group_member(const struct group *group, uint64_t guid);

/*
 * Whether the port is in the multicast group by any of its GUIDs: its port GUID
 * or an alias.
 */
bool ibsa__group_has_port(const struct group *group, uint64_t port_guid);

/*
 * Add the join state of @added to the group's member with the GUID of @added;
 * create the member if it does not exist. Return: 0; -ENOMEM; -ENOSPC
 * MEMBERS_MAX members exist.
 */
int ibsa__group_join(struct groups *groups, struct group *group,
		     const struct member *added, struct member **out);

/*
 * Whether the group would have no full member left if @member gave up @states.
 */
bool ibsa__group_ends(const struct group *group, const struct member *member,
		      uint8_t states);

/*
 * Remove @states from the join state of a member. A member without states is
 * removed. If the group then has no full member, all its members are removed,
 * and so is the group unless it is permanent. Return: the member's remaining
 * join state.
 */
uint8_t ibsa__group_leave(struct groups *groups, struct group *group,
			  struct member *member, uint8_t states);

/* Whether a member of any group has this GUID. */
bool ibsa__groups_use(const struct groups *groups, uint64_t guid);

#endif
