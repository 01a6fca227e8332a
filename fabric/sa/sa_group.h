/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks of MCMemberRecord requests that queries, joins and leaves have in
 * common.
 */
#ifndef FABRIC_SA_SA_GROUP_H
#define FABRIC_SA_SA_GROUP_H

#include "fabric/sa/sa.h"

/*
 * Whether the group's MTU and rate satisfy the request's selectors. As in
 * OpenSM, the mask bit of a selector also selects its value, and the packet
 * life time is ignored.
 */
bool ibsa__sa_group_selects(const struct sa_work *work,
			    const struct group *group);

/*
 * Whether the group has the P_Key, Q_Key, TClass, SL, FlowLabel and HopLimit
 * that the request selects.
 */
bool ibsa__sa_group_agrees(const struct sa_work *work,
			   const struct group *group);

/*
 * Whether the MTU and rate in the request, if it selects them, are valid
 * codes.
 */
bool ibsa__sa_group_is_possible(const struct sa_work *work);

void ibsa__sa_join(struct sa_work *work);
void ibsa__sa_leave(struct sa_work *work);

#endif
