/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens a umad device file, and explains failures.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "umad_dev/umad_device.h"

/*
 * Return the error for a umad device file without a device: the file belongs
 * to another driver, or its driver was unloaded.
 */
static int device_missing(const char *name, struct ibsa_error *error)
{
	return ibsa__fail(error, -ENODEV,
			  UMAD_FOLDER
			  "%s is not a device of ib_umad: remove it and let "
			  "udev create it or, if this is a container, give the "
			  "container the device",
			  name);
}

static int open_failed(const char *name, int err, struct ibsa_error *error)
{
	switch (err) {
	/*
	 * EPERM comes from the device rules of a cgroup, or from ib_umad_open()
	 * in the kernel.
	 */
	case -EPERM:
		return ibsa__fail(
			error, -EACCES,
			"not permitted to open " UMAD_FOLDER "%s: the device "
			"is in another network namespace, or the container "
			"may not use it; give the container the device",
			name);
	case -EACCES:
		return ibsa__fail(error, err,
				  "not permitted to open " UMAD_FOLDER
				  "%s: run as root, or "
				  "have ibsad started for the port; see "
				  "ibsad(8)",
				  name);
	case -ENOENT:
		return ibsa__fail(error, -ENODEV,
				  "the kernel has this port, but " UMAD_FOLDER
				  "%s does not exist: if this is a container, "
				  "give it the device file; otherwise create "
				  "the file with "
				  "udevadm trigger -s infiniband_mad",
				  name);
	case -ENXIO:
	case -ENODEV:
	case -ENOTTY:
		return device_missing(name, error);
	case -EBUSY:
		return ibsa__fail(error, err,
				  UMAD_FOLDER "%s is in use by another program",
				  name);
	default:
		return ibsa__fail(error, err,
				  UMAD_FOLDER "%s cannot be opened: %s", name,
				  ibsa__errno_text(-err).bytes);
	}
}

int ibsa__umad_dev_refused(const char *name, int err, struct ibsa_error *error)
{
	if (err == -ENODEV)
		return device_missing(name, error);
	return ibsa__fail(error, err,
			  UMAD_FOLDER "%s refuses to register an agent for SA "
				      "replies: %s",
			  name, ibsa__errno_text(-err).bytes);
}

int ibsa__umad_dev_open(const char *name, struct ibsa_error *error, int *out)
{
	const int fd = ibsa__umad_fd_open_named(name);

	if (fd < 0)
		return open_failed(name, fd, error);
	*out = fd;
	return 0;
}
