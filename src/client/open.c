/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From options to a transport: one that was given, a fabric, a device. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/registry.h"
#include "client/open.h"
#include "umad/umad.h"

static int make_fabric(const char *path, void *error, void **out)
{
	struct ibsa_fabric *fabric;
	int err = ibsa_fabric_load(path, NULL, error, &fabric);

	if (!err)
		*out = fabric;
	return err;
}

static void destroy_fabric(void *fabric)
{
	ibsa_fabric_put(fabric);
}

void ibsa__fabric_release(struct ibsa_fabric *fabric)
{
	if (fabric)
		ibsa__registry_put(fabric, destroy_fabric);
}

static int attach_failed(const char *path, const struct ibsa_options *options,
			 int err, struct ibsa_error *error)
{
	const char *device = options->device ? options->device : "no adapter";

	if (err == -ENETDOWN)
		return ibsa__fail(error, err,
				  options->device ? "%s is not connected in %s"
						  : "%s is connected in %s",
				  device, path);
	if (err != -ENODEV)
		return ibsa__fail(error, err, "%s: %s", path, strerror(-err));
	if (options->port)
		return ibsa__fail(error, err,
				  "%s has %s port %u in %s; list the ports "
				  "with: ibsa devices",
				  device, options->device ? "no" : "a",
				  options->port, path);
	return ibsa__fail(error, err,
			  "there is no adapter %s in %s; list them with: "
			  "ibsa devices",
			  device, path);
}

/* One fabric per file and process: whoever opens the same file shares it. */
static int open_fabric(const char *path, const struct ibsa_options *options,
		       struct ibsa_error *error, struct ibsa_transport **out,
		       struct ibsa_fabric **out_fabric)
{
	char real[PATH_MAX];
	void *fabric;
	int err;

	err = ibsa__registry_get(realpath(path, real) ? real : path,
				 make_fabric, error, &fabric);
	if (err)
		return err;
	err = ibsa_fabric_attach(fabric, options->device, options->port, out);
	if (err) {
		ibsa__fabric_release(fabric);
		return attach_failed(path, options, err, error);
	}
	*out_fabric = fabric;
	return 0;
}

int ibsa__transport_open(const struct ibsa_options *options,
			 struct ibsa_error *error, struct ibsa_transport **out,
			 struct ibsa_fabric **out_fabric)
{
	const char *path = options->fabric;

	*out_fabric = NULL;
	if (options->transport) {
		*out = options->transport;
		return 0;
	}
	if (!path)
		path = secure_getenv("IBSA_FABRIC");
	if (path && *path)
		return open_fabric(path, options, error, out, out_fabric);
	return ibsa__umad_open(options->device, options->port,
			       options->reply_bytes, error, out);
}
