/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups that a port is in, and who in this process holds them.
 *
 * The SA counts a membership for the port. A group here counts its holders,
 * for each join state, and asks the SA when the first comes and the last goes.
 */
#ifndef IB_SA_GROUP_H
#define IB_SA_GROUP_H

#include "ib_sa/state.h"

/* Members of all groups of a process; more are -ENOBUFS. */
enum { MEMBERS_MAX = 1 << 20 };

/* One who has joined, or is about to. What is not the caller's is under the
 * lock. */
struct mc_member {
	struct ib_sa_multicast multicast; /* the caller's */
	struct list all;		  /* of the process */
	struct list link;		  /* in a list of @group */
	struct ibsa__sa *sa;		  /* held */
	struct ib_sa_client *client;	  /* NULL: it has unregistered */
	struct mc_group *group;		  /* NULL: in none any more */
	uint8_t states;			  /* that are joined */
	bool holds;			  /* @states, in @group */
	bool is_called;			  /* its callback runs */
	bool is_freed;			  /* it ends when that returns */
	bool is_awaited; /* by who frees it and will end it then */
};

/*
 * Of one port and MGID. Its job does what is to be done next.
 *
 * A change of the port that ends all memberships is told at once. The requests
 * to join again are spread over the recovery: each group waits for its part.
 */
struct mc_group {
	struct sa_job job;
	struct list link;      /* among the port's */
	struct hash_node node; /* among those of known MGID */
	struct sa_port *port;
	struct list pending;	       /* members that wait for the SA */
	struct list active;	       /* members that hold */
	struct ib_sa_mcmember_rec rec; /* as the SA has it */
	unsigned int holders[NUM_JOIN_MEMBERSHIP_TYPES];
	struct mc_member *requester; /* who @asked is joined for, if it waits */
	uint8_t joined;		     /* states that the SA has us in */
	uint8_t asked;		     /* states of the request under way; or 0 */
	bool is_leaving;	     /* the request is to leave */
	uint8_t retries;	     /* of leaving */
	bool is_lost;	      /* membership ended, members not told yet */
	bool is_pkey_suspect; /* its P_Key may have moved */
	bool is_waiting;      /* to join again, for @registration's alarm */
	uint32_t pkey_index;  /* NO_PKEY_INDEX: not known */
	/* The dispatcher's; scheduled while @joined or @is_waiting. */
	struct ibsa__registration registration;
};

enum { NO_PKEY_INDEX = UINT16_MAX };

/* The port's group of an MGID, or NULL. Locked. */
struct mc_group *ibsa__mc_group_find(const struct sa_port *port,
				     const union ib_gid *mgid);

/* Have @member wait to be let into the group of its record. Locked. Return:
 * 0; -ENOMEM. */
int ibsa__mc_group_add(struct sa_port *port,
		       struct mc_member *member) IBSA_MUST_USE;

/* Take @member out of its group, if it is in one. Locked. */
void ibsa__mc_group_remove(struct mc_member *member);

/* Take it out and tell it why. By the dispatcher; locked, but not while the
 * callback runs. */
void ibsa__mc_member_end(struct mc_member *member, int status);

/* Leave @states at the SA. By the dispatcher; locked, but not while it is
 * sent. Return: as ibsa_query(). */
int ibsa__mc_group_leave(struct mc_group *group, uint8_t states,
			 ibsa_reply_fn done);

/* Free a group without members. By the dispatcher, locked. */
void ibsa__mc_group_free(struct mc_group *group);

/*
 * multicast.c: call @member back, by the dispatcher of @device. Locked, but
 * not while the callback runs; @member may be gone afterwards.
 */
void ibsa__mc_member_call(struct mc_member *member, struct ib_device *device,
			  int status);

/* Do what is to be done next. By the dispatcher; locked, but not while a
 * request is sent or a callback runs; @group may be gone afterwards. */
void ibsa__mc_group_work(struct mc_group *group);

/* Whether the membership has ended, as far as was noted. By the dispatcher;
 * locked, but not while a P_Key is looked up. */
bool ibsa__mc_group_is_lost(struct mc_group *group);

/* groups.c: prepare to read a group back; and do so, or no longer, after a
 * change of @joined or @is_waiting. By the dispatcher, but for the first. */
void ibsa__mc_group_audit_init(struct mc_group *group);
void ibsa__mc_group_audit(struct mc_group *group);

#endif
