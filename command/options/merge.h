/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the list of all options. */
#ifndef COMMAND_MERGE_H
#define COMMAND_MERGE_H

#include "options/options.h"

enum { OPTIONS_MAX = 128 };

/*
 * Merge the tables of all commands, by name, and those of struct cli. Return:
 * the options, at most OPTIONS_MAX, which the caller frees; NULL: no memory.
 */
struct options *options_merge(const struct command *const *commands);

#endif
