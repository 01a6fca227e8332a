/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The GID table of a port from its sysfs files, read by libibverbs' rules with
 * one exception: an entry is empty if its GID is zero. The type of an empty
 * entry cannot be read, and trying to has broken and slowed down programs.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband; rdma-core
 * libibverbs/cmd_device.c.
 */
#include <errno.h>
#include <string.h>

#include "device/device.h"
#include "device/interface.h"
#include "device/parse.h"
#include "device/files.h"
#include "wire/gid.h"

/*
 * What a GID table's entries have in common: the interfaces of the machine, and
 * the port's link layer. Both are read when they are first needed.
 */
struct port_data {
	struct ibsa__interfaces interfaces;
	bool has_link;
	enum ibsa_link_layer link;
};

static int gid_read(struct device_files *files, const char *device,
		    unsigned int port, uint32_t index, struct ibsa_gid *out)
{
	struct ibsa_gid gid;
	int err = ibsa__port_gid_read(files, device, port, index, &gid);

	if (err)
		return err;
	if (gid_is_zero(&gid))
		return -ENODATA;
	*out = gid;
	return 0;
}

/*
 * Read whether the type of a GID is RoCE v2. The type is another one if reading
 * it fails with EINVAL, as on ports that are not Ethernet, or if the port has
 * no types, as in kernels before 4.5.
 */
static int gid_is_v2_read(struct device_files *files, const char *device,
			  unsigned int port, uint32_t index, bool *out)
{
	struct ibsa__file_text text;
	int err;

	err = ibsa__file_read(files, &text,
			      "class/infiniband/%s/ports/%u/gid_attrs/types/%u",
			      device, port, index);
	if (!err)
		return ibsa__parse_gid_type(text.bytes, out);
	if (err != -EINVAL &&
	    ibsa__folder_check(files, "class/infiniband/%s/ports/%u/gid_attrs",
			       device, port) != -ENOENT)
		return err == -ENOENT ? -EPROTO : err;
	*out = false;
	return 0;
}

static int gid_type_read(struct device_files *files, const char *device,
			 unsigned int port, uint32_t index,
			 struct port_data *port_data, enum ibsa_gid_type *out)
{
	bool is_v2;
	int err;

	err = gid_is_v2_read(files, device, port, index, &is_v2);
	if (err)
		return err;
	if (is_v2) {
		*out = IBSA_GID_ROCE_V2;
		return 0;
	}
	if (!port_data->has_link)
		err = ibsa__link_read(files, device, port, &port_data->link);
	if (err)
		return err;
	port_data->has_link = true;
	*out = port_data->link == IBSA_LINK_ETHERNET ? IBSA_GID_ROCE_V1
						     : IBSA_GID_IB;
	return 0;
}

/*
 * Return: the index of the network interface of a GID table entry; 0 if the
 * entry has no interface in the caller's network namespace.
 */
static uint32_t gid_interface_read(struct device_files *files,
				   const char *device, unsigned int port,
				   const struct ibsa_gid_entry *entry,
				   struct port_data *port_data)
{
	struct ibsa__file_text text;

	if (ibsa__file_read(files, &text,
			    "class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u",
			    device, port, entry->index))
		return 0;
	text.bytes[strcspn(text.bytes, "\n")] = '\0';
	return ibsa__interface_find(&port_data->interfaces, text.bytes,
				    &entry->gid);
}

static int gid_entry_read(struct device_files *files, const char *device,
			  unsigned int port, uint32_t index,
			  struct port_data *port_data,
			  struct ibsa_gid_entry *out)
{
	struct ibsa_gid_entry entry = { .index = index };
	int err;

	err = gid_read(files, device, port, index, &entry.gid);
	if (!err)
		err = gid_type_read(files, device, port, index, port_data,
				    &entry.type);
	if (err)
		return err;
	entry.ifindex = gid_interface_read(files, device, port, &entry,
					   port_data);
	*out = entry;
	return 0;
}

int ibsa__gid_read(struct device_files *files, const char *device,
		   unsigned int port, uint32_t index,
		   struct ibsa_gid_entry *out)
{
	struct port_data port_data = { 0 };
	int err = gid_entry_read(files, device, port, index, &port_data, out);

	ibsa__interfaces_done(&port_data.interfaces);
	return err;
}

/*
 * Walk the GID table of one port. If an entry's file disappears meanwhile, the
 * entry is treated as empty.
 */
static int port_gids_walk(struct device_files *files, const char *device,
			  unsigned int port, struct port_data *port_data,
			  ibsa__gid_fn each, void *arg)
{
	struct ibsa__names names;
	int err;

	err = ibsa__names_read(files, &names,
			       "class/infiniband/%s/ports/%u/gids", device,
			       port);
	if (err)
		return err == -ENOENT ? 0 : err;
	port_data->has_link = false;
	for (size_t i = 0; !err && i < names.count; i++) {
		struct ibsa_gid_entry entry = { 0 };
		unsigned int index;

		if (ibsa__parse_index(names.at[i], &index))
			continue;
		entry.index = index;
		err = gid_entry_read(files, device, port, index, port_data,
				     &entry);
		if (err == -ENODATA || err == -ENOENT)
			err = 0;
		else
			err = each(port, err, &entry, arg);
	}
	ibsa__names_free(&names);
	return err;
}

int ibsa__gids_walk(struct device_files *files, const char *device,
		    ibsa__gid_fn each, void *arg)
{
	struct port_data port_data = { 0 };
	struct ibsa__names names;
	int err;

	err = ibsa__names_read(files, &names, "class/infiniband/%s/ports",
			       device);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	for (size_t i = 0; !err && i < names.count; i++) {
		unsigned int port;

		if (!ibsa__parse_index(names.at[i], &port))
			err = port_gids_walk(files, device, port, &port_data,
					     each, arg);
	}
	ibsa__names_free(&names);
	ibsa__interfaces_done(&port_data.interfaces);
	return err;
}

/*
 * Whether a GID table entry matches @wanted; @wanted->ifindex 0 matches any
 * interface. An entry that cannot be read does not match.
 */
static bool gid_entry_match(struct device_files *files, const char *device,
			    unsigned int port,
			    const struct ibsa_gid_entry *wanted,
			    struct port_data *port_data,
			    struct ibsa_gid_entry *out)
{
	struct ibsa_gid_entry entry = { .index = wanted->index };

	if (gid_read(files, device, port, entry.index, &entry.gid) ||
	    memcmp(&entry.gid, &wanted->gid, sizeof(entry.gid)) != 0 ||
	    gid_type_read(files, device, port, entry.index, port_data,
			  &entry.type) ||
	    entry.type != wanted->type)
		return false;
	entry.ifindex = gid_interface_read(files, device, port, &entry,
					   port_data);
	if (wanted->ifindex && entry.ifindex != wanted->ifindex)
		return false;
	*out = entry;
	return true;
}

int ibsa__gid_find(struct device_files *files, const char *device,
		   unsigned int port, const struct ibsa_gid *gid,
		   enum ibsa_gid_type type, uint32_t ifindex,
		   struct ibsa_gid_entry *out)
{
	struct ibsa_gid_entry wanted = {
		.gid = *gid,
		.type = type,
		.ifindex = ifindex,
	};
	struct port_data port_data = { 0 };
	struct ibsa__names names;
	int err;

	err = ibsa__names_read(files, &names,
			       "class/infiniband/%s/ports/%u/gids", device,
			       port);
	if (err)
		return err;
	err = -ENOENT;
	for (size_t i = 0; err && i < names.count; i++) {
		if (!ibsa__parse_index(names.at[i], &wanted.index) &&
		    gid_entry_match(files, device, port, &wanted, &port_data,
				    out))
			err = 0;
	}
	ibsa__names_free(&names);
	ibsa__interfaces_done(&port_data.interfaces);
	return err;
}
