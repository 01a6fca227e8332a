/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Table of requests that other queries may share, with a hash of the request's
 * bytes as key. Entries are never removed: an entry may be stale, so the caller
 * compares its query with the request that the entry points to. Each bucket
 * fills one cache line. The entries of a bucket are in the order in which they
 * were added, the newest first; in a full bucket, a new entry replaces the
 * oldest.
 */
#ifndef ENGINE_SHARE_H
#define ENGINE_SHARE_H

#include <stddef.h>
#include <stdint.h>

#include <ibsa/types.h>

struct txn;

enum { SHARE_WAYS = 4, SHARE_BUCKETS_MIN = 16, SHARE_BUCKETS_MAX = 1 << 14 };

struct share_entry {
	struct txn *txn;
	uint64_t hash;
};

struct share_bucket {
	struct share_entry entries[SHARE_WAYS];
};

/* A table. @room: the number of requests above which it should grow. */
struct share {
	struct share_bucket *buckets;
	size_t mask;
	size_t room;
};

/* Create an empty table. Return: 0; -ENOMEM. */
int ibsa__share_init(struct share *share) IBSA_MUST_USE;
void ibsa__share_done(struct share *share);

/* Let the table grow. If memory runs out, the table keeps its size. */
void ibsa__share_grow(struct share *share);

static inline struct share_bucket *share_bucket(const struct share *share,
						uint64_t hash)
{
	return &share->buckets[hash & share->mask];
}

/* Add @txn with @hash. */
static inline void share_add(struct share *share, struct txn *txn,
			     uint64_t hash)
{
	struct share_entry *entries = share_bucket(share, hash)->entries;

	for (int i = SHARE_WAYS - 1; i > 0; i--)
		entries[i] = entries[i - 1];
	entries[0] = (struct share_entry){ .txn = txn, .hash = hash };
}

#endif
