/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the list of all RDMA devices and their ports.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "device/device.h"
#include "device/files.h"
#include "device/parse.h"

/*
 * A directory umadN of class/infiniband_mad, and the device and port to which
 * it belongs.
 */
struct mad_file {
	const char *name;
	char *device;
	uint64_t port;
};

/* A port of the list, with its state. */
struct device_port {
	struct ibsa_port port;
	struct ibsa_port_state state;
};

struct mad_files {
	struct device_files *files;
	struct ibsa__names names;
	struct mad_file *at;
	size_t count;
};

/*
 * Copy the first line of a file's text. If reading the file failed with @err,
 * the copy is "". Return: 0; -ENOMEM.
 */
static int line_copy(struct ibsa__file_text *text, int err, const char **out)
{
	if (err)
		text->bytes[0] = '\0';
	text->bytes[strcspn(text->bytes, "\n")] = '\0';
	*out = ibsa__strdup(text->bytes);
	return *out ? 0 : -ENOMEM;
}

static void mad_files_free(struct mad_files *mads)
{
	for (size_t i = 0; i < mads->count; i++)
		ibsa__free(mads->at[i].device);
	ibsa__free(mads->at);
	ibsa__names_free(&mads->names);
}

/*
 * Read the device and port of one umadN. Return: 0; -ENOMEM; or another error,
 * with which the caller ignores the umadN.
 */
static int mad_file_read(struct device_files *files, const char *name,
			 struct mad_file *out)
{
	struct ibsa__file_text text;
	int err;

	out->name = name;
	err = ibsa__number_read(files, UINT32_MAX, &out->port,
				"class/infiniband_mad/%s/port", name);
	if (!err)
		err = ibsa__file_read(files, &text,
				      "class/infiniband_mad/%s/ibdev", name);
	if (err)
		return err;
	text.bytes[strcspn(text.bytes, "\n")] = '\0';
	out->device = ibsa__strdup(text.bytes);
	return out->device ? 0 : -ENOMEM;
}

/*
 * Read all umadN of class/infiniband_mad. If the directory is missing or
 * invalid, no port has a MAD device.
 */
static int mad_files_read(struct mad_files *mads)
{
	int err;

	err = ibsa__names_read(mads->files, &mads->names,
			       "class/infiniband_mad");
	if (err)
		return err == -ENOMEM ? err : 0;
	mads->at = ibsa__calloc(mads->names.count + 1, sizeof(*mads->at));
	if (!mads->at)
		return -ENOMEM;
	for (size_t i = 0; i < mads->names.count; i++) {
		if (strncmp(mads->names.at[i], "umad", strlen("umad")) != 0)
			continue;
		err = mad_file_read(mads->files, mads->names.at[i],
				    &mads->at[mads->count]);
		if (err == -ENOMEM)
			return err;
		if (!err)
			mads->count++;
	}
	return 0;
}

static const char *mad_file_find(const struct mad_files *mads,
				 const char *device, unsigned int port)
{
	for (size_t i = 0; i < mads->count; i++) {
		if (mads->at[i].port == port &&
		    !strcmp(mads->at[i].device, device))
			return mads->at[i].name;
	}
	return "";
}

int ibsa__mad_device_find(struct device_files *files, const char *device,
			  unsigned int port, char out[NAME_MAX + 1])
{
	struct mad_files mads = { .files = files };
	const char *name = "";
	int err;

	err = mad_files_read(&mads);
	if (!err)
		name = mad_file_find(&mads, device, port);
	if (*name)
		snprintf(out, NAME_MAX + 1, "%s", name);
	else if (!err)
		err = -ENOENT;
	mad_files_free(&mads);
	return err;
}

/*
 * Read those files of a port that contain texts; each may be missing. Return:
 * 0; -ENOMEM.
 */
static int port_texts_read(struct device_files *files, const char *device,
			   struct ibsa_port *port)
{
	struct ibsa__file_text text;
	int err;

	/* Without a cable, reading the rate fails. */
	err = ibsa__file_read(files, &text, "class/infiniband/%s/ports/%u/rate",
			      device, port->number);
	err = line_copy(&text, err, &port->rate);
	if (err)
		return err;
	err = ibsa__file_read(files, &text,
			      "class/infiniband/%s/ports/%u/link_layer", device,
			      port->number);
	if (err) {
		/*
		 * Kernels from before RoCE, and ibsim, do not have the file
		 * link_layer: their ports are InfiniBand.
		 */
		port->link_layer = ibsa__strdup("InfiniBand");
		return port->link_layer ? 0 : -ENOMEM;
	}
	return line_copy(&text, 0, &port->link_layer);
}

/*
 * Read a port's files into @to. Return: 0; -ENOMEM. Any other error is stored
 * in err of the port.
 */
static int port_fill(const char *device, const struct mad_files *mads,
		     struct device_port *to)
{
	struct ibsa_port *port = &to->port;
	uint16_t *pkeys = NULL;
	uint64_t cap_mask = 0;
	int err;

	port->state = &to->state;
	err = port_texts_read(mads->files, device, port);
	if (err)
		return err;
	port->umad = ibsa__strdup(mad_file_find(mads, device, port->number));
	if (!port->umad)
		return -ENOMEM;
	err = ibsa__port_read(mads->files, device, port->number, &to->state);
	if (!err)
		err = ibsa__number_read(mads->files, UINT32_MAX, &cap_mask,
					"class/infiniband/%s/ports/%u/cap_mask",
					device, port->number);
	if (!err)
		err = ibsa__pkeys_read(mads->files, device, port->number,
				       &pkeys, &port->pkey_count);
	if (err == -ENOMEM)
		return err;
	port->cap_mask = (uint32_t)cap_mask;
	port->pkeys = pkeys;
	port->err = err;
	return 0;
}

/*
 * Store the port numbers, which are the names of the directories, in @ports.
 * Return: the number of ports.
 */
static size_t port_numbers(const struct ibsa__names *names,
			   struct device_port *ports)
{
	size_t count = 0;

	/* The names are in natural order, so the port numbers ascend. */
	for (size_t i = 0; i < names->count; i++) {
		if (!ibsa__parse_index(names->at[i], &ports[count].port.number))
			count++;
	}
	return count;
}

/*
 * Read all ports of a device. Return: 0; -ENOMEM. Any other error is stored in
 * @device->err.
 */
static int ports_read(const struct mad_files *mads, struct ibsa_device *device)
{
	struct ibsa__names names;
	struct device_port *ports;
	size_t count;
	int err;

	err = ibsa__names_read(mads->files, &names, "class/infiniband/%s/ports",
			       device->name);
	if (err == -ENOMEM)
		return err;
	if (err) {
		device->err = device->err ? device->err : err;
		return 0;
	}
	ports = ibsa__calloc(names.count + 1, sizeof(*ports));
	count = ports ? port_numbers(&names, ports) : 0;
	ibsa__names_free(&names);
	if (!ports)
		return -ENOMEM;
	device->ports = &ports->port;
	device->port_stride = sizeof(*ports);
	device->port_count = count;
	for (size_t i = 0; i < count; i++) {
		err = port_fill(device->name, mads, &ports[i]);
		if (err)
			return err;
	}
	return 0;
}

int ibsa__guid_read(struct device_files *files, const char *device,
		    const char *file, uint64_t *out)
{
	struct ibsa__file_text text;
	int err;

	err = ibsa__file_read(files, &text, "class/infiniband/%s/%s", device,
			      file);
	if (err)
		return err;
	return ibsa__parse_guid(text.bytes, out);
}

int ibsa__node_type_read(struct device_files *files, const char *device,
			 unsigned int *out)
{
	uint64_t type;
	int err = ibsa__number_read(files, UINT8_MAX, &type,
				    "class/infiniband/%s/node_type", device);

	if (err)
		return err;
	*out = (unsigned int)type;
	return 0;
}

/*
 * Read those files of a device that contain texts; each may be missing.
 * Return: 0; -ENOMEM.
 */
static int device_texts_read(struct device_files *files,
			     struct ibsa_device *device)
{
	struct ibsa__file_text text;
	int err;

	err = ibsa__file_read(files, &text, "class/infiniband/%s/fw_ver",
			      device->name);
	err = line_copy(&text, err, &device->firmware);
	if (err)
		return err;
	err = ibsa__file_read(files, &text, "class/infiniband/%s/hca_type",
			      device->name);
	return line_copy(&text, err, &device->board);
}

/*
 * Read a device's files and ports. Return: 0; -ENOMEM. Any other error is
 * stored in @device->err.
 */
static int device_fill(const char *name, const struct mad_files *mads,
		       struct ibsa_device *device)
{
	int err;

	device->name = ibsa__strdup(name);
	if (!device->name)
		return -ENOMEM;
	err = device_texts_read(mads->files, device);
	if (err)
		return err;
	err = ibsa__node_type_read(mads->files, name, &device->node_type);
	if (!err)
		err = ibsa__guid_read(mads->files, name, "node_guid",
				      &device->node_guid);
	if (!err)
		err = ibsa__guid_read(mads->files, name, "sys_image_guid",
				      &device->system_image_guid);
	device->err = err;
	return ports_read(mads, device);
}

/*
 * Whether a name in class/infiniband is a device: not a plain file or a
 * dangling link. A directory that cannot be read for lack of permission counts
 * as a device.
 */
static bool name_is_device(struct device_files *files, const char *name)
{
	int err = ibsa__folder_check(files, "class/infiniband/%s", name);

	return err != -ENOENT && err != -ENOTDIR && err != -ELOOP;
}

static int devices_fill(const struct ibsa__names *names,
			const struct mad_files *mads,
			struct ibsa_device_list *list)
{
	struct ibsa_device *devices;

	devices = ibsa__calloc(names->count + 1, sizeof(*devices));
	if (!devices)
		return -ENOMEM;
	list->devices = devices;
	list->stride = sizeof(*devices);
	for (size_t i = 0; i < names->count; i++) {
		int err;

		if (!name_is_device(mads->files, names->at[i]))
			continue;
		err = device_fill(names->at[i], mads, &devices[list->count++]);
		if (err)
			return err;
	}
	return 0;
}

int ibsa__devices_read(struct device_files *files,
		       struct ibsa_device_list **out)
{
	struct mad_files mads = { .files = files };
	struct ibsa_device_list *list;
	struct ibsa__names names;
	int err;

	err = ibsa__names_read(files, &names, "class/infiniband");
	if (err)
		return err == -ENOENT ? -ENOSYS : err;
	list = ibsa__calloc(1, sizeof(*list));
	err = list ? mad_files_read(&mads) : -ENOMEM;
	if (!err)
		err = devices_fill(&names, &mads, list);
	mad_files_free(&mads);
	ibsa__names_free(&names);
	if (err) {
		ibsa_devices_free(list);
		return err;
	}
	*out = list;
	return 0;
}

static void ports_free(const struct ibsa_device *device)
{
	for (size_t i = 0; i < device->port_count; i++) {
		const struct ibsa_port *port = ibsa_device_port_at(device, i);

		ibsa__free((void *)port->link_layer);
		ibsa__free((void *)port->rate);
		ibsa__free((void *)port->umad);
		ibsa__free((void *)port->pkeys);
	}
	ibsa__free((void *)device->ports);
}

void ibsa_devices_free(struct ibsa_device_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		ibsa__free((void *)device->name);
		ibsa__free((void *)device->firmware);
		ibsa__free((void *)device->board);
		ports_free(device);
	}
	ibsa__free((void *)list->devices);
	ibsa__free(list);
}
