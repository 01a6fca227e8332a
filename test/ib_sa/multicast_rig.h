/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members of multicast groups at a port, with the test as the SA. */
#ifndef IB_SA_MULTICAST_RIG_H
#define IB_SA_MULTICAST_RIG_H

#include "test/ib_sa/plug.h"

enum { FULL = 1, NON = 2, SEND_ONLY = 4, MLID = 0xc012, QKEY = 0x1b };

/* The callbacks of a member, and what it does in them. */
struct member {
	struct ib_sa_multicast *multicast;
	struct plug *plug;
	int calls;
	int status;
	int result;
	bool frees;   /* itself, in the callback */
	bool rejoins; /* after a loss was reported */
	struct ib_sa_mcmember_rec rec;
};

/*
 * Return: the record of group number @number; for 0, a record with which the
 * SA chooses the MGID.
 */
struct ib_sa_mcmember_rec group_rec(uint32_t number, uint8_t states);

#define GROUP_MASK                                               \
	(IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID | \
	 IB_SA_MCMEMBER_REC_JOIN_STATE)

/* Join, and dispatch. */
void member_join(struct plug *plug, uint32_t number, uint8_t states,
		 struct member *member);
void join_as(struct plug *plug, const struct ib_sa_mcmember_rec *rec,
	     ib_sa_comp_mask mask, struct member *member);
int told_member(int status, struct ib_sa_multicast *multicast);

/* Free, and dispatch. */
void member_leave(struct plug *plug, struct member *member);

/*
 * Check that @count requests were sent. The last has @method, and is for the
 * group @number and the join states @states; 0: it selects no join state.
 */
void assert_request(const struct plug *plug, unsigned int count, uint8_t method,
		    uint32_t number, uint8_t states);

/*
 * Answer the last request: with an error status; as OpenSM does on success; or,
 * by agree_on(), with the record of the group @number.
 */
void sa_refuse(struct plug *plug, uint16_t status);
void sa_accept(struct plug *plug);
void agree_on(struct plug *plug, uint32_t number);

/* Join, and let the SA accept. */
void member_join_accepted(struct plug *plug, uint32_t number, uint8_t states,
			  struct member *member);

/*
 * Whether ib_sa_get_mcmember_rec() returns a record of the group with exactly
 * the join states @states.
 */
bool group_is_joined(struct plug *plug, uint32_t number, uint8_t states);

#endif
