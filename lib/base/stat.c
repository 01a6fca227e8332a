/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The type and numbers of a file. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/stat.h"

int ibsa__stat(const char *path, int flags, large_stat *out)
{
	/*
	 * open() gets a mode only to avoid __open_2(), which ibsim's preload
	 * library does not replace: _FORTIFY_SOURCE calls it if open() has two
	 * arguments and the flags are not constant.
	 */
	const int fd = open(path, O_PATH | O_CLOEXEC | flags, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (large_fstat(fd, out) < 0)
		err = -errno;
	close(fd);
	return err;
}
