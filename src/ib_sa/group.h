/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups that a port has joined, and their members in this process.
 *
 * The SA has one membership per port. A group counts its holders for each
 * join state: it joins for the first holder, and leaves after the last.
 */
#ifndef IB_SA_GROUP_H
#define IB_SA_GROUP_H

#include "ib_sa/state.h"

/* Members of all groups of a process; more are refused with -ENOBUFS. */
enum { MEMBERS_MAX = 1 << 20 };

/*
 * A member that has joined, or waits to join. All but @multicast is guarded by
 * @lock.
 */
struct mc_member {
	struct ib_sa_multicast multicast; /* returned to the caller */
	struct list all;		  /* in ibsa__sa.members */
	struct list link;		  /* in a list of @group */
	struct ibsa__sa *sa;		  /* a reference */
	struct ib_sa_client *client;	  /* NULL: it has unregistered */
	struct mc_group *group; /* the group of the member; NULL: the member has
				 * left or lost it */
	uint8_t states;		/* join states that it asks for */
	bool holds;		/* it holds @states in @group */
	bool is_called;		/* its callback runs */
	bool is_freed;		/* free it when its callback returns */
	bool is_awaited;	/* a thread that frees the member waits for the
			  * member's callback */
};

/*
 * The group of one port and MGID. Its job does the next step.
 *
 * A port change that ends all memberships is reported to the members at once.
 * The requests to join again are spread over the recovery time: each group
 * waits for its turn.
 */
struct mc_group {
	struct sa_job job;
	struct list link;      /* in sa_port.groups */
	struct hash_node node; /* in sa_port.mgids, if the MGID is known */
	struct sa_port *port;
	struct list pending;	       /* members that wait to join */
	struct list active;	       /* members that have joined */
	struct ib_sa_mcmember_rec rec; /* the SA's record */
	unsigned int holders[NUM_JOIN_MEMBERSHIP_TYPES];
	/* The member for which @asked is joined, if it waits. */
	struct mc_member *requester;
	uint8_t joined;	 /* states joined at the SA */
	uint8_t asked;	 /* join states of the request in flight; or 0 */
	bool is_leaving; /* the request leaves the group */
	uint8_t retries; /* left for a leave request */
	bool is_lost;	 /* the membership has ended, and the members' callbacks
			  * have not been called yet */
	bool is_pkey_suspect; /* its P_Key may have moved */
	bool is_waiting;     /* for the alarm of @registration, to join again */
	uint32_t pkey_index; /* NO_PKEY_INDEX: not known */
	/* Used by the dispatcher; scheduled while @joined or @is_waiting. */
	struct ibsa__registration registration;
};

enum { NO_PKEY_INDEX = UINT16_MAX };

/* The port's group with that MGID, or NULL. @lock is held. */
struct mc_group *ibsa__mc_group_find(const struct sa_port *port,
				     const union ib_gid *mgid);

/*
 * Add @member to the group of its record, where it waits to join. @lock is
 * held.
 * Return: 0; -ENOMEM.
 */
int ibsa__mc_group_add(struct sa_port *port,
		       struct mc_member *member) IBSA_MUST_USE;

/* Remove @member from its group, if it has one. @lock is held. */
void ibsa__mc_group_remove(struct mc_member *member);

/*
 * Remove @member from its group and report @status to it. Dispatcher only.
 * @lock is held, and released during the callback.
 */
void ibsa__mc_member_end(struct mc_member *member, int status);

/*
 * Leave @states at the SA. Dispatcher only. @lock is held, and released while
 * the request is submitted. Return: as ibsa_query().
 */
int ibsa__mc_group_leave(struct mc_group *group, uint8_t states,
			 ibsa_reply_fn done);

/* Free a group without members. Dispatcher only; @lock is held. */
void ibsa__mc_group_free(struct mc_group *group);

/*
 * multicast.c: call the callback of @member, in the dispatcher of @device.
 * @lock is held, and released during the callback, which may free @member.
 */
void ibsa__mc_member_call(struct mc_member *member, struct ib_device *device,
			  int status);

/*
 * Do all steps that are possible now. Dispatcher only. @lock is held, and
 * released for requests and callbacks. @group may be freed.
 */
void ibsa__mc_group_work(struct mc_group *group);

/*
 * Whether an event has ended the membership. Dispatcher only. @lock is held,
 * and released while a P_Key is looked up.
 */
bool ibsa__mc_group_is_lost(struct mc_group *group);

/*
 * groups.c: prepare the audit of a group; and start or stop it after a change
 * of @joined or @is_waiting. The second is called by the dispatcher only.
 */
void ibsa__mc_group_audit_init(struct mc_group *group);
void ibsa__mc_group_audit(struct mc_group *group);

#endif
