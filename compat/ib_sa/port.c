/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports of a device: opening, watching, and the effects of a change. */
#include <errno.h>

#include "base/alloc.h"
#include "client/client.h"
#include "engine/engine.h"
#include "ib_sa/state.h"

struct ibsa_options ibsa__sa_client_options(const struct ib_device *device)
{
	const struct ibsa_ib_device_options *options = &device->options;

	return (struct ibsa_options){
		.device = device->name,
		.fabric = options->fabric,
		.on = options->on,
		.context = options->context,
		.access = options->access,
		.window = options->window ? options->window
					  : IBSA_DEFAULT_RETRIES,
		.no_sharing = options->no_sharing,
		.queue = PORT_QUERIES_MAX,
	};
}

/*
 * Map the error from opening a port to the error of a start call. A port that
 * is not active may become active: -EAGAIN. A port that does not exist:
 * -ENODEV, as for a device without client data in Linux sa_query.c.
 */
static int open_errno(int err)
{
	switch (err) {
	case -ENETDOWN:
		return -EAGAIN;
	case -ENXIO:
		return -ENODEV;
	default:
		return err;
	}
}

/*
 * Return: the port events that lead from state @before to state @now. If the
 * state has changed although the port is active in both, the port was down in
 * between.
 */
static unsigned int events_of(const struct ibsa_port_state *before,
			      const struct ibsa_port_state *now,
			      unsigned int changes)
{
	unsigned int events = 0;

	if (changes & IBSA_PORT_CHANGE_STATE) {
		if (before->port_state == IBSA_PORT_ACTIVE)
			events |= SA_PORT_ERR;
		if (now->port_state == IBSA_PORT_ACTIVE)
			events |= SA_PORT_ACTIVE;
	}
	if (changes & IBSA_PORT_CHANGE_LID)
		events |= SA_LID_CHANGE;
	if (changes & IBSA_PORT_CHANGE_SM)
		events |= SA_SM_CHANGE;
	if (changes & IBSA_PORT_CHANGE_PKEY)
		events |= SA_PKEY_CHANGE;
	if (changes & IBSA_PORT_CHANGE_REREGISTER)
		events |= SA_CLIENT_REREGISTER;
	return events;
}

static void port_set_state(struct sa_port *port,
			   const struct ibsa_port_state *state)
{
	const bool is_given = port->device->options.access.sa;

	port->state = *state;
	port->may_have_sa = is_given || state->link != IBSA_LINK_ETHERNET;
	port->is_sa_known = is_given || ibsa_port_has_sm(state);
}

/*
 * The port has changed to state @now. Store @now for calls that start queries,
 * and handle the change in the parts that depend on it.
 */
static void port_note_change(unsigned int changes,
			     const struct ibsa_port_state *now, void *arg)
{
	struct sa_port *port = arg;
	unsigned int events = events_of(&port->state, now, changes);

	pthread_mutex_lock(&port->device->sa->lock);
	port_set_state(port, now);
	pthread_mutex_unlock(&port->device->sa->lock);
	ibsa__sa_cpi_event(port, events);
	ibsa__mc_groups_event(port, events, changes, now);
}

/*
 * Read the port's state again, and dispatch the port, so that the watch of the
 * port reports the changes before the next job runs. Errors are also reported
 * to the requests that they affect.
 */
static void port_read_again(struct sa_job *job)
{
	struct sa_port *port = list_object(job, struct sa_port, refresh);
	struct ibsa_port_state state;

	(void)!ibsa_port_get(port->client, true, &state);
	(void)!ibsa_dispatch(port->client);
}

static int port_open_client(struct sa_port *port,
			    const struct ibsa_options *options)
{
	struct ibsa_port_watch *watch;
	struct ibsa_port_state state;
	int err = ibsa__client_open(options, port->device->environment, NULL,
				    &port->client);

	if (err)
		return open_errno(err);
	ibsa__engine_limit_retries_only(ibsa__client_engine(port->client));
	err = ibsa_port_get(port->client, false, &state);
	if (!err)
		port_set_state(port, &state);
	if (!err)
		err = ibsa_port_watch_start(port->client, 0, port_note_change,
					    port, &watch);
	return open_errno(err);
}

void ibsa__sa_port_free(struct sa_port *port)
{
	ibsa_close(port->client);
	ibsa__hash_done(&port->mgids);
	ibsa__free(port);
}

int ibsa__sa_port_new(struct ib_device *device,
		      const struct ibsa_options *options, struct sa_port **out)
{
	struct sa_port *port = ibsa__calloc(1, sizeof(*port));
	int err;

	if (!port)
		return -ENOMEM;
	list_init(&port->refresh.link);
	port->refresh.run = port_read_again;
	port->device = device;
	port->number = (uint8_t)options->port;
	err = port_open_client(port, options);
	if (!err)
		err = ibsa__mc_groups_init(port);
	if (err) {
		ibsa__sa_port_free(port);
		return err;
	}
	ibsa__sa_cpi_open(port);
	*out = port;
	return 0;
}

/*
 * Open port @number of the device. While this runs, no other thread opens a
 * port of the same device.
 */
static int port_open(struct ib_device *device, uint8_t number,
		     struct sa_port **out)
{
	struct ibsa_options options = ibsa__sa_client_options(device);
	struct sa_port *port;
	int err;

	options.port = number;
	err = ibsa__sa_port_new(device, &options, &port);
	if (err)
		return err;
	pthread_mutex_lock(&device->sa->lock);
	err = ibsa__sa_loop_add(device, port);
	pthread_mutex_unlock(&device->sa->lock);
	if (err) {
		ibsa__sa_port_free(port);
		return err;
	}
	*out = port;
	return 0;
}

struct sa_port *ibsa__sa_port_find(struct ib_device *device, uint8_t number)
{
	const unsigned int count = device->port_count;

	for (unsigned int i = 0; i < count; i++) {
		if (device->ports[i]->number == number)
			return device->ports[i];
	}
	return NULL;
}

int ibsa__sa_port_open(struct ib_device *device, uint8_t number,
		       struct sa_port **out)
{
	struct sa_port *port = ibsa__sa_port_find(device, number);
	int err = 0;

	if (!number)
		return -ENODEV;
	if (!port) {
		pthread_mutex_lock(&device->opening);
		port = ibsa__sa_port_find(device, number);
		if (!port)
			err = port_open(device, number, &port);
		pthread_mutex_unlock(&device->opening);
	}
	if (!err)
		*out = port;
	return err;
}
