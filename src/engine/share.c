/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Table of requests that other queries may share: creation and growth. */
#include <errno.h>

#include "base/alloc.h"
#include "engine/share.h"

int ibsa__share_init(struct share *share)
{
	*share = (struct share){
		.buckets = ibsa__calloc(SHARE_BUCKETS_MIN,
					sizeof(*share->buckets)),
		.mask = SHARE_BUCKETS_MIN - 1,
	};
	return share->buckets ? 0 : -ENOMEM;
}

void ibsa__share_done(struct share *share)
{
	ibsa__free(share->buckets);
	share->buckets = NULL;
}

static void share_move_entries(struct share *to,
			       const struct share_bucket *from)
{
	for (int i = 0; i < SHARE_WAYS; i++) {
		const struct share_entry *entry = &from->entries[i];

		if (entry->txn)
			share_add(to, entry->txn, entry->hash);
	}
}

void ibsa__share_fit(struct share *share, size_t live)
{
	struct share bigger = { .mask = share->mask * 2 + 1,
				.turn = share->turn };

	if (live <= (share->mask + 1) * SHARE_WAYS / 2 ||
	    share->mask + 1 == SHARE_BUCKETS_MAX)
		return;
	bigger.buckets = ibsa__calloc(bigger.mask + 1, sizeof(*bigger.buckets));
	if (!bigger.buckets)
		return;
	for (size_t i = 0; i <= share->mask; i++)
		share_move_entries(&bigger, &share->buckets[i]);
	ibsa__free(share->buckets);
	*share = bigger;
}
