/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The query engine: sends queries to the SA, retries them and delivers the
 * replies. The engine's transport is its only connection to the outside: the
 * engine makes no system call, starts no thread, takes no lock and reads no
 * other clock.
 *
 * A query is one call of ibsa_query_start(); a txn is one request in flight.
 * Identical queries share a txn; each query has its own id, deadline and
 * callback.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <ibsa/ibsa.h>

#include "engine/timer.h"

struct ibsa__engine;

/*
 * Options of the engine: those members of struct ibsa_options that the engine
 * uses, and @port_is_reported. A member that the program has left 0 is set to
 * its default value here.
 */
struct ibsa__engine_options {
	struct ibsa_sa_access access;
	uint64_t seed;
	size_t reply_bytes;
	unsigned int window;
	unsigned int window_min; /* 0, or more than @window: as @window */
	unsigned int queue;
	unsigned int deadline_ms;
	unsigned int first_interval_ms; /* 0: see round_trip_first_ms() */
	unsigned int max_interval_ms;
	int jitter_percent;
	bool sharing;
	/*
	 * The transport's changed operation reports every change of the port: a
	 * watch without an interval of its own needs no regular reads of the
	 * port.
	 */
	bool port_is_reported;
};

/*
 * Return: the timeout in ms to pass to the transport with a try, if the next
 * try follows @interval_ms after it. The kernel refuses to send a MAD again
 * until the timeout of its last send has ended, so the timeout is a little
 * shorter than the interval.
 */
static inline unsigned int ibsa__wait_before_retry(unsigned int interval_ms)
{
	enum { EARLY_MS = 20 }; /* two ticks of the slowest kernel clock */
	const unsigned int early_ms = interval_ms / 8;

	return interval_ms - (early_ms < EARLY_MS ? early_ms : EARLY_MS);
}

/* Whether a query can have @method; 0 is the default, Get. */
static inline bool ibsa__is_query_method(enum ibsa_method method)
{
	return !method || method == IBSA_METHOD_GET ||
	       method == IBSA_METHOD_GET_TABLE ||
	       method == IBSA_METHOD_GET_MULTI || method == IBSA_METHOD_SET ||
	       method == IBSA_METHOD_DELETE;
}

/*
 * Create an engine on @transport. The caller owns @transport and frees it
 * after the engine. Return: 0; -ENOMEM.
 */
int ibsa__engine_new(const struct ibsa__engine_options *options,
		     struct ibsa_transport *transport,
		     struct ibsa__engine **out) IBSA_MUST_USE;

/*
 * End all queries with -ECANCELED, call their callbacks, and free the engine.
 * @engine may be NULL. Return: 0; -EBUSY if called from a callback.
 */
int ibsa__engine_free(struct ibsa__engine *engine);

/*
 * These functions have the arguments and return values of ibsa_query_start(),
 * ibsa_cancel(), ibsa_dispatch(), ibsa_timeout_ms(), ibsa_port_get(),
 * ibsa_port_watch_start() and ibsa_stats_get().
 */
int ibsa__engine_query(struct ibsa__engine *engine,
		       const struct ibsa_query *query, ibsa_reply_fn done,
		       void *arg, uint64_t *out_id) IBSA_MUST_USE;
int ibsa__engine_cancel(struct ibsa__engine *engine, uint64_t id);
int ibsa__engine_dispatch(struct ibsa__engine *engine);
int ibsa__engine_timeout_ms(const struct ibsa__engine *engine);
int ibsa__engine_port(struct ibsa__engine *engine, bool refresh,
		      struct ibsa_port_state *out) IBSA_MUST_USE;
int ibsa__engine_watch(struct ibsa__engine *engine, unsigned int interval_ms,
		       ibsa_port_fn report, void *arg,
		       struct ibsa_port_watch **out) IBSA_MUST_USE;
void ibsa__engine_unwatch(struct ibsa_port_watch *watch);
void ibsa__engine_tap(struct ibsa__engine *engine, ibsa_mad_fn report,
		      void *arg);
const struct ibsa_stats *ibsa__engine_stats(const struct ibsa__engine *engine);

/*
 * Let the window of @engine limit retries only: first tries do not wait for it,
 * as in the kernel. Call this before the first query.
 */
void ibsa__engine_limit_retries_only(struct ibsa__engine *engine);

/*
 * Fill @out with the last reply in which the SA redirected a request and which
 * the engine did not follow. The bytes of the reply are valid until the next
 * dispatch.
 * Return: false if no reply of this kind was received.
 */
bool ibsa__engine_last_redirect(const struct ibsa__engine *engine,
				struct ibsa_reply *out);

/*
 * Find the index in the port's P_Key table of a P_Key of the partition of
 * @pkey, a full membership if the table has one, because limited members
 * cannot reach each other. Return: false if the table has no P_Key of the
 * partition. Any thread may call this.
 */
bool ibsa__engine_pkey_find(const struct ibsa__engine *engine, uint16_t pkey,
			    uint16_t *out) IBSA_MUST_USE;

/*
 * Return: how many queries a layer above starts at a time if it has many: the
 * window's present size, but not fewer than may be in flight at an SA that does
 * not reply.
 */
unsigned int ibsa__engine_batch(const struct ibsa__engine *engine);

/* Return: the options that the engine was created with. */
const struct ibsa__engine_options *
ibsa__engine_options(const struct ibsa__engine *engine);

/*
 * A timer of a layer above the engine. The layer embeds the alarm in an object
 * and owns the memory. The alarm expires once; after that, the layer may set
 * it again or free it. @expired is called from dispatch only, under the rules
 * for a reply's callback. ibsa__engine_free() cancels the alarm without
 * calling @expired.
 */
struct ibsa__alarm {
	struct timer timer;
	void (*expired)(struct ibsa__alarm *alarm);
};

void ibsa__alarm_init(struct ibsa__alarm *alarm,
		      void (*expired)(struct ibsa__alarm *alarm));

/*
 * Let @alarm expire in @ms, at least 1 ms from now. If the alarm is set
 * already, the new time replaces the old one.
 */
void ibsa__alarm_set(struct ibsa__engine *engine, struct ibsa__alarm *alarm,
		     unsigned int ms);

/* Cancel @alarm if it is set. */
void ibsa__alarm_cancel(struct ibsa__engine *engine, struct ibsa__alarm *alarm);

/*
 * ibsa__engine_now_ns() returns the time of the transport's clock.
 * ibsa__engine_random() returns a random number below @limit, which is 1 to
 * 2^32; the random numbers are determined by the client's seed.
 */
uint64_t ibsa__engine_now_ns(const struct ibsa__engine *engine);
uint64_t ibsa__engine_random(struct ibsa__engine *engine, uint64_t limit);

/* A higher layer that calls a callback outside of dispatch calls
 * ibsa__engine_enter() before and ibsa__engine_leave() after the callback, so
 * that the rules for callbacks hold. */
void ibsa__engine_enter(struct ibsa__engine *engine);
void ibsa__engine_leave(struct ibsa__engine *engine);

/*
 * Receiver of the SA's Reports. A layer above embeds this struct in an object
 * of its own, and owns the memory. Both functions are called from dispatch,
 * under the rules for a reply's callback.
 */
struct ibsa__listener {
	/*
	 * Called for a received MAD of class SA with method Report and a
	 * complete header. @is_sa: the MAD's sender is the current SA. The
	 * engine checks nothing else of the MAD.
	 */
	void (*report)(struct ibsa__listener *listener,
		       const struct ibsa_message *message, bool is_sa);
	/* The transport may have lost Reports. */
	void (*missed)(struct ibsa__listener *listener);
};

/*
 * Deliver Reports to @listener from now on; NULL stops the delivery. The
 * caller repeats the call from time to time: each call restores the
 * transport's registration for Reports if the transport has lost it. Return:
 * as the transport's listen operation; -EOPNOTSUPP if the transport has no
 * listen operation.
 */
int ibsa__engine_listen(struct ibsa__engine *engine,
			struct ibsa__listener *listener) IBSA_MUST_USE;

/*
 * Call this after ibsa__engine_listen() has failed with -EBUSY: it writes a
 * text into @out. The text has the number and the name of each process which
 * may receive the Reports, or says how root can find these processes. A name
 * may contain any bytes. Return: false, with @out unchanged, if the transport
 * cannot find other processes.
 */
bool ibsa__engine_holder(struct ibsa__engine *engine, struct ibsa_error *out);

/* Send a MAD to which no reply is expected. Return: as the transport's send
 * operation. */
int ibsa__engine_send(struct ibsa__engine *engine,
		      const struct ibsa_address *to, const uint8_t *mad,
		      size_t len) IBSA_MUST_USE;

bool ibsa__engine_is_busy(const struct ibsa__engine *engine);

/*
 * Whether the engine was created in this process. A forked child must not use
 * the engine of its parent: it would send and receive by the parent's port.
 * The functions of ibsa_query_start() and the like above return -EINVAL then.
 */
bool ibsa__engine_is_ours(const struct ibsa__engine *engine);

/*
 * Check whether a function that waits may use the engine. Return: 0; -EINVAL
 * it belongs to the parent process; -EBUSY it is in a callback.
 */
int ibsa__engine_wait_check(const struct ibsa__engine *engine) IBSA_MUST_USE;

#endif
