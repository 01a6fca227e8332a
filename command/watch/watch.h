/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of ibsa watch. */
#ifndef COMMAND_WATCH_H
#define COMMAND_WATCH_H

#include "output/cli.h"

/**
 * struct watch_options - options of ibsa watch
 * @audit_nodes: also read the table of nodes at intervals, to find changes
 *               whose Report was lost
 * @journal:     write events to the systemd journal
 */
struct watch_options {
	bool audit_nodes;
	bool journal;
};

/* The options of the command that runs. */
static inline const struct watch_options *watch_own(const struct cli *cli)
{
	return cli->own;
}

#endif
