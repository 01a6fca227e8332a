/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device file that marks a port as a subnet manager's while it is open.
 *
 * Source: umad_get_issm_path(3); Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "device/parse.h"
#include "libibumad/libibumad.h"
#include "libibumad/section.h"
#include "remote/files.h"

#define UMAD_FILE "umad"

/* issmN is of the same port as umadN. 0, -ENOMEM or another error. */
static int number_find(struct device_files *files,
		       const struct ibsa__ca_port *place, unsigned int *out)
{
	char name[NAME_MAX + 1];
	int err;

	err = ibsa__mad_device_find(files, place->ca, (unsigned int)place->port,
				    name);
	if (err)
		return err;
	return ibsa__parse_index(name + strlen(UMAD_FILE), out);
}

/* There it is a FIFO, which is to be opened for reading. */
static int at_server(struct device_files *files,
		     const struct ibsa__ca_port *place, char *path, int max)
{
	int err = ibsa__remote_issm_path(files, (unsigned int)place->port, path,
					 max > 0 ? (size_t)max : 0);

	return !err || err == -ENAMETOOLONG || err == -ENOMEM ? err : -EINVAL;
}

static int path_get(struct device_files *files, const char *ca_name,
		    int portnum, char path[], int max)
{
	struct ibsa__ca_port place;
	unsigned int number;
	char text[64];
	int len;
	int err;

	err = ibsa__ca_port_find(files, ca_name, portnum, IBSA__CA_ANY, &place);
	if (err)
		return err;
	err = number_find(files, &place, &number);
	if (err) {
		(void)ibsa__ca_fail(err == -ENOMEM ? err : -ENOENT);
		return err == -ENOMEM ? err : -EINVAL;
	}
	if (ibsa__files_are_remote(files))
		return at_server(files, &place, path, max);
	len = snprintf(text, sizeof(text), "/dev/infiniband/issm%u", number);
	if (len >= max)
		return -ENAMETOOLONG;
	memcpy(path, text, (size_t)len + 1);
	return 0;
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
