/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The query engine: sends queries to the SA, retries them and delivers the
 * replies. Its transport is its only connection to the outside: the engine
 * makes no system call, starts no thread, takes no lock and reads no other
 * clock.
 *
 * A query is one call of ibsa_query(); a txn is one request in flight.
 * Identical queries share a txn; each query has its own id, deadline and
 * callback.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <ibsa/ibsa.h>

#include "engine/timer.h"

struct ibsa__engine;

/* The engine's members of struct ibsa_options, with the defaults filled in. */
struct ibsa__engine_options {
	struct ibsa_sa_access access;
	uint64_t seed;
	size_t reply_bytes;
	unsigned int window;
	unsigned int queue;
	unsigned int deadline_ms;
	unsigned int first_interval_ms;
	unsigned int max_interval_ms;
	int jitter_percent;
	bool sharing;
};

/*
 * Return: the transport timeout of a try that is followed by the next one after
 * @interval_ms. A transport which holds requests, as the kernel does, refuses
 * the same MAD until its timeout has ended. The timeout is therefore a little
 * shorter than the interval.
 */
static inline unsigned int ibsa__wait_before_retry(unsigned int interval_ms)
{
	enum { EARLY_MS = 20 }; /* two ticks of the slowest kernel clock */
	const unsigned int early_ms = interval_ms / 8;

	return interval_ms - (early_ms < EARLY_MS ? early_ms : EARLY_MS);
}

/*
 * Create an engine on @transport, which stays the caller's and must live
 * longer. Return: 0; -ENOMEM.
 */
int ibsa__engine_new(const struct ibsa__engine_options *options,
		     struct ibsa_transport *transport,
		     struct ibsa__engine **out) IBSA_MUST_USE;

/* End all queries with -ECANCELED, call them back, and free the engine. Takes
 * NULL. Return: 0; -EBUSY from inside a callback. */
int ibsa__engine_free(struct ibsa__engine *engine);

/*
 * Arguments and return values are those of ibsa_query(), ibsa_cancel(),
 * ibsa_dispatch(), ibsa_timeout_ms(), ibsa_port_get(), ibsa_port_watch() and
 * ibsa_stats_get().
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
		       ibsa_port_fn changed, void *arg,
		       struct ibsa_port_watch **out) IBSA_MUST_USE;
void ibsa__engine_unwatch(struct ibsa__engine *engine,
			  struct ibsa_port_watch *watch);
const struct ibsa_stats *ibsa__engine_stats(const struct ibsa__engine *engine);

/*
 * Fill @out with the reply of the last redirection that was not followed; its
 * bytes are valid until the next dispatch. Return: false if there was no such
 * redirection.
 */
bool ibsa__engine_last_redirect(const struct ibsa__engine *engine,
				struct ibsa_reply *out);

/*
 * Find the index of a P_Key of this partition in the port's table: a full
 * membership if the port has one, because limited members cannot reach each
 * other. Return: whether there is one. Any thread.
 */
bool ibsa__engine_pkey_find(const struct ibsa__engine *engine, uint16_t pkey,
			    uint16_t *out) IBSA_MUST_USE;

/* Return: the options that the engine was created with. */
const struct ibsa__engine_options *
ibsa__engine_options(const struct ibsa__engine *engine);

/*
 * A timer of a layer above, which embeds it and owns its memory. It expires
 * once; the layer may then set it again or free it. @expired is called from
 * dispatch only, under the rules for a reply's callback. ibsa__engine_free()
 * cancels the alarm without a call.
 */
struct ibsa__alarm {
	struct timer timer;
	void (*expired)(struct ibsa__alarm *alarm);
};

void ibsa__alarm_init(struct ibsa__alarm *alarm,
		      void (*expired)(struct ibsa__alarm *alarm));

/*
 * Let @alarm expire in @ms, at least 1 ms from now. If it is set already, the
 * new time replaces the old one.
 */
void ibsa__alarm_set(struct ibsa__engine *engine, struct ibsa__alarm *alarm,
		     unsigned int ms);

/* Cancel @alarm if it is set. */
void ibsa__alarm_cancel(struct ibsa__engine *engine, struct ibsa__alarm *alarm);

/*
 * Return: the transport's clock; and a random number below @limit, which is
 * from 1 to 2^32. The random numbers follow from the client's seed.
 */
uint64_t ibsa__engine_now_ns(const struct ibsa__engine *engine);
uint64_t ibsa__engine_random(struct ibsa__engine *engine, uint64_t limit);

/* A higher layer that calls a callback outside of dispatch calls
 * ibsa__engine_enter() before and ibsa__engine_leave() after the callback, so
 * that the rules for callbacks hold. */
void ibsa__engine_enter(struct ibsa__engine *engine);
void ibsa__engine_leave(struct ibsa__engine *engine);

/*
 * Receiver of the SA's Reports: a layer above embeds it and owns its memory.
 * Both functions are called from dispatch, under the rules for a reply's
 * callback.
 */
struct ibsa__listener {
	/*
	 * A MAD of class SA with method Report and a complete header came.
	 * @is_sa: the sender is the current SA. The engine checks nothing else.
	 */
	void (*report)(struct ibsa__listener *listener,
		       const struct ibsa_message *message, bool is_sa);
	/* The transport may have lost Reports. */
	void (*missed)(struct ibsa__listener *listener);
};

/*
 * Deliver Reports to @listener from now on; NULL stops it. Call it again from
 * time to time: it re-enables what the transport has lost, such as its
 * registration for Reports. Return: as the transport's listen operation;
 * -EOPNOTSUPP if the transport has none.
 */
int ibsa__engine_listen(struct ibsa__engine *engine,
			struct ibsa__listener *listener) IBSA_MUST_USE;

/*
 * After -EBUSY of ibsa__engine_listen(): write a text into @out that names the
 * processes which may receive the Reports by number and name, or tells how root
 * can find them. The names may contain any bytes. Return: false, with @out
 * unchanged, if the transport cannot find other processes.
 */
bool ibsa__engine_holder(struct ibsa__engine *engine, struct ibsa_error *out);

/* Send a MAD to which no reply is expected. Return: as the transport's send
 * operation. */
int ibsa__engine_send(struct ibsa__engine *engine,
		      const struct ibsa_address *to, const uint8_t *mad,
		      size_t len) IBSA_MUST_USE;

bool ibsa__engine_is_busy(const struct ibsa__engine *engine);

#endif
