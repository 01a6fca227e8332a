/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lies at a path. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/look.h"

int ibsa__look(const char *path, int flags, large_stat *out)
{
	const int fd = open(path, O_PATH | O_CLOEXEC | flags);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (large_fstat(fd, out) < 0)
		err = -errno;
	close(fd);
	return err;
}
