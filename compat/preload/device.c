/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the library for LD_PRELOAD: libibverbs' functions that list devices.
 * If IBSA_FABRIC names a fabric server, the devices are those of the server, and
 * otherwise those of libibverbs.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/interrupt.h"
#include "client/open.h"
#include "device/device.h"
#include "preload/device.h"
#include "preload/stock.h"

/*
 * Marks the devices of a fabric: libibverbs never sets this member, and no other
 * library has the address of this function.
 */
static struct ibv_context *own_mark(struct ibv_device *device, int fd)
{
	(void)device;
	(void)fd;
	return NULL;
}

struct own_device *ibsa__own_device(struct ibv_device *device)
{
	return device && device->_ops._dummy1 == own_mark
		       ? (struct own_device *)device
		       : NULL;
}

struct own_device *ibsa__own_device_get(struct own_device *own)
{
	atomic_fetch_add(&own->holders, 1);
	return own;
}

void ibsa__own_device_put(struct own_device *own)
{
	if (atomic_fetch_sub(&own->holders, 1) > 1)
		return;
	ibsa__files_put(own->files);
	ibsa__free(own->environment);
	ibsa__free(own);
}

/* Write a text and its end. Return: whether it fits. */
__attribute__((format(printf, 3, 4))) static bool
text_put(char *out, size_t room, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(out, room, format, args);
	va_end(args);
	return len > 0 && (size_t)len < room;
}

/*
 * Set the names and paths of a device, as libibverbs does from SYSFS_PATH.
 * Return: false: one is too long, or not the name of a file.
 */
static bool names_set(struct ibv_device *device, const char *name, int index,
		      const char *sysfs)
{
	const char *root = sysfs ? sysfs : "/sys";
	int len = (int)strlen(root);

	while (len > 1 && root[len - 1] == '/')
		len--;
	return !strchr(name, '/') && *name != '.' &&
	       text_put(device->name, sizeof(device->name), "%s", name) &&
	       text_put(device->dev_name, sizeof(device->dev_name), "uverbs%d",
			index) &&
	       text_put(device->dev_path, sizeof(device->dev_path),
			"%.*s/class/infiniband_verbs/uverbs%d", len, root,
			index) &&
	       text_put(device->ibdev_path, sizeof(device->ibdev_path),
			"%.*s/class/infiniband/%s", len, root, name);
}

static int own_device_read(struct own_device *own, const char *name, int index)
{
	unsigned int type;
	int err;

	if (!names_set(&own->device, name, index, own->environment->sysfs))
		return -EPROTO;
	err = ibsa__node_type_read(own->files, name, &type);
	if (!err)
		err = ibsa__guid_read(own->files, name, "node_guid",
				      &own->guid);
	if (err)
		return err;
	own->device._ops._dummy1 = own_mark;
	own->device.node_type = (enum ibv_node_type)type;
	own->device.transport_type = IBV_TRANSPORT_IB;
	own->index = index;
	return 0;
}

int ibsa__own_device_new(struct device_files *files,
			 const struct ibsa__environment *environment,
			 const char *name, int index, struct own_device **out)
{
	struct own_device *own = ibsa__calloc(1, sizeof(*own));
	int err;

	if (!own)
		return -ENOMEM;
	atomic_init(&own->holders, 1);
	own->files = ibsa__files_get(files);
	err = ibsa__environment_copy(environment, &own->environment);
	if (!err)
		err = own_device_read(own, name, index);
	if (err)
		ibsa__own_device_put(own);
	else
		*out = own;
	return err;
}

/* Read the name of the device of a verbs device, such as uverbs0. */
static int name_read(struct device_files *files, const char *verbs,
		     struct ibsa__file_text *out)
{
	const int err = ibsa__file_read(
		files, out, "class/infiniband_verbs/%s/ibdev", verbs);

	if (!err)
		out->bytes[strcspn(out->bytes, "\n")] = '\0';
	return err;
}

static void list_free(struct ibv_device **list)
{
	for (size_t i = 0; list[i]; i++)
		ibsa__own_device_put(ibsa__own_device(list[i]));
	ibsa__free(list);
}

/* Make the list of the verbs devices in @names, whose numbers are in order. */
static int list_make(struct device_files *files,
		     const struct ibsa__environment *environment,
		     const struct ibsa__names *names, struct ibv_device ***out)
{
	struct ibv_device **list = ibsa__calloc(names->count + 1,
						sizeof(struct ibv_device *));
	struct ibsa__file_text name;
	struct own_device *own;
	int err = list ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < names->count; i++) {
		err = name_read(files, names->at[i], &name);
		if (!err)
			err = ibsa__own_device_new(files, environment,
						   name.bytes, (int)i, &own);
		if (!err)
			list[i] = &own->device;
	}
	if (err && list)
		list_free(list);
	else if (!err)
		*out = list;
	return err;
}

static int list_read(const struct ibsa_options *options,
		     const struct ibsa__environment *environment,
		     struct ibv_device ***out, size_t *out_count)
{
	struct device_files *files;
	struct ibsa__names names;
	int err = ibsa__device_files_open(options, environment, &files);

	if (err)
		return err;
	err = ibsa__names_read(files, &names, "class/infiniband_verbs");
	if (!err) {
		err = list_make(files, environment, &names, out);
		*out_count = names.count;
		ibsa__names_free(&names);
	}
	ibsa__files_put(files);
	return err;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	const struct ibsa__environment environment =
		ibsa__environment_read(false);
	const struct ibsa_options options = { .port = 0 };
	struct cancelability before;
	struct ibv_device **list;
	size_t count = 0;
	int err;

	if (!ibsa__server_named(&options, &environment))
		return STOCK(NULL, ibv_get_device_list, num_devices);
	if (num_devices)
		*num_devices = 0;
	cancel_hold(&before);
	err = list_read(&options, &environment, &list, &count);
	cancel_restore(&before);
	if (err) {
		errno = -err;
		return NULL;
	}
	if (num_devices)
		*num_devices = (int)count;
	return list;
}

/* An empty list is one of this library, too: both libraries free the array. */
void ibv_free_device_list(struct ibv_device **list)
{
	if (!*list || ibsa__own_device(*list))
		list_free(list);
	else
		STOCK((void)0, ibv_free_device_list, list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return ibsa__own_device(device)
		       ? device->name
		       : STOCK(NULL, ibv_get_device_name, device);
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	const struct own_device *own = ibsa__own_device(device);

	return own ? htobe64(own->guid) : STOCK(0, ibv_get_device_guid, device);
}

int ibv_get_device_index(struct ibv_device *device)
{
	const struct own_device *own = ibsa__own_device(device);

	return own ? own->index : STOCK(-1, ibv_get_device_index, device);
}
