/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds files that are installed with the command. */
#ifndef COMMAND_INSTALLED_H
#define COMMAND_INSTALLED_H

#include <limits.h>

/*
 * Set @out to the directory @from_bin, a path relative to the directory of this
 * executable, because an installed tree may have been moved. If that directory
 * does not exist, set @out to @configured.
 */
void installed_folder(const char *from_bin, const char *configured,
		      char out[PATH_MAX]);

#endif
