/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The GID tables of all devices as one list. */
#include <errno.h>
#include <string.h>

#include <ibsa/device.h>

#include "base/alloc.h"
#include "base/array.h"
#include "device/device.h"
#include "device/files.h"

enum { NO_PORT = -1 };

/*
 * A list of GID table rows while it is being read, and the device and port
 * that is being read now.
 */
struct gids_reader {
	struct device_files *files;
	struct ibsa_gid_row *rows;
	size_t count;
	size_t room;
	unsigned int only_port; /* 0: all */
	const char *device;
	int64_t port; /* or NO_PORT */
	enum ibsa_port_state_code port_state;
};

/*
 * Return: the state of a port. Only the file "state" of the port is read,
 * because other files of the port may be missing.
 */
static uint8_t state_read(struct device_files *files, const char *device,
			  unsigned int port)
{
	uint64_t state;

	if (ibsa__number_read(files, UINT8_MAX, &state,
			      "class/infiniband/%s/ports/%u/state", device,
			      port))
		return 0;
	return (uint8_t)state;
}

static int reader_add(unsigned int port, int entry_err,
		      const struct ibsa_gid_entry *entry, void *arg)
{
	struct gids_reader *reader = arg;
	int err;

	if (reader->only_port && port != reader->only_port)
		return 0;
	err = ARRAY_GROW(reader->rows, reader->room, reader->count + 1);
	if (err)
		return err;
	if (port != reader->port) {
		reader->port = port;
		reader->port_state = state_read(reader->files, reader->device,
						port);
	}
	reader->rows[reader->count++] = (struct ibsa_gid_row){
		.device = reader->device,
		.port = port,
		.port_state = reader->port_state,
		.err = entry_err,
		.entry = *entry,
	};
	return 0;
}

/*
 * Add the rows of one device to the list. All rows point to one copy of the
 * device's name, which the first row owns.
 */
static int device_rows_add(const char *name, struct gids_reader *reader)
{
	const size_t first = reader->count;
	char *own = ibsa__strdup(name);
	int err;

	if (!own)
		return -ENOMEM;
	reader->device = own;
	reader->port = NO_PORT;
	err = ibsa__gids_walk(reader->files, name, reader_add, reader);
	if (err)
		reader->count = first;
	if (reader->count == first)
		ibsa__free(own);
	return err;
}

static int all_devices_add(struct gids_reader *reader)
{
	struct ibsa__names names;
	int err = ibsa__names_read(reader->files, &names, "class/infiniband");

	if (err)
		return err == -ENOENT ? -ENOSYS : err;
	for (size_t i = 0; !err && i < names.count; i++) {
		err = device_rows_add(names.at[i], reader);
		/*
		 * These errors mean that the device is gone, or that the name
		 * is not a directory: there are no rows.
		 */
		if (err == -ENODEV || err == -ENOTDIR)
			err = 0;
	}
	ibsa__names_free(&names);
	return err;
}

/*
 * Whether a text can be the name of a device. The text must not be a path,
 * which could also lead to a device.
 */
static bool is_device_name(const char *device)
{
	return *device && *device != '.' && !strchr(device, '/');
}

/*
 * Check that a device has a port. Return: 0; -ENODEV no such device; -ENXIO
 * the device does not have this port; or another error.
 */
static int port_check(struct device_files *files, const char *device,
		      unsigned int port)
{
	int err = ibsa__folder_check(files, "class/infiniband/%s", device);

	if (err)
		return err == -ENOENT ? -ENODEV : err;
	err = ibsa__folder_check(files, "class/infiniband/%s/ports/%u", device,
				 port);
	return err == -ENOENT ? -ENXIO : err;
}

static int one_device_add(const char *device, struct gids_reader *reader)
{
	int err = ibsa__folder_check(reader->files, "class/infiniband");

	if (err)
		return err == -ENOENT ? -ENOSYS : err;
	if (!is_device_name(device))
		return -ENODEV;
	if (reader->only_port)
		err = port_check(reader->files, device, reader->only_port);
	return err ? err : device_rows_add(device, reader);
}

int ibsa__gids_read(struct device_files *files, const char *device,
		    unsigned int port, struct ibsa_gid_list **out)
{
	struct ibsa_gid_list *list = ibsa__calloc(1, sizeof(*list));
	struct gids_reader reader = { .files = files, .only_port = port };
	int err;

	if (!list)
		return -ENOMEM;
	err = device ? one_device_add(device, &reader)
		     : all_devices_add(&reader);
	list->rows = reader.rows;
	list->count = reader.count;
	if (err) {
		ibsa_gids_free(list);
		return err;
	}
	*out = list;
	return 0;
}

void ibsa_gids_free(struct ibsa_gid_list *list)
{
	if (!list)
		return;
	for (size_t i = list->count; i > 0; i--) {
		if (i == 1 ||
		    list->rows[i - 2].device != list->rows[i - 1].device)
			ibsa__free((void *)list->rows[i - 1].device);
	}
	ibsa__free((void *)list->rows);
	ibsa__free(list);
}
