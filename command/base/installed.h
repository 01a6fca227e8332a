/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds files that are installed with the command. */
#ifndef COMMAND_INSTALLED_H
#define COMMAND_INSTALLED_H

#include <limits.h>

/*
 * Set @out to a directory: @from_bin, relative to the directory of this
 * executable, if it exists, since a tree can be moved; otherwise @configured.
 */
void installed_folder(const char *from_bin, const char *configured,
		      char out[PATH_MAX]);

#endif
