/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MCMemberRecord: what asking, joining and leaving share. */
#ifndef SIM_SA_SA_GROUP_H
#define SIM_SA_SA_GROUP_H

#include "sim/sa/sa.h"

/* A quantity without its selector. */
#define GROUP_VALUE(byte) ((byte)&0x3f)

/* The byte that ProxyJoin is the first bit of, without it. */
enum { GROUP_NOT_PROXY = 0x7f };

static inline uint8_t group_rate_rank(const uint8_t *record)
{
	return ibsa__rate_rank_of_code(GROUP_VALUE(record[GROUP_AT_RATE]));
}

/*
 * Whether the group's MTU and rate are what the request's selectors ask for.
 * OpenSM takes a selector's bit for its quantity's too, and does not look at
 * the packet life time.
 */
bool ibsa__sa_group_selects(const struct sa_work *work,
			    const struct group *group);

/* Whether the group is what the request says of all else that members share. */
bool ibsa__sa_group_agrees(const struct sa_work *work,
			   const struct group *group);

/* Whether the MTU and the rate of the request are such, if it has them. */
bool ibsa__sa_group_is_possible(const struct sa_work *work);

/* Say who the member is, in a record of its group. */
void ibsa__sa_put_member(const struct ibsa_fabric *fabric,
			 const struct member *member, uint8_t *record);

void ibsa__sa_join(struct sa_work *work);
void ibsa__sa_leave(struct sa_work *work);

#endif
