/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state that this library holds for a verbs context, of libibverbs or of
 * ibsa_verbs_open(): the device that queries use, the registrations, and
 * events that were not read yet.
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
 * State of one verbs context. @lock guards the members below it, and is also
 * taken in callbacks; @changed is its condition variable. @asking is held for
 * reading while the device or its options are used, and for writing while they
 * change. @registering is held while registrations and the async fd change.
 * Locks are taken in the order @registering, @asking, then @opening or @lock.
 */
struct context_state {
	struct ibv_context *context;
	struct ibsa__verbs *verbs; /* NULL: libibverbs created the context */
	/*
	 * Copy of the environment variables when the context was opened, or
	 * first used. The copy is used when the device of the context is opened
	 * later.
	 */
	struct ibsa__environment *environment;
	bool no_environment;	    /* @environment ignores the variables */
	struct device_files *files; /* NULL: in an embedded fabric */
	struct ibsa_ib_device_options options;
	struct ibsa_address sa; /* target of @options.access.sa */
	struct ib_sa_client client;
	struct ib_device *device; /* NULL: not opened yet */
	/* value of ibsa__process() when the state was created */
	unsigned int process;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* List of struct context_call: the calls in progress on the context. */
	struct list calls;
	/* the registry holds a reference, so the state exists between calls */
	bool is_anchored;
	bool is_closed;
	/*
	 * libibverbs has closed @context, and a new context may have its
	 * address.
	 */
	bool is_stale;
	bool is_attached;
	struct async async;
	struct sm_filter filter;
	struct sm_queue queue;
	struct sm_history history;
	struct list watches;
	/* NULL: libibverbs, or nothing, delivers the events of the ports */
	struct port_events *port_events;

	pthread_mutex_t opening;
	pthread_rwlock_t asking;
	pthread_mutex_t registering;
};

enum {
	CALL_HAS_NUMBER = 1,	    /* it has an ASYNC_GET_NUMBER */
	CALL_HOLDS_REGISTERING = 2, /* it holds the lock of that name */
};

/*
 * A call in progress on a verbs context. A close by another thread waits for
 * its end. The thread cannot be cancelled, and signal handlers run only in
 * ibsa__context_call_await() and where the call restores the signal mask.
 */
struct context_call {
	struct list link;
	struct context_state *state;
	struct interrupts before;
	pthread_t thread;
	unsigned int flags;
};

/*
 * Begin a call on @context, from any thread; ibsa__context_state_leave() ends
 * it. Return: 0; -EINVAL @context is NULL, or it is a context of
 * ibsa_verbs_open() that is closed or was opened by a parent process; -ENOMEM.
 */
int ibsa__context_state_enter(struct ibv_context *context,
			      struct context_call *call) IBSA_MUST_USE;

/*
 * Do what ibsa__context_state_enter() does, and, if @no_environment is true,
 * let the context ignore the environment variables. Return: also -EINVAL
 * @no_environment is true, and ibsa_verbs_open() made the context; -EBUSY
 * @no_environment is true, and an earlier call has read the variables.
 */
int ibsa__context_state_enter_with(struct ibv_context *context,
				   bool no_environment,
				   struct context_call *call) IBSA_MUST_USE;

/*
 * Do what ibsa__context_state_enter() does, for a call that needs neither the
 * environment variables nor the device files. The state is freed at the end of
 * the call, unless something else needs it.
 */
int ibsa__context_state_hold(struct ibv_context *context,
			     struct context_call *call) IBSA_MUST_USE;

/*
 * Do what ibsa__context_state_enter() does, but only if the context already
 * has a state. Return: 0; -EINVAL it has no state.
 */
int ibsa__context_state_find(struct ibv_context *context,
			     struct context_call *call) IBSA_MUST_USE;

void ibsa__context_state_leave(struct context_call *call);

/* Whether this thread has an ASYNC_GET_NUMBER of the context. @lock is held. */
bool ibsa__context_call_has_number(const struct context_call *call);

/*
 * Wait up to 20 ms until another thread has changed the context state; signal
 * handlers run meanwhile. @lock is held, and is released while waiting.
 */
void ibsa__context_call_await(struct context_call *call);

/*
 * Get a reference to the state of @context for a thread that waits, without a
 * struct context_call: a close does not wait for that thread. @is_made: create
 * the state if it does not exist. Signals and cancellation are blocked;
 * @before holds their earlier settings. Return: as
 * ibsa__context_state_enter().
 */
int ibsa__context_state_get(struct ibv_context *context, bool is_made,
			    const struct interrupts *before,
			    struct context_state **out) IBSA_MUST_USE;
void ibsa__context_state_put(struct context_state *state);

/* Lock and unlock @registering for a call. */
void ibsa__context_call_lock(struct context_call *call);
void ibsa__context_call_unlock(struct context_call *call);

/*
 * End the state of @context: cancel its requests, and wait until the calls of
 * other threads have returned.
 */
void ibsa__context_state_end(struct ibv_context *context);

/*
 * Close the device of the context state, reset the options, and no longer keep
 * the state between calls. The function does nothing for a context of
 * ibsa_verbs_open(), and while another thread has a call in progress on the
 * context. The context has no registrations; @registering is held.
 */
void ibsa__context_state_reset(struct context_call *call);

/*
 * Open the context's device unless it is open. @asking is held. Return: 0;
 * -EIO the context is being closed; or as ibsa_ib_device_open().
 */
int ibsa__context_state_device(struct context_state *state) IBSA_MUST_USE;

/*
 * Keep the context state between calls until it is reset or closed. @lock is
 * held.
 */
void ibsa__context_state_anchor(struct context_state *state);

/*
 * Read the state of port @number of the context's device. Return: 0; -ENODEV no
 * such port; -ENETDOWN it has no link; or the error from reading it.
 */
int ibsa__context_state_port(const struct context_state *state,
			     unsigned int number,
			     struct ibsa_port_state *out) IBSA_MUST_USE;

/*
 * Whether the port can have an SA: it is not Ethernet, or the options contain
 * the SA's address.
 */
bool ibsa__context_state_port_fits(const struct context_state *state,
				   const struct ibsa_port_state *port);

/*
 * Return: the value that a function of libibverbs returns for @err: 0, or -1
 * with errno set.
 */
int ibsa__context_state_result(int err);

#endif
