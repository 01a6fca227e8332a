/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries in flight. The engine is handed a transport and knows no other
 * way to the world: no system calls, no thread, no lock, no clock of its own.
 *
 * A query is what somebody asked; a txn is one request in flight. Identical
 * queries share a txn, each with its own id, deadline and callback.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <ibsa/ibsa.h>

#include "engine/timer.h"

struct ibsa__engine;

/* The members of struct ibsa_options that are the engine's, defaults
 * filled in. */
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
 * What to tell a transport of a timeout at which the same MAD is sent again. One
 * that holds requests, as the kernel does, refuses it until it has given up the
 * first, so it has to do that a little before.
 */
static inline unsigned int ibsa__wait_before_retry(unsigned int interval_ms)
{
	enum { EARLY_MS = 20 }; /* two ticks of the slowest kernel clock */
	const unsigned int early_ms = interval_ms / 8;

	return interval_ms - (early_ms < EARLY_MS ? early_ms : EARLY_MS);
}

/* The engine does not own @transport. Return: 0; -ENOMEM. */
int ibsa__engine_new(const struct ibsa__engine_options *options,
		     struct ibsa_transport *transport,
		     struct ibsa__engine **out) IBSA_MUST_USE;

/* End all queries with -ECANCELED, then free the engine. Takes NULL.
 * Return: 0; -EBUSY from inside a callback. */
int ibsa__engine_free(struct ibsa__engine *engine);

/* As ibsa_query() and the calls named after it say. */
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

/* The last redirection that was not followed, as the reply that it came in,
 * until the next dispatch. False: there was none. */
bool ibsa__engine_last_redirect(const struct ibsa__engine *engine,
				struct ibsa_reply *out);

/* As it was made with. */
const struct ibsa__engine_options *
ibsa__engine_options(const struct ibsa__engine *engine);

/*
 * An alarm of a layer above, which embeds it and owns its memory. It rings
 * once, from dispatch alone and under the rules of a reply's callback, in
 * which it may be set again and its memory freed. The engine's end cancels
 * it without a ring.
 */
struct ibsa__alarm {
	struct timer timer;
	void (*expired)(struct ibsa__alarm *alarm);
};

void ibsa__alarm_init(struct ibsa__alarm *alarm,
		      void (*expired)(struct ibsa__alarm *alarm));

/* Have @alarm ring @ms from now, 1 at least; one that is set is moved. */
void ibsa__alarm_set(struct ibsa__engine *engine, struct ibsa__alarm *alarm,
		     unsigned int ms);

/* Do not let @alarm ring, if it is set. */
void ibsa__alarm_cancel(struct ibsa__engine *engine, struct ibsa__alarm *alarm);

/* The clock, and a number below @limit of the client's seed; @limit is from 1
 * to 2^32. */
uint64_t ibsa__engine_now_ns(const struct ibsa__engine *engine);
uint64_t ibsa__engine_random(struct ibsa__engine *engine, uint64_t limit);

/* Between the two is a callback, which a layer above calls by itself. */
void ibsa__engine_enter(struct ibsa__engine *engine);
void ibsa__engine_leave(struct ibsa__engine *engine);

/*
 * Who takes the SA's Reports: a layer above, which embeds it and owns its
 * memory. Both are called from dispatch, under the rules of a reply's
 * callback.
 */
struct ibsa__listener {
	/* A MAD of class SA with method Report and a whole header came; whether
	 * it is the SA's that would be asked now. Nothing else is checked. */
	void (*report)(struct ibsa__listener *listener,
		       const struct ibsa_message *message, bool is_sa);
	/* The transport may have lost some. */
	void (*missed)(struct ibsa__listener *listener);
};

/*
 * Have @listener take them from now on; NULL: nobody. To be called again now
 * and then: what the transport has lost it takes up again. Return: as the
 * transport's listen; -EOPNOTSUPP.
 */
int ibsa__engine_listen(struct ibsa__engine *engine,
			struct ibsa__listener *listener) IBSA_MUST_USE;

/* After -EBUSY: which process has, or may have, the Reports, in any bytes.
 * Return: false: that is not known. */
bool ibsa__engine_holder(struct ibsa__engine *engine, struct ibsa_error *out);

/* Send a MAD that nobody answers. Return: as the transport's send. */
int ibsa__engine_send(struct ibsa__engine *engine,
		      const struct ibsa_address *to, const uint8_t *mad,
		      size_t len) IBSA_MUST_USE;

/* Whether a callback of this engine is running. */
bool ibsa__engine_is_busy(const struct ibsa__engine *engine);

#endif
