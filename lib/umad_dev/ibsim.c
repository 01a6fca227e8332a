/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects umad files of ibsim, and handles their differences from the kernel's
 * umad files.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "umad_dev/ibsim.h"

/*
 * Whether @fd is a umad file of the kernel, by its path in /proc. If the path
 * cannot be read, return whether the kernel has an open descriptor with this
 * number.
 */
static bool is_system_file(int fd)
{
	char number[64];
	char path[PATH_MAX];
	const char *name;
	ssize_t len;

	snprintf(number, sizeof(number), "/proc/self/fd/%d", fd);
	len = readlink(number, path, sizeof(path) - 1);
	if (len < 0)
		return fcntl(fd, F_GETFD) >= 0;
	path[len] = '\0';
	name = strrchr(path, '/');
	return name && !strncmp(name, "/umad", strlen("/umad"));
}

bool ibsa__umad_is_simulated(int fd)
{
	return fd >= UMAD_SIMULATED_MIN && !is_system_file(fd);
}

int ibsa__umad_failure(ssize_t result)
{
	if (result < -1)
		return (int)result;
	return errno ? -errno : -EIO;
}
