/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members of multicast groups on a port whose SA is the test. */
#ifndef IB_SA_MULTICAST_RIG_H
#define IB_SA_MULTICAST_RIG_H

#include "test/ib_sa/plug.h"

enum { FULL = 1, NON = 2, SEND_ONLY = 4, MLID = 0xc012, QKEY = 0x1b };

/* What a member was told, and what it says to that. */
struct member {
	struct ib_sa_multicast *multicast;
	struct plug *plug;
	int calls;
	int status;
	int result;
	bool frees;   /* itself, from the callback */
	bool rejoins; /* when it has been told of a loss */
	struct ib_sa_mcmember_rec rec;
};

/* A record of the group @number; 0: the SA is to choose. */
struct ib_sa_mcmember_rec group_rec(uint32_t number, uint8_t states);

#define GROUP_MASK                                               \
	(IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID | \
	 IB_SA_MCMEMBER_REC_JOIN_STATE)

/* Join, and dispatch. */
void join(struct plug *plug, uint32_t number, uint8_t states,
	  struct member *member);
void join_as(struct plug *plug, const struct ib_sa_mcmember_rec *rec,
	     ib_sa_comp_mask mask, struct member *member);
int told_member(int status, struct ib_sa_multicast *multicast);

/* Free, and dispatch. */
void leave(struct plug *plug, struct member *member);

/* The last request has @method, and asks for @states of @number. */
void assert_asked(const struct plug *plug, unsigned int count, uint8_t method,
		  uint32_t number, uint8_t states);

/* The last request is answered: with a status; as OpenSM does that agrees;
 * or with another record. */
void refuse(struct plug *plug, uint16_t status);
void agree(struct plug *plug);
void agree_on(struct plug *plug, uint32_t number);

/* Join, and the SA agrees. */
void join_well(struct plug *plug, uint32_t number, uint8_t states,
	       struct member *member);

/* Whether the group has been joined, as others are told. */
bool is_joined(struct plug *plug, uint32_t number, uint8_t states);

#endif
