/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The RDMA devices of this machine, their ports and GID tables, as read from
 * sysfs; and the choice of a source GID.
 *
 * ibsa_device_port_at  a port of a device
 * ibsa_device_at       a device of a list
 * ibsa_devices_read    list the devices of this machine
 * ibsa_devices_free    free a list of devices
 * ibsa_port_gsi        the port with the GSI, for a port with only an SMI
 * ibsa_port_access_get check whether this program can use a port's umad file
 * ibsa_umad_version    the version of the kernel's umad interface, from 5
 * ibsa_gids_read       list the GID tables of this machine
 * ibsa_gids_free       free a list of GIDs
 * ibsa_gid_choose      choose the source GID for an address
 *
 * Any thread may call these functions. They open no device, except
 * ibsa_port_access_get(). If $IBSA_FABRIC names a fabric server, as fabric of
 * struct ibsa_options can, they return the devices that the server has for the
 * node or host in $IBSA_NODE, or for one that ibsa_devices_read(3) describes;
 * otherwise they read sysfs at $SYSFS_PATH, or at /sys if this is not set. A
 * list does not change after it was read. Numbers are in host byte order.
 */
#ifndef IBSA_DEVICE_H
#define IBSA_DEVICE_H

#include <ibsa/transport.h>
#include <ibsa/types.h>

IBSA_BEGIN

/**
 * struct ibsa_port - one port of a device
 * @number:     from 1; 0: the management port of a switch
 * @err:        0; or why the port could not be read: @state, @cap_mask and
 *              @pkeys are then not valid
 * @cap_mask:   PortInfo CapabilityMask
 * @link_layer: "InfiniBand", also if it cannot be read; or "Ethernet"
 * @rate:       such as "100 Gb/sec (4X EDR)"; "": it cannot be read
 * @umad:       name of the port's MAD device, such as "umad0"; "": none
 * @pkeys:      P_Key table; empty entries are 0
 */
struct ibsa_port {
	unsigned int number;
	int err;
	const struct ibsa_port_state *state;
	uint32_t cap_mask;
	const char *link_layer;
	const char *rate;
	const char *umad;
	const uint16_t *pkeys;
	size_t pkey_count;
};

/**
 * struct ibsa_device - one device
 * @err:       0; or why @node_type, @node_guid, @system_image_guid or the list
 *             of ports could not be read. Of these three members, the first
 *             that could not be read, and those after it, are 0. Errors of
 *             single ports are in err of struct ibsa_port
 * @node_type: IBSA_NODE_CA also for RoCE; from 4 on: others, such as iWARP
 * @firmware, @board: "": it cannot be read
 */
struct ibsa_device {
	const char *name;
	int err;
	enum ibsa_node_type node_type;
	uint64_t node_guid;
	uint64_t system_image_guid;
	const char *firmware;
	const char *board;
	size_t port_count;
	size_t port_stride;
	const struct ibsa_port *ports;
};

IBSA_INLINE const struct ibsa_port *
ibsa_device_port_at(const struct ibsa_device *device, size_t index)
{
	return IBSA__AT(struct ibsa_port, device->ports, index,
			device->port_stride);
}

/**
 * struct ibsa_device_list - all devices, in the order of their names, with
 * mlx5_9 before mlx5_10
 */
struct ibsa_device_list {
	size_t count;
	size_t stride;
	const struct ibsa_device *devices;
};

IBSA_INLINE const struct ibsa_device *
ibsa_device_at(const struct ibsa_device_list *list, size_t index)
{
	return IBSA__AT(struct ibsa_device, list->devices, index, list->stride);
}

/**
 * ibsa_devices_read - list the devices of this machine
 * @out: receives the list, which ibsa_devices_free() frees
 *
 * Errors of single devices and ports are in their member err.
 *
 * Return: 0, also for an empty list; -ENOSYS there is no class/infiniband in
 * sysfs, usually because the kernel's RDMA modules are not loaded; -ENODEV,
 * -ENXIO no fabric server, node or port as $IBSA_FABRIC and $IBSA_NODE name it;
 * at a fabric server, -EACCES and
 * other errors of ibsa_open(); -ENOMEM; or the error from reading sysfs
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
int ibsa_devices_read(struct ibsa_device_list **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

void ibsa_devices_free(struct ibsa_device_list *list);

/**
 * ibsa_port_gsi - the port with the GSI, for a port with only an SMI
 * @port:       a port of @list
 * @out_device: receives the device of the result; may be NULL
 *
 * On a planarized adapter, the SMI and the GSI of a physical port appear as
 * ports of two devices, with the same port GUID. Only the GSI sends SA queries.
 *
 * Return: the port with the GSI if @port has the SMI of the same physical port;
 * otherwise NULL
 *
 * Source: IBA vol 1, 14.2.5.6 (CapabilityMask); libibumad of rdma-core 64.
 */
const struct ibsa_port *ibsa_port_gsi(const struct ibsa_device_list *list,
				      const struct ibsa_port *port,
				      const struct ibsa_device **out_device);

/**
 * struct ibsa_device_file - a file in /dev/infiniband, its owner, group and
 * mode
 * @err:  0; -EOPNOTSUPP: the device is simulated, and its files have no owner;
 *        or the error of open(2) with O_PATH, such as -ENOENT. If it is not 0,
 *        @uid, @gid and @mode are 0
 * @mode: permission bits, such as 0600
 */
struct ibsa_device_file {
	char path[272];
	int err;
	uint32_t uid;
	uint32_t gid;
	uint32_t mode;
};

/**
 * struct ibsa_port_access - whether a program can use a port without ibsad
 * @umad:     the file with which a program sends and receives MADs
 * @open_err: 0: this program can use @umad, or the port is at a fabric server;
 *            -EACCES: this program may not open @umad; -ENODEV: @umad does not
 *            exist or has no port; -EBUSY: another program uses @umad; or
 *            another error
 * @issm:     the file that sets the port's IsSM bit while it is open
 */
struct ibsa_port_access {
	struct ibsa_device_file umad;
	int open_err;
	struct ibsa_device_file issm;
};

int ibsa_port_access_get_sized(const struct ibsa_port *port,
			       struct ibsa_port_access *out,
			       size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 2);

/**
 * ibsa_port_access_get - check whether this program can use a port's umad file
 * @port: of a list from ibsa_devices_read()
 *
 * Opens the umad file, registers a MAD agent, and closes the file again; not at
 * a fabric server.
 *
 * Return: 0, also if a file is missing; -ENODEV the port has no MAD device
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_port_access_get(const struct ibsa_port *port,
						   struct ibsa_port_access *out)
{
	return ibsa_port_access_get_sized(port, out, sizeof(*out));
}

/**
 * ibsa_umad_version - the version of the kernel's umad interface, from 5
 * @error: after an error, what failed and what to do; may be NULL
 *
 * Return: 0; -ENOSYS no version, usually because ib_umad is not loaded;
 * -EOPNOTSUPP it is below 5 or no number; others as ibsa_devices_read()
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
int ibsa_umad_version(struct ibsa_error *error, unsigned int *out) IBSA_MUST_USE
	IBSA_NONNULL(2);

/**
 * struct ibsa_gid_row - one entry of a GID table, with its device and port
 * @device:     name; in a list, valid until ibsa_gids_free()
 * @port_state: 0: unknown
 * @err:        0; or why the entry could not be read: of @entry, only the index
 *              is then valid
 */
struct ibsa_gid_row {
	const char *device;
	unsigned int port;
	enum ibsa_port_state_code port_state;
	int err;
	struct ibsa_gid_entry entry;
};

struct ibsa_gid_list {
	const struct ibsa_gid_row *rows;
	size_t count;
};

/**
 * ibsa_gids_read - list the GID tables of this machine
 * @device: name; NULL: all devices
 * @port:   number; 0: all ports
 * @out:    receives the list, which ibsa_gids_free() frees
 *
 * The list has no empty entries. If an entry cannot be read, the err of its row
 * is set.
 *
 * Return: 0, also for an empty list; -ENODEV no such device; -ENXIO @device has
 * no such port; others as ibsa_devices_read()
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
int ibsa_gids_read(const char *device, unsigned int port,
		   struct ibsa_gid_list **out) IBSA_MUST_USE IBSA_NONNULL(3);

void ibsa_gids_free(struct ibsa_gid_list *list);

/*
 * Why ibsa_gid_choose() chooses a GID or not: the first reason of this list
 * that applies; without an address, IBSA_GID_OTHER_FAMILY comes after
 * IBSA_GID_ROCE_V1_ONLY, and also compares the GID with the chosen GID.
 */
enum ibsa_gid_fit {
	IBSA_GID_CHOSEN,
	IBSA_GID_UNREADABLE,
	IBSA_GID_EMPTY,
	IBSA_GID_PORT_DOWN, /* the GID's port is known not to be active */
	/* One of GID and address is IPv4, and the other is not; or there is no
	 * address, and only the chosen GID is IPv4. */
	IBSA_GID_OTHER_FAMILY,
	IBSA_GID_LINK_LOCAL,   /* link-local; the address is not, or there is no
				* address and the GID is RoCE */
	IBSA_GID_ROCE_V1_ONLY, /* the chosen GID is RoCE v2 or InfiniBand */
	IBSA_GID_FARTHER,      /* the chosen GID has more leading bits in common
				* with the address; of IPv6, 64 are compared,
				* or all 128 if they are equal */
	IBSA_GID_LATER,	       /* as good as the chosen GID, but after it */
};

/**
 * ibsa_gid_choose - choose the source GID for an address
 * @address:  IP address or GID of a peer or of this machine, network byte
 *            order; an IPv4 address is ::ffff:a.b.c.d. NULL: no address
 * @out_fits: receives @count values of enum ibsa_gid_fit; may be NULL
 * @out_at:   receives the index of the chosen row
 *
 * Of the rows that can be used, those of RoCE v2 and InfiniBand are preferred
 * to RoCE v1, then those with the most leading bits in common with @address or,
 * without it, those of IPv4, then the first. ibsa_gids_read(3) has all rules.
 *
 * Return: 0; -ENOENT no row can be used
 *
 * Source: NCCL and UCX (family, RoCE v2 first); RFC 6724, 5, rule 8 (leading
 * bits).
 */
int ibsa_gid_choose(const struct ibsa_gid_row *rows, size_t count,
		    const struct ibsa_gid *address, enum ibsa_gid_fit *out_fits,
		    size_t *out_at) IBSA_MUST_USE;

IBSA_END

#endif
