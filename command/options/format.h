/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The formats of --format. */
#ifndef COMMAND_FORMAT_H
#define COMMAND_FORMAT_H

#include "options/options.h"

enum { FORMATS_TEXT = 80 };

/*
 * Write the names of the formats in @set, with @separator between them. Return:
 * @out.
 */
const char *formats_text(const struct option_set *set, const char *separator,
			 char out[FORMATS_TEXT]);

/*
 * Whether the format that is given is in @set; if not, print a message that
 * begins with @whose.
 */
bool format_fits(const struct cli *cli, const char *whose,
		 const struct option_set *set);

/*
 * Set the shape of the output, from a format that fits the command. Return:
 * false: the output has no rows, but --fields is given, and a message is printed.
 */
bool format_use(struct cli *cli);

#endif
