/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What we hold for a context, of libibverbs or our own: the device its SA is
 * asked through, what is registered, and events that wait to be read.
 */
#ifndef VERBS_CONTEXT_STATE_H
#define VERBS_CONTEXT_STATE_H

#include <pthread.h>

#include <ibsa/ib_sa.h>

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
	struct ib_device *device; /* NULL: nobody has asked yet */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int users; /* calls under way */
	bool is_anchored;   /* the registry keeps it between calls */
	bool is_closed;
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
 * Begin a call on @context, from any thread; ibsa__context_state_leave() ends it.
 * Return: 0; -EINVAL no @context, one that is being closed, or of our own that
 * is closed or a parent's; -ENOMEM.
 */
int ibsa__context_state_enter(struct ibv_context *context,
			      struct context_state **out) IBSA_MUST_USE;

/* The same for a state that exists already. Return: 0; -EINVAL. */
int ibsa__context_state_find(const struct ibv_context *context,
			     struct context_state **out) IBSA_MUST_USE;

void ibsa__context_state_leave(struct context_state *state);

/* End all that is ours of @context, and wait until it has. */
void ibsa__context_state_end(const struct ibv_context *context);

/*
 * The device, opened by the first who asks. @asking is held. Return: 0; -EIO
 * the context is being closed; or as ibsa_device_open().
 */
int ibsa__context_state_device(struct context_state *state) IBSA_MUST_USE;

/*
 * The state of port @number, read afresh. Return: 0; -ENODEV there is none;
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
