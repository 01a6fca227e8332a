/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Identical queries of all clients of a port are one request, and its answer is
 * kept for a short time. Only for records that the SM alone writes.
 */
#ifndef IBSAD_CACHE_H
#define IBSAD_CACHE_H

#include "base/list.h"
#include "ibsad/upstream.h"

struct client_file;
struct daemon;

enum {
	CACHE_BUCKETS = 1024,
	CACHE_ASKED = 4096, /* requests that wait for the SA's answer */
	CACHE_BYTES = 16 << 20,
};

struct cache_entry;

/*
 * The cache of a port.
 * @upstream: ibsad's own umad file, with an agent of its own
 * @entries:  the least recently used first; @bytes: their memory
 * @asked:    those that wait, by the lower half of their slot's TransactionID
 * @epoch:    changes when answers of before are no longer valid
 */
struct ibsad_cache {
	struct daemon *daemon;
	uint32_t port;
	bool is_off;
	struct upstream upstream;
	uint32_t agent;
	struct list entries;
	struct list buckets[CACHE_BUCKETS];
	size_t bytes;
	struct cache_entry *asked[CACHE_ASKED];
	uint32_t slot;
	uint32_t epoch;
	uint64_t seed;
	uint64_t hits;
	uint64_t joined;
	uint64_t misses;
};

void ibsad_cache_init(struct ibsad_cache *cache, struct daemon *daemon,
		      uint32_t port, bool is_off);
void ibsad_cache_done(struct ibsad_cache *cache);

/* Forget all answers: the fabric, or the port, has changed. */
void ibsad_cache_flush(struct ibsad_cache *cache);

/* Receive the answers that have arrived. The caller holds the lock. */
void ibsad_cache_receive(struct ibsad_cache *cache);

/*
 * Answer a request that the policy permits from the cache, or send it, or let it
 * wait for the answer to an identical one. Return: 0; -ENOENT it is not for the
 * cache; or why it was not sent.
 */
int ibsad_cache_send(struct ibsad_cache *cache, struct client_file *file,
		     const uint8_t *packet, size_t len) IBSA_MUST_USE;

#endif
