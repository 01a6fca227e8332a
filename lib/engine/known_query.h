/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries of callers whose struct ibsa_query, or whose record in it, may be
 * shorter or longer than those of this version.
 */
#ifndef ENGINE_KNOWN_QUERY_H
#define ENGINE_KNOWN_QUERY_H

#include <ibsa/ibsa.h>

#include "wire/host.h"

/* A query, and the record to which its match points. */
struct known_query {
	struct ibsa_query query;
	union record_host match;
};

/*
 * Whether the caller's @query can be used as it is, without a copy. A match_size
 * of 0 is the size of the record's struct in the first release: that of today,
 * as long as no struct of a record has grown.
 */
static inline bool query_is_known(const struct ibsa_query *query, size_t size)
{
	return size == sizeof(*query) && query &&
	       (!query->match_size || !query->record ||
		query->match_size == query->record->host_size);
}

/*
 * Copy the caller's @query of @size bytes. NULL: a query without a record.
 * Return: 0; -E2BIG it uses a member that this version lacks; -EINVAL the mask
 * selects by a field that the caller's record lacks.
 */
int ibsa__query_read(struct known_query *out, const struct ibsa_query *query,
		     size_t size) IBSA_MUST_USE;

#endif
