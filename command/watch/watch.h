/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of ibsa watch, and what its files share. */
#ifndef COMMAND_WATCH_H
#define COMMAND_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <ibsa/event.h>

#include "output/cli.h"
#include "options/option.h"

/**
 * struct watch_options - options of ibsa watch
 * @audit_nodes: also read the table of nodes at intervals, to find changes
 *               whose Report was lost
 * @links:       read the ports of switches, to find which link has changed
 * @journal:     write events to the systemd journal
 */
struct watch_options {
	bool audit_nodes;
	bool links;
	bool journal;
};

/* The options of the command that runs. */
static inline const struct watch_options *watch_own(const struct cli *cli)
{
	return cli->own;
}

/* Return: the kinds that a word stands for, or 0. */
unsigned int watch_kinds_of(const char *word);

extern const struct option_table watch_table;

/* Print the details of ibsa watch, for --help. */
void watch_details(struct cli *cli);

#endif
