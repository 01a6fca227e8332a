/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why the SA has no path between two ports.
 *
 * The reason is found with at most three further queries, from the records that
 * the SA returns to this port. If these records are incomplete, the reason is
 * possible, but not certain: OpenSM, for example, hides ports that are in no
 * partition of the requester, and returns P_Key tables only to requests with
 * its SM_Key.
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
 * @code:       enum ibsa_reason_code
 * @is_certain: true: the reason is sure; false: the reason is possible, but the
 *              SA does not show enough to be sure, and @detail begins with
 *              "possibly"; also false for IBSA_REASON_NONE
 * @queries:    number of queries, also those that could not be sent
 * @err:        0; or the error that ended the search: that of
 *              ibsa_query_wait() or struct ibsa_reply, or -EBUSY if the SA was
 *              busy
 * @constraint: for IBSA_REASON_CONSTRAINT: the name of the one field that
 *              excludes every path, such as "mtu" (a static string): without
 *              its value, the SA has a path. NULL if the search found no such
 *              field, and for all other codes
 * @possible:   the value of the field @constraint in the path that the SA
 *              returns for the query without this field, such as "100Gb/s". ""
 *              if @constraint is NULL, or if that value meets the constraint:
 *              the return path then possibly does not meet it
 * @detail:     one sentence for the user, safe to print, also if no reason was
 *              found; "" if the library did not search for a reason
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

/**
 * ibsa_reason_text - the text of a reason
 * @code: enum ibsa_reason_code
 *
 * Return: a static string of a few words, such as "another subnet"; "" for
 * IBSA_REASON_NONE and for unknown codes.
 */
const char *ibsa_reason_text(enum ibsa_reason_code code);

/* For bindings: ibsa_reason_wait() with the sizes of @query and @out. */
int ibsa_reason_wait_sized(struct ibsa_client *client,
			   const struct ibsa_query *query, size_t query_size,
			   struct ibsa_reason *out,
			   size_t out_size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_reason_wait - find out why a query for a path has no result
 * @client: an open client
 * @query:  a query that has ended without a path: for a PathRecord, with SGID
 *          or SLID, with DGID or DLID, and with any further fields as
 *          constraints; its match must still hold the values
 * @out:    receives the reason; its code is IBSA_REASON_NONE if no reason was
 *          found
 *
 * ibsa_reason_wait() does not repeat @query: if there is a path now, the reason
 * is meaningless. ibsa_reason_wait() sends at most IBSA_REASON_QUERIES queries,
 * one after the other, each with the deadline and intervals of @query, and
 * waits for the replies. A reason about the P_Keys of other ports is certain
 * only if the client has the SM_Key of the SA (see struct ibsa_sa_access):
 * OpenSM returns P_Key tables of other ports only to requests with its SM_Key.
 * During the wait, the client continues with its other queries.
 *
 * Return: 0, and @out holds a reason; -EINVAL @query is NULL, is not for a
 * PathRecord, has no match, or does not select both ends; -EBUSY a callback of
 * this client called ibsa_reason_wait().
 *
 * Source: IBA vol 1, 15.2.5.16 (PathRecord), 15.4.1 (what the SA shows),
 * 10.9.3 (P_Keys).
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
