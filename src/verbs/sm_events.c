/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registrations for the SM's events, under the names that Solaris gave them. */
#include <errno.h>

#include "verbs/context_state.h"
#include "verbs/sm_events.h"

/* With the last registration, all that was there for them ends. */
static void settle(struct context_state *state)
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
		ibsa__sm_queue_clear(&state->queue);
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
	state->queue.limit = SM_QUEUE_LIMIT;
	pthread_mutex_unlock(&state->lock);
	settle(state);
}

void ibsa__sm_events_end(struct context_state *state)
{
	pthread_mutex_lock(&state->registering);
	ibsa__sm_events_clear(state);
	pthread_mutex_unlock(&state->registering);
}

/* What matches is told from now on. */
static int begin(struct context_state *state, const struct sm_wish *wish)
{
	int err;

	pthread_mutex_lock(&state->lock);
	err = state->is_closed ? -EIO : ibsa__async_begin(state);
	if (!err)
		err = ibsa__sm_filter_add(&state->filter, wish);
	if (!err) {
		err = ibsa__async_splice(state);
		if (err)
			(void)!ibsa__sm_filter_remove(&state->filter, wish);
	}
	pthread_mutex_unlock(&state->lock);
	return err;
}

static int end(struct context_state *state, const struct sm_wish *wish)
{
	int err;

	pthread_mutex_lock(&state->lock);
	err = ibsa__sm_filter_remove(&state->filter, wish);
	pthread_mutex_unlock(&state->lock);
	if (!err)
		settle(state);
	return err;
}

static int add(struct context_state *state, const struct sm_wish *wish)
{
	int err;

	pthread_mutex_lock(&state->registering);
	err = begin(state, wish);
	if (!err) {
		err = ibsa__sm_watches_start(state);
		if (err)
			(void)!end(state, wish);
	}
	pthread_mutex_unlock(&state->registering);
	return err;
}

int ibv_register_sm_events(struct ibv_context *context,
			   ibv_sm_event_type_t event, int gid_num,
			   union ibv_gid *gids)
{
	struct context_state *state;
	struct sm_wish wish;
	int err = ibsa__sm_wish_check(event, gid_num, gids, &wish);

	if (!err)
		err = ibsa__context_state_enter(context, &state);
	if (!err) {
		err = add(state, &wish);
		ibsa__context_state_leave(state);
	}
	return ibsa__context_state_result(err);
}

int ibv_unregister_sm_events(struct ibv_context *context,
			     ibv_sm_event_type_t event, int gid_num,
			     union ibv_gid *gids)
{
	struct context_state *state;
	struct sm_wish wish;
	int err = ibsa__sm_wish_check(event, gid_num, gids, &wish);

	if (!err)
		err = ibsa__context_state_find(context, &state);
	if (!err) {
		pthread_mutex_lock(&state->registering);
		err = end(state, &wish);
		pthread_mutex_unlock(&state->registering);
		ibsa__context_state_leave(state);
	}
	return ibsa__context_state_result(err);
}
