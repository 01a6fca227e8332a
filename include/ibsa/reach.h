/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reachability: whether the SA knows a path to a GID, of one or of thousands.
 *
 * It is what the SA's database says, not a probe: a host that has crashed is
 * reachable while its port is up, and one that has just left stays so until
 * the subnet manager's next sweep.
 */
#ifndef IBSA_REACH_H
#define IBSA_REACH_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

/* Zeroed memory knows nothing, and does not say yes. */
enum ibsa_reach {
	IBSA_REACH_UNKNOWN, /* could not be found out; see err and status */
	IBSA_REACH_YES,	    /* there is a path */
	IBSA_REACH_NO,	    /* there is none */
};

struct ibsa_reach_batch;

/**
 * struct ibsa_reach_options - how to ask; zero is the default throughout
 * @from:       GID of the port that is to reach the others; zero: GID 0 of
 *              the client's port, as it is when each is asked for
 * @timeout_ms: for each GID, from the time at which it is its turn; default:
 *              deadline_ms of the client
 */
struct ibsa_reach_options {
	struct ibsa_gid from;
	unsigned int timeout_ms;
};

/**
 * struct ibsa_reach_answer - what was found out about one GID
 * @gid:    which
 * @index:  of it in what ibsa_reach_each() was given
 * @left:   how many GIDs of the batch have no answer yet; 0: this is the
 *          last, and the batch is gone when the callback returns
 * @reach:  enum ibsa_reach
 * @err:    of UNKNOWN: -ETIMEDOUT the SA is silent; -EAGAIN the port knows no
 *          SM or has no GID; -EPROTO its reply was malformed; -ECANCELED;
 *          -ENOBUFS others had the client's queue full for all of the time;
 *          or another error of ibsa_query() or struct ibsa_reply. 0: the SA
 *          answered, and @status is what it said
 * @status: the MAD status, all 16 bits, host order: of NO 0x0300, 0x0500, or
 *          0 with an empty table; of UNKNOWN why the SA refused, or BUSY
 * @tries:  how many times the request was sent
 * @rtt_ns: from the last try to the reply, nanoseconds
 * @redirect: as in struct ibsa_reply, until the callback returns; NULL from
 *          ibsa_reach()
 */
struct ibsa_reach_answer {
	struct ibsa_gid gid;
	size_t index;
	size_t left;
	int reach;
	int err;
	uint16_t status;
	unsigned int tries;
	uint64_t rtt_ns;
	const uint8_t *redirect;
};

/**
 * typedef ibsa_reach_fn - called once for each GID of a batch
 * @answer: valid until the callback returns
 * @arg:    as given to ibsa_reach_each()
 *
 * The rules are those of ibsa_reply_fn; ibsa_reach_each() and
 * ibsa_reach_stop() may be called too.
 */
typedef void (*ibsa_reach_fn)(const struct ibsa_reach_answer *answer,
			      void *arg);

/**
 * ibsa_reach - ask whether a GID can be reached, and wait for the answer
 * @client:  an open client
 * @options: NULL for all defaults
 * @gid:     unicast or multicast, of this subnet or of another
 * @out:     the answer; that it could not be found out is one
 *
 * Asks for one reversible path. Other queries of the client make progress
 * meanwhile. A signal does not end it.
 *
 * Return: 0, and @out is filled; -EINVAL no @gid, or all of it is zero;
 * -EBUSY from inside a callback.
 *
 * Source: IBA vol 1, 15.2.5.16 (PathRecord).
 */
int ibsa_reach(struct ibsa_client *client,
	       const struct ibsa_reach_options *options,
	       const struct ibsa_gid *gid,
	       struct ibsa_reach_answer *out) IBSA_MUST_USE;

/**
 * ibsa_reach_each - ask whether each of many GIDs can be reached
 * @client:  an open client
 * @options: NULL for all defaults; copied
 * @gids:    copied
 * @count:   of them, 1 at least
 * @told:    called once for each GID, later, never from within this call; in
 *           the order in which the answers come
 * @arg:     handed to @told as it is
 * @out:     the batch, until @told has been called for the last GID; or NULL
 *
 * Asks for as many at a time as the client's window holds, and for the next
 * when one is answered: none runs out of time because of those before it,
 * and the client's queue stays free for others. Between the first GID and the
 * last it allocates no memory. ibsa_close() ends what is left of a batch with
 * -ECANCELED.
 *
 * Return: 0, whether or not there is an SM; -EINVAL no GIDs, one that is all
 * zero, or no @told; -ESHUTDOWN the client is closing; -ENOMEM. @told is then
 * not called.
 */
int ibsa_reach_each(struct ibsa_client *client,
		    const struct ibsa_reach_options *options,
		    const struct ibsa_gid *gids, size_t count,
		    ibsa_reach_fn told, void *arg,
		    struct ibsa_reach_batch **out) IBSA_MUST_USE;

/**
 * ibsa_reach_stop - end a batch early
 * @batch: from ibsa_reach_each(), not yet told of its last GID
 *
 * The GIDs that have no answer yet are told as UNKNOWN with -ECANCELED, from
 * the next dispatch; from inside the batch's own callback, when that returns.
 *
 * Return: 0; -EALREADY it has been stopped, or this is its last callback.
 */
int ibsa_reach_stop(struct ibsa_reach_batch *batch);

IBSA_END

#endif
