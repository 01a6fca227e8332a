/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the library for LD_PRELOAD: opens and closes contexts. A context of a
 * device of a fabric is one of ibsa_verbs_open(), with the operations by which
 * the inline functions of libibverbs' header query it. libibverbs' operations
 * that it lacks fail with EOPNOTSUPP in these functions.
 */
#include <stddef.h>

#include "base/interrupt.h"
#include "preload/device.h"
#include "preload/stock.h"
#include "verbs/context.h"
#include "verbs/port_events.h"

static void context_fill(struct ibv_context *context, struct own_device *own)
{
	struct verbs_context *extended =
		(struct verbs_context *)(void *)((char *)context -
						 offsetof(struct verbs_context,
							  context));

	extended->sz = sizeof(*extended);
	extended->query_port = ibsa__own_query_port;
	extended->query_device_ex = ibsa__own_query_device;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->num_comp_vectors = 1;
	context->device = &ibsa__own_device_get(own)->device;
}

static int context_open(struct own_device *own, struct ibv_context **out)
{
	const struct ibsa_options options = {
		.device = own->device.name,
		.fabric = own->environment->fabric,
	};
	struct ibv_context *context;
	int err = ibsa__verbs_open(&options, own->environment, NULL, &context);

	if (err)
		return err;
	context_fill(context, own);
	err = ibsa__verbs_port_events_start(context);
	if (err) {
		(void)!ibsa_verbs_close(context);
		ibsa__own_device_put(own);
	} else {
		*out = context;
	}
	return err;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct own_device *own = ibsa__own_device(device);
	struct ibv_context *context = NULL;
	struct cancelability before;
	int err;

	if (!own)
		return STOCK(NULL, ibv_open_device, device);
	cancel_hold(&before);
	err = context_open(own, &context);
	cancel_restore(&before);
	if (err)
		errno = -err;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	struct own_device *own = context ? own_device_of(context) : NULL;
	const int err = ibsa_close_device(context);

	if (own && !err)
		ibsa__own_device_put(own);
	return err;
}
