/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad_get_issm_path(): the path of a port's issm file. While a program has
 * this file open, the port has the capability bit IsSM.
 *
 * Source: umad_get_issm_path(3); Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>

#include "client/files.h"
#include "device/device.h"
#include "libibumad/libibumad.h"
#include "libibumad/section.h"

static int path_get(struct device_files *files, const char *ca_name,
		    int portnum, char path[], int max)
{
	struct ibsa__ca_port found;
	char name[NAME_MAX + 1];
	unsigned int port;
	int err;

	err = ibsa__ca_port_find(files, ca_name, portnum, IBSA__CA_ANY, &found);
	if (err)
		return err;
	port = (unsigned int)found.port;
	err = ibsa__mad_device_find(files, found.ca, port, name);
	if (!err)
		err = ibsa__files_issm_path(files, name, path,
					    max > 0 ? (size_t)max : 0);
	if (!err || err == -ENOMEM || err == -ENAMETOOLONG)
		return err;
	(void)ibsa__ca_fail(-ENOENT);
	return -EINVAL;
}

int umad_get_issm_path(const char *ca_name, int portnum, char path[], int max)
{
	struct device_files *files;
	struct section section;
	int err = ibsa__section_enter_files(&section, &files);

	if (err)
		return ibsa__ca_fail(err);
	err = path_get(files, ca_name, portnum, path, max);
	ibsa__section_leave(&section);
	return err;
}
