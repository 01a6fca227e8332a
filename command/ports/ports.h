/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of ibsa devices and ibsa gids, which write rows about ports. */
#ifndef COMMAND_PORTS_H
#define COMMAND_PORTS_H

#include "output/cli.h"
#include "session/scope.h"

struct columns;

/**
 * struct ports_lister - functions that write the rows about the ports in a
 * scope
 * @machine: writes those about ports of this machine
 * @fabric:  writes those about ports of a topology file
 *
 * Each function returns the exit status.
 */
struct ports_lister {
	int (*machine)(struct cli *cli, const struct scope *scope, void *arg);
	int (*fabric)(struct cli *cli, const struct scope *scope,
		      struct ibsa_fabric *fabric, void *arg);
};

/*
 * Write the rows, with these columns, about the ports that the command line
 * selects. Return: the exit status.
 */
int ports_list(struct cli *cli, const struct columns *columns,
	       const struct ports_lister *lister, void *arg);

/*
 * Each of these functions prints why there is no row, writes the output without
 * rows, and returns the exit status. ports_none(): the device does not exist,
 * or, if @has_device is set, its port. ports_no_device(): this machine has no
 * device, or, if @err is not 0, its devices cannot be read. ports_no_adapter():
 * the topology file has no adapter, and therefore no @what.
 */
int ports_none(struct cli *cli, const struct scope *scope, bool has_device);
int ports_no_device(struct cli *cli, int err);
int ports_no_adapter(struct cli *cli, const char *what);

#endif
