/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notices that the SA forwards to subscribers. */
#ifndef FABRIC_SA_NOTICE_H
#define FABRIC_SA_NOTICE_H

#include "fabric/sa/sa.h"

/*
 * Called with each change in the subnet (struct subnet_observer): send Reports
 * to the subscribers, and delete the registrations of lost ports.
 */
void ibsa__sa_observe(void *arg, const struct subnet_change *change);

/*
 * Send Reports that a multicast group got its first full member (trap 66) or
 * is about to lose its last one (trap 67). @now_ns may be in the past.
 */
void ibsa__notice_group(struct sa *sa, enum trap trap,
			const struct group *group, uint64_t now_ns);

/*
 * If the newest subscriber has subscribed to trap 64 (port in service), send
 * it a Report about each port, shortly after @now_ns. Return: whether it has
 * subscribed to trap 64.
 */
bool ibsa__notice_all_ports(struct sa *sa, uint64_t now_ns);

#endif
