/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which request on its way asks the same: a table that is looked into once a
 * query, and never cleaned. An entry may be stale; what it points to is
 * compared in full. Each bucket is one cache line, where a new entry takes the
 * place of an older one, so that of very many requests the latest are found.
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

struct share {
	struct share_bucket *buckets;
	size_t mask;
	unsigned int turn;
};

/* Return: 0; -ENOMEM. */
int ibsa__share_init(struct share *share) IBSA_MUST_USE;
void ibsa__share_done(struct share *share);

/* Grow, if there is memory, for @live requests at a time. */
void ibsa__share_fit(struct share *share, size_t live);

static inline struct share_bucket *share_bucket(const struct share *share,
						uint64_t hash)
{
	return &share->buckets[hash & share->mask];
}

/* Remember @txn under @hash. */
static inline void share_add(struct share *share, struct txn *txn,
			     uint64_t hash)
{
	share_bucket(share, hash)->entries[share->turn++ % SHARE_WAYS] =
		(struct share_entry){ .txn = txn, .hash = hash };
}

#endif
