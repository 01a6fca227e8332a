/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of the device and of the SM, read side by side. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "verbs/context_state.h"
#include "verbs/stock.h"

/*
 * libibverbs reads from the member async_fd, and its provider may look into the
 * context: so it gets the context itself, for this moment with our number. Of
 * the number that programs have, O_NONBLOCK is not to be seen by them. Locked.
 */
static int device_read(struct context_state *state,
		       struct ibsa_async_event *out)
{
	const struct async *async = &state->async;
	const int flags = fcntl(async->device_fd, F_GETFL);
	int err;

	if (flags < 0 || fcntl(async->device_fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	ibsa__async_get(state);
	err = ibsa__stock_get(state->context, out);
	ibsa__async_put(state);
	(void)!fcntl(async->device_fd, F_SETFL, flags);
	return err;
}

/* What another thread has read meanwhile is not there. */
static int device_take(struct context_state *state,
		       struct ibsa_async_event *out)
{
	struct pollfd file = { .fd = state->async.device_fd, .events = POLLIN };

	if (file.fd < 0 || poll(&file, 1, 0) != 1)
		return -EAGAIN;
	return device_read(state, out);
}

static int queue_take(struct context_state *state, struct ibsa_async_event *out)
{
	if (!ibsa__sm_queue_pop(&state->queue, out))
		return -EAGAIN;
	ibsa__async_update(state);
	return 0;
}

/* One event without waiting, of each source in turn. Locked. */
static int take(struct context_state *state, struct ibsa_async_event *out)
{
	const bool device_first = state->async.is_device_next;
	int err;

	if (state->is_closed)
		return -EBADF;
	err = device_first ? device_take(state, out) : queue_take(state, out);
	if (err != -EAGAIN) {
		state->async.is_device_next = !device_first;
		return err;
	}
	return device_first ? queue_take(state, out) : device_take(state, out);
}

static int try(struct context_state *state, struct ibsa_async_event *out)
{
	int err;

	pthread_mutex_lock(&state->lock);
	err = ibsa__async_begin(state);
	if (!err)
		err = take(state, out);
	pthread_mutex_unlock(&state->lock);
	return err;
}

/*
 * Whether the number is to be waited for; it is not while it has O_NONBLOCK.
 * Locked, lest it is seen as it is for a moment in device_read().
 */
static int may_wait(struct context_state *state)
{
	int flags;
	int err;

	pthread_mutex_lock(&state->lock);
	flags = fcntl(state->async.number, F_GETFL);
	err = flags < 0 ? -errno : 0;
	pthread_mutex_unlock(&state->lock);
	if (err)
		return err;
	return flags & O_NONBLOCK ? -EAGAIN : 0;
}

/* 0; -EAGAIN the number is not to be waited for; -EINTR. */
static int await(struct context_state *state)
{
	struct pollfd files[] = {
		{ .fd = state->async.ready_fd, .events = POLLIN },
		{ .fd = state->async.device_fd, .events = POLLIN },
	};
	const int err = may_wait(state);

	if (err)
		return err;
	return poll(files, 2, -1) < 0 ? -errno : 0;
}

static int get(struct context_state *state, struct ibsa_async_event *out)
{
	int err;

	while ((err = try(state, out)) == -EAGAIN) {
		err = await(state);
		if (err)
			break;
	}
	return err;
}

int ibsa_get_async_event(struct ibv_context *context,
			 struct ibsa_async_event *event)
{
	struct context_state *state;
	int err = event ? ibsa__context_state_enter(context, &state) : -EINVAL;

	if (!err) {
		err = get(state, event);
		ibsa__context_state_leave(state);
	}
	return ibsa__context_state_result(err);
}

static const char *own_text(int event_type)
{
	switch (event_type) {
	case IBV_EVENT_MCG_CREATED:
		return "MCG created";
	case IBV_EVENT_MCG_DELETED:
		return "MCG deleted";
	case IBV_EVENT_GID_AVAIL:
		return "GID available";
	case IBV_EVENT_GID_UNAVAIL:
		return "GID unavailable";
	case IBV_EVENT_SM_GAP:
		return "SM events may have been missed";
	default:
		return NULL;
	}
}

void ibsa_ack_async_event(struct ibsa_async_event *event)
{
	if (!own_text(event->event_type))
		ibsa__stock_ack(event);
}

const char *ibsa_event_type_str(int event_type)
{
	const char *text = own_text(event_type);

	if (!text)
		text = ibsa__stock_text(event_type);
	return text ? text : "unknown";
}
