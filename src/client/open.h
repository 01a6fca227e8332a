/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens transports by options, for the client only. */
#ifndef CLIENT_OPEN_H
#define CLIENT_OPEN_H

#include <ibsa/ibsa.h>
#include <ibsa/sim.h>

#include "base/environment.h"
#include "device/files.h"
#include "remote/protocol.h"

/*
 * All functions of this header take the environment of the time when the object
 * was opened.
 */

/*
 * Open the transport that @options name, else IBSA_FABRIC, else the device.
 * *@out_fabric is the shared fabric that it belongs to, or NULL. Return: as
 * ibsa_open().
 */
int ibsa__transport_open(const struct ibsa_options *options,
			 const struct ibsa__environment *environment,
			 struct ibsa_error *error, struct ibsa_transport **out,
			 struct ibsa_fabric **out_fabric) IBSA_MUST_USE;

/*
 * Check the values in @options that can be checked alone. Return: 0; -EINVAL.
 */
int ibsa__options_check(const struct ibsa_options *options,
			struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Check that the device that @options name exists. *@out_name is its name,
 * which the caller frees. *@out_fabric is its fabric, with a reference for
 * opening ports; NULL for a device of this machine, or in @options->on. Return:
 * as ibsa_device_open().
 */
int ibsa__device_find(const struct ibsa_options *options,
		      const struct ibsa__environment *environment,
		      struct ibsa_error *error, char **out_name,
		      struct ibsa_fabric **out_fabric) IBSA_MUST_USE;

/*
 * Open the device files of the machine or server that @options name. The caller
 * releases *@out with ibsa__files_put(); NULL: the device is in an embedded
 * fabric, which has no files. Return: 0; -ENOMEM.
 */
int ibsa__device_files_open(const struct ibsa_options *options,
			    const struct ibsa__environment *environment,
			    struct device_files **out) IBSA_MUST_USE;

/*
 * Open the device files of this machine. The caller releases them with
 * ibsa__files_put(). Return: 0; -ENOMEM, with *@error set.
 */
int ibsa__system_files_open(const struct ibsa__environment *environment,
			    struct ibsa_error *error,
			    struct device_files **out) IBSA_MUST_USE;

/* The server ("unix:PATH") that @options or IBSA_FABRIC names, or NULL. */
const char *ibsa__server_named(const struct ibsa_options *options,
			       const struct ibsa__environment *environment);

/* The name of the only device in a server's files. */
#define IBSA__SERVER_DEVICE REMOTE_DEVICE

/* Release a fabric of one of these calls; NULL is allowed. */
void ibsa__fabric_release(struct ibsa_fabric *fabric);

#endif
