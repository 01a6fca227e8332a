/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens ports at ibsad. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/stat.h"
#include "client/ibsad.h"
#include "client/split.h"
#include "device/device.h"
#include "remote/files.h"
#include "remote/transport.h"
#include "umad_dev/umad.h"

/* The address of ibsad's socket for a device: a prefix and a path. */
struct ibsad_address {
	char text[sizeof(REMOTE_PREFIX "/run/ibsad/") + NAME_MAX];
};

/* Return: 0; -ENODEV ibsad does not serve the device here. */
static int address_find(const char *device, struct ibsad_address *out)
{
	struct ibsad_address address;
	large_stat found;

	snprintf(address.text, sizeof(address.text),
		 REMOTE_PREFIX "/run/ibsad/%.*s", NAME_MAX, device);
	if (ibsa__stat(address.text + strlen(REMOTE_PREFIX), 0, &found))
		return -ENODEV;
	*out = address;
	return 0;
}

static int selection_find(const struct ibsa__port_selection *selection,
			  struct ibsa_error *error, struct remote_address *out)
{
	struct ibsad_address found;
	const int err = address_find(selection->device, &found);

	return err ? err
		   : ibsa__remote_address_find(found.text, selection->device,
					       NULL, selection->port, error,
					       out);
}

static int selection_open(const struct ibsa__port_selection *selection,
			  const struct ibsa_options *options,
			  struct ibsa_error *error, struct ibsa_transport **out)
{
	struct remote_address address;
	int err = selection_find(selection, error, &address);

	if (err)
		return err;
	address.patience_ms = options->deadline_ms;
	return ibsa__remote_open(&address, options->reply_bytes, error, out);
}

int ibsa__ibsad_open(struct device_files *files,
		     const struct ibsa_options *options,
		     struct ibsa_error *error, struct ibsa_transport **out)
{
	struct ibsa__port_selection selection;
	int err = -ENODEV;

	for (unsigned int skip = 0; err == -ENODEV; skip++) {
		if (ibsa__port_select(files, options->device, options->port,
				      skip, NULL, &selection))
			return -ENODEV;
		err = selection_open(&selection, options, error, out);
		if (options->device)
			break;
	}
	return err;
}

int ibsa__ibsad_umad_open(struct device_files *files, const char *name,
			  const char *reopen, struct umad_file **out)
{
	struct ibsa__file_text device;
	struct ibsad_address address;
	struct device_files *remote;
	int err = ibsa__file_read(files, &device,
				  "class/infiniband_mad/%s/ibdev", name);

	if (err)
		return -ENODEV;
	device.bytes[strcspn(device.bytes, "\n")] = '\0';
	err = address_find(device.bytes, &address);
	if (err)
		return err;
	err = ibsa__remote_files_open(address.text, device.bytes, NULL,
				      &remote);
	if (err)
		return err;
	ibsa__remote_files_reopen_set(remote, reopen);
	err = ibsa__remote_files_umad_open(remote, name, out);
	ibsa__files_put(remote);
	return err;
}

void ibsa__ibsad_split(struct ibsa_transport **transport)
{
	struct remote_address address;

	if (!selection_find(ibsa__umad_selection(*transport), NULL, &address))
		(void)!ibsa__split_new(*transport, &address, transport);
}
