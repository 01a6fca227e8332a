/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches for SM events, one per port. */
#include <errno.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "verbs/context_state.h"
#include "verbs/sm_watch.h"
#include "wire/gid.h"

enum { BOUND_S = 10, SILENCE_MS = 5000 };

/*
 * A watch of one port for SM events. @result: 0, or the error, once the result
 * of the subscription is known. After the end of a watch, it is freed: at once
 * if it was stopped; otherwise before watches are started again.
 */
struct sm_watch {
	struct list link;
	struct context_state *state;
	struct ibsa_device_watch *handle;
	uint64_t prefix;
	uint8_t port;
	bool is_stopped;
	bool has_ended;
	bool has_result;
	int result;
};

static void watch_free(struct sm_watch *watch)
{
	list_remove(&watch->link);
	ibsa__free(watch);
}

/*
 * Return: the verbs type of an event; 0 if verbs have no type for this event
 * or this kind of GID.
 */
static int event_type(const struct ibsa_event *event)
{
	const bool is_group = gid_is_multicast(&event->gid);

	switch (event->kind) {
	case IBSA_EVENT_GID_IN:
		return is_group ? 0 : IBV_EVENT_GID_AVAIL;
	case IBSA_EVENT_GID_OUT:
		return is_group ? 0 : IBV_EVENT_GID_UNAVAIL;
	case IBSA_EVENT_GROUP_CREATED:
		return is_group ? IBV_EVENT_MCG_CREATED : 0;
	case IBSA_EVENT_GROUP_DELETED:
		return is_group ? IBV_EVENT_MCG_DELETED : 0;
	default:
		return 0;
	}
}

/* @lock is held. */
static void watch_note_report(struct sm_watch *watch,
			      const struct ibsa_event *event)
{
	struct context_state *state = watch->state;
	const struct sm_report report = {
		.gid = event->gid,
		.kind = event->kind,
		.port = watch->port,
		.prefix = watch->prefix,
		.time_ns = event->time_ns,
	};
	const int type = event_type(event);

	if (type && ibsa__sm_filter_wants(&state->filter, &event->gid) &&
	    ibsa__sm_history_is_new(&state->history, &report))
		ibsa__sm_queue_push(&state->queue, type, &event->gid);
}

/*
 * Map the error of a subscription. Return: an error that the manual page
 * ibv_register_sm_events(3) lists, negative.
 */
static int register_errno(int err)
{
	switch (err) {
	case -ENETDOWN:
	case -EAGAIN:
		return -EAGAIN;
	case -EBUSY:
	case -ENOMEM:
	case -ENODEV:
		return err;
	case -EOPNOTSUPP:
		return -ENODEV;
	default:
		return -EIO;
	}
}

/*
 * Note the result of a watch's subscription from an event. A failure without an
 * error means that the SA is busy, so the result remains unknown. The result 0
 * remains, because a subscription that existed once will be renewed. @lock is
 * held.
 */
static void note_result(struct sm_watch *watch, const struct ibsa_event *event)
{
	const bool stands = event->kind == IBSA_EVENT_SUBSCRIBED;

	if ((event->kind == IBSA_EVENT_FAILED && !event->err) ||
	    (watch->has_result && !watch->result))
		return;
	watch->has_result = true;
	watch->result = stands ? 0 : register_errno(event->err);
	pthread_cond_broadcast(&watch->state->changed);
}

/* @lock is held. */
static void watch_note_end(struct sm_watch *watch,
			   const struct ibsa_event *event)
{
	watch->has_ended = true;
	note_result(watch, event);
	if (!watch->is_stopped)
		return;
	pthread_cond_broadcast(&watch->state->changed);
	watch_free(watch);
}

/* @lock is held. */
static void watch_note(struct sm_watch *watch, const struct ibsa_event *event)
{
	switch (event->kind) {
	case IBSA_EVENT_SUBSCRIBED:
	case IBSA_EVENT_LOST:
	case IBSA_EVENT_FAILED:
	case IBSA_EVENT_REFUSED:
		note_result(watch, event);
		break;
	case IBSA_EVENT_ENDED:
		watch_note_end(watch, event);
		break;
	case IBSA_EVENT_GAP:
		if (!watch->is_stopped)
			ibsa__sm_queue_gap(&watch->state->queue, watch->port);
		break;
	default:
		if (!watch->is_stopped)
			watch_note_report(watch, event);
	}
}

static void watch_event(const struct ibsa_event *event, void *arg)
{
	struct sm_watch *watch = arg;
	struct context_state *state = watch->state;

	pthread_mutex_lock(&state->lock);
	watch_note(watch, event);
	ibsa__async_update(state);
	pthread_mutex_unlock(&state->lock);
}

/* Whether the port @port is watched; for 0, whether any port is. */
static bool is_watched(struct context_state *state, unsigned int port)
{
	const struct sm_watch *watch;
	bool found = false;

	pthread_mutex_lock(&state->lock);
	LIST_EACH(watch, &state->watches, link)
		found |= !watch->is_stopped && !watch->has_ended &&
			 (!port || watch->port == port);
	pthread_mutex_unlock(&state->lock);
	return found;
}

/*
 * Free the watches that have ended by themselves, so that they can be started
 * again.
 */
static void ended_watches_free(struct context_state *state)
{
	struct sm_watch *watch, *next;

	pthread_mutex_lock(&state->lock);
	LIST_EACH_SAFE(watch, next, &state->watches, link) {
		if (watch->has_ended)
			watch_free(watch);
	}
	pthread_mutex_unlock(&state->lock);
}

static int watch_new(struct context_state *state, unsigned int port,
		     const struct ibsa_port_state *port_state,
		     struct sm_watch **out)
{
	struct sm_watch *watch = ibsa__calloc(1, sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	watch->state = state;
	watch->port = (uint8_t)port;
	watch->prefix = ibsa_be64(port_state->gid.raw);
	pthread_mutex_lock(&state->lock);
	list_append(&state->watches, &watch->link);
	pthread_mutex_unlock(&state->lock);
	*out = watch;
	return 0;
}

static int watch_subscribe(struct context_state *state, struct sm_watch *watch)
{
	const struct ibsa_event_options options = {
		.kinds = IBSA_EVENT_OF_SM,
		.audit_ms = state->options.audit_ms,
		.deadline_ms = SILENCE_MS,
	};
	int err;

	pthread_rwlock_rdlock(&state->asking);
	err = ibsa__context_state_device(state);
	if (!err)
		err = ibsa_device_watch_start(&state->client, state->device,
					      watch->port, &options,
					      watch_event, watch,
					      &watch->handle);
	pthread_rwlock_unlock(&state->asking);
	return err;
}

static int port_watch(struct context_state *state, unsigned int port,
		      const struct ibsa_port_state *port_state)
{
	struct sm_watch *watch;
	int err;

	if (is_watched(state, port))
		return 0;
	err = watch_new(state, port, port_state, &watch);
	if (err)
		return err;
	err = watch_subscribe(state, watch);
	if (!err)
		return 0;
	pthread_mutex_lock(&state->lock);
	watch_free(watch);
	pthread_mutex_unlock(&state->lock);
	return register_errno(err);
}

/*
 * Return: the more informative of the errors @a and @b, of which @b may be 0.
 * An error of a port that is down is less informative, since it is common.
 */
static int worse_error(int a, int b)
{
	if (!b || b == -ENODEV)
		return a;
	return a == -ENODEV || a == -EAGAIN ? b : a;
}

/*
 * Start watches for all ports that are not watched yet. Return: the most
 * informative error; -ENODEV if every port of the device is watched or is not
 * suitable.
 */
static int ports_watch(struct context_state *state)
{
	struct ibsa_port_state port_state;
	int worst = -ENODEV;
	int err = 0;

	ended_watches_free(state);
	for (unsigned int port = 1; err != -ENODEV; port++) {
		err = ibsa__context_state_port(state, port, &port_state);
		if (!err && ibsa__context_state_port_fits(state, &port_state))
			worst = worse_error(worst, port_watch(state, port,
							      &port_state));
		else if (err && err != -ENODEV)
			worst = worse_error(worst, register_errno(err));
	}
	return worst;
}

/*
 * Return: 0 if a subscription exists; -EINPROGRESS if the SA may still accept
 * one; otherwise the reason why there is none. @lock is held.
 */
static int watches_result(const struct context_state *state, int worst)
{
	const struct sm_watch *watch;
	bool is_open = false;

	if (state->is_closed)
		return -EIO;
	LIST_EACH(watch, &state->watches, link) {
		if (watch->is_stopped)
			continue;
		if (watch->has_result && !watch->result)
			return 0;
		is_open = is_open || !watch->has_result;
		worst = worse_error(worst, watch->result);
	}
	return is_open ? -EINPROGRESS : worst;
}

static int watches_await(struct context_call *call, int worst)
{
	struct context_state *state = call->state;
	const uint64_t until = clock_now_ns() + BOUND_S * NS_PER_S;
	int err;

	pthread_mutex_lock(&state->lock);
	while ((err = watches_result(state, worst)) == -EINPROGRESS &&
	       clock_now_ns() < until)
		ibsa__context_call_await(call);
	pthread_mutex_unlock(&state->lock);
	return err == -EINPROGRESS ? -EIO : err;
}

/*
 * Watch all ports and wait for a subscription. The error of one port is
 * ignored if another port has a subscription.
 */
int ibsa__sm_watches_start(struct context_call *call)
{
	struct context_state *state = call->state;
	const bool is_first = !is_watched(state, 0);
	const int worst = ports_watch(state);
	int err;

	if (!is_first)
		return 0;
	err = watches_await(call, worst);
	if (err)
		ibsa__sm_watches_stop(state);
	return err;
}

/* @lock is held. */
static void watch_stop(struct sm_watch *watch)
{
	if (watch->is_stopped)
		return;
	watch->is_stopped = true;
	if (watch->has_ended)
		watch_free(watch);
	else
		ibsa_device_watch_stop(watch->handle);
}

void ibsa__sm_watches_stop(struct context_state *state)
{
	struct sm_watch *watch, *next;

	pthread_mutex_lock(&state->lock);
	LIST_EACH_SAFE(watch, next, &state->watches, link)
		watch_stop(watch);
	ibsa__sm_history_clear(&state->history);
	pthread_mutex_unlock(&state->lock);
}
