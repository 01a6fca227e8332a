/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths that are stored before clients query them: when clients query many
 * paths from the port within a second, as a job that starts does, one request
 * gets the paths to all destinations.
 */
#ifndef IBSAD_PRELOAD_H
#define IBSAD_PRELOAD_H

#include "ibsad/queue.h"

struct ibsad_cache;

/*
 * @after:    as the setting preload: how many queries start it; 0: it is off
 * @form:     the request that these queries have in common, with DGID 0
 * @count:    such queries in a second that began at @start_ns, all in @epoch
 * @due_ns:   when to request the table; 0: never
 * @next_ns:  no table is requested before
 * @records:  in the last table
 * @preloads: tables that were stored
 */
struct ibsad_preload {
	uint32_t after;
	uint8_t form[QUEUE_FIRST_BYTES];
	uint32_t epoch;
	uint32_t count;
	uint64_t start_ns;
	uint64_t due_ns;
	uint64_t next_ns;
	size_t records;
	uint64_t preloads;
};

/* A request of a client was sent to the SA: see ibsad_key_request(). */
void ibsad_preload_note(struct ibsad_cache *cache, const uint8_t *request);

/* Store the paths of a table. @len: of the packet @table, at most 1 MiB */
void ibsad_preload_take(struct ibsad_cache *cache, const uint8_t *table,
			size_t len);

/*
 * Send the requests that are due. @caches: by port number. Return: the
 * milliseconds until the next is due; -1: none.
 */
int ibsad_preload_tick(struct ibsad_cache *caches);

#endif
