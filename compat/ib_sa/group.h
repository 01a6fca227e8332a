/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups that a port has joined, and their members in this process.
 *
 * The SA holds one membership per port and group. Several members in the
 * process may share it: the group counts its members for each join state,
 * joins at the SA for the first member, and leaves after the last.
 */
#ifndef IB_SA_GROUP_H
#define IB_SA_GROUP_H

#include "ib_sa/state.h"

/*
 * Maximum number of multicast members in a process; further ones are refused
 * with -ENOBUFS.
 */
enum { MEMBERS_MAX = 1 << 20 };

/*
 * A member of a multicast group, which was made by one call of the program and
 * has joined or waits to join. @lock guards all fields but @multicast.
 */
struct mc_member {
	struct ib_sa_multicast multicast; /* returned to the caller */
	struct list all;		  /* in ibsa__sa.members */
	struct list link;		  /* in a list of @group */
	struct ibsa__sa *sa;		  /* a reference */
	struct ib_sa_client *client;	  /* NULL: it has unregistered */
	/*
	 * The multicast group of this member. NULL: the member has left, or the
	 * group has lost its membership.
	 */
	struct mc_group *group;
	uint8_t states; /* join states that it asks for */
	bool holds;	/* it holds @states in @group */
	bool is_called; /* its callback runs */
	bool is_freed;	/* free this member when its callback has returned */
	/*
	 * A thread in ib_sa_free_multicast() waits until the callback of this
	 * member has returned.
	 */
	bool is_awaited;
};

/*
 * A multicast group, identified by port and MGID. The job of the group does the
 * next step: a request or a callback.
 *
 * If a change of the port ends all memberships, the callbacks of all members
 * are called at once. The requests to join again are spread over the recovery
 * time: each group waits until its own time.
 */
struct mc_group {
	struct sa_job job;
	struct list link; /* in sa_port.groups */
	/* in sa_port.mgids if the SA has already chosen the MGID */
	struct hash_node node;
	struct sa_port *port;
	struct list pending;	       /* members that wait to join */
	struct list active;	       /* members that have joined */
	struct ib_sa_mcmember_rec rec; /* the SA's record */
	unsigned int holders[NUM_JOIN_MEMBERSHIP_TYPES];
	/*
	 * The member for which the join request in flight was sent; NULL if
	 * this member no longer waits.
	 */
	struct mc_member *requester;
	uint8_t joined; /* states joined at the SA */
	/*
	 * Join states that the group's request in flight joins or leaves; 0 if
	 * no request is in flight.
	 */
	uint8_t asked;
	bool is_leaving; /* the request leaves the group */
	uint8_t retries; /* left for a leave request */
	/*
	 * The group's membership at the SA has ended, and the members'
	 * callbacks have not been called yet.
	 */
	bool is_lost;
	bool is_pkey_suspect; /* its P_Key may have moved */
	/*
	 * The group waits until the alarm of @registration, and joins again
	 * then.
	 */
	bool is_waiting;
	uint32_t pkey_index; /* NO_PKEY_INDEX: not known */
	/*
	 * The group's schedule of audits; scheduled while @joined or
	 * @is_waiting is set. Only the dispatcher uses it.
	 */
	struct ibsa__registration registration;
};

enum { NO_PKEY_INDEX = UINT16_MAX };

/*
 * Return: the multicast group of @port with this MGID, or NULL. @lock is held.
 */
struct mc_group *ibsa__mc_group_find(const struct sa_port *port,
				     const union ib_gid *mgid);

/*
 * Add @member to the multicast group of its record, where it waits to join.
 * @lock is held. Return: 0; -ENOMEM.
 */
int ibsa__mc_group_add(struct sa_port *port,
		       struct mc_member *member) IBSA_MUST_USE;

/*
 * Remove @member from its multicast group, if it belongs to one. @lock is
 * held.
 */
void ibsa__mc_group_remove(struct mc_member *member);

/*
 * Remove @member from its multicast group and call its callback with @status.
 * Only the dispatcher calls this. @lock is held, and is released during the
 * callback.
 */
void ibsa__mc_member_end(struct mc_member *member, int status);

/*
 * Send the SA a request to leave the join states @states of the group. Only
 * the dispatcher calls this. @lock is held, and is released while the request
 * is submitted. Return: as ibsa_query_start().
 */
int ibsa__mc_group_leave(struct mc_group *group, uint8_t states,
			 ibsa_reply_fn done);

/*
 * Free a multicast group that has no members. Only the dispatcher calls this;
 * @lock is held.
 */
void ibsa__mc_group_free(struct mc_group *group);

/*
 * multicast.c: call the callback of @member, in the dispatcher of @device.
 * @lock is held, and released during the callback, which may free @member.
 */
void ibsa__mc_member_call(struct mc_member *member, struct ib_device *device,
			  int status);

/*
 * Do all steps of @group that are possible now. Only the dispatcher calls
 * this. @lock is held, and is released during requests and callbacks. The call
 * may free @group.
 */
void ibsa__mc_group_work(struct mc_group *group);

/*
 * Whether an event has ended the group's membership at the SA. Only the
 * dispatcher calls this. @lock is held, and is released during the lookup of
 * the P_Key.
 */
bool ibsa__mc_group_is_lost(struct mc_group *group);

/*
 * groups.c. ibsa__mc_group_audit_init() prepares the audit of a group.
 * ibsa__mc_group_audit() starts or stops it after @joined or @is_waiting has
 * changed; only the dispatcher calls it.
 */
void ibsa__mc_group_audit_init(struct mc_group *group);
void ibsa__mc_group_audit(struct mc_group *group);

#endif
