/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens an RDMA device for another layer's object, such as a verbs context
 * state, with the environment variables that were read when that object was
 * opened.
 */
#ifndef IB_SA_DEVICE_H
#define IB_SA_DEVICE_H

#include <ibsa/ib_sa.h>

#include "base/environment.h"

struct ibv_context;

/*
 * Which users share a device. The program and the verbs contexts have a device
 * each, because the worker of a device that only contexts use calls no callback
 * of the program: closing a context in a callback can wait for the worker.
 */
enum sa_users {
	SA_NOT_SHARED,
	SA_SHARED_BY_PROGRAM, /* by ibsa_ib_device_get() */
	SA_SHARED_BY_CONTEXTS,
};

/*
 * Open a device as ibsa_ib_device_open() does, but with @environment instead of
 * the current environment variables: the layer above copied them when it opened
 * its own object. If @users share a device of the same ports with the same
 * options, get that device instead.
 */
int ibsa__sa_device_get(const struct ibsa_ib_device_options *options,
			const struct ibsa__environment *environment,
			enum sa_users users,
			struct ib_device **out) IBSA_MUST_USE;

/*
 * End the use of @device by @client and @context, which is being closed and may
 * be the one in the device's options: cancel the queries of @client, put
 * @device and unregister @client.
 */
void ibsa__sa_device_leave(struct ib_device *device,
			   struct ib_sa_client *client,
			   const struct ibv_context *context);

#endif
