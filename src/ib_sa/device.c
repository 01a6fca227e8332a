/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices: opened, shared by name, released. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "client/open.h"
#include "ib_sa/device.h"
#include "ib_sa/state.h"

enum { DEFAULT_QUEUE_MS = 60000 };

void ibsa__sa_device_free(struct ib_device *device)
{
	struct ibsa__sa *sa = device->sa;

	pthread_mutex_lock(&sa->lock);
	list_remove(&device->link);
	pthread_mutex_unlock(&sa->lock);
	for (unsigned int i = 0; i < device->port_count; i++)
		ibsa__sa_port_free(device->ports[i]);
	ibsa__sa_loop_done(device);
	ibsa__fabric_release(device->fabric);
	ibsa__files_put(device->files);
	ibsa__free(device->environment);
	pthread_mutex_destroy(&device->opening);
	ibsa__free((char *)device->options.fabric);
	ibsa__free(device->name);
	ibsa__free(device);
	ibsa__sa_put(sa);
}

/*
 * Copy the program's options into the device, with all strings and structs
 * that they point to.
 */
static int device_copy_options(struct ib_device *device,
			       const struct ibsa_device_options *options)
{
	device->options = *options;
	device->options.name = NULL;
	device->options.fabric = NULL;
	if (!options->queue_ms)
		device->options.queue_ms = DEFAULT_QUEUE_MS;
	if (options->access.sa) {
		device->sa_address = *options->access.sa;
		device->options.access.sa = &device->sa_address;
	}
	if (!options->fabric)
		return 0;
	device->options.fabric = ibsa__strdup(options->fabric);
	return device->options.fabric ? 0 : -ENOMEM;
}

static int device_new(const struct ibsa_device_options *options,
		      const struct ibsa__environment *environment,
		      struct ib_device **out)
{
	struct ib_device *device = ibsa__calloc(1, sizeof(*device));
	int err;

	if (!device)
		return -ENOMEM;
	device->sa = ibsa__sa_get();
	if (!device->sa) {
		ibsa__free(device);
		return -ENOMEM;
	}
	device->users = 1;
	list_init(&device->link);
	list_init(&device->starts);
	list_init(&device->jobs);
	pthread_mutex_init(&device->opening, NULL);
	err = ibsa__sa_loop_init(device);
	if (!err)
		err = device_copy_options(device, options);
	if (!err)
		err = ibsa__environment_copy(environment, &device->environment);
	if (err) {
		ibsa__sa_device_free(device);
		return err;
	}
	*out = device;
	return 0;
}

/*
 * Find the device that @where names. Only a device of this machine has files;
 * a device in a fabric has none.
 */
static int device_find(struct ib_device *device,
		       const struct ibsa_options *where,
		       struct ibsa_error *error)
{
	int err = ibsa__device_find(where, device->environment, error,
				    &device->name, &device->fabric);

	if (err || device->fabric || where->on ||
	    ibsa__server_named(where, device->environment))
		return err;
	err = ibsa__device_files_open(where, device->environment,
				      &device->files);
	return err ? ibsa__fail(error, err, "out of memory") : 0;
}

int ibsa__sa_device_open(const struct ibsa_device_options *options,
			 const struct ibsa__environment *environment,
			 struct ibsa_error *error, struct ib_device **out)
{
	struct ibsa_options where;
	struct ib_device *device;
	int err = device_new(options, environment, &device);

	if (err)
		return ibsa__fail(error, err, "cannot open the device: %s",
				  strerror(-err));
	where = ibsa__sa_client_options(device);
	where.device = options->name;
	err = ibsa__options_check(&where, error);
	if (!err)
		err = device_find(device, &where, error);
	if (err) {
		ibsa__sa_device_free(device);
		return err;
	}
	pthread_mutex_lock(&device->sa->lock);
	list_append(&device->sa->devices, &device->link);
	pthread_mutex_unlock(&device->sa->lock);
	*out = device;
	return 0;
}

int ibsa_device_open(const struct ibsa_device_options *options,
		     struct ibsa_error *error, struct ib_device **out)
{
	static const struct ibsa_device_options defaults;
	const struct ibsa__environment environment = ibsa__environment_read();

	return ibsa__sa_device_open(options ? options : &defaults, &environment,
				    error, out);
}

/*
 * Find the shared device with this name, and add one to its users. @lock is
 * held. Return: the device; or NULL.
 */
static struct ib_device *device_find_shared(const struct ibsa__sa *sa,
					    const char *name)
{
	struct ib_device *device;

	LIST_EACH(device, &sa->devices, link) {
		if (!device->is_shared || strcmp(device->name, name) != 0)
			continue;
		device->users++;
		return device;
	}
	return NULL;
}

/*
 * Add @device to the shared devices under its name. If another thread has
 * added a device of this name first, put @device and return the other thread's
 * device.
 */
static struct ib_device *device_share(struct ib_device *device)
{
	struct ibsa__sa *sa = device->sa;
	struct ib_device *other;

	pthread_mutex_lock(&sa->lock);
	other = device_find_shared(sa, device->name);
	if (!other)
		device->is_shared = true;
	pthread_mutex_unlock(&sa->lock);
	if (!other)
		return device;
	ibsa_device_put(device);
	return other;
}

int ibsa_device_get(const char *name, struct ib_device **out)
{
	const struct ibsa_device_options options = { .name = name };
	struct ibsa__sa *sa = name ? ibsa__sa_find() : NULL;
	struct ib_device *device = NULL;
	int err;

	if (sa) {
		pthread_mutex_lock(&sa->lock);
		device = device_find_shared(sa, name);
		pthread_mutex_unlock(&sa->lock);
		ibsa__sa_put(sa);
	}
	if (!device) {
		err = ibsa_device_open(&options, NULL, &device);
		if (err)
			return err;
		device = device_share(device);
	}
	*out = device;
	return 0;
}

void ibsa_device_put(struct ib_device *device)
{
	bool is_last;

	if (!device || !ibsa__sa_is_ours(device->sa))
		return;
	pthread_mutex_lock(&device->sa->lock);
	is_last = !--device->users;
	if (is_last)
		device->is_shared = false;
	pthread_mutex_unlock(&device->sa->lock);
	if (is_last)
		ibsa__sa_loop_end(device);
}

const struct ibsa_reply *ibsa_last_reply(const struct ib_device *device)
{
	return device->reply;
}
