/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices: opened, shared, released. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "client/open.h"
#include "ib_sa/device.h"
#include "ib_sa/state.h"

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
			       const struct ibsa_ib_device_options *options)
{
	device->options = *options;
	device->has_context = options->context;
	device->options.name = NULL;
	device->options.fabric = NULL;
	if (options->access.sa) {
		device->sa_address = *options->access.sa;
		device->options.access.sa = &device->sa_address;
	}
	if (!options->fabric)
		return 0;
	device->options.fabric = ibsa__strdup(options->fabric);
	return device->options.fabric ? 0 : -ENOMEM;
}

static int device_new(const struct ibsa_ib_device_options *options,
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
	int err = ibsa__device_find(where, device->environment, true, error,
				    &device->name, &device->fabric);

	if (err || device->fabric || where->on ||
	    ibsa__server_named(where, device->environment))
		return err;
	err = ibsa__device_files_open(where, device->environment,
				      &device->files);
	return err ? ibsa__fail(error, err, "out of memory") : 0;
}

static int device_open(const struct ibsa_ib_device_options *options,
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

int ibsa_ib_device_open_sized(const struct ibsa_ib_device_options *options,
			      size_t size, struct ibsa_error *error,
			      struct ib_device **out)
{
	struct ibsa__environment environment;
	struct ibsa_ib_device_options known;
	const int err = ibsa__options_read(&known, sizeof(known), options, size,
					   error);

	if (err)
		return err;
	environment = ibsa__environment_read(known.no_environment);
	return device_open(&known, &environment, error, out);
}

static bool text_is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool address_is_same(const struct ibsa_address *a,
			    const struct ibsa_address *b)
{
	return a->lid == b->lid && a->qpn == b->qpn &&
	       a->pkey_index == b->pkey_index && a->sl == b->sl &&
	       a->path_bits == b->path_bits && a->lmc == b->lmc &&
	       a->has_grh == b->has_grh && a->gid_index == b->gid_index &&
	       a->hop_limit == b->hop_limit &&
	       a->traffic_class == b->traffic_class &&
	       a->flow_label == b->flow_label &&
	       !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

static bool options_are_same(const struct ibsa_ib_device_options *a,
			     const struct ibsa_ib_device_options *b)
{
	return !a->access.sa == !b->access.sa &&
	       (!a->access.sa || address_is_same(a->access.sa, b->access.sa)) &&
	       a->access.grh == b->access.grh &&
	       a->access.sm_key == b->access.sm_key && a->window == b->window &&
	       a->audit_ms == b->audit_ms && a->no_sharing == b->no_sharing &&
	       a->no_thread == b->no_thread;
}

/* Whether two devices are on the same machine or in the same fabric. */
static bool origin_is_same(const struct ib_device *a, const struct ib_device *b)
{
	const struct ibsa_options at = ibsa__sa_client_options(a);
	const struct ibsa_options bt = ibsa__sa_client_options(b);

	return a->fabric == b->fabric && at.on == bt.on &&
	       text_is_same(ibsa__server_named(&at, a->environment),
			    ibsa__server_named(&bt, b->environment)) &&
	       text_is_same(a->environment->sysfs, b->environment->sysfs);
}

/*
 * Find the device that @users share and that has the ports and options of
 * @wanted, and add one to its uses. @lock is held. Return: the device; or NULL.
 */
static struct ib_device *device_find_shared(const struct ibsa__sa *sa,
					    const struct ib_device *wanted,
					    enum sa_users users)
{
	struct ib_device *device;

	LIST_EACH(device, &sa->devices, link) {
		if (device->sharing != users ||
		    strcmp(device->name, wanted->name) != 0 ||
		    device->has_context != wanted->has_context ||
		    !origin_is_same(device, wanted) ||
		    !options_are_same(&device->options, &wanted->options))
			continue;
		device->users++;
		return device;
	}
	return NULL;
}

/*
 * Let @users share @device. If @users already share another device with the
 * same ports, put @device. Return: the shared device.
 */
static struct ib_device *device_share(struct ib_device *device,
				      enum sa_users users)
{
	struct ibsa__sa *sa = device->sa;
	struct ib_device *other;

	pthread_mutex_lock(&sa->lock);
	other = device_find_shared(sa, device, users);
	if (!other)
		device->sharing = users;
	pthread_mutex_unlock(&sa->lock);
	if (!other)
		return device;
	ibsa_ib_device_put(device);
	return other;
}

int ibsa__sa_device_get(const struct ibsa_ib_device_options *options,
			const struct ibsa__environment *environment,
			enum sa_users users, struct ib_device **out)
{
	struct ib_device *device;
	int err = device_open(options, environment, NULL, &device);

	if (!err)
		*out = device_share(device, users);
	return err;
}

int ibsa_ib_device_get(const char *name, struct ib_device **out)
{
	const struct ibsa_ib_device_options options = { .name = name };
	const struct ibsa__environment environment =
		ibsa__environment_read(false);

	return ibsa__sa_device_get(&options, &environment, SA_SHARED_BY_PROGRAM,
				   out);
}

void ibsa__sa_device_leave(struct ib_device *device,
			   struct ib_sa_client *client,
			   const struct ibv_context *context)
{
	pthread_mutex_lock(&device->opening);
	pthread_mutex_lock(&device->sa->lock);
	if (device->options.context == context)
		device->options.context = NULL;
	pthread_mutex_unlock(&device->sa->lock);
	pthread_mutex_unlock(&device->opening);
	ibsa__sa_tasks_cancel(device->sa, client);
	ibsa_ib_device_put(device);
	ib_sa_unregister_client(client);
}

/*
 * Put a device of the parent in a forked child: close the child's copies of its
 * descriptors. The lock is not taken, because a thread of the parent may have
 * held it during the fork.
 */
static void device_put_inherited(struct ib_device *device)
{
	const unsigned int count = device->port_count;

	if (__atomic_sub_fetch(&device->users, 1, __ATOMIC_SEQ_CST))
		return;
	for (unsigned int i = 0; i < count; i++)
		(void)ibsa_close(device->ports[i]->client);
	ibsa__sa_loop_done(device);
}

void ibsa_ib_device_put(struct ib_device *device)
{
	bool is_last;

	if (!device)
		return;
	if (!ibsa__sa_is_ours(device->sa)) {
		device_put_inherited(device);
		return;
	}
	pthread_mutex_lock(&device->sa->lock);
	is_last = !--device->users;
	if (is_last)
		device->sharing = SA_NOT_SHARED;
	pthread_mutex_unlock(&device->sa->lock);
	if (is_last)
		ibsa__sa_loop_end(device);
}

const struct ibsa_reply *ibsa_last_reply(const struct ib_device *device)
{
	return device->reply;
}
