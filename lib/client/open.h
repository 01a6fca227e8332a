/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens the transport that the options of a client select. */
#ifndef CLIENT_OPEN_H
#define CLIENT_OPEN_H

#include <ibsa/ibsa.h>

#include "base/environment.h"
#include "device/files.h"
#include "remote/protocol.h"

/*
 * The argument environment of these functions holds the environment variables
 * at the time when the object was opened.
 */

/*
 * Open the transport that @options select, else the fabric in IBSA_FABRIC,
 * else a port of a device of this machine. *@out_fabric is the shared embedded
 * fabric of the transport, or NULL. Return: as ibsa_open().
 */
int ibsa__transport_open(const struct ibsa_options *options,
			 const struct ibsa__environment *environment,
			 struct ibsa_error *error, struct ibsa_transport **out,
			 struct ibsa_fabric **out_fabric) IBSA_MUST_USE;

/*
 * Check those members of @options whose validity depends on nothing else.
 * Return: 0; -EINVAL.
 */
int ibsa__options_check(const struct ibsa_options *options,
			struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Check that the device in @options exists. *@out_name is its name; the caller
 * frees it. In a fabric, a node has several names: if @by_id is set, *@out_name
 * is the node id, which is unique; otherwise the name in @options, if any.
 * *@out_fabric is its embedded fabric, with a reference for opening
 * ports; NULL if the device belongs to this machine or to the fabric
 * @options->on. Return: as ibsa_ib_device_open().
 */
int ibsa__device_find(const struct ibsa_options *options,
		      const struct ibsa__environment *environment, bool by_id,
		      struct ibsa_error *error, char **out_name,
		      struct ibsa_fabric **out_fabric) IBSA_MUST_USE;

/*
 * Open the device files (as in /sys) of the machine or fabric server that
 * @options select. The caller releases *@out with ibsa__files_put(). *@out is
 * NULL if the device is in an embedded fabric, which has no such files.
 * Return: 0; -ENOMEM.
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

/*
 * Return: the address ("unix:PATH") of the fabric server that @options or
 * IBSA_FABRIC names; NULL if they name no server.
 */
const char *ibsa__server_named(const struct ibsa_options *options,
			       const struct ibsa__environment *environment);

/*
 * Stands, in the device files of a fabric server that were opened for a device,
 * for that device.
 */
#define IBSA__SERVER_DEVICE REMOTE_SELECTED

/*
 * Return: the link type (enum ibsa_link_layer) that all ports of @fabric have.
 */
uint8_t ibsa__fabric_link(struct ibsa_fabric *fabric);

/*
 * Release a fabric that ibsa__transport_open() or ibsa__device_find()
 * returned; NULL is allowed.
 */
void ibsa__fabric_release(struct ibsa_fabric *fabric);

#endif
