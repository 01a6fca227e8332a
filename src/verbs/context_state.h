/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The context state that we hold for a context of libibverbs or our own: the
 * device that queries use, the registrations, and events that were not read
 * yet.
 */
#ifndef VERBS_CONTEXT_STATE_H
#define VERBS_CONTEXT_STATE_H

#include <pthread.h>

#include <ibsa/ib_sa.h>

#include "base/interrupt.h"
#include "verbs/async.h"
#include "verbs/context.h"
#include "verbs/sm_filter.h"
#include "verbs/sm_history.h"
#include "verbs/sm_queue.h"
#include "verbs/sm_watch.h"

/*
 * @lock guards the members below it, and is also taken in callbacks; @changed
 * belongs to it. @asking is held for reading while the device or its options
 * are used, and for writing while they change. @registering is held while
 * registrations and the async fd change. The order of locking is @registering,
 * then @asking, then @opening or @lock.
 */
struct context_state {
	struct ibv_context *context;
	struct ibsa__verbs *verbs; /* NULL: the context is libibverbs' */
	/* From the time of opening; the device is opened later. */
	struct ibsa__environment *environment;
	struct device_files *files; /* NULL: in an embedded fabric */
	struct ibsa_device_options options;
	struct ibsa_address sa; /* target of @options.access.sa */
	struct ib_sa_client client;
	struct ib_device *device; /* NULL: not opened yet */
	unsigned int process;	  /* ibsa__process() at its creation */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct list calls; /* struct context_call: calls in progress */
	bool is_anchored;  /* the registry keeps the state between calls */
	bool is_closed;
	/* libibverbs has closed @context; a new context may have its address. */
	bool is_stale;
	bool is_attached;
	struct async async;
	struct sm_filter filter;
	struct sm_queue queue;
	struct sm_history history;
	struct list watches;

	pthread_mutex_t opening;
	pthread_rwlock_t asking;
	pthread_mutex_t registering;
};

/*
 * A call in progress on a context. A close by another thread waits for it. The
 * thread cannot be cancelled, and signal handlers run only in
 * ibsa__context_call_await() and where the call restores the signal mask.
 */
struct context_call {
	struct list link;
	struct context_state *state;
	struct interrupts before;
	pthread_t thread;
	bool has_number;	/* it has an ASYNC_GET_NUMBER */
	bool holds_registering; /* it holds the lock of that name */
};

/*
 * Begin a call on @context, from any thread; ibsa__context_state_leave() ends
 * it.
 * Return: 0; -EINVAL @context is NULL, or one of our own that is closed or was
 * opened by a parent process; -ENOMEM.
 */
int ibsa__context_state_enter(struct ibv_context *context,
			      struct context_call *call) IBSA_MUST_USE;

/*
 * Like ibsa__context_state_enter(), for a call that does not use the
 * environment or the files. If nothing else needs the state, it ends with the
 * call.
 */
int ibsa__context_state_hold(struct ibv_context *context,
			     struct context_call *call) IBSA_MUST_USE;

/*
 * Like ibsa__context_state_enter(), but only if the state exists. Return: 0;
 * -EINVAL it does not exist.
 */
int ibsa__context_state_find(struct ibv_context *context,
			     struct context_call *call) IBSA_MUST_USE;

void ibsa__context_state_leave(struct context_call *call);

/* Whether this thread has an ASYNC_GET_NUMBER. @lock is held. */
bool ibsa__context_call_has_number(const struct context_call *call);

/*
 * Wait until something has changed, or for 20 ms; signal handlers run
 * meanwhile. @lock is held, and released while waiting.
 */
void ibsa__context_call_await(struct context_call *call);

/*
 * Get a reference to the state of @context without a call, for a thread that
 * waits: a close does not wait for that thread. @is_made: make the state if
 * there is none. Signals and cancellation are
 * held back; @before is what was set before. Return: as
 * ibsa__context_state_enter().
 */
int ibsa__context_state_get(struct ibv_context *context, bool is_made,
			    const struct interrupts *before,
			    struct context_state **out) IBSA_MUST_USE;
void ibsa__context_state_put(struct context_state *state);

/* Lock and unlock @registering for a call. */
void ibsa__context_call_lock(struct context_call *call);
void ibsa__context_call_unlock(struct context_call *call);

/* End the state of @context, and wait until it has ended. */
void ibsa__context_state_end(struct ibv_context *context);

/*
 * Close the device and reset the options, unless another thread has a call in
 * progress. There are no registrations; @registering is held.
 */
void ibsa__context_state_reset(struct context_call *call);

/*
 * Open the device unless it is open. @asking is held. Return: 0; -EIO the
 * context is being closed; or as ibsa_device_open().
 */
int ibsa__context_state_device(struct context_state *state) IBSA_MUST_USE;

/* Keep the state between calls until it is reset or closed. @lock is held. */
void ibsa__context_state_anchor(struct context_state *state);

/*
 * Read the state of port @number. Return: 0; -ENODEV no such port; -ENETDOWN it
 * has no link; or the error of reading it.
 */
int ibsa__context_state_port(const struct context_state *state,
			     unsigned int number,
			     struct ibsa_port_state *out) IBSA_MUST_USE;

/* Whether queries to the SA can use such a port. */
bool ibsa__context_state_port_fits(const struct context_state *state,
				   const struct ibsa_port_state *port);

/* Convert to the result of a libibverbs call: 0, or -1 with errno set. */
int ibsa__context_state_result(int err);

#endif
