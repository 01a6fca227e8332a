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
	const struct ibsa_fabric *fabric;
	struct fabric_seat seat; /* of the client */
	const struct topo_node *node;
	const struct topo_port *port;
	struct ibsa_port_state state;
	uint32_t index; /* of an entry in a table */
	char *out;
	size_t room;
	size_t used;
};

/*
 * A sysfs file; or, if count is set, a directory of files numbered from 0 on.
 */
struct file {
	const char *name; /* relative to its directory */
	int (*write)(struct view *view);
	uint32_t (*count)(const struct view *view);
};

enum {
	DEVICE_FILES = 9,
	PORT_FILES = 13,
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

#endif
