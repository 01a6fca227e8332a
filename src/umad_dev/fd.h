/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file of the kernel, or of ibsim, that is known by its descriptor
 * alone. Each call is one or two system calls, takes no lock and holds nothing,
 * so that it may be interrupted by a signal handler or a cancellation.
 */
#ifndef UMAD_DEV_FD_H
#define UMAD_DEV_FD_H

#include "umad/file.h"

#define UMAD_FOLDER "/dev/infiniband/"

struct umad_fd {
	struct umad_file base;
	int fd;
};

extern const struct umad_file_ops ibsa__umad_fd_ops;

/* The file of a descriptor. */
static inline struct umad_fd umad_fd(int fd)
{
	return (struct umad_fd){ .base.ops = &ibsa__umad_fd_ops, .fd = fd };
}

/* Open the MAD device @name, "umad0", with 64-byte headers. Return: the
 * descriptor, or -errno. */
int ibsa__umad_fd_open(const char *name) IBSA_MUST_USE;

#endif
