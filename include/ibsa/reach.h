/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reachability: whether the SA has a path to a GID, for one GID or thousands.
 *
 * ibsa_reach_wait  check one GID, and wait for the result
 * ibsa_reach_start check many GIDs
 * ibsa_reach_stop  end a batch early: -ECANCELED for the other GIDs
 *
 * The result is what the SA has in its database; no packet is sent to the other
 * port. A host that has crashed is reachable while its port is active, and a
 * port that went down until the next sweep of the SM.
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
 * struct ibsa_reach_options - options; zero: the default of a member
 * @from:       GID of the source port; zero: GID 0 of the client's port
 * @timeout_ms: deadline of each query; default: deadline_ms of the client
 * @why:        a search sends up to IBSA_REASON_QUERIES queries
 */
struct ibsa_reach_options {
	struct ibsa_gid from;
	unsigned int timeout_ms;
	enum ibsa_why why;
};

/**
 * struct ibsa_reach_answer - the result of one GID
 * @index:      of the GID in @gids of ibsa_reach_start()
 * @left:       GIDs of the batch without a result; 0: the batch ends
 * @err:        0: the SA replied, see @status; else as err of struct
 *              ibsa_reply; -EAGAIN: no SM, or no GID; -ENOBUFS: the queue was
 *              full all the time
 * @status:     MAD status, all 16 bits
 * @tries:      of the query for the path
 * @redirect:   as in struct ibsa_reply, valid until the callback returns; NULL
 *              from ibsa_reach_wait(), and after a search for a reason
 * @reason:     enum ibsa_reason_code, if a search found one; or
 *              IBSA_REASON_THIS_PORT_DOWN
 * @is_certain: as in struct ibsa_reason
 * @detail:     as in struct ibsa_reason; "" without a search
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
 * @answer: valid until the callback returns
 * @arg:    as given to ibsa_reach_start()
 *
 * May call the same functions as an ibsa_reply_fn.
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
 * ibsa_reach_wait - check one GID, and wait for the result
 * @options: NULL: all defaults
 * @gid:     unicast or multicast, of any subnet, network byte order
 * @out:     IBSA_REACH_UNKNOWN if the query failed
 *
 * Return: 0, also if the query failed; -EINVAL no @gid, or all zero; -EBUSY a
 * callback of this client called ibsa_reach_wait()
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
 * ibsa_reach_start - check many GIDs
 * @options: copied; NULL: all defaults
 * @gids:    copied
 * @count:   at least 1
 * @report:  called once for each GID, later, in the order of the results
 * @out:     the batch, until @report has returned for the last GID; may be NULL
 *
 * Has at most as many queries in progress as the client's window has places:
 * the timeout of each GID starts with its query.
 *
 * Return: 0, even if the port has no SM; -EINVAL, -ESHUTDOWN, -ENOMEM
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
 * ibsa_reach_stop - end a batch early: -ECANCELED for the other GIDs
 * @batch: whose last callback has not returned; NULL: nothing happens
 *
 * Return: 0; -EALREADY it was stopped before, or has its last callback
 */
int ibsa_reach_stop(struct ibsa_reach_batch *batch);

IBSA_END

#endif
