/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The RDMA devices of this machine, their ports and their GID tables, as
 * sysfs shows them; and which GID to use.
 */
#ifndef IBSA_DEVICE_H
#define IBSA_DEVICE_H

#include <ibsa/transport.h>
#include <ibsa/types.h>

IBSA_BEGIN

/**
 * struct ibsa_port - one port of a device
 * @number:     from 1; 0 is a switch's management port
 * @err:        0, or why the port could not be read, as negative errno
 * @state:      LIDs, states, GID 0
 * @cap_mask:   PortInfo CapabilityMask, host order
 * @link_layer: "InfiniBand" or "Ethernet"
 * @rate:       as the kernel writes it, "100 Gb/sec (4X EDR)"; may be ""
 * @umad:       name of its MAD device, "umad0"; "" if there is none
 * @pkeys:      P_Key table, host order; empty entries are 0
 * @pkey_count: entries of it
 */
struct ibsa_port {
	unsigned int number;
	int err;
	struct ibsa_port_state state;
	uint32_t cap_mask;
	const char *link_layer;
	const char *rate;
	const char *umad;
	const uint16_t *pkeys;
	size_t pkey_count;
};

/**
 * struct ibsa_device - one device
 * @name:       as under /sys/class/infiniband
 * @err:        0, or why the device could not be read, as negative errno
 * @node_type:  enum ibsa_node_type; 4 and above for iWARP and others
 * @node_guid, @system_image_guid: host order
 * @firmware:   version; may be ""
 * @board:      hardware name; may be ""
 * @ports:      in ascending order of their number
 * @port_count: of them
 */
struct ibsa_device {
	const char *name;
	int err;
	unsigned int node_type;
	uint64_t node_guid;
	uint64_t system_image_guid;
	const char *firmware;
	const char *board;
	const struct ibsa_port *ports;
	size_t port_count;
};

/**
 * struct ibsa_device_list - all devices, in order of their names
 *
 * Names are in natural order: mlx5_9 before mlx5_10.
 */
struct ibsa_device_list {
	const struct ibsa_device *devices;
	size_t count;
};

/**
 * ibsa_devices_read - read the devices of this machine
 * @out: a list that ibsa_devices_free() frees
 *
 * Reads /sys/class/infiniband, or below $SYSFS_PATH unless the program is
 * set-uid. A device or a port that cannot be read is in the list with its
 * err set, and hides no other. With $IBSA_FABRIC of "unix:PATH", the device
 * that a fabric server shows (see ibsa_fabric_server_open()) is the only one.
 *
 * Return: 0, also for an empty list; -ENOSYS if the class folder is not
 * there (the RDMA modules are not loaded); -ENODEV the server, or the node that
 * $IBSA_NODE names, is not there; -ENXIO that node has no such port; -ENOMEM;
 * or the error of reading that folder. Thread-safe.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
int ibsa_devices_read(struct ibsa_device_list **out) IBSA_MUST_USE;

/**
 * ibsa_devices_free - free a list
 * @list: from ibsa_devices_read(), or NULL
 */
void ibsa_devices_free(struct ibsa_device_list *list);

/**
 * ibsa_port_gsi - the port that takes the place of an SMI for SA queries
 * @list:       from ibsa_devices_read()
 * @port:       of @list
 * @out_device: whose the returned port is; or NULL
 *
 * The SMI and the GSI of one port of a planarized adapter are ports of two
 * devices with one GUID, of which the GSI's has IsSMdisabled set. SA queries go
 * to the GSI; ibsa_open() takes no SMI that is not named.
 *
 * Return: the GSI's port if @port is such an SMI; else NULL. No I/O;
 * thread-safe.
 *
 * Source: IBA vol 1, 14.2.5.6 (CapabilityMask); libibumad of rdma-core 64.
 */
const struct ibsa_port *ibsa_port_gsi(const struct ibsa_device_list *list,
				      const struct ibsa_port *port,
				      const struct ibsa_device **out_device);

/**
 * struct ibsa_device_file - a file in /dev/infiniband, and whose it is
 * @path: of the file
 * @err:  0; -ENOENT it is not there; -EOPNOTSUPP it is a simulation's, which
 *        has no owner; or why it cannot be looked at, as negative errno
 * @uid:  of its owner; this and the next two are 0 unless @err is 0
 * @gid:  of its group
 * @mode: permission bits as in stat(2), 0600
 */
struct ibsa_device_file {
	char path[272];
	int err;
	uint32_t uid;
	uint32_t gid;
	uint32_t mode;
};

/**
 * struct ibsa_port_access - what stands between a program and a port's MADs
 * @umad:     the file by which MADs are sent and received
 * @open_err: 0: this program can open it, and get answers of the SA by it;
 *            -EACCES not permitted; -ENODEV it is not there, is no device of
 *            ib_umad, or nothing is behind it; or why not, as negative errno
 * @issm:     the file that makes the port an SM's as long as it is open, which
 *            is therefore not tried. Its err is -EOPNOTSUPP if @umad's is
 */
struct ibsa_port_access {
	struct ibsa_device_file umad;
	int open_err;
	struct ibsa_device_file issm;
};

/**
 * ibsa_port_access_get - whether this program can use a port's device files
 * @port: of a list that ibsa_devices_read() gave
 * @out:  what was found
 *
 * Opens the umad file as ibsa_open() does, and closes it again, which is the
 * only way to know. Neither the port's state nor another port matters.
 *
 * Return: 0, whatever was found; -ENODEV the port has no MAD device. Thread-
 * safe.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
int ibsa_port_access_get(const struct ibsa_port *port,
			 struct ibsa_port_access *out) IBSA_MUST_USE;

/**
 * ibsa_umad_version - the version of the kernel's interface for MADs
 * @error: filled on failure with what is wrong and what to do; or NULL
 * @out:   the version, 5 or higher
 *
 * Return: 0; -ENOSYS the module ib_umad is not loaded; -EOPNOTSUPP the version
 * is older than 5, which no kernel since 2.6.16 has; or the error of reading
 * it. Thread-safe.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
int ibsa_umad_version(struct ibsa_error *error,
		      unsigned int *out) IBSA_MUST_USE;

/**
 * struct ibsa_gid_row - an entry of a GID table, and whose it is
 * @device:     name of the device
 * @port:       its port
 * @port_state: of that port, enum ibsa_port_state_code; 0: unknown
 * @err:        0, or why the entry could not be read, as negative errno; of
 *              @entry then only the index is known
 * @entry:      GID, index, type and interface
 */
struct ibsa_gid_row {
	const char *device;
	unsigned int port;
	uint8_t port_state;
	int err;
	struct ibsa_gid_entry entry;
};

/**
 * struct ibsa_gid_list - the entries of GID tables
 * @rows:  by device in natural order, then by port, then by index
 * @count: of them
 */
struct ibsa_gid_list {
	const struct ibsa_gid_row *rows;
	size_t count;
};

/**
 * ibsa_gids_read - read GID tables
 * @device: whose; NULL: of all devices
 * @port:   its port; 0: all ports
 * @out:    a list that ibsa_gids_free() frees
 *
 * Reads the files that ibsa_devices_read() reads, and no device needs to be
 * opened. Empty entries are left out. An entry that cannot be read is in the
 * list with its err set, and hides no other. The interface is one of the
 * caller's network name space, or 0.
 *
 * Return: 0, also for an empty list; -ENOSYS the RDMA modules are not loaded;
 * -ENODEV there is no such device; -ENXIO it has no such port; -ENOMEM; or the
 * error of reading a folder. Thread-safe.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
int ibsa_gids_read(const char *device, unsigned int port,
		   struct ibsa_gid_list **out) IBSA_MUST_USE;

/**
 * ibsa_gids_free - free a list
 * @list: from ibsa_gids_read(), or NULL
 */
void ibsa_gids_free(struct ibsa_gid_list *list);

/* Why a GID is the one to use, or is not; in the order they are looked at. */
enum ibsa_gid_fit {
	IBSA_GID_CHOSEN,
	IBSA_GID_UNREADABLE,
	IBSA_GID_EMPTY,
	IBSA_GID_PORT_DOWN,    /* its port is known not to be active */
	IBSA_GID_OTHER_FAMILY, /* one is IPv4 and the other is not */
	IBSA_GID_LINK_LOCAL,   /* and the address is not */
	IBSA_GID_ROCE_V1_ONLY, /* the chosen one is of a later version */
	IBSA_GID_FARTHER,      /* has fewer leading bits of the address */
	IBSA_GID_LATER,	       /* as good, but it comes after the chosen one */
};

/**
 * ibsa_gid_choose - which GID to use for an address
 * @rows:     where to choose from, in any order
 * @count:    of them
 * @address:  that is to be reached, or one of this machine; an IPv4 address as
 *            ::ffff:a.b.c.d. NULL: any
 * @out_fits: why each of @rows is chosen or not, @count of them; or NULL
 * @out_at:   the place of the chosen one in @rows
 *
 * Left out are rows with an err, empty ones, those of ports that are not
 * active, those of the other address family, and link-local ones unless
 * @address is link-local. The best of the others is of RoCE v2 or InfiniBand
 * rather than RoCE v1; then has the most leading bits in common with @address,
 * of which 64 count in IPv6 unless all are; then comes first. Without @address
 * link-local GIDs of InfiniBand, which are the usual ones there, are not left
 * out, and of RoCE an IPv4 one is better than another.
 *
 * Return: 0; -ENOENT none can be used, and @out_at is untouched, but not
 * @out_fits. No I/O; thread-safe.
 *
 * Source: the rule of NCCL and UCX; RFC 6724, 5, rule 8.
 */
int ibsa_gid_choose(const struct ibsa_gid_row *rows, size_t count,
		    const struct ibsa_gid *address, enum ibsa_gid_fit *out_fits,
		    size_t *out_at) IBSA_MUST_USE;

IBSA_END

#endif
