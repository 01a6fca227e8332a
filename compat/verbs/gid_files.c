/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads GID tables from sysfs, or from the sysfs files that a fabric server
 * provides. Errors other than -ENOMEM become the errors that libibverbs returns
 * in the same case: -ENODATA, -EINVAL or -EIO.
 */
#include <errno.h>

#include "device/device.h"
#include "verbs/gid.h"

/*
 * Whether the device was removed, or its fabric server has gone or does not
 * answer.
 */
static bool device_is_gone(struct device_files *files, const char *device)
{
	int err = ibsa__folder_check(files, "class/infiniband/%s", device);

	return err == -ENOENT || err == -ENODEV || err == -ETIMEDOUT;
}

int ibsa__gid_of_files(struct device_files *files, const char *device,
		       uint32_t port, uint32_t index,
		       struct ibsa_gid_entry *out)
{
	int err = port ? ibsa__gid_read(files, device, port, index, out)
		       : -EINVAL;

	if (!err || err == -ENODATA)
		return err;
	return device_is_gone(files, device) ? -EIO : -EINVAL;
}

/*
 * Append an entry to the buffer, except those of port 0: verbs have no port 0,
 * which is a switch's management port.
 */
static int gid_add(unsigned int port, int err,
		   const struct ibsa_gid_entry *entry, void *gids)
{
	if (!port)
		return 0;
	return err ? err : ibsa__gids_add(gids, port, entry);
}

int ibsa__gids_of_files(struct device_files *files, const char *device,
			struct ibsa__gids *gids)
{
	int err = ibsa__gids_walk(files, device, gid_add, gids);

	if (!err || err == -ENOMEM)
		return err;
	return device_is_gone(files, device) ? -EIO : -EINVAL;
}
