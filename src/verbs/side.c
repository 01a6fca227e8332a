/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our side of a context: found, made on first use, ended. */
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/registry.h"
#include "client/open.h"
#include "device/device.h"
#include "device/sysfs.h"
#include "verbs/side.h"
#include "verbs/sm_events.h"

struct key {
	char text[64 + sizeof(((struct ibv_device *)NULL)->name)];
};

/* With file and name, lest it serves another context at the same address. */
static struct key key_of(const struct ibv_context *context)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), "side %p %d %s",
		 (const void *)context, context->cmd_fd, context->device->name);
	return key;
}

static void destroy(void *object)
{
	struct ibsa__side *side = object;

	ibsa__async_done(&side->async);
	ibsa__sm_queue_clear(&side->queue);
	ibsa__sm_history_clear(&side->history);
	ibsa__sm_filter_done(&side->filter);
	pthread_mutex_destroy(&side->registering);
	pthread_rwlock_destroy(&side->asking);
	pthread_mutex_destroy(&side->opening);
	pthread_cond_destroy(&side->changed);
	pthread_mutex_destroy(&side->lock);
	if (side->verbs)
		ibsa__verbs_put(side->verbs);
	ibsa__free(side);
}

static void locks_init(struct ibsa__side *side)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&side->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&side->lock, NULL);
	pthread_mutex_init(&side->opening, NULL);
	pthread_rwlock_init(&side->asking, NULL);
	pthread_mutex_init(&side->registering, NULL);
}

/* Of libibverbs' context, a real device: whatever $IBSA_FABRIC says. */
static void options_fill(struct ibsa__side *side)
{
	const struct ibsa_options *ours;

	side->options.fabric = "";
	if (!side->verbs) {
		side->options.name = side->context->device->name;
		side->options.context = side->context;
		return;
	}
	ours = &side->verbs->options;
	side->options.name = ours->device;
	side->options.on = ours->on;
	side->options.fabric = ours->fabric;
	side->options.sa = ours->sa;
	side->options.grh = ours->grh;
	side->options.sm_key = ours->sm_key;
	side->options.window = ours->window;
}

static int make(const char *name, void *arg, void **out)
{
	struct ibv_context *context = arg;
	struct ibsa__side *side = ibsa__calloc(1, sizeof(*side));

	(void)name;
	if (!side)
		return -ENOMEM;
	side->context = context;
	side->verbs = ibsa__verbs_get(context);
	list_init(&side->watches);
	ibsa__async_init(&side->async);
	ibsa__sm_queue_init(&side->queue);
	ibsa__sm_history_init(&side->history);
	locks_init(side);
	if (ibsa__sm_filter_init(&side->filter)) {
		destroy(side);
		return -ENOMEM;
	}
	options_fill(side);
	*out = side;
	return 0;
}

/* A call of one that the registry has, which holds it for the call. */
static int begin(struct ibsa__side *side, const struct key *key)
{
	int err = 0;

	pthread_mutex_lock(&side->lock);
	if (side->is_closed) {
		err = -EINVAL;
	} else {
		side->users++;
		if (!side->is_anchored)
			side->is_anchored = ibsa__registry_find(key->text);
	}
	pthread_mutex_unlock(&side->lock);
	if (err)
		ibsa__registry_put(side, destroy);
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

int ibsa__side_enter(struct ibv_context *context, struct ibsa__side **out)
{
	struct key key;
	void *side;
	int err;

	if (!context || !is_known(context))
		return -EINVAL;
	key = key_of(context);
	err = ibsa__registry_get(key.text, make, context, &side);
	if (!err)
		err = begin(side, &key);
	if (!err)
		*out = side;
	return err;
}

int ibsa__side_find(const struct ibv_context *context, struct ibsa__side **out)
{
	struct ibsa__side *side;
	struct key key;
	int err;

	if (!context)
		return -EINVAL;
	key = key_of(context);
	side = ibsa__registry_find(key.text);
	err = side ? begin(side, &key) : -EINVAL;
	if (!err)
		*out = side;
	return err;
}

/*
 * The registry's own hold outlasts all calls, so this one goes first: when the
 * last call has left, nothing is there any more that a new context at the same
 * address could find.
 */
void ibsa__side_leave(struct ibsa__side *side)
{
	ibsa__registry_put(side, destroy);
	pthread_mutex_lock(&side->lock);
	side->users--;
	pthread_cond_broadcast(&side->changed);
	pthread_mutex_unlock(&side->lock);
}

/*
 * What is under way on the device ends, and nothing begins any more. In a
 * callback of <ibsa/ib_sa.h> this does not wait for it; await_end() does.
 */
static void device_end(struct ibsa__side *side)
{
	pthread_rwlock_wrlock(&side->asking);
	ibsa_device_put(side->device);
	if (side->device)
		ib_sa_unregister_client(&side->client);
	pthread_rwlock_unlock(&side->asking);
}

/* From here on all calls end, and none begins. Whether nobody was faster. */
static bool close_begin(struct ibsa__side *side)
{
	bool is_first;

	pthread_mutex_lock(&side->lock);
	is_first = !side->is_closed;
	side->is_closed = true;
	ibsa__async_wake(&side->async);
	pthread_cond_broadcast(&side->changed);
	pthread_mutex_unlock(&side->lock);
	return is_first;
}

/* Calls of others, and the last word on each watch. */
static void await_end(struct ibsa__side *side)
{
	pthread_mutex_lock(&side->lock);
	while (side->users > 1 || !list_is_empty(&side->watches))
		pthread_cond_wait(&side->changed, &side->lock);
	pthread_mutex_unlock(&side->lock);
}

void ibsa__side_end(const struct ibv_context *context)
{
	struct ibsa__side *side;

	if (ibsa__side_find(context, &side))
		return;
	if (!close_begin(side)) {
		ibsa__side_leave(side);
		return;
	}
	ibsa__sm_events_end(side);
	device_end(side);
	await_end(side);
	ibsa__registry_put(side, destroy);
	ibsa__registry_put(side, destroy);
}

static bool is_closed(struct ibsa__side *side)
{
	bool closed;

	pthread_mutex_lock(&side->lock);
	closed = side->is_closed;
	pthread_mutex_unlock(&side->lock);
	return closed;
}

int ibsa__side_device(struct ibsa__side *side)
{
	int err = 0;

	if (is_closed(side))
		return -EIO;
	pthread_mutex_lock(&side->opening);
	if (!side->device) {
		err = ibsa_device_open(&side->options, NULL, &side->device);
		if (!err)
			ib_sa_register_client(&side->client);
	}
	pthread_mutex_unlock(&side->opening);
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
	err = ibsa__transport_open(&options, NULL, &transport, &fabric);
	if (err)
		return err == -ENXIO ? -ENODEV : err;
	err = transport->ops->port(transport, out);
	transport->ops->close(transport);
	return err;
}

int ibsa__side_port(const struct ibsa__side *side, unsigned int number,
		    struct ibsa_port_state *out)
{
	const char *name = side->options.name;
	int err;

	if (!number || number > UINT8_MAX)
		return -ENODEV;
	if (side->verbs && ibsa__verbs_is_in_fabric(side->verbs))
		return port_in_fabric(side->verbs, number, out);
	err = ibsa__port_read(name, number, out);
	if (err == -ENOENT &&
	    ibsa__sysfs_folder("class/infiniband/%s/ports/%u", name, number))
		return -ENODEV;
	return err;
}

bool ibsa__side_port_fits(const struct ibsa__side *side,
			  const struct ibsa_port_state *port)
{
	return port->link != IBSA_LINK_ETHERNET || side->options.sa;
}

int ibsa__side_result(int err)
{
	if (!err)
		return 0;
	errno = -err;
	return -1;
}
