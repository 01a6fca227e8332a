/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notices that the SA forwards to subscribers. */
#ifndef SIM_SA_NOTICE_H
#define SIM_SA_NOTICE_H

#include "sim/sa/sa.h"

/*
 * Send notices of a change in the subnet to the subscribers, and delete the
 * registrations of lost ports. For struct subnet_observer.
 */
void ibsa__sa_observe(void *arg, const struct subnet_change *change);

/*
 * Report that a group got its first full member (trap 66) or loses its last
 * (trap 67). @now_ns may be in the past.
 */
void ibsa__notice_group(struct sa *sa, enum trap trap,
			const struct group *group, uint64_t now_ns);

/*
 * Report all ports to the newest subscriber, shortly after @now_ns, if it has
 * subscribed to trap 64. Return: whether it has.
 */
bool ibsa__notice_all_ports(struct sa *sa, uint64_t now_ns);

#endif
