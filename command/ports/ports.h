/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What ibsa devices and ibsa gids share: both list things of ports. */
#ifndef COMMAND_PORTS_H
#define COMMAND_PORTS_H

#include "output/cli.h"
#include "session/scope.h"

struct columns;

/**
 * struct ports_lister - functions that list what the ports in a scope have
 * @machine: list those of this machine
 * @fabric:  list those of a topology file
 *
 * Each returns the exit status.
 */
struct ports_lister {
	int (*machine)(struct cli *cli, const struct scope *scope, void *arg);
	int (*fabric)(struct cli *cli, const struct scope *scope,
		      struct ibsa_fabric *fabric, void *arg);
};

/*
 * List what the command line selects, with rows of these columns. Return: the
 * exit status.
 */
int ports_list(struct cli *cli, const struct columns *columns,
	       const struct ports_lister *lister, void *arg);

/*
 * Each of these functions writes no rows, prints why, and returns the exit
 * status: the device, or its port, does not exist; this machine has no device,
 * or (@err) its devices cannot be read; the topology file has no adapter, and
 * so no @what.
 */
int ports_none(struct cli *cli, const struct scope *scope, bool has_device);
int ports_no_device(struct cli *cli, int err);
int ports_no_adapter(struct cli *cli, const char *what);

#endif
