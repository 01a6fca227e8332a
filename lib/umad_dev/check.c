/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the permissions of a port's device files, and checks whether this user
 * can use them.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/device.h>

#include "base/error.h"
#include "base/large.h"
#include "device/files.h"
#include "device/parse.h"
#include "umad/header.h"
#include "umad_dev/ibsim.h"
#include "umad_dev/umad.h"
#include "umad_dev/umad_device.h"

/*
 * Read the ABI version of ib_umad. The version is 5 in every kernel since
 * 2.6.16.
 */
int ibsa__umad_version(struct device_files *files, struct ibsa_error *error,
		       unsigned int *out)
{
	struct ibsa__file_text text;
	uint64_t version = 0;
	int err;

	err = ibsa__file_read(files, &text, "class/infiniband_mad/abi_version");
	if (err == -ENOENT)
		return ibsa__fail(error, -ENOSYS,
				  "the kernel's umad module is not loaded: "
				  "try \"modprobe ib_umad\"");
	if (err)
		return ibsa__fail(error, err,
				  "the version of the kernel's umad interface "
				  "cannot be read: %s",
				  ibsa__errno_text(-err).bytes);
	err = ibsa__parse_number(text.bytes, UINT32_MAX, &version);
	if (err || version < UMAD_ABI_VERSION)
		return ibsa__fail(error, -EOPNOTSUPP,
				  "the kernel's umad interface is version "
				  "%u; version %u or later is needed",
				  (unsigned int)version, UMAD_ABI_VERSION);
	*out = (unsigned int)version;
	return 0;
}

/*
 * Read the owner and mode of a device file. O_PATH does not call the driver's
 * open(). stat() is not used: for an ibsim device it returns an owner that
 * does not exist.
 */
static void file_stat(struct ibsa_device_file *file)
{
	large_stat info;
	int fd;

	errno = 0;
	fd = open(file->path, O_PATH | O_CLOEXEC);
	/*
	 * ibsim's open() fails without setting errno when all of its eight
	 * descriptors are in use.
	 */
	if (fd < 0) {
		file->err = errno ? -errno : -EMFILE;
		return;
	}
	if (ibsa__umad_is_simulated(fd)) {
		file->err = -EOPNOTSUPP;
	} else if (large_fstat(fd, &info) < 0) {
		file->err = -errno;
	} else {
		file->uid = info.st_uid;
		file->gid = info.st_gid;
		file->mode = info.st_mode & 07777;
	}
	close(fd);
}

static int file_register_check(const struct ibsa_port *port)
{
	struct umad_agent agent;
	struct umad_fd file;
	int fd;
	int err = ibsa__umad_dev_open(port->umad, NULL, &fd);

	if (err)
		return err;
	file = umad_fd(fd);
	err = ibsa__umad_agent_register(&file.base, UMAD_AGENT_SA, &agent);
	close(fd);
	return err;
}

/*
 * Read the permissions of a port's issm file, which has the number of its umad
 * file. An issm file of ibsim is not opened, because ibsim would set the
 * port's bit IsSM.
 */
static void issm_stat(const struct ibsa_port *port, bool is_simulated,
		      struct ibsa_device_file *file)
{
	snprintf(file->path, sizeof(file->path), UMAD_FOLDER "issm%s",
		 port->umad + strlen("umad"));
	if (is_simulated)
		file->err = -EOPNOTSUPP;
	else
		file_stat(file);
}

int ibsa__port_access_get(const struct ibsa_port *port, bool is_remote,
			  struct ibsa_port_access *out)
{
	struct ibsa_port_access access = { .open_err = 0 };

	if (!port->umad || strncmp(port->umad, "umad", strlen("umad")) != 0 ||
	    strchr(port->umad, '/'))
		return -ENODEV;
	snprintf(access.umad.path, sizeof(access.umad.path), UMAD_FOLDER "%s",
		 port->umad);
	/* A port at a fabric server has no files with permissions. */
	if (is_remote) {
		access.umad.err = -EOPNOTSUPP;
	} else {
		file_stat(&access.umad);
		access.open_err = file_register_check(port);
	}
	issm_stat(port, access.umad.err == -EOPNOTSUPP, &access.issm);
	*out = access;
	return 0;
}
