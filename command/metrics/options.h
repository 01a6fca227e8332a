/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of ibsa metrics. */
#ifndef COMMAND_METRICS_OPTIONS_H
#define COMMAND_METRICS_OPTIONS_H

#include "findings/node_options.h"
#include "output/cli.h"

/**
 * struct metrics_options - options of ibsa metrics
 * @expect: file of --expect, or NULL
 * @listen: address of --listen, or NULL
 * @journal: write events to the systemd journal
 * @label:  NAME=VALUE, the label of all samples, or NULL
 * @node:   what the ports of this machine are compared with
 */
struct metrics_options {
	const char *expect;
	const char *listen;
	bool journal;
	const char *label;
	struct node_options node;
};

/* The options of the command that runs. */
static inline const struct metrics_options *metrics_own(const struct cli *cli)
{
	return cli->own;
}

#endif
