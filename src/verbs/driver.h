/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The driver of a device, found out once per device and process. */
#ifndef VERBS_DRIVER_H
#define VERBS_DRIVER_H

#include <ibsa/types.h>

/* As ibsa__uverbs_driver(), with the result cached. Any thread may call it. */
int ibsa__verbs_driver(const char *device, uint32_t *out) IBSA_MUST_USE;

/*
 * Query the kernel again, after it has rejected the driver number: another
 * device may have the same name now. Return: whether *@driver has changed.
 */
bool ibsa__verbs_driver_renew(const char *device, uint32_t *driver);

#endif
