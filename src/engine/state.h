/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State and functions shared by the files of src/engine; no other folder
 * includes this header. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "base/clock.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/share.h"
#include "engine/timer.h"

/* Selects what happens when a timer expires. */
enum timer_kind { TIMER_DEADLINE, TIMER_RETRY, TIMER_ALARM, TIMER_WATCH };

/*
 * One query of the caller. While the query waits for a reply, @link is in the
 * list of its txn. After it has ended without a reply, @txn is NULL, @link is
 * in the engine's list of ended queries until the callback, and @record, @err,
 * @tries and @status are what the callback receives.
 */
struct query {
	struct hash_node id;
	struct list link;
	struct timer deadline;
	ibsa_reply_fn done;
	void *arg;
	struct txn *txn;
	const struct ibsa_record *record;
	int err;
	uint32_t tries;
	/*
	 * If not 0, the reply is due this many ms after the first send. Until
	 * then @deadline limits the time that the query waits to be sent. 0
	 * after the first send.
	 */
	uint32_t from_send_ms;
	uint16_t status;
};

/* State of a txn. */
enum txn_state {
	TXN_QUEUED,    /* not sent yet: the window is full */
	TXN_IN_FLIGHT, /* counts in the window */
	/* counts in the window, too: its queries have ended, but the transport
	 * still holds the request */
	TXN_ABANDONED,
	TXN_ENDED, /* in no list and no table */
};

/* One request: queued for the window, or in flight. */
struct txn {
	uint8_t mad[IBSA_MAD_BYTES];
	struct hash_node tid;
	struct list link;
	struct list queries;
	struct timer retry;
	const struct ibsa_record *record; /* of the reply's records */
	struct ibsa_address to;
	uint64_t share_hash;
	uint64_t sent_ns;
	/* Tick at which the transport's timeout for the last try ends. */
	uint64_t wait_end;
	uint32_t interval_ms; /* interval between the next try and the try after
			       * it */
	uint32_t last_interval_ms; /* interval between the last try and the next
				    * try */
	uint32_t max_interval_ms;
	uint32_t tries;
	uint32_t id_tries; /* tries sent with the current TransactionID */
	/* Tries whose transport timeout may still be running. */
	uint32_t outstanding;
	uint32_t epoch;		/* the engine's @epoch when the query came */
	uint16_t request_bytes; /* size of the record in the request */
	uint8_t method;
	uint8_t jitter_percent;
	bool shareable;
	/*
	 * redirections that the request followed since it was last sent to the
	 * SM's own SA
	 */
	uint8_t hops;
	bool got_busy;
	/*
	 * one of the request's queries has a deadline which starts at the first
	 * send
	 */
	bool starts_deadlines;
	/* The transport refused the last try as a duplicate, because it still
	 * held the try before, although that try's timeout is over. */
	bool is_late;
	bool is_refused; /* the transport refused the last try */
	/* The next try waits a whole interval: the SA answered the last try
	 * with BUSY, or the address of the SA is not known yet. */
	bool is_backing_off;
	enum txn_state state;
};

/*
 * Round-trip times of the SA: a smoothed mean and its mean deviation. Only
 * replies to requests that were sent once are measured: after a retry, the
 * reply does not show which try it answers.
 *
 * @retry_ms: not 0: a reply came too late to be one to the last try of its
 *            request, and this is the interval of that request. New requests
 *            use it at least, until the next measured reply.
 *
 * Source: RFC 6298.
 */
struct round_trip {
	uint32_t smooth_us;
	uint32_t deviation_us;
	uint32_t retry_ms;
};

/*
 * Account for a reply. It arrived @since_ns after the last of @tries, and that
 * try's interval was @interval_ms.
 */
void ibsa__round_trip_note(struct round_trip *trip, uint32_t tries,
			   uint32_t interval_ms, uint64_t since_ns);

/* Return: milliseconds after which a reply is late; 0 before the first measured
 * reply. */
uint32_t ibsa__round_trip_limit_ms(const struct round_trip *trip);

struct ibsa__engine {
	struct ibsa_transport *transport;
	struct ibsa__engine_options options;
	struct ibsa_port_state port;
	struct ibsa_address sa; /* queries are sent here */
	/* address of the SA that redirected to @sa, if @is_redirected */
	struct ibsa_address home;
	/* target of a redirection whose LID is being queried */
	struct ibsa_address resolving;
	uint64_t resolving_id; /* of that path query, or 0 */
	/* The last redirection that was not followed; @record NULL: none. */
	struct ibsa_reply last_redirect;
	uint8_t last_redirect_info
		[sizeof(struct ibsa__opa_class_port_info_bits) / 8];
	bool is_redirected;
	bool sa_known;
	bool sa_given; /* @sa is from the options, not from the port */
	bool calling_back;
	bool closing;
	bool transport_holds; /* result of the transport's holds operation */
	/* the last dispatch left messages in the transport */
	bool has_messages;
	uint64_t port_read_ns;
	/* receives the SA's Reports; or NULL */
	struct ibsa__listener *listener;
	struct list watches; /* all watches of the port */
	/* watches with changes that are not reported yet */
	struct list changed;
	struct timer watch_timer; /* armed while @watches is not empty */
	unsigned int watch_interval_ms;
	struct wheel wheel;
	/* Timers of TXN_ABANDONED requests. They need no wakeup of their own,
	 * only queued requests wait for them. */
	struct wheel abandoned_wheel;
	struct pool queries;
	struct pool txns;
	struct hash ids;
	struct hash tids;
	struct share shares;
	/* queued txns in the order in which they are sent */
	struct list waiting;
	struct list ended; /* ended queries that are not called back yet */
	struct round_trip round_trip;
	unsigned int in_flight;
	unsigned int abandoned; /* those of @in_flight in TXN_ABANDONED */
	unsigned int queued;
	uint64_t pace_end; /* tick at which @paced starts from 0 */
	/* abandoned requests that left the window early in this period */
	unsigned int paced;
	/*
	 * Number of Sets and Deletes that have ended. A query does not share a
	 * request of an earlier epoch: the reply may be older than the change.
	 */
	uint32_t epoch;
	uint64_t next_id;
	uint64_t tid_high;
	uint32_t next_tid;
	struct random random;
	struct ibsa_stats stats;
};

static inline uint64_t engine_now_ns(const struct ibsa__engine *engine)
{
	return engine->transport->ops->now_ns(engine->transport);
}

/*
 * Return: the tick @ms after @now_ns, rounded up, so that no timer expires
 * early.
 */
static inline uint64_t tick_after(uint64_t now_ns, uint64_t ms)
{
	return (now_ns + NS_PER_MS - 1) / NS_PER_MS + ms;
}

/*
 * port.c. Read the state of the port from the transport; a change of the SM's
 * address retargets the requests in flight, and watches get the changes from
 * the next ibsa__engine_port_report(). Return: 0 or the transport's error.
 * _refresh() reads it unless it was read in the last 100 ms.
 */
int ibsa__engine_port_read(struct ibsa__engine *engine);
void ibsa__engine_port_refresh(struct ibsa__engine *engine);

/* Read the port if the transport reports that it may have changed. */
void ibsa__engine_port_poll(struct ibsa__engine *engine);
/* The watch timer has expired: arm it again and read the port. */
void ibsa__engine_port_check(struct ibsa__engine *engine);

/* Call the watches back that have changes to report. */
void ibsa__engine_port_report(struct ibsa__engine *engine);

void ibsa__engine_port_unwatch_all(struct ibsa__engine *engine);

/*
 * Whether a LID of Omni-Path does not fit the 16 bits of the kernel's header.
 * ibsa__engine_long_lid() replaces such a LID of @out by a GID.
 */
bool ibsa__lid_is_long(uint32_t lid);
void ibsa__engine_long_lid(const struct ibsa__engine *engine,
			   struct ibsa_address *out);

static inline bool is_same_address(const struct ibsa_address *a,
				   const struct ibsa_address *b)
{
	return a->lid == b->lid && a->qpn == b->qpn && a->sl == b->sl &&
	       a->pkey_index == b->pkey_index && a->has_grh == b->has_grh &&
	       !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

/* Whether the last try of @txn was sent to the current SA. */
static inline bool is_at_sa(const struct ibsa__engine *engine,
			    const struct txn *txn)
{
	return engine->sa_known && is_same_address(&txn->to, &engine->sa);
}

/* txn.c: requests, their tries and the window. _new: -ENOMEM, -ERANGE or
 * another error of the encoder. _back_off: the SA answered BUSY. */
int ibsa__txn_new(struct ibsa__engine *engine, const struct ibsa_query *query,
		  struct txn **out) IBSA_MUST_USE;
int ibsa__txn_submit(struct ibsa__engine *engine, struct txn *txn,
		     uint64_t now_ns) IBSA_MUST_USE;
void ibsa__txn_back_off(struct ibsa__engine *engine, struct txn *txn);

/*
 * The transport reports that its timeout for a try has ended; or that it could
 * not send a try which it had accepted, with @err.
 */
void ibsa__txn_transport_timeout(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_refused(struct ibsa__engine *engine, struct txn *txn, int err);
void ibsa__txn_retry(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_end(struct ibsa__engine *engine, struct txn *txn);
/* The last query of @txn has ended: free it, or let it stay in the window while
 * the transport holds it. */
void ibsa__txn_abandon(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_free(struct ibsa__engine *engine, struct txn *txn);
/* Free the abandoned requests whose time in the window is over. */
void ibsa__engine_window_release(struct ibsa__engine *engine, uint64_t now_ns);
/* Send the requests in flight again. @only_moved: only those that were sent to
 * another address than the current SA's. */
void ibsa__engine_resend(struct ibsa__engine *engine, bool only_moved);

/* Send queued requests while the window has room. */
void ibsa__engine_window_fill(struct ibsa__engine *engine);

/*
 * Schedule the next try of a redirected @txn: at once if the target of the
 * redirection is known, else after an interval.
 */
void ibsa__txn_redirected(struct ibsa__engine *engine, struct txn *txn);

/*
 * redirect.c. Have @txn follow the redirection in @reply. Return: false if it
 * cannot: the reply then ends @txn. It was redirected too often, or the port
 * cannot send to the target.
 */
bool ibsa__redirect_follow(struct ibsa__engine *engine, struct txn *txn,
			   const struct ibsa_reply *reply) IBSA_MUST_USE;

/*
 * Send to the SM's own SA again. ibsa__redirect_distrust() does this only if
 * @txn was sent to the target of a redirection: the target has disappeared or
 * is not an SA.
 */
void ibsa__redirect_drop(struct ibsa__engine *engine);
void ibsa__redirect_distrust(struct ibsa__engine *engine,
			     const struct txn *txn);

/* Whether @txn is the query for the path to a redirection's target. */
bool ibsa__redirect_is_path_query(const struct txn *txn);

/*
 * join.c. Return: a hash over the bytes that identical requests have in common.
 */
uint64_t ibsa__txn_identity(const struct txn *txn);

/*
 * Return: a request with the same bytes as @txn which a query with this
 * @deadline may share instead of sending @txn; or NULL.
 */
struct txn *ibsa__txn_find_same(struct ibsa__engine *engine,
				const struct txn *txn, uint64_t deadline);

/*
 * query.c. Whether a query of @txn still waits for the reply at @tick, if @txn
 * is sent now. If none does, *@out_last is the last tick at which one of them
 * waits.
 */
bool ibsa__txn_is_awaited(const struct txn *txn, uint64_t now_ns, uint64_t tick,
			  uint64_t *out_last);
/* @txn is sent for the first time: start the deadlines that begin there. */
void ibsa__txn_first_sent(struct ibsa__engine *engine, struct txn *txn,
			  uint64_t now_ns);
/* End @txn and call all its queries back with @reply. */
void ibsa__txn_answer(struct ibsa__engine *engine, struct txn *txn,
		      struct ibsa_reply *reply);
void ibsa__query_end(struct ibsa__engine *engine, struct query *query, int err);
void ibsa__query_expire(struct ibsa__engine *engine, struct query *query);
void ibsa__engine_call_back(struct ibsa__engine *engine);

/* receive.c. Take messages from the transport. Return: as ibsa_dispatch(). */
int ibsa__engine_receive(struct ibsa__engine *engine) IBSA_MUST_USE;

#endif
