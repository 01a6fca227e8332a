/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens the transport that the options of ibsa_open() select: the program's
 * own transport, a port of a fabric, or a port of a device.
 */
#include <errno.h>
#include <limits.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "client/fabric_library.h"
#include "client/ibsad.h"
#include "client/open.h"
#include "device/device.h"
#include "device/sysfs.h"
#include "remote/files.h"
#include "remote/transport.h"
#include "umad_dev/umad.h"

int ibsa__fabric_ops_check(const struct fabric_ops *ops,
			   struct ibsa_error *error)
{
	if (ops && ops->version == FABRIC_OPS_VERSION)
		return 0;
	return ibsa__fail(error, -EOPNOTSUPP,
			  "libibsa-fabric.so.1 belongs to another version of "
			  "libibsa.so.1; install the package libibsa-fabric1 "
			  "of the same version");
}

void ibsa__fabric_release(struct ibsa_fabric *fabric)
{
	if (fabric)
		fabric_ops_of(fabric)->put(fabric);
}

uint8_t ibsa__fabric_link(struct ibsa_fabric *fabric)
{
	return fabric_ops_of(fabric)->link(fabric);
}

/*
 * Copy @options to *@out, to open a port of the topology file @path. If the
 * options name no device, the node and port in IBSA_NODE are used, and the
 * node's name is copied to @room. A name in the options may be that of a device
 * of IBSA_NODE's host.
 */
static int options_complete(struct ibsa_fabric *fabric,
			    const struct ibsa_options *options,
			    const struct ibsa__environment *environment,
			    struct ibsa_error *error, struct remote_node *room,
			    struct ibsa_options *out)
{
	int err = ibsa__remote_node_find(options->device, environment->node,
					 options->port, error, room);
	const char *name;

	if (err)
		return err;
	*out = *options;
	if (!options->device) {
		out->device = room->is_machine ? NULL : room->name;
		out->port = room->port;
	}
	name = fabric_ops_of(fabric)->adapter_name(
		fabric, room->name, room->is_machine, options->device);
	if (name)
		out->device = name;
	return 0;
}

/*
 * Get the embedded fabric of a topology file or capture, with a reference, and
 * do what options_complete() does. A capture has only one node, so IBSA_NODE is
 * ignored.
 */
static int fabric_get(const char *path, const struct ibsa_options *options,
		      const struct ibsa__environment *environment,
		      struct ibsa_error *error, struct remote_node *room,
		      struct ibsa_options *out_options,
		      struct ibsa_fabric **out)
{
	const struct fabric_ops *library;
	int err = ibsa__fabric_library(error, &library);

	if (!err)
		err = library->get(path, error, out);
	if (err)
		return err;
	*out_options = *options;
	if (!library->is_capture(path))
		err = options_complete(*out, options, environment, error, room,
				       out_options);
	if (err)
		ibsa__fabric_release(*out);
	return err;
}

static int fabric_open(const char *path, const struct ibsa_options *options,
		       const struct ibsa__environment *environment,
		       struct ibsa_error *error, struct ibsa_transport **out,
		       struct ibsa_fabric **out_fabric)
{
	struct ibsa_options completed;
	struct ibsa_fabric *fabric;
	struct remote_node room;
	int err = fabric_get(path, options, environment, error, &room,
			     &completed, &fabric);

	if (err)
		return err;
	err = fabric_ops_of(fabric)->attach(fabric, path, completed.device,
					    completed.port, error, out);
	if (err)
		ibsa__fabric_release(fabric);
	else
		*out_fabric = fabric;
	return err;
}

/*
 * Return: the path of the topology file or capture that the options or the
 * environment select, or NULL.
 */
static const char *fabric_path(const struct ibsa_options *options,
			       const struct ibsa__environment *environment)
{
	const char *path = options->fabric;

	if (!path && !options->context)
		path = environment->fabric;
	return path && *path ? path : NULL;
}

const char *ibsa__server_named(const struct ibsa_options *options,
			       const struct ibsa__environment *environment)
{
	const char *path = fabric_path(options, environment);

	if (options->transport || options->on || !ibsa__remote_path(path))
		return NULL;
	return path;
}

int ibsa__system_files_open(const struct ibsa__environment *environment,
			    struct ibsa_error *error, struct device_files **out)
{
	const int err = ibsa__sysfs_open(environment->sysfs, out);

	return err ? ibsa__fail(error, err, "out of memory") : 0;
}

/*
 * Whether the options or the environment select a device of this machine, by an
 * empty text in place of a fabric.
 */
static bool is_device_named(const struct ibsa_options *options,
			    const struct ibsa__environment *environment)
{
	return options->fabric || (!options->context && environment->fabric);
}

/*
 * Open the port of @options at ibsad, because its device file could not be
 * opened. Return: 0; @err if ibsad does not serve the port; or why ibsad
 * refuses it.
 */
static int ibsad_open(struct device_files *files,
		      const struct ibsa_options *options, int err,
		      struct ibsa_error *error, struct ibsa_transport **out)
{
	struct ibsa_error refusal = { "" };
	const int failed = ibsa__ibsad_open(files, options, &refusal, out);

	if (failed == -ENODEV)
		return err;
	return failed ? ibsa__fail(error, failed, "%s", refusal.text) : 0;
}

/* *@out_is_device: the port is that of a device, not of ibsad. */
static int umad_open(const struct ibsa_options *options,
		     const struct ibsa__environment *environment,
		     struct ibsa_error *error, struct ibsa_transport **out,
		     bool *out_is_device)
{
	struct device_files *files;
	int err = ibsa__system_files_open(environment, error, &files);

	if (err)
		return err;
	err = ibsa__umad_open(files, options->device, options->port,
			      options->reply_bytes, error, out);
	*out_is_device = !err;
	if (ibsad_may_help(err) && !is_device_named(options, environment))
		err = ibsad_open(files, options, err, error, out);
	ibsa__files_put(files);
	return err;
}

/*
 * Return: the name of the device in the options; by default, that of the verbs
 * context.
 */
static const char *device_name(const struct ibsa_options *options)
{
	if (!options->device && options->context)
		return options->context->device->name;
	return options->device;
}

/*
 * Open a port of a device of this machine. If the kernel supports it, the
 * client receives the port events of the program's verbs context.
 */
static int device_open(const struct ibsa_options *options,
		       const struct ibsa__environment *environment,
		       struct ibsa_error *error, struct ibsa_transport **out)
{
	const struct ibv_context *context = options->context;
	struct ibsa_options named = *options;
	bool is_device;
	int err;

	named.device = device_name(options);
	if (context && strcmp(named.device, context->device->name))
		return ibsa__fail(error, -EINVAL,
				  "the verbs context is of device %s, but the "
				  "option device is %s; give the same device",
				  context->device->name, named.device);
	err = umad_open(&named, environment, error, out, &is_device);
	if (err || !is_device)
		return err;
	if (context && context->cmd_fd >= 0)
		(void)!ibsa__umad_events(*out, context->cmd_fd);
	if (!is_device_named(&named, environment))
		ibsa__ibsad_split(out);
	return 0;
}

/* Open a port at a fabric server, which runs in another process. */
static int remote_open(const char *fabric, const struct ibsa_options *options,
		       const struct ibsa__environment *environment,
		       struct ibsa_error *error, struct ibsa_transport **out)
{
	struct remote_address address;
	int err = ibsa__remote_address_find(fabric, options->device,
					    environment->node, options->port,
					    error, &address);

	if (err)
		return err;
	address.patience_ms = options->deadline_ms;
	return ibsa__remote_open(&address, options->reply_bytes, error, out);
}

/*
 * Check the table of operations of the program's transport, which may have been
 * compiled with an older header, and then lacks optional operations, or with a
 * newer one.
 */
static int transport_check(const struct ibsa_transport *transport,
			   struct ibsa_error *error)
{
	struct ibsa_transport_ops known;
	const size_t size = transport->ops->size;

	if (size < offsetof(struct ibsa_transport_ops, holds))
		return ibsa__fail(
			error, -EINVAL,
			"the member size of the transport's operations "
			"is %zu; set it to "
			"sizeof(struct ibsa_transport_ops)",
			size);
	return ibsa__options_read(&known, sizeof(known), transport->ops, size,
				  error);
}

int ibsa__transport_open(const struct ibsa_options *options,
			 const struct ibsa__environment *environment,
			 struct ibsa_error *error, struct ibsa_transport **out,
			 struct ibsa_fabric **out_fabric)
{
	const char *path = fabric_path(options, environment);

	*out_fabric = NULL;
	if (options->transport) {
		*out = options->transport;
		return transport_check(*out, error);
	}
	if (options->on)
		return fabric_ops_of(options->on)
			->attach(options->on, NULL, options->device,
				 options->port, error, out);
	if (ibsa__remote_path(path))
		return remote_open(path, options, environment, error, out);
	if (path)
		return fabric_open(path, options, environment, error, out,
				   out_fabric);
	return device_open(options, environment, error, out);
}

static int name_copy(const char *name, struct ibsa_error *error, char **out)
{
	char *copy = ibsa__strdup(name);

	if (!copy)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	*out = copy;
	return 0;
}

/*
 * Find an adapter of @fabric, as ibsa__device_find() does. @path is the file
 * of the fabric; NULL: the fabric belongs to the program.
 */
static int device_find_in_fabric(struct ibsa_fabric *fabric, const char *path,
				 const struct ibsa_options *options, bool by_id,
				 struct ibsa_error *error, char **out)
{
	struct fabric_adapter adapter;
	int err = fabric_ops_of(fabric)->adapter_find(
		fabric, path, options->device, options->port, error, &adapter);

	if (err)
		return err;
	return name_copy(by_id ? adapter.id : adapter.name, error, out);
}

/*
 * Find an adapter in a topology file or capture, as ibsa__device_find() does.
 */
static int device_find_in_path(const char *path,
			       const struct ibsa_options *options,
			       const struct ibsa__environment *environment,
			       bool by_id, struct ibsa_error *error,
			       char **out_name, struct ibsa_fabric **out_fabric)
{
	struct ibsa_options completed;
	struct ibsa_fabric *fabric;
	struct remote_node room;
	int err = fabric_get(path, options, environment, error, &room,
			     &completed, &fabric);

	if (err)
		return err;
	err = device_find_in_fabric(fabric, path, &completed, by_id, error,
				    out_name);
	if (err)
		ibsa__fabric_release(fabric);
	else
		*out_fabric = fabric;
	return err;
}

/* Find a device of this machine. The ports of the device need not be active. */
static int device_find_in_files(struct device_files *files, const char *name,
				struct ibsa_error *error, char **out)
{
	struct ibsa_device_list *list;
	struct ibsa__port_selection selection;
	int err;

	if (!name) {
		err = ibsa__port_select(files, NULL, 0, 0, error, &selection);
		return err ? err : name_copy(selection.device, error, out);
	}
	err = ibsa__devices_read(files, &list);
	if (err)
		return ibsa__devices_read_fail(files, err, error);
	err = -ENODEV;
	for (size_t i = 0; i < list->count && err; i++) {
		if (!strcmp(ibsa_device_at(list, i)->name, name))
			err = 0;
	}
	ibsa_devices_free(list);
	if (err)
		return ibsa__fail(error, err,
				  "there is no device %.64s; list the devices "
				  "with: ibsa devices",
				  name);
	return name_copy(name, error, out);
}

static int device_find_in_system(const struct ibsa__environment *environment,
				 const char *name, struct ibsa_error *error,
				 char **out)
{
	struct device_files *files;
	int err = ibsa__system_files_open(environment, error, &files);

	if (err)
		return err;
	err = device_find_in_files(files, name, error, out);
	ibsa__files_put(files);
	return err;
}

/*
 * Find the node of a fabric server's fabric that the options name; without a
 * name, the device that the server chooses. Each port of the node will be opened
 * with its own connection.
 */
static int device_find_at_server(const char *fabric,
				 const struct ibsa__environment *environment,
				 const char *name, bool by_id,
				 struct ibsa_error *error, char **out)
{
	struct remote_connection connection;
	struct remote_address address;
	int err;

	err = ibsa__remote_address_find(fabric, name, environment->node, 0,
					error, &address);
	if (!err)
		err = ibsa__remote_connect(&connection, &address, error);
	if (err)
		return err;
	ibsa__remote_disconnect(&connection);
	/* The server returns the node's id, unless it is too long. */
	if (by_id && *address.node)
		name = address.node;
	return name_copy(name ? name : address.name, error, out);
}

int ibsa__device_find(const struct ibsa_options *options,
		      const struct ibsa__environment *environment, bool by_id,
		      struct ibsa_error *error, char **out_name,
		      struct ibsa_fabric **out_fabric)
{
	const char *path = fabric_path(options, environment);

	*out_fabric = NULL;
	if (options->on)
		return device_find_in_fabric(options->on, NULL, options, by_id,
					     error, out_name);
	if (!path)
		return device_find_in_system(environment, device_name(options),
					     error, out_name);
	if (ibsa__remote_path(path))
		return device_find_at_server(path, environment, options->device,
					     by_id, error, out_name);
	return device_find_in_path(path, options, environment, by_id, error,
				   out_name, out_fabric);
}

int ibsa__device_files_open(const struct ibsa_options *options,
			    const struct ibsa__environment *environment,
			    struct device_files **out)
{
	const char *path = fabric_path(options, environment);

	*out = NULL;
	if (ibsa__remote_path(path))
		return ibsa__remote_files_open(path, options->device,
					       environment->node, out);
	return path ? 0 : ibsa__sysfs_open(environment->sysfs, out);
}
