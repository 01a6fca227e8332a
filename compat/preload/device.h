/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The devices of a fabric server's host, in the form of libibverbs: for programs
 * that call libibverbs, with libibsa-verbs-preload.so in front of it.
 */
#ifndef PRELOAD_DEVICE_H
#define PRELOAD_DEVICE_H

#include <stdatomic.h>

#include <ibsa/verbs.h>

#include "base/environment.h"
#include "device/files.h"

/*
 * Number of zero bytes after struct ibv_device. There, a function of a
 * provider, such as mlx5dv_is_supported(), reads the other members of
 * libibverbs' struct verbs_device, which is shorter, and finds that the device
 * belongs to another provider.
 */
enum { PROVIDER_BYTES = 128 };

/*
 * A device of the host that IBSA_NODE named when the list was made.
 * @device:  what the program gets
 * @holders: the list, and each open context
 * @environment: of the time of the list, with which contexts are opened
 */
struct own_device {
	struct ibv_device device;
	uint8_t provider[PROVIDER_BYTES];
	atomic_uint holders;
	struct device_files *files;
	struct ibsa__environment *environment;
	uint64_t guid;
	int index;
};

/*
 * Return: the device of a fabric that the program has as @device; NULL: it is
 * libibverbs' device.
 */
struct own_device *ibsa__own_device(struct ibv_device *device);

static inline struct own_device *
own_device_of(const struct ibv_context *context)
{
	return ibsa__own_device(context->device);
}

/*
 * Create the device @name, that of the verbs device uverbs@index. Return: 0;
 * -ENOMEM; -EPROTO the name is not that of a file, or too long; or the error from
 * reading @files.
 */
int ibsa__own_device_new(struct device_files *files,
			 const struct ibsa__environment *environment,
			 const char *name, int index,
			 struct own_device **out) IBSA_MUST_USE;
struct own_device *ibsa__own_device_get(struct own_device *own);
void ibsa__own_device_put(struct own_device *own);

/* The operations of a context of a device of a fabric (query.c). */
int ibsa__own_query_port(struct ibv_context *context, uint8_t port_num,
			 struct ibv_port_attr *attr, size_t size);
int ibsa__own_query_device(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size);

#endif
