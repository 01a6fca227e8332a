/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds a device again that was renamed, or removed and plugged in again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "device/files.h"

/*
 * Return: how well a device matches the one searched for: 3 same GUID and
 * name, 2 same GUID, 1 same name, 0 no match.
 */
static int device_likeness(struct device_files *files, const char *name,
			   const char *device, uint64_t node_guid)
{
	const int by_name = !strcmp(name, device);
	uint64_t guid;

	if (!node_guid || ibsa__guid_read(files, name, "node_guid", &guid) ||
	    guid != node_guid)
		return by_name;
	return 2 + by_name;
}

int ibsa__device_find_again(struct device_files *files, const char *device,
			    uint64_t node_guid, char out[NAME_MAX + 1])
{
	const char *found = NULL;
	struct ibsa__names names;
	int best = 0;
	int err;

	err = ibsa__names_read(files, &names, "class/infiniband");
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	for (size_t i = 0; i < names.count; i++) {
		int likeness = device_likeness(files, names.at[i], device,
					       node_guid);

		if (likeness <= best)
			continue;
		best = likeness;
		found = names.at[i];
	}
	if (found)
		snprintf(out, NAME_MAX + 1, "%s", found);
	ibsa__names_free(&names);
	return found ? 0 : -ENODEV;
}
