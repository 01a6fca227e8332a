/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens the device file of a transport again: after a reply that was too
 * large, and when a device that had been removed exists again, perhaps with
 * another name and another file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "umad_dev/umad_device.h"

/*
 * Minimum number of ms between two checks whether the device exists again;
 * each check reads a few files.
 */
enum { RETRY_MS = 100 };

int ibsa__umad_dev_rename(struct umad_device *device, const char *name)
{
	struct umad_name *new = ibsa__calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	snprintf(new->text, sizeof(new->text), "%s", name);
	new->older = atomic_load(&device->name);
	atomic_store(&device->name, new);
	return 0;
}

void ibsa__umad_dev_names_free(struct umad_device *device)
{
	struct umad_name *name = atomic_load(&device->name);

	while (name) {
		struct umad_name *older = name->older;

		ibsa__free(name);
		name = older;
	}
}

int ibsa__umad_dev_find(struct umad_device *device)
{
	char name[NAME_MAX + 1];
	int err = ibsa__device_find_again(device->files,
					  umad_device_name(device),
					  device->node_guid, name);

	if (err || !strcmp(name, umad_device_name(device)))
		return err;
	return ibsa__umad_dev_rename(device, name);
}

/* Find the umad file of the device, which may have been renamed. */
static int file_find(struct umad_device *device)
{
	int err = ibsa__umad_dev_find(device);

	if (!err)
		err = ibsa__mad_device_find(device->files,
					    umad_device_name(device),
					    device->selection.port,
					    device->selection.umad);
	if (!err)
		err = ibsa__link_read(device->files, umad_device_name(device),
				      device->selection.port,
				      &device->selection.state.link);
	return err;
}

void ibsa__umad_dev_shut(struct umad_file *file, bool is_gone)
{
	struct umad_device *device = umad_device_of(file);

	device->is_gone = is_gone;
	if (is_gone)
		device->retry_ns = clock_now_ns() + RETRY_MS * NS_PER_MS;
	if (device->file.fd < 0)
		return;
	/*
	 * Remove the descriptor from the epoll set as well: its hang-up would
	 * end every wait at once.
	 */
	ibsa__umad_dev_unwatch(device, device->file.fd);
	fd_close(&device->file.fd);
}

/*
 * Open the umad file again. While the file was closed, its name may have passed
 * to another device, even if it was closed only because the process had too
 * many descriptors. The device's current file is therefore searched first,
 * except for a device of ibsim, which does not change.
 */
int ibsa__umad_dev_reopen(struct umad_file *file, bool *out_is_other)
{
	struct umad_device *device = umad_device_of(file);
	const bool is_fixed = device->simulated && !device->is_gone;
	char name[sizeof(device->selection.umad)];
	int fd;
	int err;

	if (clock_now_ns() < device->retry_ns)
		return -EINPROGRESS;
	memcpy(name, device->selection.umad, sizeof(name));
	err = is_fixed ? 0 : file_find(device);
	if (!err)
		err = ibsa__umad_dev_open(device->selection.umad, NULL, &fd);
	if (err)
		return err;
	err = ibsa__umad_dev_watch(device, fd);
	if (err) {
		close(fd);
		return err;
	}
	device->file.fd = fd;
	device->transport.link = device->selection.state.link;
	*out_is_other = strcmp(name, device->selection.umad) != 0;
	return 0;
}
