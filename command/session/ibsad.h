/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef COMMAND_IBSAD_H
#define COMMAND_IBSAD_H

#include <stdbool.h>
#include <stddef.h>

enum { IBSAD_STATUS = 4096 };

/*
 * Read the status of the ibsad that serves a device of this machine, as
 * ibsad --status prints it. Return: false: no ibsad serves the device.
 */
bool ibsad_status(const char *device, char out[IBSAD_STATUS]);

#endif
