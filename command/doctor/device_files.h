/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of sysfs that a report has. */
#ifndef COMMAND_DEVICE_FILES_H
#define COMMAND_DEVICE_FILES_H

#include <stddef.h>

#include "doctor/private.h"

/*
 * Call @use for each file of this machine, with its path below the root of
 * sysfs and its edited text.
 */
void device_files_each(struct private *private,
		       void (*use)(const char *path, const char *text,
				   size_t len, void *arg),
		       void *arg);

#endif
