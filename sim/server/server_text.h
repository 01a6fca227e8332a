/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stands in the files of an adapter, and which there are. */
#ifndef SIM_SERVER_SERVER_TEXT_H
#define SIM_SERVER_SERVER_TEXT_H

#include "sim/server/server.h"

/* What is being written, and of what. */
struct view {
	const struct ibsa_fabric *fabric;
	const struct topo_node *node;
	const struct topo_port *port;
	struct ibsa_port_state state;
	uint32_t index; /* of a table's entry */
	char *out;
	size_t room;
	size_t used;
};

/* A file: by its name; of a table's entries by their numbers. */
struct file {
	const char *name; /* below its folder */
	int (*write)(struct view *view);
	uint32_t (*count)(const struct view *view);
};

enum {
	DEVICE_FILES = 9,
	PORT_FILES = 13,
};

/* Below a device's folder, and below the one of a port of it. */
extern const struct file ibsa__device_files[DEVICE_FILES];
extern const struct file ibsa__port_files[PORT_FILES];

/* Write behind what is there, as far as there is room. */
void ibsa__view_put(struct view *view, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
