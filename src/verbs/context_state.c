/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state that we hold for a context: find, create on first use, end. */
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/registry.h"
#include "client/open.h"
#include "device/device.h"
#include "device/sysfs.h"
#include "ib_sa/device.h"
#include "verbs/context_state.h"
#include "verbs/sm_events.h"

struct key {
	char text[64 + sizeof(((struct ibv_device *)NULL)->name)];
};

/* With file and name, lest it serves another context at the same address. */
static struct key key_of(const struct ibv_context *context)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), "context %p %d %s",
		 (const void *)context, context->cmd_fd, context->device->name);
	return key;
}

static void destroy(void *object)
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
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&state->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&state->lock, NULL);
	pthread_mutex_init(&state->opening, NULL);
	pthread_rwlock_init(&state->asking, NULL);
	pthread_mutex_init(&state->registering, NULL);
}

/* Of libibverbs' context, a real device: whatever $IBSA_FABRIC says. */
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
	state->options.sa = ours->sa;
	state->options.grh = ours->grh;
	state->options.sm_key = ours->sm_key;
	state->options.window = ours->window;
}

/*
 * The environment of a context of our own is that of its opening; of another,
 * that of the first call on it.
 */
static int origin_keep(struct context_state *state)
{
	const struct ibsa__environment environment =
		state->verbs ? *state->verbs->environment
			     : ibsa__environment_read();
	int err = ibsa__environment_copy(&environment, &state->environment);

	if (err)
		return err;
	if (!state->verbs)
		return ibsa__sysfs_open(environment.sysfs, &state->files);
	if (state->verbs->files)
		state->files = ibsa__files_get(state->verbs->files);
	return 0;
}

static int make(const char *name, void *arg, void **out)
{
	struct ibv_context *context = arg;
	struct context_state *state = ibsa__calloc(1, sizeof(*state));

	(void)name;
	if (!state)
		return -ENOMEM;
	state->context = context;
	state->verbs = ibsa__verbs_get(context);
	list_init(&state->watches);
	ibsa__async_init(&state->async);
	ibsa__sm_queue_init(&state->queue);
	ibsa__sm_history_init(&state->history);
	locks_init(state);
	if (ibsa__sm_filter_init(&state->filter)) {
		destroy(state);
		return -ENOMEM;
	}
	options_fill(state);
	if (origin_keep(state)) {
		destroy(state);
		return -ENOMEM;
	}
	*out = state;
	return 0;
}

/* A call of one that the registry has, which holds it for the call. */
static int begin(struct context_state *state, const struct key *key)
{
	int err = 0;

	pthread_mutex_lock(&state->lock);
	if (state->is_closed) {
		err = -EINVAL;
	} else {
		state->users++;
		if (!state->is_anchored)
			state->is_anchored = ibsa__registry_find(key->text);
	}
	pthread_mutex_unlock(&state->lock);
	if (err)
		ibsa__registry_put(state, destroy);
	return err;
}

/* A context without a command file is one of ours, or none any more. */
static bool is_known(const struct ibv_context *context)
{
	struct ibsa__verbs *verbs;

	if (context->cmd_fd >= 0)
		return true;
	verbs = ibsa__verbs_get(context);
	if (verbs)
		ibsa__verbs_put(verbs);
	return verbs;
}

int ibsa__context_state_enter(struct ibv_context *context,
			      struct context_state **out)
{
	struct key key;
	void *state;
	int err;

	if (!context || !is_known(context))
		return -EINVAL;
	key = key_of(context);
	err = ibsa__registry_get(key.text, make, context, &state);
	if (!err)
		err = begin(state, &key);
	if (!err)
		*out = state;
	return err;
}

int ibsa__context_state_find(const struct ibv_context *context,
			     struct context_state **out)
{
	struct context_state *state;
	struct key key;
	int err;

	if (!context)
		return -EINVAL;
	key = key_of(context);
	state = ibsa__registry_find(key.text);
	err = state ? begin(state, &key) : -EINVAL;
	if (!err)
		*out = state;
	return err;
}

/*
 * The registry's own hold outlasts all calls, so this one goes first: when the
 * last call has left, nothing is there any more that a new context at the same
 * address could find.
 */
void ibsa__context_state_leave(struct context_state *state)
{
	ibsa__registry_put(state, destroy);
	pthread_mutex_lock(&state->lock);
	state->users--;
	pthread_cond_broadcast(&state->changed);
	pthread_mutex_unlock(&state->lock);
}

/*
 * What is under way on the device ends, and nothing begins any more. In a
 * callback of <ibsa/ib_sa.h> this does not wait for it; await_end() does.
 */
static void device_end(struct context_state *state)
{
	pthread_rwlock_wrlock(&state->asking);
	ibsa_device_put(state->device);
	if (state->device)
		ib_sa_unregister_client(&state->client);
	pthread_rwlock_unlock(&state->asking);
}

/* From here on all calls end, and none begins. Whether nobody was faster. */
static bool close_begin(struct context_state *state)
{
	bool is_first;

	pthread_mutex_lock(&state->lock);
	is_first = !state->is_closed;
	state->is_closed = true;
	ibsa__async_wake(&state->async);
	pthread_cond_broadcast(&state->changed);
	pthread_mutex_unlock(&state->lock);
	return is_first;
}

/* Calls of others, and the last word on each watch. */
static void await_end(struct context_state *state)
{
	pthread_mutex_lock(&state->lock);
	while (state->users > 1 || !list_is_empty(&state->watches))
		pthread_cond_wait(&state->changed, &state->lock);
	pthread_mutex_unlock(&state->lock);
}

void ibsa__context_state_end(const struct ibv_context *context)
{
	struct context_state *state;

	if (ibsa__context_state_find(context, &state))
		return;
	if (!close_begin(state)) {
		ibsa__context_state_leave(state);
		return;
	}
	ibsa__sm_events_end(state);
	device_end(state);
	await_end(state);
	ibsa__registry_put(state, destroy);
	ibsa__registry_put(state, destroy);
}

static bool is_closed(struct context_state *state)
{
	bool closed;

	pthread_mutex_lock(&state->lock);
	closed = state->is_closed;
	pthread_mutex_unlock(&state->lock);
	return closed;
}

int ibsa__context_state_device(struct context_state *state)
{
	int err = 0;

	if (is_closed(state))
		return -EIO;
	pthread_mutex_lock(&state->opening);
	if (!state->device) {
		err = ibsa__sa_device_open(&state->options, state->environment,
					   NULL, &state->device);
		if (!err)
			ib_sa_register_client(&state->client);
	}
	pthread_mutex_unlock(&state->opening);
	return err;
}

static int port_in_fabric(const struct ibsa__verbs *verbs, unsigned int number,
			  struct ibsa_port_state *out)
{
	struct ibsa_options options = verbs->options;
	struct ibsa_transport *transport;
	struct ibsa_fabric *fabric;
	int err;

	options.port = number;
	err = ibsa__transport_open(&options, verbs->environment, NULL,
				   &transport, &fabric);
	if (err)
		return err == -ENXIO ? -ENODEV : err;
	err = transport->ops->port(transport, out);
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
	return port->link != IBSA_LINK_ETHERNET || state->options.sa;
}

int ibsa__context_state_result(int err)
{
	if (!err)
		return 0;
	errno = -err;
	return -1;
}
