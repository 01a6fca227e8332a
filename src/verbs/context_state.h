/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What we hold for a context, of libibverbs or our own: the device its SA is
 * asked through, what is registered, and events that wait to be read.
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
 * @lock guards what stands below it, and is taken in callbacks too; @changed
 * goes with it. @asking is held for reading while the device or its options are
 * used, for writing while they change. @registering is held while registrations
 * and the async fd change. They are taken from the bottom up: @registering,
 * then @asking, then @opening or @lock.
 */
struct context_state {
	struct ibv_context *context;
	struct ibsa__verbs *verbs; /* NULL: the context is libibverbs' */
	/* As the context was opened: its device is opened later. */
	struct ibsa__environment *environment;
	struct device_files *files; /* NULL: in an embedded fabric */
	struct ibsa_device_options options;
	struct ibsa_address sa; /* that @options may point to */
	struct ib_sa_client client;
	struct ib_device *device; /* NULL: not opened yet */
	unsigned int process;	  /* ibsa__process() of its process */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct list calls; /* struct context_call: calls in progress */
	bool is_anchored;  /* the registry keeps it between calls */
	bool is_closed;
	bool is_stale; /* libibverbs closed @context, which is another now */
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
 * A call in progress on a context, which a close by another thread waits for.
 * Its thread is not canceled, and runs signal handlers only where it says so.
 */
struct context_call {
	struct list link;
	struct context_state *state;
	struct interrupts before;
	pthread_t thread;
	bool has_number;	/* see ASYNC_GET_NUMBER */
	bool holds_registering; /* the lock of that name */
};

/*
 * Begin a call on @context, from any thread; ibsa__context_state_leave() ends
 * it. Return: 0; -EINVAL no @context, or one of our own that is closed or a
 * parent's; -ENOMEM.
 */
int ibsa__context_state_enter(struct ibv_context *context,
			      struct context_call *call) IBSA_MUST_USE;

/* The same for a call that does not use the environment or the files: unless
 * something else keeps the state, it ends with the call. */
int ibsa__context_state_hold(struct ibv_context *context,
			     struct context_call *call) IBSA_MUST_USE;

/* The same for a state that exists already. Return: 0; -EINVAL. */
int ibsa__context_state_find(struct ibv_context *context,
			     struct context_call *call) IBSA_MUST_USE;

void ibsa__context_state_leave(struct context_call *call);

/* Whether this thread has an ASYNC_GET_NUMBER. Locked. */
bool ibsa__context_call_has_number(const struct context_call *call);

/*
 * Wait until something has changed, or for a moment; signal handlers run
 * meanwhile. Locked; the lock is released meanwhile.
 */
void ibsa__context_call_await(struct context_call *call);

/*
 * A reference to the state of @context without a call, for a thread that waits:
 * a close does not wait for that thread. Interruptions are held, since @before.
 * Return: as ibsa__context_state_enter().
 */
int ibsa__context_state_get(struct ibv_context *context,
			    const struct interrupts *before,
			    struct context_state **out) IBSA_MUST_USE;
void ibsa__context_state_put(struct context_state *state);

/* Take @registering for a call, and release it. */
void ibsa__context_call_lock(struct context_call *call);
void ibsa__context_call_unlock(struct context_call *call);

/* End all that is ours of @context, and wait until it has. */
void ibsa__context_state_end(struct ibv_context *context);

/* Let go of the device and the options, unless another thread has a call in
 * progress. There are no registrations; @registering is held. */
void ibsa__context_state_reset(struct context_call *call);

/*
 * The device, opened at the first call. @asking is held. Return: 0; -EIO the
 * context is being closed; or as ibsa_device_open().
 */
int ibsa__context_state_device(struct context_state *state) IBSA_MUST_USE;

/* Keep the state until it is reset or closed. Locked. */
void ibsa__context_state_anchor(struct context_state *state);

/*
 * Read the state of port @number. Return: 0; -ENODEV without such a port;
 * -ENETDOWN it has no cable; or the error of reading it.
 */
int ibsa__context_state_port(const struct context_state *state,
			     unsigned int number,
			     struct ibsa_port_state *out) IBSA_MUST_USE;

/* Whether the SA can be asked through such a port. */
bool ibsa__context_state_port_fits(const struct context_state *state,
				   const struct ibsa_port_state *port);

/* -1 and errno, or 0: as the names of manual pages have it. */
int ibsa__context_state_result(int err);

#endif
