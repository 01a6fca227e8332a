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
	uint16_t status;
};

/* Where a txn stands. */
enum txn_state {
	TXN_QUEUED,    /* waits for the window */
	TXN_IN_FLIGHT, /* holds a place in the window */
	TXN_GIVEN_UP,  /* and so does this: nobody waits for it any more, but
			* the transport does */
	TXN_ENDED,     /* its queries are being called back */
};

/* One request in flight, or on its way there. */
struct txn {
	uint8_t mad[IBSA_MAD_BYTES];
	struct hash_node tid;
	struct list link;
	struct list queries;
	struct timer retry;
	const struct ibsa_record *record;
	struct ibsa_address to;
	uint64_t share_hash;
	uint64_t sent_ns;
	uint64_t planned; /* tick of the next try, as of the last sent one; 0:
			   * none was sent with this id */
	uint32_t interval_ms;
	uint32_t late_interval_ms; /* of the try that @is_late is about */
	uint32_t max_interval_ms;
	uint32_t tries;
	uint32_t out;	/* of them, those that the transport may wait for */
	uint32_t epoch; /* of the engine when it was asked */
	uint8_t method;
	uint8_t jitter_percent;
	bool shareable;
	bool heard_busy;
	bool is_held; /* the transport refuses a try before @planned */
	bool is_late; /* the transport has refused one that was due */
	enum txn_state state;
};

struct ibsa__engine {
	struct ibsa_transport *transport;
	struct ibsa__engine_options options;
	struct ibsa_port_state port;
	struct ibsa_address sa;
	bool sa_known;
	bool sa_given; /* by the options, not by the port */
	bool calling_back;
	bool closing;
	bool more; /* dispatch stopped with messages left */
	uint64_t port_read_ns;
	struct ibsa__listener *listener; /* to the SA's Reports, or NULL */
	struct list watches;		 /* who watches the port */
	struct list changed;		 /* and is to be told of a change */
	struct timer watch_timer;	 /* armed while somebody watches */
	unsigned int watch_interval_ms;
	struct wheel wheel;
	struct wheel holds; /* given up, until the transport does so too; of
			     * interest only to those who wait for the window */
	struct pool queries;
	struct pool txns;
	struct hash ids;
	struct hash tids;
	struct share shares;
	struct list waiting; /* queued txns, first to send first */
	struct list ended;   /* queries whose callback is due */
	unsigned int in_flight;
	unsigned int queued;
	uint32_t epoch; /* Sets and Deletes ended: a later Get is not to be
			 * answered with what was before */
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
int ibsa__engine_read_port(struct ibsa__engine *engine);
void ibsa__engine_refresh(struct ibsa__engine *engine);
/* Read it if the transport says that it may have changed. */
void ibsa__engine_notice(struct ibsa__engine *engine);
void ibsa__engine_look(struct ibsa__engine *engine);
void ibsa__engine_tell(struct ibsa__engine *engine);
void ibsa__engine_unwatch_all(struct ibsa__engine *engine);

static inline bool is_same_address(const struct ibsa_address *a,
				   const struct ibsa_address *b)
{
	return a->lid == b->lid && a->qpn == b->qpn && a->sl == b->sl &&
	       a->pkey_index == b->pkey_index && a->has_grh == b->has_grh &&
	       !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

/* txn.c: a request from its first byte to its end. */
int ibsa__txn_new(struct ibsa__engine *engine, const struct ibsa_query *query,
		  struct txn **out) IBSA_MUST_USE;
struct txn *ibsa__txn_like(struct ibsa__engine *engine, const struct txn *txn);
int ibsa__txn_submit(struct ibsa__engine *engine, struct txn *txn,
		     uint64_t now_ns) IBSA_MUST_USE;
void ibsa__txn_hurry(struct ibsa__engine *engine, struct txn *txn,
		     unsigned int interval_ms);
void ibsa__txn_back_off(struct ibsa__engine *engine, struct txn *txn);

/* The transport waits no longer for the answer to a try. */
void ibsa__txn_given_up(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_retry(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_end(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_give_up(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_free(struct ibsa__engine *engine, struct txn *txn);
/* Free those given up that the transport holds no more by now. */
void ibsa__engine_release(struct ibsa__engine *engine, uint64_t now_ns);
void ibsa__engine_retarget(struct ibsa__engine *engine);
void ibsa__engine_resend(struct ibsa__engine *engine);
void ibsa__engine_pump(struct ibsa__engine *engine);

/* query.c: how queries begin and end. */
void ibsa__txn_answer(struct ibsa__engine *engine, struct txn *txn,
		      struct ibsa_reply *reply);
void ibsa__query_end(struct ibsa__engine *engine, struct query *query, int err);
void ibsa__query_expire(struct ibsa__engine *engine, struct query *query);
void ibsa__engine_call_back(struct ibsa__engine *engine);

/* receive.c: what arrives. Return: as ibsa_dispatch(). */
int ibsa__engine_receive(struct ibsa__engine *engine) IBSA_MUST_USE;

#endif
