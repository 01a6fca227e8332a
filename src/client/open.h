/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From options to a transport, for the client alone. */
#ifndef CLIENT_OPEN_H
#define CLIENT_OPEN_H

#include <ibsa/ibsa.h>
#include <ibsa/sim.h>

#include "base/environment.h"
#include "device/files.h"
#include "remote/protocol.h"

/*
 * All calls here take the environment as it was when the object was opened.
 */

/*
 * The transport that @options name, else IBSA_FABRIC, else the device.
 * *@out_fabric is the shared fabric it belongs to, or NULL. Return: as
 * ibsa_open().
 */
int ibsa__transport_open(const struct ibsa_options *options,
			 const struct ibsa__environment *environment,
			 struct ibsa_error *error, struct ibsa_transport **out,
			 struct ibsa_fabric **out_fabric) IBSA_MUST_USE;

/* What of @options can be wrong by itself. 0; -EINVAL. */
int ibsa__options_check(const struct ibsa_options *options,
			struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Whether the device that @options name is there; its name is in *@out_name,
 * to be freed. *@out_fabric is the fabric it is in, held for those who open
 * its ports; NULL for one of this machine, or in @options->on. Return: as
 * ibsa_device_open().
 */
int ibsa__device_find(const struct ibsa_options *options,
		      const struct ibsa__environment *environment,
		      struct ibsa_error *error, char **out_name,
		      struct ibsa_fabric **out_fabric) IBSA_MUST_USE;

/*
 * The device files of the machine or server that @options name, to be put with
 * ibsa__files_put(); *@out NULL: the device is in an embedded fabric, which has
 * none. Return: 0; -ENOMEM.
 */
int ibsa__device_files_open(const struct ibsa_options *options,
			    const struct ibsa__environment *environment,
			    struct device_files **out) IBSA_MUST_USE;

/*
 * The device files of this machine, to be put with ibsa__files_put(). Return: 0;
 * -ENOMEM, which @error then says.
 */
int ibsa__system_files_open(const struct ibsa__environment *environment,
			    struct ibsa_error *error,
			    struct device_files **out) IBSA_MUST_USE;

/* The server ("unix:PATH") that @options or IBSA_FABRIC name, or NULL. */
const char *ibsa__server_named(const struct ibsa_options *options,
			       const struct ibsa__environment *environment);

/* The name of the one device in a server's files. */
#define IBSA__SERVER_DEVICE REMOTE_DEVICE

/* Let go of a fabric from either; takes NULL. */
void ibsa__fabric_release(struct ibsa_fabric *fabric);

#endif
