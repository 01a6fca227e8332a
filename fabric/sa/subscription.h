/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subscriptions of clients to events. */
#ifndef FABRIC_SA_SUBSCRIPTION_H
#define FABRIC_SA_SUBSCRIPTION_H

#include <ibsa/types.h>
#include <ibsa/records.h>
#include <ibsa/transport.h>

enum {
	SUBSCRIPTIONS_MAX = 65536,
	LID_RANGE_ALL = 0xffff, /* as LIDRangeBegin: any LID */
};

struct subscription {
	uint32_t end; /* index of the subscriber's port */
	/*
	 * Source LID of the subscription's request, to which Reports are sent.
	 */
	uint32_t lid;
	uint16_t pkey; /* P_Key of the request */
	/*
	 * The SA's address to which the subscription's request was sent;
	 * Reports are sent from it.
	 */
	struct ibsa_address sa;
	struct ibsa_inform_info info;
};

struct subscriptions {
	struct subscription *all; /* oldest first */
	size_t count;
	size_t room;
};

/*
 * Whether the subscription is for an issuer with one GID, instead of a range
 * of LIDs.
 */
static inline bool inform_names_gid(const struct ibsa_inform_info *info)
{
	return ibsa_be64(info->gid.raw) || ibsa_be64(info->gid.raw + 8);
}

/* Return: the newest subscription of this address for these events, or NULL. */
struct subscription *
ibsa__subscriptions_find(const struct subscriptions *subscriptions,
			 const struct subscription *wanted);

/*
 * Store a subscription. Return: 0; -ENOMEM; -ENOSPC there are SUBSCRIPTIONS_MAX
 * subscriptions.
 */
int ibsa__subscriptions_add(struct subscriptions *subscriptions,
			    const struct subscription *one);

void ibsa__subscriptions_remove(struct subscriptions *subscriptions,
				struct subscription *one);

void ibsa__subscriptions_done(struct subscriptions *subscriptions);

#endif
