/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that register for SM events, with the names that they have in
 * Solaris.
 */
#include <errno.h>

#include "verbs/context_state.h"
#include "verbs/sm_events.h"

/*
 * If no registration is left, stop the watches; unless the context is attached,
 * also remove the SM events from the queue and restore the async fd.
 */
static void registrations_settle(struct context_state *state)
{
	bool is_empty;

	pthread_mutex_lock(&state->lock);
	is_empty = ibsa__sm_filter_is_empty(&state->filter);
	pthread_mutex_unlock(&state->lock);
	if (!is_empty)
		return;
	ibsa__sm_watches_stop(state);
	pthread_mutex_lock(&state->lock);
	if (!state->is_attached) {
		ibsa__sm_queue_clear_sm(&state->queue);
		ibsa__async_update(state);
		ibsa__async_unsplice(state);
	}
	pthread_mutex_unlock(&state->lock);
}

void ibsa__sm_events_clear(struct context_state *state)
{
	pthread_mutex_lock(&state->lock);
	ibsa__sm_filter_clear(&state->filter);
	state->is_attached = false;
	state->queue.gaps_wanted = false;
	state->queue.limit = IBSA_DEFAULT_EVENT_QUEUE;
	pthread_mutex_unlock(&state->lock);
	registrations_settle(state);
}

static void request_drop(struct context_state *state,
			 const struct sm_request *request)
{
	(void)!ibsa__sm_filter_remove(&state->filter, request);
	ibsa__async_update(state);
}

/*
 * Add a registration to the filter. From then on, matching events are queued.
 */
static int request_add(struct context_call *call,
		       const struct sm_request *request)
{
	struct context_state *state = call->state;
	int err;

	pthread_mutex_lock(&state->lock);
	err = state->is_closed ? -EIO : ibsa__async_begin(state);
	if (!err)
		err = ibsa__sm_filter_add(&state->filter, request);
	if (!err) {
		err = ibsa__async_splice(call);
		if (err)
			request_drop(state, request);
		else
			ibsa__context_state_anchor(state);
	}
	err = err && state->is_closed ? -EIO : err;
	pthread_mutex_unlock(&state->lock);
	return err;
}

static int request_remove(struct context_call *call,
			  const struct sm_request *request)
{
	struct context_state *state = call->state;
	int err;

	pthread_mutex_lock(&state->lock);
	err = ibsa__sm_filter_remove(&state->filter, request);
	pthread_mutex_unlock(&state->lock);
	if (!err)
		registrations_settle(state);
	return err;
}

static int events_register(struct context_call *call,
			   const struct sm_request *request)
{
	int err = request_add(call, request);

	if (err)
		return err;
	err = ibsa__sm_watches_start(call);
	if (err)
		(void)!request_remove(call, request);
	return err;
}

/*
 * Check the arguments of a function, and let @change add or remove the
 * registration.
 */
static int events_call(int (*enter)(struct ibv_context *context,
				    struct context_call *call),
		       int (*change)(struct context_call *call,
				     const struct sm_request *request),
		       struct ibv_context *context, ibv_sm_event_type_t event,
		       int gid_num, const union ibv_gid *gids)
{
	struct context_call call;
	struct sm_request request;
	int err = ibsa__sm_request_check(event, gid_num, gids, &request);

	if (!err)
		err = enter(context, &call);
	if (!err) {
		ibsa__context_call_lock(&call);
		err = change(&call, &request);
		ibsa__context_call_unlock(&call);
		ibsa__context_state_leave(&call);
	}
	return ibsa__context_state_result(err);
}

int ibv_register_sm_events(struct ibv_context *context,
			   ibv_sm_event_type_t event, int gid_num,
			   union ibv_gid *gids)
{
	return events_call(ibsa__context_state_enter, events_register, context,
			   event, gid_num, gids);
}

int ibv_unregister_sm_events(struct ibv_context *context,
			     ibv_sm_event_type_t event, int gid_num,
			     union ibv_gid *gids)
{
	return events_call(ibsa__context_state_find, request_remove, context,
			   event, gid_num, gids);
}
