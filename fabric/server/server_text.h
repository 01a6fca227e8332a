/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contents of an adapter's sysfs files, and the tables that list these
 * files.
 */
#ifndef FABRIC_SERVER_SERVER_TEXT_H
#define FABRIC_SERVER_SERVER_TEXT_H

#include "fabric/server/server.h"

/*
 * A sysfs file that is being written, and the node and port that it is about.
 */
struct view {
	struct ibsa_fabric *fabric;
	struct fabric_seat seat; /* of the client */
	const struct topo_node *node;
	const struct topo_port *port;
	struct ibsa_port_state state;
	const struct file *file;
	uint32_t index; /* of an entry in a table */
	/*
	 * The file is copied to a disk, where reading it cannot fail: the file
	 * has the value that programs assume after -EINVAL.
	 */
	bool is_copy;
	bool is_full; /* a text did not fit */
	char *out;
	size_t room;
	size_t used;
};

/*
 * A sysfs file; or, if count is set, a directory of files numbered from 0 on.
 * @counted, @nbits: of a counter
 */
struct file {
	const char *name; /* relative to its directory */
	int (*write)(struct view *view);
	uint32_t (*count)(const struct view *view);
	uint8_t counted; /* enum counted */
	uint8_t nbits;
};

enum {
	DEVICE_FILES = 16,
	PORT_FILES = 34,
	SLOT_PATH_BYTES = 48,
};

/*
 * Tables of the files in the directory of a device, and in the directory of a
 * port.
 */
extern const struct file ibsa__device_files[DEVICE_FILES];
extern const struct file ibsa__port_files[PORT_FILES];

/*
 * Append formatted text to the file's content, if there is room for all of it.
 * Return: 0.
 */
int ibsa__view_put(struct view *view, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Write the file @name, port_info or node_info, of a port (server_info.c).
 * Return: 0; -ENOENT: it is neither.
 */
int ibsa__view_write_info(struct view *view, const char *name);

/* The files of an adapter's slot (server_slot.c). */
int ibsa__put_type(struct view *view);
int ibsa__put_uevent(struct view *view);
int ibsa__put_modalias(struct view *view);
int ibsa__put_numa_node(struct view *view);
int ibsa__put_pci_class(struct view *view);
int ibsa__put_pci_device(struct view *view);
int ibsa__put_pci_vendor(struct view *view);

/*
 * Write the path of the adapter's PCI device below /sys, such as
 * "devices/pci0000:17/0000:18:00.0".
 */
void ibsa__slot_path(const struct view *view, char out[SLOT_PATH_BYTES]);

#endif
