/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notices: what the SA tells those who have subscribed to it. */
#ifndef SIM_SA_NOTICE_H
#define SIM_SA_NOTICE_H

#include "sim/sa/sa.h"

/*
 * Tell the subscribers what has changed in the subnet, and forget what lost
 * ports have registered; as in struct subnet_observer.
 */
void ibsa__sa_observe(void *arg, const struct subnet_change *change);

/*
 * A group has got its first full member (66), or loses its last (67), at
 * @now_ns, which may have been a while ago.
 */
void ibsa__notice_group(struct sa *sa, enum trap trap,
			const struct group *group, uint64_t now_ns);

/*
 * Tell the newest subscriber of all ports that there are, shortly after
 * @now_ns. Return: whether it wants to know.
 */
bool ibsa__notice_all_ports(struct sa *sa, uint64_t now_ns);

#endif
