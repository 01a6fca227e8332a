/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who has asked the SA to be told of events. */
#include <errno.h>
#include <string.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "sim/sa/subscription.h"

/*
 * As OpenSM compares: the GID, or the LID range where the GID is zero, and
 * then everything but the subscribe flag. QPN and response time count too.
 */
static bool same_events(const uint8_t *a, const uint8_t *b)
{
	static const uint8_t no_gid[16];
	enum {
		LID_RANGE = 16,
		IS_GENERIC = 22,
		TYPE = 24,
	};

	if (memcmp(b, no_gid, 16)) {
		if (memcmp(a, b, 16))
			return false;
	} else if (memcmp(a + LID_RANGE, b + LID_RANGE, 4)) {
		return false;
	}
	return a[IS_GENERIC] == b[IS_GENERIC] &&
	       !memcmp(a + TYPE, b + TYPE, INFORM_INFO_BYTES - TYPE);
}

/* OpenSM compares all that it answers by. */
static bool same_address(const struct subscription *a,
			 const struct subscription *b)
{
	const struct ibsa_address *x = &a->sa;
	const struct ibsa_address *y = &b->sa;

	if (a->end != b->end || a->lid != b->lid ||
	    (a->pkey ^ b->pkey) & ~IBSA_PKEY_FULL || x->lid != y->lid ||
	    x->sl != y->sl || x->has_grh != y->has_grh)
		return false;
	return !x->has_grh ||
	       (x->gid_index == y->gid_index && x->hop_limit == y->hop_limit &&
		x->traffic_class == y->traffic_class &&
		x->flow_label == y->flow_label);
}

struct subscription *
ibsa__subscriptions_find(const struct subscriptions *subscriptions,
			 const struct subscription *like)
{
	for (size_t i = subscriptions->count; i > 0; i--) {
		struct subscription *one = &subscriptions->all[i - 1];

		if (same_address(one, like) &&
		    same_events(one->inform_info, like->inform_info))
			return one;
	}
	return NULL;
}

int ibsa__subscriptions_add(struct subscriptions *subscriptions,
			    const struct subscription *one)
{
	const size_t room = subscriptions->room ? 2 * subscriptions->room : 16;
	struct subscription *grown;

	if (subscriptions->count == SUBSCRIPTIONS_MAX)
		return -ENOSPC;
	if (subscriptions->count == subscriptions->room) {
		grown = ibsa__realloc(subscriptions->all, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		subscriptions->all = grown;
		subscriptions->room = room;
	}
	subscriptions->all[subscriptions->count++] = *one;
	return 0;
}

void ibsa__subscriptions_remove(struct subscriptions *subscriptions,
				struct subscription *one)
{
	const size_t index = (size_t)(one - subscriptions->all);

	subscriptions->count--;
	memmove(one, one + 1, (subscriptions->count - index) * sizeof(*one));
}

void ibsa__subscriptions_done(struct subscriptions *subscriptions)
{
	ibsa__free(subscriptions->all);
	*subscriptions = (struct subscriptions){ 0 };
}
