/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subscriptions of clients to events. */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/array.h"
#include "fabric/sa/subscription.h"

/*
 * Whether two subscriptions are for the same events. Subscriptions are compared
 * as by OpenSM: the GID, or the LID range if the GID is zero, and all other
 * fields, including QPN and response time, but not the subscribe flag.
 */
static bool same_events(const struct ibsa_inform_info *a,
			const struct ibsa_inform_info *b)
{
	if (inform_names_gid(b)) {
		if (memcmp(&a->gid, &b->gid, sizeof(a->gid)))
			return false;
	} else if (a->lid_range_begin != b->lid_range_begin ||
		   a->lid_range_end != b->lid_range_end) {
		return false;
	}
	return a->is_generic == b->is_generic && a->type == b->type &&
	       a->trap_number == b->trap_number && a->qpn == b->qpn &&
	       a->resp_time_value == b->resp_time_value &&
	       a->producer_type == b->producer_type;
}

/*
 * Whether two subscriptions have the same destination for Reports. As in
 * OpenSM, the whole address is compared.
 */
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
			 const struct subscription *wanted)
{
	for (size_t i = subscriptions->count; i > 0; i--) {
		struct subscription *one = &subscriptions->all[i - 1];

		if (same_address(one, wanted) &&
		    same_events(&one->info, &wanted->info))
			return one;
	}
	return NULL;
}

int ibsa__subscriptions_add(struct subscriptions *subscriptions,
			    const struct subscription *one)
{
	if (subscriptions->count == SUBSCRIPTIONS_MAX)
		return -ENOSPC;
	if (ARRAY_GROW(subscriptions->all, subscriptions->room,
		       subscriptions->count + 1))
		return -ENOMEM;
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
