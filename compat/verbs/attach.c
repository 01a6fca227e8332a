/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa_verbs_attach() and ibsa_verbs_detach(), and the close of a verbs
 * context.
 */
#include <errno.h>

#include "client/open.h"
#include "verbs/context_state.h"
#include "verbs/sm_events.h"
#include "base/sized.h"
#include "verbs/stock.h"

enum { EVENTS_MAX = 1 << 20 };

/*
 * Whether the options tell how requests reach the SA. For a context of
 * ibsa_verbs_open(), ibsa_verbs_attach() rejects them: they are options of
 * ibsa_verbs_open().
 */
static bool has_access(const struct ibsa_sa_access *access)
{
	return access->sa || access->grh || access->sm_key;
}

static int options_check(const struct context_state *state,
			 const struct ibsa_verbs_options *options)
{
	const struct ibsa_options client = { .access = options->access };

	if (options->max_events > EVENTS_MAX ||
	    (state->verbs && has_access(&options->access)))
		return -EINVAL;
	return ibsa__options_check(&client, NULL);
}

/* The values that an attach changes, and restores if it fails. */
struct saved_access {
	struct ibsa_address sa; /* context_state.sa */
	struct ibsa_sa_access access;
};

/* @asking is held. */
static struct saved_access access_read(const struct context_state *state)
{
	return (struct saved_access){ state->sa, state->options.access };
}

static void access_write(struct context_state *state,
			 const struct saved_access *saved)
{
	pthread_rwlock_wrlock(&state->asking);
	state->sa = saved->sa;
	state->options.access = saved->access;
	pthread_rwlock_unlock(&state->asking);
}

static int access_set(struct context_state *state,
		      const struct ibsa_sa_access *access,
		      struct saved_access *out_before)
{
	struct saved_access saved = { .access = *access };
	int err;

	pthread_rwlock_rdlock(&state->asking);
	*out_before = access_read(state);
	err = state->device && has_access(access) ? -EBUSY : 0;
	pthread_rwlock_unlock(&state->asking);
	if (err || !has_access(access))
		return err;
	if (access->sa) {
		saved.sa = *access->sa;
		saved.access.sa = &state->sa;
	}
	access_write(state, &saved);
	return 0;
}

static int context_begin(struct context_state *state)
{
	int err;

	pthread_mutex_lock(&state->lock);
	err = state->is_closed ? -EINVAL : ibsa__async_begin(state);
	if (!err && state->is_attached)
		err = -EALREADY;
	pthread_mutex_unlock(&state->lock);
	return err;
}

static int context_splice(struct context_call *call,
			  const struct ibsa_verbs_options *options)
{
	struct context_state *state = call->state;
	int err;

	pthread_mutex_lock(&state->lock);
	err = ibsa__async_splice(call);
	if (!err) {
		ibsa__context_state_anchor(state);
		state->is_attached = true;
		state->queue.gaps_wanted = options->gaps;
		state->queue.limit = options->max_events
					     ? options->max_events
					     : IBSA_DEFAULT_EVENT_QUEUE;
		state->options.audit_ms = options->audit_ms;
	}
	pthread_mutex_unlock(&state->lock);
	return err;
}

static int context_attach(struct context_call *call,
			  const struct ibsa_verbs_options *options)
{
	struct context_state *state = call->state;
	struct saved_access before;
	int err = options_check(state, options);

	if (!err)
		err = context_begin(state);
	if (!err)
		err = access_set(state, &options->access, &before);
	if (err)
		return err;
	err = context_splice(call, options);
	if (err)
		access_write(state, &before);
	return err;
}

int ibsa_verbs_attach_sized(struct ibv_context *context,
			    const struct ibsa_verbs_options *options,
			    size_t size)
{
	struct ibsa_verbs_options known;
	struct context_call call;
	int err = ibsa__sized_read(&known, sizeof(known), options, size);

	if (!err)
		err = ibsa__context_state_enter_with(
			context, known.no_environment, &call);
	if (err)
		return err;
	ibsa__context_call_lock(&call);
	err = context_attach(&call, &known);
	ibsa__context_call_unlock(&call);
	ibsa__context_state_leave(&call);
	return err;
}

/* Whether a detach has anything to end. */
static bool state_is_used(struct context_state *state)
{
	bool used;

	pthread_mutex_lock(&state->lock);
	used = state->is_attached || !ibsa__sm_filter_is_empty(&state->filter);
	pthread_mutex_unlock(&state->lock);
	return used;
}

/*
 * Detach a context. For a context of libibverbs, no state remains: libibverbs
 * may close the context without notice to this library, and open another
 * context at the same address. Threads that wait for an event continue to wait.
 */
int ibsa_verbs_detach(struct ibv_context *context)
{
	struct context_call call;
	int err = ibsa__context_state_find(context, &call);

	if (err)
		return err;
	ibsa__context_call_lock(&call);
	if (state_is_used(call.state)) {
		ibsa__sm_events_clear(call.state);
		ibsa__context_state_reset(&call);
	} else {
		err = -EINVAL;
	}
	ibsa__context_call_unlock(&call);
	ibsa__context_state_leave(&call);
	return err;
}

int ibsa_close_device(struct ibv_context *context)
{
	if (!context)
		return ibsa__context_state_result(-EINVAL);
	if (context->cmd_fd < 0)
		return ibsa__context_state_result(ibsa_verbs_close(context));
	ibsa__context_state_end(context);
	/* In libibverbs, closing a context may be a cancellation point. */
	return ibsa__context_state_result(ibsa__stock_close(context));
}
