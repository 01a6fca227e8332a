/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The GID table of a port from its sysfs files.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "device/device.h"
#include "device/parse.h"
#include "device/sysfs.h"

/* Empty entries have a file for their type that cannot be read, or none. */
static int type_read(const char *device, unsigned int port, uint32_t index,
		     uint8_t *out)
{
	struct ibsa__sysfs_text text;
	int err;

	err = ibsa__sysfs_read(
		&text, "class/infiniband/%s/ports/%u/gid_attrs/types/%u",
		device, port, index);
	if (err && err != -ENOENT && err != -EINVAL)
		return err;
	if (!err && !strncmp(text.bytes, "RoCE v2", strlen("RoCE v2"))) {
		*out = IBSA_GID_ROCE_V2;
		return 0;
	}
	err = ibsa__sysfs_read(&text, "class/infiniband/%s/ports/%u/link_layer",
			       device, port);
	if (err && err != -ENOENT)
		return err;
	*out = !err && !strncmp(text.bytes, "Ethernet", strlen("Ethernet"))
		       ? IBSA_GID_ROCE_V1
		       : IBSA_GID_IB;
	return 0;
}

/* 0 where there is none, or none of that name here. */
static uint32_t interface_read(const char *device, unsigned int port,
			       uint32_t index)
{
	struct ibsa__sysfs_text text;

	if (ibsa__sysfs_read(&text,
			     "class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u",
			     device, port, index))
		return 0;
	text.bytes[strcspn(text.bytes, "\n")] = '\0';
	return if_nametoindex(text.bytes);
}

int ibsa__gid_read(const char *device, unsigned int port, uint32_t index,
		   struct ibsa_gid_entry *out)
{
	static const struct ibsa_gid none;
	struct ibsa_gid_entry entry = { .index = index };
	struct ibsa__sysfs_text text;
	int err;

	err = ibsa__sysfs_read(&text, "class/infiniband/%s/ports/%u/gids/%u",
			       device, port, index);
	if (!err)
		err = ibsa__parse_gid(text.bytes, &entry.gid);
	if (!err && !memcmp(&entry.gid, &none, sizeof(none)))
		err = -ENODATA;
	if (!err)
		err = type_read(device, port, index, &entry.type);
	if (err)
		return err;
	entry.ifindex = interface_read(device, port, index);
	*out = entry;
	return 0;
}
