/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens a device for an object of a layer above, which was opened before. */
#ifndef IB_SA_DEVICE_H
#define IB_SA_DEVICE_H

#include <ibsa/ib_sa.h>

#include "base/environment.h"

/*
 * Like ibsa_device_open(), with the environment in which the object of the
 * layer above was opened.
 */
int ibsa__sa_device_open(const struct ibsa_device_options *options,
			 const struct ibsa__environment *environment,
			 struct ibsa_error *error,
			 struct ib_device **out) IBSA_MUST_USE;

#endif
