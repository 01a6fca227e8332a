/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who has asked the SA to be told of events. */
#ifndef SIM_SA_SUBSCRIPTION_H
#define SIM_SA_SUBSCRIPTION_H

#include <ibsa/bits.h>
#include <ibsa/records.h>
#include <ibsa/transport.h>

enum {
	SUBSCRIPTIONS_MAX = 65536,
	LID_RANGE_ALL = 0xffff, /* as its begin: whoever it comes from */
};

struct subscription {
	uint32_t end;		/* index of the subscriber's port */
	uint32_t lid;		/* that it asked from: Reports go there */
	uint16_t pkey;		/* that it asked with */
	struct ibsa_address sa; /* that it asked: Reports come from there */
	struct ibsa_inform_info info;
};

struct subscriptions {
	struct subscription *all; /* oldest first */
	size_t count;
	size_t room;
};

/* Whether it is about what one GID issues, and not about a range of LIDs. */
static inline bool inform_names_gid(const struct ibsa_inform_info *info)
{
	return ibsa_be64(info->gid.raw) || ibsa_be64(info->gid.raw + 8);
}

/* The newest from the same address that means the same events, or NULL. */
struct subscription *
ibsa__subscriptions_find(const struct subscriptions *subscriptions,
			 const struct subscription *wanted);

/* Return: 0; -ENOMEM; -ENOSPC there are SUBSCRIPTIONS_MAX. */
int ibsa__subscriptions_add(struct subscriptions *subscriptions,
			    const struct subscription *one);

void ibsa__subscriptions_remove(struct subscriptions *subscriptions,
				struct subscription *one);

void ibsa__subscriptions_done(struct subscriptions *subscriptions);

#endif
