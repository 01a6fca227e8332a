/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests to the ibsad of a device. */
#include <stdio.h>

#include <ibsa/server.h>

#include "session/ibsad.h"

bool ibsad_status(const char *device, char out[IBSAD_STATUS])
{
	char address[sizeof("unix:/run/ibsad/") + 256];

	snprintf(address, sizeof(address), "unix:/run/ibsad/%.255s", device);
	return !ibsa_server_command(address, "status", out, IBSAD_STATUS, NULL);
}
