/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of ibsa reach. */
#ifndef COMMAND_REACH_OPTIONS_H
#define COMMAND_REACH_OPTIONS_H

#include "output/cli.h"

/**
 * struct reach_options - options of ibsa reach
 * @all:    check all ports
 * @matrix: check every pair of ports
 * @expect: file of --expect, or NULL
 * @to:     check the paths from all ports to this target; NULL: not given
 */
struct reach_options {
	bool all;
	bool matrix;
	const char *expect;
	const char *to;
};

/* The options of the command that runs. */
static inline const struct reach_options *reach_own(const struct cli *cli)
{
	return cli->own;
}

#endif
