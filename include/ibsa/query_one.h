/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocking queries for a single record, which the call decodes: any record, or
 * the path between two ports.
 *
 * ibsa_query_one query exactly one record and wait for it
 * ibsa_path_wait query the path to a port or group and wait for it
 */
#ifndef IBSA_QUERY_ONE_H
#define IBSA_QUERY_ONE_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

/* For bindings: ibsa_query_one() with the size of @query. */
int ibsa_query_one_sized(struct ibsa_client *client,
			 const struct ibsa_query *query, size_t query_size,
			 struct ibsa_error *error, void *out,
			 size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 2, 5);

/**
 * ibsa_query_one - query exactly one record and wait for it
 * @query: as for ibsa_query_wait()
 * @error: after an error, a sentence that tells why; may be NULL
 * @out:   receives the struct of the query's record; struct ibsa_path for a
 *         MultiPathRecord
 *
 * Return: 0; -ENOENT no record matches; -ENOTUNIQ more than one does;
 * -EREMOTEIO the SA refused, redirected or was busy; or as ibsa_query_wait()
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_query_one(struct ibsa_client *client,
					     const struct ibsa_query *query,
					     struct ibsa_error *error,
					     void *out, size_t size)
{
	return ibsa_query_one_sized(client, query, sizeof(*query), error, out,
				    size);
}

/**
 * struct ibsa_path_options - options; zero: the default of a member
 * @from:       GID of the source port; zero: GID 0 of the client's port
 * @match:      values that the path must have, such as its P_Key; NULL: zeros
 * @mask:       the fields of @match that the SA compares, without sgid and
 *              dgid; without reversible, a reversible path is queried
 * @timeout_ms: default: deadline_ms of the client
 */
struct ibsa_path_options {
	struct ibsa_gid from;
	const struct ibsa_path *match;
	uint64_t mask;
	unsigned int timeout_ms;
};

/* For bindings: ibsa_path_wait() with the sizes of @options and @out. */
int ibsa_path_wait_sized(struct ibsa_client *client,
			 const struct ibsa_path_options *options,
			 size_t options_size, const struct ibsa_gid *to,
			 struct ibsa_error *error, struct ibsa_path *out,
			 size_t out_size) IBSA_MUST_USE IBSA_NONNULL(1, 6);

/**
 * ibsa_path_wait - query the path to a port or group and wait for it
 * @options: NULL: all defaults
 * @to:      GID of the destination
 * @error:   after an error, a sentence that tells why; may be NULL
 * @out:     receives the path that the SA selects, host byte order
 *
 * Return: 0; -ENOENT no such path; -EINVAL @to or the mask is not valid;
 * -EAGAIN no SM or no GID; or as ibsa_query_one()
 *
 * Source: IBA vol 1, 15.2.5.16 (PathRecord).
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_path_wait(struct ibsa_client *client,
	       const struct ibsa_path_options *options,
	       const struct ibsa_gid *to, struct ibsa_error *error,
	       struct ibsa_path *out)
{
	return ibsa_path_wait_sized(client, options, sizeof(*options), to,
				    error, out, sizeof(*out));
}

IBSA_END

#endif
