/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a context is used, and the end of it. */
#include <errno.h>

#include "client/open.h"
#include "verbs/context_state.h"
#include "verbs/sm_events.h"
#include "verbs/stock.h"

enum { EVENTS_MAX = 1 << 20 };

/* Whether it is said how the SA is asked, which the device has to be told. */
static bool has_address(const struct ibsa_verbs_options *options)
{
	return options->sa || options->grh || options->sm_key;
}

static int options_check(const struct context_state *state,
			 const struct ibsa_verbs_options *options)
{
	const struct ibsa_options address = {
		.sa = options->sa,
		.grh = options->grh,
		.sm_key = options->sm_key,
	};

	if (options->max_events > EVENTS_MAX ||
	    (state->verbs && has_address(options)))
		return -EINVAL;
	return ibsa__options_check(&address, NULL);
}

/* @asking is held for writing: nobody looks at the options meanwhile. */
static void address_take(struct context_state *state,
			 const struct ibsa_verbs_options *options)
{
	if (!has_address(options))
		return;
	state->options.grh = options->grh;
	state->options.sm_key = options->sm_key;
	state->options.sa = NULL;
	if (options->sa) {
		state->sa = *options->sa;
		state->options.sa = &state->sa;
	}
}

/* Locked. */
static int splice(struct context_state *state,
		  const struct ibsa_verbs_options *options)
{
	int err = state->is_closed ? -EINVAL : ibsa__async_begin(state);

	if (!err && state->is_attached)
		err = -EALREADY;
	if (!err)
		err = ibsa__async_splice(state);
	if (err)
		return err;
	state->is_attached = true;
	state->queue.gaps_wanted = options->gaps;
	state->queue.limit = options->max_events ? options->max_events
						 : SM_QUEUE_LIMIT;
	state->options.audit_ms = options->audit_ms;
	return 0;
}

static int attach(struct context_state *state,
		  const struct ibsa_verbs_options *options)
{
	int err = options_check(state, options);

	if (err)
		return err;
	pthread_rwlock_wrlock(&state->asking);
	pthread_mutex_lock(&state->lock);
	err = state->device && has_address(options) ? -EBUSY
						    : splice(state, options);
	if (!err)
		address_take(state, options);
	pthread_mutex_unlock(&state->lock);
	pthread_rwlock_unlock(&state->asking);
	return err;
}

int ibsa_verbs_attach(struct ibv_context *context,
		      const struct ibsa_verbs_options *options)
{
	static const struct ibsa_verbs_options defaults;
	struct context_state *state;
	int err = ibsa__context_state_enter(context, &state);

	if (err)
		return err;
	pthread_mutex_lock(&state->registering);
	err = attach(state, options ? options : &defaults);
	pthread_mutex_unlock(&state->registering);
	ibsa__context_state_leave(state);
	return err;
}

/* Whether there is something that a detach would end. */
static bool is_used(struct context_state *state)
{
	bool used;

	pthread_mutex_lock(&state->lock);
	used = state->is_attached || !ibsa__sm_filter_is_empty(&state->filter);
	pthread_mutex_unlock(&state->lock);
	return used;
}

/*
 * Of libibverbs' context nothing is kept: from now on libibverbs may close it,
 * which we do not hear of, and the next may be at the same place. Who waits for
 * an event goes on to.
 */
static bool is_to_end(struct context_state *state)
{
	bool is_alone;

	pthread_mutex_lock(&state->lock);
	is_alone = state->users == 1;
	pthread_mutex_unlock(&state->lock);
	return is_alone && !state->verbs;
}

int ibsa_verbs_detach(struct ibv_context *context)
{
	struct context_state *state;
	bool ends = false;
	int err = ibsa__context_state_find(context, &state);

	if (err)
		return err;
	pthread_mutex_lock(&state->registering);
	if (is_used(state)) {
		ibsa__sm_events_clear(state);
		ends = is_to_end(state);
	} else {
		err = -EINVAL;
	}
	pthread_mutex_unlock(&state->registering);
	ibsa__context_state_leave(state);
	if (ends)
		ibsa__context_state_end(context);
	return err;
}

int ibsa_close_device(struct ibv_context *context)
{
	if (!context)
		return ibsa__context_state_result(-EINVAL);
	if (context->cmd_fd < 0)
		return ibsa__context_state_result(ibsa_verbs_close(context));
	ibsa__context_state_end(context);
	return ibsa__context_state_result(ibsa__stock_close(context));
}
