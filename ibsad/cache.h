/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache of ibsad: identical queries of all clients of a port share one
 * request, and ibsad stores the reply for a short time. The cache is only for
 * records that no client can change.
 */
#ifndef IBSAD_CACHE_H
#define IBSAD_CACHE_H

#include "base/list.h"
#include "ibsad/preload.h"
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
 * @upstream: ibsad's own umad file, for which it has registered an agent
 * @entries:  all entries, the least recently used first; @bytes: their memory
 * @asked:    the entries that wait for a reply; the index is the TransactionID
 *            modulo CACHE_ASKED
 * @epoch:    changes when all earlier replies become invalid
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
	struct ibsad_preload preload;
};

void ibsad_cache_init(struct ibsad_cache *cache, struct daemon *daemon,
		      uint32_t port, bool is_off);
void ibsad_cache_done(struct ibsad_cache *cache);

/* Forget all answers: the fabric, or the port, has changed. */
void ibsad_cache_flush(struct ibsad_cache *cache);

/* Receive the answers that have arrived. The caller holds the lock. */
void ibsad_cache_receive(struct ibsad_cache *cache);

/*
 * Handle a request that the policy permits: answer it from the cache, send it,
 * or let it wait for the reply to an identical request. Return: 0; -ENOENT the
 * cache does not handle this request; or why it was not sent.
 */
int ibsad_cache_send(struct ibsad_cache *cache, struct client_file *file,
		     const uint8_t *packet, size_t len) IBSA_MUST_USE;

/*
 * For preload.c. ibsad_cache_query() sends a request of ibsad's own, the reply to
 * which is passed to ibsad_preload_take(). ibsad_cache_find(): Return: the
 * reply of one MAD to @packet that is stored; NULL: none. ibsad_cache_put()
 * stores one, as the reply to @packet.
 */
void ibsad_cache_query(struct ibsad_cache *cache, const uint8_t *packet);
const uint8_t *ibsad_cache_find(struct ibsad_cache *cache,
				const uint8_t *packet);
void ibsad_cache_put(struct ibsad_cache *cache, const uint8_t *packet,
		     const uint8_t *reply);

#endif
