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

struct path {
	char text[sizeof(UMAD_FOLDER) + NAME_MAX];
};

/* The file belongs to another driver, or its driver was unloaded. */
static int device_missing(const char *path, struct ibsa_error *error)
{
	return ibsa__fail(error, -ENODEV,
			  "%s is not a device of ib_umad: remove it and let "
			  "udev make it, or in a container pass the device in",
			  path);
}

static int open_failed(const char *path, int err, struct ibsa_error *error)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return ibsa__fail(error, -EACCES,
				  "not permitted to open %s: run as root, or "
				  "give your user read and write access to it",
				  path);
	case -ENOENT:
		return ibsa__fail(error, -ENODEV,
				  "the kernel has this port but %s is not "
				  "there: in a container, pass the device in; "
				  "else see udev",
				  path);
	case -ENXIO:
	case -ENODEV:
		return device_missing(path, error);
	case -EBUSY:
		return ibsa__fail(error, err, "%s is in use by another program",
				  path);
	default:
		return ibsa__fail(error, err, "%s cannot be opened: %s", path,
				  ibsa__errno_text(-err).bytes);
	}
}

static struct path device_path(const char *name)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), UMAD_FOLDER "%s", name);
	return path;
}

int ibsa__umad_dev_refused(const char *name, int err, struct ibsa_error *error)
{
	const struct path path = device_path(name);

	if (err == -ENODEV)
		return device_missing(path.text, error);
	return ibsa__fail(error, err, "%s rejects an agent for SA replies: %s",
			  path.text, ibsa__errno_text(-err).bytes);
}

int ibsa__umad_dev_open(const char *name, struct ibsa_error *error, int *out)
{
	const struct path path = device_path(name);
	int fd;
	int err = ibsa__umad_fd_open(path.text, &fd);

	if (err)
		return open_failed(path.text, err, error);
	err = ibsa__umad_fd_enable_pkey(fd);
	if (err) {
		close(fd);
		return ibsa__umad_dev_refused(
			name, err == -ENOTTY ? -ENODEV : err, error);
	}
	*out = fd;
	return 0;
}
