/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The RDMA devices of this machine and their ports, as sysfs shows them. */
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
 * err set, and hides no other.
 *
 * Return: 0, also for an empty list; -ENOSYS if the class folder is not
 * there (the RDMA modules are not loaded); -ENOMEM; or the error of reading
 * that folder. Thread-safe.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
int ibsa_devices_read(struct ibsa_device_list **out) IBSA_MUST_USE;

/**
 * ibsa_devices_free - free a list
 * @list: from ibsa_devices_read(), or NULL
 */
void ibsa_devices_free(struct ibsa_device_list *list);

IBSA_END

#endif
