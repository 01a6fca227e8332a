/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MCMemberRecord: what asking, joining and leaving share. */
#ifndef SIM_SA_SA_GROUP_H
#define SIM_SA_SA_GROUP_H

#include "sim/sa/sa.h"

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

void ibsa__sa_join(struct sa_work *work);
void ibsa__sa_leave(struct sa_work *work);

#endif
