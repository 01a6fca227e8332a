/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds files that are installed with the command. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/installed.h"

static bool exe_path_read(char *out, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", out, size - 1);

	if (len < 0 || (size_t)len >= size - 1)
		return false;
	out[len] = '\0';
	return true;
}

void installed_folder(const char *from_bin, const char *configured,
		      char out[PATH_MAX])
{
	char path[2 * PATH_MAX];
	char exe[PATH_MAX];
	char *slash;

	snprintf(out, PATH_MAX, "%s", configured);
	if (!exe_path_read(exe, sizeof(exe)))
		return;
	slash = strrchr(exe, '/');
	if (!slash)
		return;
	*slash = '\0';
	snprintf(path, sizeof(path), "%s/%s", exe, from_bin);
	if (access(path, R_OK) == 0 && realpath(path, exe))
		snprintf(out, PATH_MAX, "%s", exe);
}
