/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The multicast groups of the embedded SA, and who is in them. */
#ifndef SIM_SA_GROUP_H
#define SIM_SA_GROUP_H

#include <ibsa/records.h>

enum {
	MGID_BYTES = 16,
	GROUPS_MAX = 0x3fff,   /* each has a multicast LID: 0xc000 to 0xfffe */
	MEMBERS_MAX = 1 << 18, /* of all groups together */
};

/* Join states, and those of them that keep a group alive. */
enum {
	JOIN_FULL = 1,
	JOIN_SEND_ONLY_FULL = 8,
	JOIN_ANY_FULL = JOIN_FULL | JOIN_SEND_ONLY_FULL,
};

struct member {
	uint64_t guid;	    /* of its PortGID */
	uint64_t port_guid; /* of the port that has this GUID */
	uint8_t join_state;
	bool is_proxy; /* somebody else has joined it */
};

struct group {
	struct ibsa_mcmember record; /* as created; what all members share */
	struct member *members;	     /* in GUID order */
	size_t count;
	size_t room;
	size_t full_members; /* JOIN_ANY_FULL */
	bool is_permanent;
};

struct groups {
	struct group **all; /* in MGID order */
	size_t count;
	size_t room;
	size_t members;
	uint32_t invented;			/* MGIDs, ever */
	uint64_t mlids[(GROUPS_MAX + 64) / 64]; /* taken; bit 0 is 0xc000 */
};

/* An empty set with the broadcast group in it. Return: 0 or -ENOMEM. */
int ibsa__groups_init(struct groups *groups);

/* Forget members, and groups that are not permanent. */
void ibsa__groups_reset(struct groups *groups);

void ibsa__groups_done(struct groups *groups);

/* The group of that MGID, or NULL. */
struct group *ibsa__groups_find(const struct groups *groups,
				const uint8_t *mgid);

/*
 * Add a group like @record, which nobody is in yet. It gets the MLID of
 * @record if that is one and free, else the lowest that is. Return: 0;
 * -ENOMEM; -ENOSPC there are GROUPS_MAX. Its MGID must be new.
 */
int ibsa__groups_add(struct groups *groups, const struct ibsa_mcmember *record,
		     struct group **out);

void ibsa__groups_remove(struct groups *groups, struct group *group);

/* The member with that GUID, or NULL. */
struct member *ibsa__group_member(const struct group *group, uint64_t guid);

/* Whether any GUID of that port is a member. */
bool ibsa__group_has_port(const struct group *group, uint64_t port_guid);

/*
 * Add the join state of @like to that of the member of its GUID, which need
 * not be one yet. Return: 0; -ENOMEM; -ENOSPC there are MEMBERS_MAX.
 */
int ibsa__group_join(struct groups *groups, struct group *group,
		     const struct member *added, struct member **out);

/* Whether no full member is left if that one gives up @states. */
bool ibsa__group_ends(const struct group *group, const struct member *member,
		      uint8_t states);

/*
 * Take @states from a member, which then may be gone, and with the last full
 * member all others and the group, unless it is permanent. Return: what is
 * left of the member's join state.
 */
uint8_t ibsa__group_leave(struct groups *groups, struct group *group,
			  struct member *member, uint8_t states);

/* Whether the GUID is a member of any group. */
bool ibsa__groups_use(const struct groups *groups, uint64_t guid);

#endif
