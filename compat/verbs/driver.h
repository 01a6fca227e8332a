/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's driver id of a device. The id is queried once per device and
 * process, and again if the kernel refuses a command.
 */
#ifndef VERBS_DRIVER_H
#define VERBS_DRIVER_H

#include <ibsa/types.h>

/*
 * Return the driver number as ibsa__uverbs_driver() does, and cache it. Any
 * thread may call this.
 */
int ibsa__verbs_driver(const char *device, uint32_t *out) IBSA_MUST_USE;

/*
 * Query the driver number again, after the kernel has rejected it: another
 * device may have the same name now. Return: whether *@driver has changed.
 */
bool ibsa__verbs_driver_renew(const char *device, uint32_t *driver);

#endif
