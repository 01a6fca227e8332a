/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reachability: whether the SA has a path to a GID, for one GID or thousands.
 *
 * The result is what the SA has in its database; no packet is sent to the other
 * port. A host that has crashed is reachable while its port is active, and a
 * port that went down stays reachable until the next sweep of the SM.
 */
#ifndef IBSA_REACH_H
#define IBSA_REACH_H

#include <ibsa/reason.h>

IBSA_BEGIN

/* Zeroed memory is UNKNOWN, not YES. */
enum ibsa_reach {
	IBSA_REACH_UNKNOWN, /* the query failed; see err and status */
	IBSA_REACH_YES,	    /* the SA has a path */
	IBSA_REACH_NO,	    /* the SA has no path */
};

struct ibsa_reach_batch;

/* When to search for the reason of each NO. */
enum ibsa_why {
	/* ibsa_reach_wait() searches, ibsa_reach_start() does not. */
	IBSA_WHY_DEFAULT,
	IBSA_WHY_ALWAYS,
	IBSA_WHY_NEVER,
};

/**
 * struct ibsa_reach_options - options; zero is the default of each member
 * @from:       GID of the source port; zero: the GID at index 0 of the client's
 *              port at the time of each query
 * @timeout_ms: deadline of the query for each GID, in milliseconds; default:
 *              deadline_ms of the client
 * @why:        enum ibsa_why: whether to search for the reason why there is no
 *              path. 0: ibsa_reach_wait() searches, ibsa_reach_start() does
 *              not. The search sends at most IBSA_REASON_QUERIES further
 *              queries for each GID; each of these queries has the deadline
 *              @timeout_ms
 */
struct ibsa_reach_options {
	struct ibsa_gid from;
	unsigned int timeout_ms;
	enum ibsa_why why;
};

/**
 * struct ibsa_reach_answer - the result of one GID
 * @gid:    the GID, in network byte order
 * @index:  position of the GID in @gids of ibsa_reach_start(), from 0; 0 from
 *          ibsa_reach_wait()
 * @left:   number of GIDs of the batch that have no result yet. After the
 *          callback with 0, the batch no longer exists. 0 from
 *          ibsa_reach_wait()
 * @reach:  enum ibsa_reach
 * @err:    0 the SA replied; -ETIMEDOUT the SA did not reply before the
 *          deadline; -ENETDOWN the port was down when the deadline passed;
 *          -EAGAIN the port has no SM or has no GID; -EPROTO the reply is
 *          malformed; -ECANCELED the batch was stopped or the client closed;
 *          -ENOBUFS other queries filled the queue of the client: for
 *          ibsa_reach_wait(), when it was called; for ibsa_reach_start(),
 *          during the whole timeout of the GID; or another error of
 *          ibsa_query_wait(), or the error from reading the port
 * @status: the MAD status, all 16 bits, host byte order: for IBSA_REACH_NO,
 *          0x0300 or 0x0500, or 0 if the reply has no record; for
 *          IBSA_REACH_UNKNOWN with @err 0, why the SA refused, or BUSY
 * @tries:  number of tries of the query for the path that were sent
 * @rtt_ns: nanoseconds from the last try of the query for the path to the
 *          reply; see struct ibsa_reply
 * @redirects: as in struct ibsa_reply
 * @redirect: as in struct ibsa_reply, valid until the callback returns; NULL
 *          from ibsa_reach_wait(), and if the library searched for a reason
 * @reason: enum ibsa_reason_code: for IBSA_REACH_NO, the reason, if the library
 *          searched for a reason and found one; for IBSA_REACH_UNKNOWN,
 *          IBSA_REASON_THIS_PORT_DOWN if the port of the client is down and
 *          @err is neither 0 nor -ECANCELED; in all other cases
 *          IBSA_REASON_NONE
 * @is_certain: true: @reason is sure; false: @reason is only possible
 * @detail: as in struct ibsa_reason; "" if the library did not search for a
 *          reason, unless @reason is IBSA_REASON_THIS_PORT_DOWN
 */
struct ibsa_reach_answer {
	struct ibsa_gid gid;
	size_t index;
	size_t left;
	enum ibsa_reach reach;
	int err;
	uint16_t status;
	uint8_t redirects;
	unsigned int tries;
	uint64_t rtt_ns;
	const uint8_t *redirect;
	enum ibsa_reason_code reason;
	bool is_certain;
	char detail[IBSA_REASON_TEXT];
};

/**
 * typedef ibsa_reach_fn - called once for each GID of a batch
 * @answer: the result; valid until the callback returns
 * @arg:    as given to ibsa_reach_start()
 *
 * ibsa_reply_fn tells which functions call the callback, and what the callback
 * may call. The callback may also call ibsa_reach_start() and
 * ibsa_reach_stop(), but not a function that waits for replies, such as
 * ibsa_reach_wait().
 */
typedef void (*ibsa_reach_fn)(const struct ibsa_reach_answer *answer,
			      void *arg);

/* For bindings: ibsa_reach_wait() with the sizes of @options and @out. */
int ibsa_reach_wait_sized(struct ibsa_client *client,
			  const struct ibsa_reach_options *options,
			  size_t options_size, const struct ibsa_gid *gid,
			  struct ibsa_reach_answer *out,
			  size_t out_size) IBSA_MUST_USE IBSA_NONNULL(1, 5);

/**
 * ibsa_reach_wait - check the reachability of one GID, and wait for the result
 * @client:  an open client
 * @options: NULL: all defaults
 * @gid:     the GID, network byte order; unicast or multicast, of this subnet
 *           or of another
 * @out:     receives the result; IBSA_REACH_UNKNOWN if the query failed, for
 *           example if the SA did not reply, was busy or refused the query
 *
 * Queries the SA for one reversible path. If the SA has no path, up to
 * IBSA_REASON_QUERIES further queries search for the reason, unless @why of
 * @options is IBSA_WHY_NEVER. During the wait, the client continues with its
 * other queries. A signal does not end the wait.
 *
 * Return: 0, and @out holds a result, also if the query failed; -EINVAL @gid is
 * NULL or all zero; -EBUSY a callback of this client called ibsa_reach_wait().
 * After an error @out is unchanged.
 *
 * Source: IBA vol 1, 15.2.5.16 (PathRecord).
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_reach_wait(struct ibsa_client *client,
		const struct ibsa_reach_options *options,
		const struct ibsa_gid *gid, struct ibsa_reach_answer *out)
{
	return ibsa_reach_wait_sized(client, options, sizeof(*options), gid,
				     out, sizeof(*out));
}

/* For bindings: ibsa_reach_start() with the size of @options. */
int ibsa_reach_start_sized(struct ibsa_client *client,
			   const struct ibsa_reach_options *options,
			   size_t size, const struct ibsa_gid *gids,
			   size_t count, ibsa_reach_fn report, void *arg,
			   struct ibsa_reach_batch **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

/**
 * ibsa_reach_start - check the reachability of many GIDs
 * @client:  an open client
 * @options: NULL: all defaults; copied
 * @gids:    copied
 * @count:   number of @gids, at least 1
 * @report:  called once for each GID, later, never from within this call, in
 *           the order in which the results are complete
 * @arg:     passed to @report unchanged
 * @out:     receives the batch, valid until @report has returned for the last
 *           GID; may be NULL
 *
 * The batch has at most as many queries in progress as the client's window has
 * places, and starts the next query when one of them ends. The timeout of each
 * GID therefore starts with the query for this GID, not with the call of
 * ibsa_reach_start(). ibsa_close() ends a batch with -ECANCELED.
 *
 * Return: 0, even if the port has no SM; -EINVAL no @gids, a GID that is all
 * zero, a @count of 0, or no @report; -ESHUTDOWN ibsa_close() is ending the
 * queries; -ENOMEM. After an error @report is not called.
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_reach_start(struct ibsa_client *client,
		 const struct ibsa_reach_options *options,
		 const struct ibsa_gid *gids, size_t count,
		 ibsa_reach_fn report, void *arg, struct ibsa_reach_batch **out)
{
	return ibsa_reach_start_sized(client, options, sizeof(*options), gids,
				      count, report, arg, out);
}

/**
 * ibsa_reach_stop - end a batch early
 * @batch: from ibsa_reach_start(); must not be passed after the callback for
 *         the last GID has returned. NULL: nothing happens
 *
 * For each GID without a result, a dispatch calls the callback later with
 * IBSA_REACH_UNKNOWN and -ECANCELED, or, if the batch was searching for the
 * reason why there is no path to the GID, with IBSA_REACH_NO. If the callback
 * of this batch calls ibsa_reach_stop(), the calls for the other GIDs without a
 * result follow in the same dispatch.
 *
 * Return: 0; -EALREADY the batch was stopped before, or its callback is being
 * called for the last GID.
 */
int ibsa_reach_stop(struct ibsa_reach_batch *batch);

IBSA_END

#endif
