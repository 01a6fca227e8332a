/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which driver a device has, learned once for each device of the process. */
#ifndef VERBS_DRIVER_H
#define VERBS_DRIVER_H

#include <ibsa/types.h>

/* As ibsa__uverbs_driver(), or what that said the first time. Any thread. */
int ibsa__verbs_driver(const char *device, uint32_t *out) IBSA_MUST_USE;

/*
 * Ask anew, for when the kernel refuses the driver: by now the device may be
 * another of the same name. Whether *@driver has changed.
 */
bool ibsa__verbs_driver_renew(const char *device, uint32_t *driver);

#endif
