/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds, creates and ends the state that this library holds for a verbs
 * context.
 */
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/clock_cond.h"
#include "base/registry.h"
#include "client/open.h"
#include "device/device.h"
#include "device/sysfs.h"
#include "ib_sa/device.h"
#include "verbs/context_state.h"
#include "verbs/port_events.h"
#include "verbs/sm_events.h"

struct key {
	char text[64 + sizeof(((struct ibv_device *)NULL)->name)];
};

/*
 * Return: the registry's key of a context. The key also contains the command
 * file and the device name, since a later context may have the same address.
 */
static struct key context_key(const struct ibv_context *context)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), "context %p %d %s",
		 (const void *)context, context->cmd_fd, context->device->name);
	return key;
}

static void state_destroy(void *object)
{
	struct context_state *state = object;

	ibsa__async_done(&state->async);
	ibsa__sm_queue_clear(&state->queue);
	ibsa__sm_history_clear(&state->history);
	ibsa__sm_filter_done(&state->filter);
	pthread_mutex_destroy(&state->registering);
	pthread_rwlock_destroy(&state->asking);
	pthread_mutex_destroy(&state->opening);
	pthread_cond_destroy(&state->changed);
	pthread_mutex_destroy(&state->lock);
	if (state->verbs)
		ibsa__verbs_put(state->verbs);
	ibsa__files_put(state->files);
	ibsa__free(state->environment);
	ibsa__free(state);
}

static void locks_init(struct context_state *state)
{
	clock_cond_init(&state->changed);
	pthread_mutex_init(&state->lock, NULL);
	pthread_mutex_init(&state->opening, NULL);
	pthread_rwlock_init(&state->asking, NULL);
	pthread_mutex_init(&state->registering, NULL);
}

/*
 * Fill the options for opening the device. A context of libibverbs belongs to
 * a real device, regardless of IBSA_FABRIC.
 */
static void options_fill(struct context_state *state)
{
	const struct ibsa_options *ours;

	state->options.fabric = "";
	if (!state->verbs) {
		state->options.name = state->context->device->name;
		state->options.context = state->context;
		return;
	}
	ours = &state->verbs->options;
	state->options.name = ours->device;
	state->options.on = ours->on;
	state->options.fabric = ours->fabric;
	state->options.access = ours->access;
	state->options.window = ours->window;
}

void ibsa__context_state_anchor(struct context_state *state)
{
	if (state->is_anchored || state->is_closed)
		return;
	ibsa__registry_hold(state);
	state->is_anchored = true;
}

/*
 * Store the environment variables of a context: for a context of
 * ibsa_verbs_open(), as they were when it was opened; for a context of
 * libibverbs, as they are at the first call that needs them.
 */
static int origin_read(struct context_state *state, bool no_environment)
{
	const struct ibsa__environment environment =
		state->verbs ? *state->verbs->environment
			     : ibsa__environment_read(no_environment);
	int err;

	if (!state->verbs)
		err = ibsa__sysfs_open(environment.sysfs, &state->files);
	else
		err = 0;
	if (state->verbs && state->verbs->files)
		state->files = ibsa__files_get(state->verbs->files);
	if (!err)
		err = ibsa__environment_copy(&environment, &state->environment);
	if (err) {
		ibsa__files_put(state->files);
		state->files = NULL;
		return err;
	}
	state->no_environment = no_environment;
	return 0;
}

static int origin_open(struct context_state *state, bool no_environment)
{
	int err = 0;

	pthread_mutex_lock(&state->opening);
	if (!state->environment)
		err = origin_read(state, no_environment);
	else if (no_environment && !state->no_environment)
		err = -EBUSY;
	pthread_mutex_unlock(&state->opening);
	if (err)
		return err;
	pthread_mutex_lock(&state->lock);
	ibsa__context_state_anchor(state);
	pthread_mutex_unlock(&state->lock);
	return 0;
}

static int state_new(const char *name, void *arg, void **out)
{
	struct ibv_context *context = arg;
	struct context_state *state = ibsa__calloc(1, sizeof(*state));

	(void)name;
	if (!state)
		return -ENOMEM;
	state->context = context;
	state->verbs = ibsa__verbs_get(context);
	state->process = ibsa__process();
	list_init(&state->calls);
	list_init(&state->watches);
	ibsa__async_init(&state->async);
	ibsa__sm_queue_init(&state->queue);
	ibsa__sm_history_init(&state->history);
	locks_init(state);
	if (ibsa__sm_filter_init(&state->filter)) {
		state_destroy(state);
		return -ENOMEM;
	}
	options_fill(state);
	*out = state;
	return 0;
}

/*
 * Maximum time in ms for which a waiting thread blocks signals, and so delays
 * their handlers.
 */
enum { MOMENT_MS = 20 };

/*
 * Drop the registry's reference to a context state, which keeps the state
 * between calls.
 */
static void state_release(struct context_state *state)
{
	bool was_anchored;

	pthread_mutex_lock(&state->lock);
	was_anchored = state->is_anchored;
	state->is_anchored = false;
	pthread_mutex_unlock(&state->lock);
	if (was_anchored)
		ibsa__registry_put(state, state_destroy);
}

/*
 * Mark a context state as closed: calls in progress end, and new calls do not
 * find the state. Return: whether this thread is the first to close it. @lock
 * is held.
 */
static bool state_close(struct context_state *state)
{
	if (state->is_closed)
		return false;
	state->is_closed = true;
	(void)ibsa__registry_hide(state);
	ibsa__async_wake(&state->async);
	pthread_cond_broadcast(&state->changed);
	return true;
}

/*
 * Whether another thread has a call in progress on the context. @lock is held.
 */
static bool state_is_shared(const struct context_state *state)
{
	const struct context_call *call;

	LIST_EACH(call, &state->calls, link) {
		if (!pthread_equal(call->thread, pthread_self()))
			return true;
	}
	return false;
}

/*
 * End the queries in progress of the context, and its use of the device.
 * Inside a callback of <ibsa/ib_sa.h>, this does not wait for that callback;
 * end_await() does.
 */
static void device_end(struct context_state *state)
{
	pthread_rwlock_wrlock(&state->asking);
	if (state->device)
		ibsa__sa_device_leave(state->device, &state->client,
				      state->context);
	state->device = NULL;
	pthread_rwlock_unlock(&state->asking);
}

void ibsa__context_call_await(struct context_call *call)
{
	struct context_state *state = call->state;
	const struct timespec until =
		clock_timespec(clock_now_ns() + MOMENT_MS * NS_PER_MS);

	if (!pthread_cond_timedwait(&state->changed, &state->lock, &until))
		return;
	pthread_mutex_unlock(&state->lock);
	signals_restore(&call->before.signals);
	signals_hold(&call->before.signals);
	pthread_mutex_lock(&state->lock);
}

/*
 * Wait for the end of other threads' calls on the context, and for the last
 * event of each watch.
 */
static void end_await(struct context_call *call)
{
	struct context_state *state = call->state;

	pthread_mutex_lock(&state->lock);
	while (state_is_shared(state) || !list_is_empty(&state->watches))
		ibsa__context_call_await(call);
	pthread_mutex_unlock(&state->lock);
}

/*
 * End the registrations and the calls on a context that state_close() has
 * closed, and release its state.
 */
static void state_end(struct context_call *call)
{
	ibsa__context_call_lock(call);
	ibsa__sm_events_clear(call->state);
	ibsa__port_events_stop(call->state->port_events);
	call->state->port_events = NULL;
	ibsa__context_call_unlock(call);
	device_end(call->state);
	end_await(call);
	state_release(call->state);
}

static void call_begin(struct context_call *call, struct context_state *state)
{
	call->state = state;
	call->thread = pthread_self();
	call->flags = 0;
	pthread_mutex_lock(&state->lock);
	list_append(&state->calls, &call->link);
	pthread_mutex_unlock(&state->lock);
}

static void call_end(struct context_call *call)
{
	struct context_state *state = call->state;

	pthread_mutex_lock(&state->lock);
	list_remove(&call->link);
	pthread_cond_broadcast(&state->changed);
	pthread_mutex_unlock(&state->lock);
	ibsa__registry_put(state, state_destroy);
}

/*
 * Whether a context state that was found by its key belongs to @context.
 * libibverbs may close a context without notice to this library, and open
 * another context at the same address: the state is then that of the old
 * context, and this function ends it. The function detects this only if the
 * state has async files.
 * Return: false also if the state is closed already.
 */
static bool state_is_current(struct context_state *state,
			     struct ibv_context *context,
			     const struct interrupts *before)
{
	struct context_call call = { .before = *before };
	bool is_closed;
	bool is_first = false;

	pthread_mutex_lock(&state->lock);
	is_closed = state->is_closed;
	if (!is_closed && !ibsa__async_is_current(&state->async, context)) {
		state->is_stale = true;
		is_first = state_close(state);
	}
	pthread_mutex_unlock(&state->lock);
	if (is_first) {
		ibsa__registry_hold(state);
		call_begin(&call, state);
		state_end(&call);
		call_end(&call);
	}
	return !is_closed && !is_first;
}

/*
 * Whether a context is open. A context without a command file was made by
 * ibsa_verbs_open(), or is closed.
 */
static bool context_is_open(const struct ibv_context *context)
{
	struct ibsa__verbs *verbs;

	if (context->cmd_fd >= 0)
		return true;
	verbs = ibsa__verbs_get(context);
	if (verbs)
		ibsa__verbs_put(verbs);
	return verbs;
}

int ibsa__context_state_get(struct ibv_context *context, bool is_made,
			    const struct interrupts *before,
			    struct context_state **out)
{
	if (!context || (is_made && !context_is_open(context)))
		return -EINVAL;
	for (;;) {
		const struct key key = context_key(context);
		void *object = NULL;
		int err = 0;

		if (is_made)
			err = ibsa__registry_get(key.text, state_new, context,
						 &object);
		else
			object = ibsa__registry_find(key.text);
		if (err || !object)
			return err ? err : -EINVAL;
		if (state_is_current(object, context, before)) {
			*out = object;
			return 0;
		}
		ibsa__registry_put(object, state_destroy);
	}
}

static int call_try(struct ibv_context *context, bool is_made,
		    struct context_call *call)
{
	struct context_state *state;
	int err;

	interrupts_hold(&call->before);
	err = ibsa__context_state_get(context, is_made, &call->before, &state);
	if (err)
		interrupts_restore(&call->before);
	else
		call_begin(call, state);
	return err;
}

int ibsa__context_state_enter_with(struct ibv_context *context,
				   bool no_environment,
				   struct context_call *call)
{
	int err = call_try(context, true, call);

	if (err)
		return err;
	if (no_environment && call->state->verbs)
		err = -EINVAL;
	else
		err = origin_open(call->state, no_environment);
	if (err)
		ibsa__context_state_leave(call);
	return err;
}

int ibsa__context_state_enter(struct ibv_context *context,
			      struct context_call *call)
{
	return ibsa__context_state_enter_with(context, false, call);
}

int ibsa__context_state_hold(struct ibv_context *context,
			     struct context_call *call)
{
	return call_try(context, true, call);
}

int ibsa__context_state_find(struct ibv_context *context,
			     struct context_call *call)
{
	return call_try(context, false, call);
}

void ibsa__context_state_leave(struct context_call *call)
{
	call_end(call);
	interrupts_restore(&call->before);
}

void ibsa__context_state_put(struct context_state *state)
{
	ibsa__registry_put(state, state_destroy);
}

/*
 * Whether one of this thread's calls on the context has @flag. @lock is held.
 */
static bool thread_has(const struct context_state *state, unsigned int flag)
{
	const struct context_call *call;

	LIST_EACH(call, &state->calls, link) {
		if (pthread_equal(call->thread, pthread_self()) &&
		    call->flags & flag)
			return true;
	}
	return false;
}

bool ibsa__context_call_has_number(const struct context_call *call)
{
	return thread_has(call->state, CALL_HAS_NUMBER);
}

/*
 * Take @registering for a call, unless another call of this thread holds it
 * already: a close in a signal handler may have interrupted that call.
 */
void ibsa__context_call_lock(struct context_call *call)
{
	struct context_state *state = call->state;
	bool is_held;

	pthread_mutex_lock(&state->lock);
	is_held = thread_has(state, CALL_HOLDS_REGISTERING);
	pthread_mutex_unlock(&state->lock);
	if (is_held)
		return;
	pthread_mutex_lock(&state->registering);
	call->flags |= CALL_HOLDS_REGISTERING;
}

void ibsa__context_call_unlock(struct context_call *call)
{
	if (!(call->flags & CALL_HOLDS_REGISTERING))
		return;
	call->flags &= ~(unsigned int)CALL_HOLDS_REGISTERING;
	pthread_mutex_unlock(&call->state->registering);
}

void ibsa__context_state_end(struct ibv_context *context)
{
	struct context_call call;
	bool is_first;

	if (ibsa__context_state_find(context, &call))
		return;
	pthread_mutex_lock(&call.state->lock);
	is_first = state_close(call.state);
	pthread_mutex_unlock(&call.state->lock);
	if (is_first)
		state_end(&call);
	ibsa__context_state_leave(&call);
}

void ibsa__context_state_reset(struct context_call *call)
{
	struct context_state *state = call->state;
	bool is_shared;

	pthread_mutex_lock(&state->lock);
	is_shared = state_is_shared(state);
	pthread_mutex_unlock(&state->lock);
	if (is_shared || state->verbs)
		return;
	device_end(state);
	end_await(call);
	pthread_rwlock_wrlock(&state->asking);
	/*
	 * Another call may have opened the device again while this call waited.
	 * The other call then needs the options and the state.
	 */
	if (!state->device) {
		state->options = (struct ibsa_ib_device_options){ 0 };
		options_fill(state);
		state_release(state);
	}
	pthread_rwlock_unlock(&state->asking);
}

/*
 * Create the files of ibsa__async_begin() for a context state: by these files,
 * a later context at the same address can be distinguished from this context.
 * If the process has too many open files, the state exists without the files of
 * ibsa__async_begin().
 */
static void device_anchor(struct context_state *state)
{
	ib_sa_register_client(&state->client);
	pthread_mutex_lock(&state->lock);
	(void)!ibsa__async_begin(state);
	ibsa__context_state_anchor(state);
	pthread_mutex_unlock(&state->lock);
}

int ibsa__context_state_device(struct context_state *state)
{
	int err;

	pthread_mutex_lock(&state->lock);
	err = state->is_closed ? -EIO : 0;
	pthread_mutex_unlock(&state->lock);
	if (err)
		return err;
	pthread_mutex_lock(&state->opening);
	if (!state->device) {
		err = ibsa__sa_device_get(&state->options, state->environment,
					  SA_SHARED_BY_CONTEXTS,
					  &state->device);
		if (!err)
			device_anchor(state);
	}
	pthread_mutex_unlock(&state->opening);
	return err;
}

static int port_in_fabric(const struct ibsa__verbs *verbs, unsigned int number,
			  struct ibsa_port_state *out)
{
	struct ibsa_transport *transport;
	int err = ibsa__verbs_port_open(verbs, number, &transport);

	if (err)
		return err == -ENXIO ? -ENODEV : err;
	err = transport->ops->port(transport, out, sizeof(*out));
	transport->ops->close(transport);
	return err;
}

int ibsa__context_state_port(const struct context_state *state,
			     unsigned int number, struct ibsa_port_state *out)
{
	const char *name = state->verbs ? ibsa__verbs_file_name(state->verbs)
					: state->options.name;
	int err;

	if (!number || number > UINT8_MAX)
		return -ENODEV;
	if (state->verbs && ibsa__verbs_is_in_fabric(state->verbs))
		return port_in_fabric(state->verbs, number, out);
	err = ibsa__port_read(state->files, name, number, out);
	if (err == -ENOENT &&
	    ibsa__folder_check(state->files, "class/infiniband/%s/ports/%u",
			       name, number))
		return -ENODEV;
	return err;
}

bool ibsa__context_state_port_fits(const struct context_state *state,
				   const struct ibsa_port_state *port)
{
	return port->link != IBSA_LINK_ETHERNET || state->options.access.sa;
}

int ibsa__context_state_result(int err)
{
	if (!err)
		return 0;
	errno = -err;
	return -1;
}
