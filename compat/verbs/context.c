/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contexts that ibsa_verbs_open() creates: how they are created, found in
 * the registry, and closed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/registry.h"
#include "base/sized.h"
#include "client/files.h"
#include "client/open.h"
#include "device/device.h"
#include "verbs/context.h"
#include "verbs/context_state.h"

struct key {
	char text[64];
};

/*
 * Return: the registry's key of a context: its address alone. No other object
 * has the address while the entry exists, and the memory of a closed context
 * must not be read.
 */
static struct key context_key(const struct ibv_context *context)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), "verbs %p", (const void *)context);
	return key;
}

static void verbs_destroy(void *object)
{
	struct ibsa__verbs *verbs = object;

	if (verbs->context.context.async_fd >= 0)
		close(verbs->context.context.async_fd);
	ibsa__fabric_release(verbs->fabric);
	ibsa__files_put(verbs->files);
	ibsa__free(verbs->environment);
	ibsa__free(verbs->server);
	ibsa__free(verbs->name);
	ibsa__free(verbs);
}

static int options_check(const struct ibsa_options *options,
			 struct ibsa_error *error)
{
	if (options->port || options->transport || options->context)
		return ibsa__fail(error, -EINVAL,
				  "a verbs context is for a whole device: the "
				  "options port, transport and context must "
				  "not be set");
	return ibsa__options_check(options, error);
}

/*
 * Copy the options, with their strings, into the context. The device and
 * server that they name stay the same if IBSA_FABRIC changes later.
 */
static void options_copy(struct ibsa__verbs *verbs,
			 const struct ibsa_options *options)
{
	verbs->options = *options;
	verbs->options.device = verbs->name;
	verbs->options.fabric = verbs->server ? verbs->server : "";
	if (verbs->fabric)
		verbs->options.on = verbs->fabric;
	if (!options->access.sa)
		return;
	verbs->sa = *options->access.sa;
	verbs->options.access.sa = &verbs->sa;
}

/*
 * Fill those members of struct ibv_context that programs read; all others are
 * 0.
 */
static int context_fill(struct ibsa__verbs *verbs)
{
	struct ibv_context *context = &verbs->context.context;
	unsigned int node_type = IBV_NODE_CA;

	snprintf(verbs->device.name, sizeof(verbs->device.name), "%s",
		 verbs->name);
	context->device = &verbs->device;
	context->async_fd = eventfd(0, EFD_CLOEXEC);
	if (context->async_fd < 0)
		return -errno;
	if (!ibsa__verbs_is_in_fabric(verbs) && !verbs->server &&
	    ibsa__node_type_read(verbs->files, verbs->name, &node_type))
		node_type = (unsigned int)IBV_NODE_UNKNOWN;
	verbs->device.node_type = (enum ibv_node_type)node_type;
	return 0;
}

static int server_copy(struct ibsa__verbs *verbs,
		       const struct ibsa_options *options,
		       struct ibsa_error *error)
{
	const char *server = ibsa__server_named(options, verbs->environment);

	if (!server)
		return 0;
	verbs->server = ibsa__strdup(server);
	return verbs->server ? 0 : ibsa__fail(error, -ENOMEM, "out of memory");
}

/*
 * Copy the environment variables and open the device files, for later use by
 * the context.
 */
static int origin_open(struct ibsa__verbs *verbs,
		       const struct ibsa_options *options,
		       const struct ibsa__environment *environment)
{
	int err = ibsa__environment_copy(environment, &verbs->environment);

	if (err || options->on)
		return err;
	return ibsa__device_files_open(options, environment, &verbs->files);
}

static int verbs_new(const struct ibsa_options *options,
		     const struct ibsa__environment *environment,
		     struct ibsa_error *error, struct ibsa__verbs **out)
{
	struct ibsa__verbs *verbs = ibsa__calloc(1, sizeof(*verbs));
	int err;

	if (!verbs)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	verbs->context.context.cmd_fd = -1;
	verbs->context.context.async_fd = -1;
	err = origin_open(verbs, options, environment);
	if (err)
		ibsa__fail(error, err, "out of memory");
	if (!err)
		err = server_copy(verbs, options, error);
	if (!err)
		err = ibsa__device_find(options, verbs->environment, false,
					error, &verbs->name, &verbs->fabric);
	if (!err) {
		options_copy(verbs, options);
		err = context_fill(verbs);
		if (err)
			ibsa__fail(error, err,
				   "cannot create a context for %s: %s",
				   verbs->name, strerror(-err));
	}
	if (err) {
		verbs_destroy(verbs);
		return err;
	}
	*out = verbs;
	return 0;
}

static int verbs_itself(const char *name, void *verbs, void **out)
{
	(void)name;
	*out = verbs;
	return 0;
}

int ibsa__verbs_open(const struct ibsa_options *options,
		     const struct ibsa__environment *environment,
		     struct ibsa_error *error, struct ibv_context **out)
{
	struct ibsa__verbs *verbs = NULL;
	struct key key;
	void *object;
	int err;

	err = options_check(options, error);
	if (!err)
		err = verbs_new(options, environment, error, &verbs);
	if (err)
		return err;
	key = context_key(&verbs->context.context);
	err = ibsa__registry_get(key.text, verbs_itself, verbs, &object);
	if (err) {
		verbs_destroy(verbs);
		return ibsa__fail(error, err, "out of memory");
	}
	*out = &verbs->context.context;
	return 0;
}

int ibsa_verbs_open_sized(const struct ibsa_options *options, size_t size,
			  struct ibsa_error *error, struct ibv_context **out)
{
	struct ibsa__environment environment;
	struct ibsa_options known;
	struct cancelability before;
	int err = ibsa__options_read(&known, sizeof(known), options, size,
				     error);

	if (err)
		return err;
	cancel_hold(&before);
	environment = ibsa__environment_read(known.no_environment);
	err = ibsa__verbs_open(&known, &environment, error, out);
	cancel_restore(&before);
	return err;
}

struct ibsa__verbs *ibsa__verbs_get(const struct ibv_context *context)
{
	const struct key key = context_key(context);

	return ibsa__registry_find(key.text);
}

void ibsa__verbs_put(struct ibsa__verbs *verbs)
{
	ibsa__registry_put(verbs, verbs_destroy);
}

int ibsa__verbs_port_open(const struct ibsa__verbs *verbs, unsigned int port,
			  struct ibsa_transport **out)
{
	struct ibsa_options options = verbs->options;
	struct ibsa_fabric *fabric;

	options.port = port;
	return ibsa__transport_open(&options, verbs->environment, NULL, out,
				    &fabric);
}

const char *ibsa__verbs_file_name(const struct ibsa__verbs *verbs)
{
	return verbs->server ? IBSA__SERVER_DEVICE : verbs->name;
}

/*
 * Close a context. The context is removed from the registry first, so that no
 * new call finds the context while its state ends.
 */
static int verbs_close(struct ibv_context *context)
{
	struct ibsa__verbs *verbs = ibsa__verbs_get(context);

	if (!verbs)
		return -EINVAL;
	if (!ibsa__registry_hide(verbs)) {
		ibsa__verbs_put(verbs);
		return -EINVAL;
	}
	ibsa__context_state_end(context);
	ibsa__verbs_put(verbs);
	ibsa__verbs_put(verbs);
	return 0;
}

int ibsa_verbs_close(struct ibv_context *context)
{
	struct cancelability before;
	int err;

	if (!context)
		return 0;
	cancel_hold(&before);
	err = verbs_close(context);
	cancel_restore(&before);
	return err;
}
