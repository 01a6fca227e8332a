/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocking queries for a single record, which the call decodes: any record, or
 * the path between two ports.
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
 * ibsa_query_one - query one record and wait for it
 * @client: an open client
 * @query:  as for ibsa_query_wait()
 * @error:  after an error, a sentence that tells why; may be NULL
 * @out:    receives the record: the struct of @query's record, such as struct
 *          ibsa_node; struct ibsa_path for a MultiPathRecord
 *
 * Use ibsa_query_one() when exactly one record matches the query. For tables,
 * and for the status and other numbers of a reply, use ibsa_query_wait().
 *
 * Return: 0; -ENOENT the SA has no matching record (IBSA_OUTCOME_NONE);
 * -ENOTUNIQ more than one record matches (status 0x0400, or several records in
 * the reply); -EREMOTEIO the SA refused the request, redirected it, or was busy
 * until the deadline; -ETIMEDOUT, -ENETDOWN, -EMSGSIZE, -ENODATA, -ENODEV,
 * -EPROTO the query ended with this err of struct ibsa_reply; -EBUSY a callback
 * of this client called ibsa_query_one(); -EAGAIN the port has no SM, or was
 * down when the call began; -EINVAL the component mask has a bit that the
 * record does not define, or another reason of ibsa_query_start(), which @error
 * names; -ERANGE a value is wider than its field, which @error names; or
 * another error of ibsa_query_wait(). After an error @out is unchanged.
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
 * struct ibsa_path_options - options; zero is the default of each member
 * @from:       GID of the source port; zero: the GID at index 0 of the client's
 *              port
 * @match:      values that the path must have, such as its P_Key; NULL: zeros
 * @mask:       component mask: the fields of @match that the SA compares; not
 *              sgid and dgid. Without the field reversible in @mask,
 *              ibsa_path_wait() queries a reversible path
 * @timeout_ms: deadline of the query in milliseconds; default: deadline_ms of
 *              the client
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
 * ibsa_path_wait - query the path to a port and wait for it
 * @client:  an open client
 * @options: NULL: all defaults
 * @to:      GID of the destination port or multicast group
 * @error:   after an error, a sentence that tells why; may be NULL
 * @out:     receives the PathRecord, host byte order
 *
 * The path starts at the port of the client, or at the port @from of @options.
 * If the SA has several paths, ibsa_path_wait() returns the one that the SA
 * selects. To check whether a path exists, also for many GIDs, use
 * ibsa_reach_wait() and ibsa_reach_start().
 *
 * Return: 0; -ENOENT the SA has no such path; -EINVAL @to is NULL or all zero,
 * or the mask contains sgid, dgid or a bit that a PathRecord does not define;
 * -EAGAIN the port has no SM or has no GID, or was down when the call began;
 * -EREMOTEIO, -ETIMEDOUT, -ENETDOWN and others, as for ibsa_query_one(); or the
 * error from reading the port's state. After an error @out is unchanged.
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
