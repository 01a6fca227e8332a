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

/*
 * Do what ibsa_device_open() does, but with @environment instead of the
 * current environment variables: the layer above copied them when it opened
 * its own object.
 */
int ibsa__sa_device_open(const struct ibsa_device_options *options,
			 const struct ibsa__environment *environment,
			 struct ibsa_error *error,
			 struct ib_device **out) IBSA_MUST_USE;

#endif
