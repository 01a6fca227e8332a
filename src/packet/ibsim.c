/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where ibsim's umad files are not like the kernel's. */
#include <errno.h>
#include <fcntl.h>

#include "packet/ibsim.h"

bool ibsa__umad_is_simulated(int fd)
{
	enum { SIMULATED_MIN = 1024 };

	return fd >= SIMULATED_MIN && fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

int ibsa__umad_failure(ssize_t result)
{
	if (result < -1)
		return (int)result;
	return errno ? -errno : -EIO;
}
