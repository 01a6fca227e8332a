/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options that fill struct cli, which a command accepts by their groups. */
#ifndef COMMAND_COMMON_H
#define COMMAND_COMMON_H

#include "options/option.h"

enum option_group {
	GROUP_DEVICE = 1 << 0,
	GROUP_FABRIC = 1 << 1,
	GROUP_TIMEOUT = 1 << 2,
	GROUP_SA = 1 << 3,
	GROUP_KEY = 1 << 4,
	/* How a client is opened. */
	GROUP_OPEN = GROUP_DEVICE | GROUP_FABRIC | GROUP_TIMEOUT | GROUP_SA |
		     GROUP_KEY,
	GROUP_NAMES = 1 << 5,  /* --node-name-map */
	GROUP_FILE = 1 << 6,   /* --output */
	GROUP_RECORD = 1 << 7, /* --record */
	GROUP_FORMAT = 1 << 8, /* --format, of table and json */
	GROUP_ROWS = 1 << 9,   /* further formats of rows, and their columns */
	GROUP_VERBOSE = 1 << 10,
	GROUP_VERSION = 1 << 11,
	GROUP_HELP = 1 << 12,
	/* How the output is written. */
	GROUP_OUTPUT = GROUP_FORMAT | GROUP_ROWS | GROUP_VERBOSE |
		       GROUP_VERSION | GROUP_HELP,
	GROUP_ALL = GROUP_OPEN | GROUP_OUTPUT,
	/*
	 * The value of --sa may also be embedded or none. This bit stands for
	 * no further option.
	 */
	GROUP_SA_WORD = 1 << 13,
	/* Further formats. */
	GROUP_NET = 1 << 14, /* net, slurm, slurm-yaml */
	GROUP_DOT = 1 << 15,
	GROUP_SVG = 1 << 16,
};

/* Those in GROUP_OPEN, those in GROUP_OUTPUT, and the others. */
extern const struct option_table options_open;
extern const struct option_table options_files;
extern const struct option_table options_output;

#endif
