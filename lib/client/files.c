/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens the device files that the environment variables select, and implements
 * the public functions that read them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/device.h>

#include "base/error.h"
#include "base/sized.h"
#include "client/files.h"
#include "client/ibsad.h"
#include "device/device.h"
#include "device/parse.h"
#include "device/sysfs.h"
#include "remote/files.h"
#include "umad_dev/fd.h"
#include "umad_dev/umad.h"

int ibsa__files_open_now(struct device_files **out)
{
	const struct ibsa__environment environment =
		ibsa__environment_read(false);
	int err;

	if (!ibsa__remote_path(environment.fabric))
		return ibsa__sysfs_open(environment.sysfs, out);
	err = ibsa__remote_files_open(environment.fabric, NULL,
				      environment.node, out);
	if (!err)
		ibsa__remote_files_reopen_set(*out, environment.umad_reopen);
	return err;
}

int ibsa__files_umad_open(struct device_files *files, const char *name,
			  struct umad_file **out)
{
	int err;

	*out = NULL;
	if (!ibsa__files_are_remote(files))
		return ibsa__umad_fd_open_named(name);
	err = ibsa__remote_files_umad_open(files, name, out);
	return err ? err : (*out)->ops->fd(*out);
}

int ibsa__files_ibsad_open(struct device_files *files, const char *name,
			   int err, struct umad_file **out)
{
	const struct ibsa__environment environment =
		ibsa__environment_read(false);

	if (!ibsad_may_help(err) || environment.fabric ||
	    ibsa__ibsad_umad_open(files, name, environment.umad_reopen, out))
		return err;
	return (*out)->ops->fd(*out);
}

/*
 * Write the path of the issm file. On this machine, the umad and issm files of
 * a port have the same number, for example umad0 and issm0; a fabric server
 * tells the path.
 */
int ibsa__files_issm_path(struct device_files *files, const char *name,
			  char *out, size_t room)
{
	unsigned int number;
	char text[64];
	size_t len;
	int err = ibsa__parse_index(name + strlen("umad"), &number);

	if (err)
		return err;
	if (ibsa__files_are_remote(files))
		return ibsa__remote_issm_path(files, number, out, room);
	len = (size_t)snprintf(text, sizeof(text), UMAD_FOLDER "issm%u",
			       number);
	if (len >= room)
		return -ENAMETOOLONG;
	memcpy(out, text, len + 1);
	return 0;
}

int ibsa_devices_read(struct ibsa_device_list **out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return err;
	err = ibsa__devices_read(files, out);
	ibsa__files_put(files);
	return err;
}

int ibsa_gids_read(const char *device, unsigned int port,
		   struct ibsa_gid_list **out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return err;
	err = ibsa__gids_read(files, device, port, out);
	ibsa__files_put(files);
	return err;
}

int ibsa_umad_version(struct ibsa_error *error, unsigned int *out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return ibsa__fail(error, err, "out of memory");
	err = ibsa__umad_version(files, error, out);
	ibsa__files_put(files);
	return err;
}

int ibsa_port_access_get_sized(const struct ibsa_port *port,
			       struct ibsa_port_access *out, size_t size)
{
	const struct ibsa__environment environment =
		ibsa__environment_read(false);
	struct ibsa_port_access access;
	const int err = ibsa__port_access_get(
		port, ibsa__remote_path(environment.fabric), &access);

	if (!err)
		ibsa__sized_write(out, size, &access, sizeof(access));
	return err;
}
