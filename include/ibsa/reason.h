/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why the SA has no path between two ports.
 *
 * ibsa_reason_text a few words, such as "another subnet"; "" for NONE
 * ibsa_reason_wait find out why a query for a path has no result
 *
 * The reason is found with at most three queries, from the records that the SA
 * returns to this port. If these are incomplete, the reason is possible, but
 * not certain.
 */
#ifndef IBSA_REASON_H
#define IBSA_REASON_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

/*
 * All reasons: R(name, "text"). The library does not return NO_NAME, which is
 * for programs that convert names to ports.
 */
#define IBSA_REASONS(R)                                             \
	R(NO_NAME, "no such name")                                  \
	R(UNKNOWN_PORT, "unknown, or in no partition of this port") \
	R(FAR_PORT_DOWN, "the far port is down")                    \
	R(THIS_PORT_DOWN, "this port is down")                      \
	R(NO_PKEY, "no P_Key in common")                            \
	R(BOTH_LIMITED, "both are limited members")                 \
	R(OTHER_SUBNET, "another subnet")                           \
	R(CONSTRAINT, "a constraint excludes every path")           \
	R(NOT_MEMBER, "not a member of the group")

/* NONE, also of zeroed memory: no search for a reason, or none was found. */
enum ibsa_reason_code {
	IBSA_REASON_NONE,
#define IBSA__REASON_ENUM(name, text) IBSA_REASON_##name,
	IBSA_REASONS(IBSA__REASON_ENUM)
#undef IBSA__REASON_ENUM
};

enum {
	IBSA_REASON_QUERIES = 3, /* at most so many queries find a reason */
	IBSA_REASON_TEXT = 256,	 /* size of @detail of struct ibsa_reason */
	IBSA_REASON_VALUE = 48,	 /* size of @possible of struct ibsa_reason */
};

/**
 * struct ibsa_reason - why there is no path
 * @is_certain: false: possible, as far as the SA shows; or no reason
 * @queries:    that were tried
 * @err:        0; or what ended the search, as in struct ibsa_reply
 * @constraint: for IBSA_REASON_CONSTRAINT: the field without which the SA has a
 *              path, such as "mtu"; NULL: no single field
 * @possible:   the value of this field in that path, such as "100Gb/s"; ""
 * @detail:     one sentence, safe to print; "" without a search
 */
struct ibsa_reason {
	enum ibsa_reason_code code;
	bool is_certain;
	uint8_t queries;
	int err;
	const char *constraint;
	char possible[IBSA_REASON_VALUE];
	char detail[IBSA_REASON_TEXT];
};

const char *ibsa_reason_text(enum ibsa_reason_code code);

/* For bindings: ibsa_reason_wait() with the sizes of @query and @out. */
int ibsa_reason_wait_sized(struct ibsa_client *client,
			   const struct ibsa_query *query, size_t query_size,
			   struct ibsa_reason *out,
			   size_t out_size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_reason_wait - find out why a query for a path has no result
 * @query: a query for a PathRecord with both ends that ended without a path
 * @out:   receives the reason; code IBSA_REASON_NONE if none was found
 *
 * Does not repeat @query. Sends at most IBSA_REASON_QUERIES queries, each with
 * the deadline of @query, and waits for the replies.
 *
 * Return: 0; -EINVAL @query is not such a query; -EBUSY a callback of this
 * client called ibsa_reason_wait()
 *
 * Source: IBA vol 1, 15.2.5.16 (PathRecord), 15.4.1 (what the SA shows), 10.9.3
 * (P_Keys).
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_reason_wait(struct ibsa_client *client,
					       const struct ibsa_query *query,
					       struct ibsa_reason *out)
{
	return ibsa_reason_wait_sized(client, query, sizeof(*query), out,
				      sizeof(*out));
}

IBSA_END

#endif
