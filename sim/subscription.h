/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who has asked the SA to be told of events. */
#ifndef SIM_SUBSCRIPTION_H
#define SIM_SUBSCRIPTION_H

#include <stddef.h>
#include <stdint.h>

enum {
	INFORM_INFO_BYTES = 36,
	SUBSCRIPTIONS_MAX = 65536,
};

struct subscription {
	uint32_t end; /* index of the subscriber's port */
	uint8_t inform_info[INFORM_INFO_BYTES];
};

struct subscriptions {
	struct subscription *all; /* oldest first */
	size_t count;
	size_t room;
};

/* The newest of that port that means the same events, or NULL. */
struct subscription *
ibsa__subscriptions_find(const struct subscriptions *subscriptions,
			 const struct subscription *like);

/* Return: 0; -ENOMEM; -ENOSPC there are SUBSCRIPTIONS_MAX. */
int ibsa__subscriptions_add(struct subscriptions *subscriptions,
			    const struct subscription *one);

void ibsa__subscriptions_remove(struct subscriptions *subscriptions,
				struct subscription *one);

void ibsa__subscriptions_done(struct subscriptions *subscriptions);

#endif
