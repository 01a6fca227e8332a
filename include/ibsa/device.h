/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The RDMA devices of this machine, their ports and their GID tables, as read
 * from sysfs; and the choice of a source GID.
 */
#ifndef IBSA_DEVICE_H
#define IBSA_DEVICE_H

#include <ibsa/transport.h>
#include <ibsa/types.h>

IBSA_BEGIN

/**
 * struct ibsa_port - one port of a device
 * @number:     port number, from 1; 0 is the management port of a switch
 * @err:        0; or the negative errno of the first file for @state, @cap_mask
 *              or @pkeys that could not be read or has an invalid value. Unless
 *              @err is 0, these three members and @pkey_count are not valid
 * @state:      LIDs, port states and the GID with index 0; the list owns it
 * @cap_mask:   PortInfo CapabilityMask, host order
 * @link_layer: as the kernel writes it: "InfiniBand" or "Ethernet";
 *              "InfiniBand" if it cannot be read
 * @rate:       as the kernel writes it, such as "100 Gb/sec (4X EDR)"; "" if
 *              reading it fails, which with some drivers happens without a
 *              cable
 * @umad:       name of the port's MAD device, such as "umad0"; "" if the port
 *              has none
 * @pkeys:      P_Key table, host order; empty entries are 0
 * @pkey_count: number of entries in @pkeys
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
 * @name:       name under /sys/class/infiniband
 * @err:        0, or the negative errno of the first of these that could not be
 *              read or has an invalid value: the files node_type, node_guid and
 *              sys_image_guid, and the directory of the ports. Of @node_type,
 *              @node_guid, @system_image_guid and @port_count, the member that
 *              could not be read and those after it are 0. Errors of single
 *              ports are in err of struct ibsa_port
 * @node_type:  a value of enum ibsa_node_type; or 4 and above, which the enum
 *              does not have: iWARP and others
 * @node_guid, @system_image_guid: host order
 * @firmware:   firmware version; "" if it cannot be read, which does not set
 *              @err
 * @board:      hardware name; "" if it cannot be read, which does not set @err
 * @port_count: number of ports
 * @port_stride, @ports: the ports in ascending order of their numbers, for
 *              ibsa_device_port_at()
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

/**
 * ibsa_device_port_at - a port of a device
 * @device: a device of a list
 * @index:  from 0; less than port_count of @device
 *
 * Return: the port, which belongs to the list.
 */
IBSA_INLINE const struct ibsa_port *
ibsa_device_port_at(const struct ibsa_device *device, size_t index)
{
	return (const struct ibsa_port *)IBSA__AT(device->ports, index,
						  device->port_stride);
}

/**
 * struct ibsa_device_list - all devices, in order of their names
 * @count:  number of devices
 * @stride, @devices: the devices, for ibsa_device_at(); ordered by name, with
 *          numbers in it ordered by value: mlx5_9 before mlx5_10
 */
struct ibsa_device_list {
	size_t count;
	size_t stride;
	const struct ibsa_device *devices;
};

/**
 * ibsa_device_at - a device of a list
 * @list:  from ibsa_devices_read()
 * @index: from 0; less than count of @list
 *
 * Return: the device, which belongs to @list.
 */
IBSA_INLINE const struct ibsa_device *
ibsa_device_at(const struct ibsa_device_list *list, size_t index)
{
	return (const struct ibsa_device *)IBSA__AT(list->devices, index,
						    list->stride);
}

/**
 * ibsa_devices_read - list the devices of this machine
 * @out: receives the list, which ibsa_devices_free() frees
 *
 * Reads /sys/class/infiniband. A file of a device or port that cannot be read
 * is not an error of the call: see @err of struct ibsa_device and struct
 * ibsa_port. The list does not change when the devices change.
 *
 * If $IBSA_FABRIC is "unix:PATH", the list has one device with all ports of one
 * node of the fabric server's fabric: of the node $IBSA_NODE, which is NAME or
 * NAME/PORT, or, if $IBSA_NODE is not set, of the first channel adapter; see
 * ibsa_fabric_server_open(). Otherwise, $SYSFS_PATH, if not empty, is read
 * instead of /sys. A program that is set-uid, or has other privileges of its
 * own, ignores these variables.
 *
 * Return: 0, also for an empty list; -ENOSYS class/infiniband does not exist,
 * usually because the RDMA modules are not loaded; -ENODEV no fabric server
 * listens at PATH, or the fabric has no node with the name in $IBSA_NODE, or,
 * without $IBSA_NODE, no channel adapter; -ENXIO $IBSA_NODE is NAME/PORT, and
 * the node NAME has no port PORT that can send MADs; -EINVAL PATH is empty, or
 * the name in $IBSA_NODE is too long; -EACCES, -EPROTO, -ETIMEDOUT, -EUSERS the
 * fabric server cannot be used, for the reasons that ibsa_open() has for these
 * errors; -ENAMETOOLONG $SYSFS_PATH or PATH is too long; -ENOMEM; or the error
 * from reading class/infiniband. After an error @out is unchanged. Any thread
 * may call ibsa_devices_read().
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
int ibsa_devices_read(struct ibsa_device_list **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

/**
 * ibsa_devices_free - free a list of devices
 * @list: from ibsa_devices_read(); NULL: nothing happens
 */
void ibsa_devices_free(struct ibsa_device_list *list);

/**
 * ibsa_port_gsi - find the port that can send SA queries in place of a port
 * that cannot
 * @list:       from ibsa_devices_read()
 * @port:       a port of @list
 * @out_device: receives the device of the returned port; unchanged if the
 *              result is NULL. Valid as long as @list. May be NULL
 *
 * On a planarized adapter, the subnet management interface (SMI) and the
 * general services interface (GSI) of one port appear as ports of two devices
 * with the same port GUID; the bit IsSMdisabled of the capability mask is set
 * for the port of the GSI, and clear for the port of the SMI. Send SA queries
 * from the port of the GSI. ibsa_open() uses the port of such an SMI only if
 * the program names the device of this port.
 *
 * Return: if @port is the port of such an SMI, the port of the GSI, valid as
 * long as @list; NULL for all other ports, also for the port of a GSI. No I/O.
 * Any thread may call ibsa_port_gsi().
 *
 * Source: IBA vol 1, 14.2.5.6 (CapabilityMask); libibumad of rdma-core 64.
 */
const struct ibsa_port *ibsa_port_gsi(const struct ibsa_device_list *list,
				      const struct ibsa_port *port,
				      const struct ibsa_device **out_device);

/**
 * struct ibsa_device_file - a file in /dev/infiniband, its owner, group and
 * mode
 * @path: path of the file, also if the file is missing or simulated
 * @err:  0; -ENOENT the file does not exist; -EOPNOTSUPP the file is simulated,
 *        by ibsim or a fabric server, and has no owner; or the negative errno
 *        of open(2) or fstat(2)
 * @uid:  user id of the owner. @uid, @gid and @mode are 0 unless @err is 0
 * @gid:  group id
 * @mode: permission bits as in stat(2), such as 0600
 */
struct ibsa_device_file {
	char path[272];
	int err;
	uint32_t uid;
	uint32_t gid;
	uint32_t mode;
};

/**
 * struct ibsa_port_access - whether a program can use the MADs of a port
 * @umad:     the file with which a program sends and receives MADs
 * @open_err: 0: this program can open @umad and register a MAD agent for
 *            replies of the SA; -EACCES not permitted; -ENODEV the file does
 *            not exist, is not a device of ib_umad, or the port of the file is
 *            gone; -EBUSY another program has opened the file
 *            exclusively; or another negative errno
 * @issm:     the file that sets the port's IsSM bit while a program has it
 *            open; ibsa_port_access_get() reads its owner and mode, but does
 *            not open it. If @umad is simulated, @umad and @issm have the err
 *            -EOPNOTSUPP
 */
struct ibsa_port_access {
	struct ibsa_device_file umad;
	int open_err;
	struct ibsa_device_file issm;
};

/* For bindings: ibsa_port_access_get() with the size of @out. */
int ibsa_port_access_get_sized(const struct ibsa_port *port,
			       struct ibsa_port_access *out,
			       size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 2);

/**
 * ibsa_port_access_get - check whether this program can use a port's files
 * @port: a port of a list from ibsa_devices_read()
 * @out:  receives the result
 *
 * Opens the umad file, registers a MAD agent as ibsa_open() does, and closes
 * the file, because the mode of the file alone does not show whether this
 * program may open it. The state of the port, active or not, has no influence.
 * If $IBSA_FABRIC is "unix:PATH", nothing is checked: open_err of @out is 0,
 * and the err of umad and issm is -EOPNOTSUPP.
 *
 * Return: 0, also if a file is missing or cannot be opened; -ENODEV the port
 * has no MAD device, and @out is unchanged. Any thread may call
 * ibsa_port_access_get().
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_port_access_get(const struct ibsa_port *port,
						   struct ibsa_port_access *out)
{
	return ibsa_port_access_get_sized(port, out, sizeof(*out));
}

/**
 * ibsa_umad_version - read the version of the kernel's umad interface
 * @error: after an error, a sentence that tells what failed and what to do; or
 *         NULL
 * @out:   receives the version, 5 or higher; unchanged after an error
 *
 * Reads class/infiniband_mad/abi_version in /sys, or in what
 * ibsa_devices_read() reads instead of /sys.
 *
 * Return: 0; -ENOSYS class/infiniband_mad/abi_version does not exist, usually
 * because the module ib_umad is not loaded; -EOPNOTSUPP the version is not a
 * number, or is below 5; -ENOMEM; or the error from reading the file; with a
 * fabric server, an error that ibsa_devices_read() returns. Any thread may call
 * ibsa_umad_version().
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
int ibsa_umad_version(struct ibsa_error *error, unsigned int *out) IBSA_MUST_USE
	IBSA_NONNULL(2);

/**
 * struct ibsa_gid_row - one entry of a GID table, with its device and port
 * @device:     name of the device, valid until ibsa_gids_free()
 * @port:       port number
 * @port_state: state of the port, enum ibsa_port_state_code; 0: unknown
 * @err:        0, or the negative errno from reading the entry. If @err is not
 *              0, only the index of @entry is valid
 * @entry:      GID, index, type and network interface
 */
struct ibsa_gid_row {
	const char *device;
	unsigned int port;
	enum ibsa_port_state_code port_state;
	int err;
	struct ibsa_gid_entry entry;
};

/**
 * struct ibsa_gid_list - the entries of GID tables
 * @rows:  ordered by device name (mlx5_9 before mlx5_10), then by port number,
 *         then by index
 * @count: number of entries in @rows
 */
struct ibsa_gid_list {
	const struct ibsa_gid_row *rows;
	size_t count;
};

/**
 * ibsa_gids_read - list the GID tables of this machine
 * @device: name of a device; NULL: all devices
 * @port:   number of a port; 0: all ports. If @device is NULL: the port with
 *          this number of each device that has one
 * @out:    receives the list, which ibsa_gids_free() frees
 *
 * ibsa_gids_read() reads /sys, or what ibsa_devices_read() reads instead, and
 * opens no device. Entries whose GID is zero, and entries that disappear during
 * the call, are not in the list. If an entry cannot be read, the err of its row
 * is set, and the list is otherwise complete. The network interface of an entry
 * is an index in the network name space of the caller, or 0 if the entry has no
 * interface in this name space.
 *
 * Return: 0, also for an empty list; -ENOSYS class/infiniband does not exist,
 * usually because the RDMA modules are not loaded; -ENODEV there is no such
 * device, or a reason that ibsa_devices_read() has for -ENODEV; -ENXIO the
 * device has no such port, or as ibsa_devices_read(); -EACCES, -EINVAL,
 * -ENAMETOOLONG, -EPROTO, -ETIMEDOUT, -EUSERS as ibsa_devices_read(); -ENOMEM;
 * or the error from reading a directory. After an error @out is unchanged. Any
 * thread may call ibsa_gids_read().
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
int ibsa_gids_read(const char *device, unsigned int port,
		   struct ibsa_gid_list **out) IBSA_MUST_USE IBSA_NONNULL(3);

/**
 * ibsa_gids_free - free a list of GIDs
 * @list: from ibsa_gids_read(); NULL: nothing happens
 */
void ibsa_gids_free(struct ibsa_gid_list *list);

/*
 * Why ibsa_gid_choose() chooses a GID or not; the checks are in this order. The
 * last three, and IBSA_GID_OTHER_FAMILY without an address, compare the GID
 * with the chosen GID.
 */
enum ibsa_gid_fit {
	IBSA_GID_CHOSEN,
	IBSA_GID_UNREADABLE,
	IBSA_GID_EMPTY,
	IBSA_GID_PORT_DOWN, /* the GID's port is known not to be active */
	/* Either GID or address is IPv4, not both; or there is no address, the
	 * chosen GID is IPv4 and this GID is not. */
	IBSA_GID_OTHER_FAMILY,
	IBSA_GID_LINK_LOCAL,   /* link-local, unlike the address */
	IBSA_GID_ROCE_V1_ONLY, /* the chosen GID is RoCE v2 or InfiniBand */
	IBSA_GID_FARTHER,      /* the chosen GID has more leading bits in common
				* with the address */
	IBSA_GID_LATER,	       /* as good as the chosen GID, but after it */
};

/**
 * ibsa_gid_choose - choose the source GID for an address
 * @rows:     the GIDs to choose from, in any order
 * @count:    number of entries in @rows; if it is 0, the result is -ENOENT
 * @address:  address of a peer or of this machine, network order; an IPv4
 *            address is ::ffff:a.b.c.d. NULL: any address
 * @out_fits: receives @count values of enum ibsa_gid_fit: why each of @rows is
 *            chosen or not. May be NULL
 * @out_at:   receives the index in @rows of the chosen GID
 *
 * Excluded are rows with an err, zero GIDs, GIDs of ports whose state is known
 * and not active, IPv4-mapped GIDs if @address is IPv6, all other GIDs if
 * @address is IPv4, and link-local GIDs, also those of InfiniBand, unless
 * @address is link-local. Of the remaining rows, the best is chosen, by these
 * criteria in turn: RoCE v2 or InfiniBand before RoCE v1; the most leading bits
 * in common with @address; the first in @rows. For an IPv4 address, all 32 bits
 * count; for an IPv6 address, the first 64, unless all 128 are the same. If
 * @address is NULL, no GID is excluded for its family, the second criterion is
 * IPv4 before IPv6, and link-local GIDs are excluded only if they are RoCE.
 *
 * Return: 0; -ENOENT no row can be used; @out_at is unchanged, @out_fits is
 * filled. No I/O. Any thread may call ibsa_gid_choose().
 *
 * Source: NCCL and UCX (family, RoCE v2 first); RFC 6724, 5, rule 8 (leading
 * bits).
 */
int ibsa_gid_choose(const struct ibsa_gid_row *rows, size_t count,
		    const struct ibsa_gid *address, enum ibsa_gid_fit *out_fits,
		    size_t *out_at) IBSA_MUST_USE;

IBSA_END

#endif
