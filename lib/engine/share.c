/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Table of requests that other queries may share: creation and growth. */
#include <errno.h>

#include "base/alloc.h"
#include "engine/share.h"

/* Return: an empty table, in which @buckets is NULL if memory runs out. */
static struct share share_new(size_t buckets)
{
	return (struct share){
		.buckets = ibsa__calloc(buckets, sizeof(struct share_bucket)),
		.mask = buckets - 1,
		.room = buckets == SHARE_BUCKETS_MAX ? SIZE_MAX
						     : buckets * SHARE_WAYS / 2,
	};
}

int ibsa__share_init(struct share *share)
{
	*share = share_new(SHARE_BUCKETS_MIN);
	return share->buckets ? 0 : -ENOMEM;
}

void ibsa__share_done(struct share *share)
{
	ibsa__free(share->buckets);
	share->buckets = NULL;
}

/* Add the entries of @from to @to, the oldest first. */
static void share_move_entries(struct share *to,
			       const struct share_bucket *from)
{
	for (int i = SHARE_WAYS - 1; i >= 0; i--) {
		const struct share_entry *entry = &from->entries[i];

		if (entry->txn)
			share_add(to, entry->txn, entry->hash);
	}
}

void ibsa__share_grow(struct share *share)
{
	struct share bigger = share_new((share->mask + 1) * 2);

	if (!bigger.buckets)
		return;
	for (size_t i = 0; i <= share->mask; i++)
		share_move_entries(&bigger, &share->buckets[i]);
	ibsa__free(share->buckets);
	*share = bigger;
}
