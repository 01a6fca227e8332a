/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the engine share, and nobody else sees. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "base/clock.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/share.h"
#include "engine/timer.h"

/* What a timer is for. */
enum timer_kind { TIMER_DEADLINE, TIMER_RETRY, TIMER_ALARM, TIMER_WATCH };

/*
 * One question. @link is in its txn's list; or, once it has ended without an
 * answer, in the engine's list of queries whose callback is due: @txn is then
 * NULL, and the members after it say what the callback will be told.
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
	uint32_t from_send_ms; /* not 0: the deadline runs from the first send,
				* for so long; until then @deadline is the end
				* of the wait for it */
	uint16_t status;
};

/* Where a txn stands. */
enum txn_state {
	TXN_QUEUED,    /* waits for the window */
	TXN_IN_FLIGHT, /* holds a place in the window */
	TXN_ABANDONED, /* and so does this: its queries have ended, but the
			* transport still holds it */
	TXN_ENDED,     /* its queries are being called back */
};

/* One request in flight, or on its way there. */
struct txn {
	uint8_t mad[IBSA_MAD_BYTES];
	struct hash_node tid;
	struct list link;
	struct list queries;
	struct timer retry;
	const struct ibsa_record *record; /* that its reply has */
	struct ibsa_address to;
	uint64_t share_hash;
	uint64_t sent_ns;
	uint64_t wait_end;    /* tick until which the transport waits for the
			    * answer to the last try */
	uint32_t interval_ms; /* from the next try to the one after it */
	uint32_t last_interval_ms; /* from the last try to the next one */
	uint32_t max_interval_ms;
	uint32_t tries;
	uint32_t id_tries; /* of them, those with this TransactionID */
	uint32_t
		outstanding; /* of them, those that the transport may wait for */
	uint32_t epoch;	     /* of the engine when it was asked */
	uint16_t request_bytes; /* of the record that it asks for */
	uint8_t method;
	uint8_t jitter_percent;
	bool shareable;
	uint8_t hops; /* redirections that were followed since it was sent to
		       * the SA itself */
	bool got_busy;
	bool starts_deadlines; /* those that run from its first send */
	bool is_late; /* the transport did not take the last try because it still
		       * waits for the answer to the one before, whose time is
		       * over */
	bool is_refused; /* it did not take the last try, if there was one */
	bool is_backing_off; /* the SA answered the last try, if there was one,
			      * with BUSY, or there is no SA to ask yet */
	enum txn_state state;
};

/*
 * The SA's round trips, as RFC 6298 measures them: smoothed, and their mean
 * deviation. Only replies to requests that were sent once count: for others it
 * is not known which try is answered.
 *
 * @retry_ms: the interval of a request whose reply came too late to be one to
 *            its last try, or 0: new requests use it too, until a reply counts
 */
struct round_trip {
	uint32_t smooth_us;
	uint32_t deviation_us;
	uint32_t retry_ms;
};

/* A reply came, @since_ns after the last of @tries, whose interval was
 * @interval_ms. */
void ibsa__round_trip_note(struct round_trip *trip, uint32_t tries,
			   uint32_t interval_ms, uint64_t since_ns);

/* Milliseconds within which a reply is to be expected; 0: not known. */
uint32_t ibsa__round_trip_limit_ms(const struct round_trip *trip);

struct ibsa__engine {
	struct ibsa_transport *transport;
	struct ibsa__engine_options options;
	struct ibsa_port_state port;
	struct ibsa_address sa;	  /* that is asked */
	struct ibsa_address home; /* the SA that redirects to it, if it does */
	struct ibsa_address resolving; /* a target whose LID is asked for */
	uint64_t resolving_id;	       /* of the query for it; 0: none */
	struct {
		const struct ibsa_record *record; /* NULL: there was none */
		uint8_t redirects;
		uint8_t info[sizeof(struct ibsa__opa_class_port_info_bits) / 8];
	} last_redirect; /* the last one that was not followed */
	bool is_redirected;
	bool sa_known;
	bool sa_given; /* by the options, not by the port */
	bool calling_back;
	bool closing;
	bool transport_holds; /* the transport does; see struct ibsa_transport_ops */
	bool has_messages; /* dispatch stopped with messages left */
	uint64_t port_read_ns;
	struct ibsa__listener *listener; /* to the SA's Reports, or NULL */
	struct list watches;		 /* who watches the port */
	struct list changed;		 /* and is to be told of a change */
	struct timer watch_timer;	 /* armed while somebody watches */
	unsigned int watch_interval_ms;
	struct wheel wheel;
	struct wheel
		abandoned_wheel; /* given up, until the transport does so too; of
			     * interest only to those who wait for the window */
	struct pool queries;
	struct pool txns;
	struct hash ids;
	struct hash tids;
	struct share shares;
	struct list waiting; /* queued txns, first to send first */
	struct list ended;   /* queries whose callback is due */
	struct round_trip round_trip;
	unsigned int in_flight;
	unsigned int abandoned; /* of them, those in TXN_ABANDONED */
	unsigned int queued;
	uint64_t pace_end;  /* tick at which @paced counts anew */
	unsigned int paced; /* places that were freed since */
	uint32_t epoch; /* Sets and Deletes that ended: the reply to an older
			     * request does not answer a Get that comes after */
	uint64_t next_id;
	uint64_t tid_high;
	uint32_t next_tid;
	struct random random;
	struct ibsa_stats stats;
};

/* The transport's clock. */
static inline uint64_t engine_now_ns(const struct ibsa__engine *engine)
{
	return engine->transport->ops->now_ns(engine->transport);
}

/* The tick that is @ms after @now_ns, rounded up: never early. */
static inline uint64_t tick_after(uint64_t now_ns, uint64_t ms)
{
	return (now_ns + NS_PER_MS - 1) / NS_PER_MS + ms;
}

/* port.c: the port afresh; afresh unless it was read just now; afresh because
 * somebody watches. Then what those who watch are to be told. */
int ibsa__engine_port_read(struct ibsa__engine *engine);
void ibsa__engine_port_refresh(struct ibsa__engine *engine);
/* Read it if the transport says that it may have changed. */
void ibsa__engine_port_poll(struct ibsa__engine *engine);
void ibsa__engine_port_check(struct ibsa__engine *engine);
void ibsa__engine_port_report(struct ibsa__engine *engine);
void ibsa__engine_port_unwatch_all(struct ibsa__engine *engine);

/* Whether a LID is one of Omni-Path that is sent as a GID; and have @out, which
 * has such a LID, sent so. */
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

/* Whether @txn was last sent to the SA that would be asked now. */
static inline bool is_at_sa(const struct ibsa__engine *engine,
			    const struct txn *txn)
{
	return engine->sa_known && is_same_address(&txn->to, &engine->sa);
}

/* txn.c: a request from its first byte to its end. */
int ibsa__txn_new(struct ibsa__engine *engine, const struct ibsa_query *query,
		  struct txn **out) IBSA_MUST_USE;
int ibsa__txn_submit(struct ibsa__engine *engine, struct txn *txn,
		     uint64_t now_ns) IBSA_MUST_USE;
void ibsa__txn_back_off(struct ibsa__engine *engine, struct txn *txn);

/* The transport waits no longer for the answer to a try; or it refuses a try
 * that it took, for @err. */
void ibsa__txn_transport_timeout(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_refused(struct ibsa__engine *engine, struct txn *txn, int err);
void ibsa__txn_retry(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_end(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_abandon(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_free(struct ibsa__engine *engine, struct txn *txn);
/* Free those given up that the transport holds no more by now. */
void ibsa__engine_window_release(struct ibsa__engine *engine, uint64_t now_ns);
void ibsa__engine_retarget(struct ibsa__engine *engine);
void ibsa__engine_resend(struct ibsa__engine *engine);
void ibsa__engine_window_fill(struct ibsa__engine *engine);

/* @txn was redirected: it goes to the SA that is asked now; its next try is
 * still an interval away if that is not known yet. */
void ibsa__txn_redirected(struct ibsa__engine *engine, struct txn *txn);

/*
 * redirect.c: have @txn follow the redirection of @reply. False: that is the end
 * of it, since it was redirected too often or the port cannot send there.
 */
bool ibsa__redirect_follow(struct ibsa__engine *engine, struct txn *txn,
			   const struct ibsa_reply *reply) IBSA_MUST_USE;

/* Ask the SA itself again; that if @txn has shown that the target of a
 * redirection is no SA, or is gone. */
void ibsa__redirect_drop(struct ibsa__engine *engine);
void ibsa__redirect_distrust(struct ibsa__engine *engine,
			     const struct txn *txn);

/* Whether @txn asks for the path to a target. */
bool ibsa__redirect_is_path_query(const struct txn *txn);

/* join.c: a hash of what makes requests the same. */
uint64_t ibsa__txn_identity(const struct txn *txn);

/* A request that a query may join instead of sending @txn, its own, which has
 * the same bytes; or NULL. @deadline is the query's. */
struct txn *ibsa__txn_find_same(struct ibsa__engine *engine,
				const struct txn *txn, uint64_t deadline);

/*
 * query.c: how queries begin and end. Whether a query of @txn, if that is sent
 * now, waits for its reply until @tick at least; if none does, @out_last is the
 * last tick that one waits for. And what the first send means to them.
 */
bool ibsa__txn_is_awaited(const struct txn *txn, uint64_t now_ns, uint64_t tick,
			  uint64_t *out_last);
void ibsa__txn_first_sent(struct ibsa__engine *engine, struct txn *txn,
			  uint64_t now_ns);
void ibsa__txn_answer(struct ibsa__engine *engine, struct txn *txn,
		      struct ibsa_reply *reply);
void ibsa__query_end(struct ibsa__engine *engine, struct query *query, int err);
void ibsa__query_expire(struct ibsa__engine *engine, struct query *query);
void ibsa__engine_call_back(struct ibsa__engine *engine);

/* receive.c: what arrives. Return: as ibsa_dispatch(). */
int ibsa__engine_receive(struct ibsa__engine *engine) IBSA_MUST_USE;

#endif
