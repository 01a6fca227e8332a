/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file of the kernel or of ibsim that consists of its descriptor only.
 * Each call makes one or two system calls and takes no locks or resources, so a
 * signal handler or a cancellation may interrupt it.
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

static inline struct umad_fd umad_fd(int fd)
{
	return (struct umad_fd){ .base.ops = &ibsa__umad_fd_ops, .fd = fd };
}

/*
 * The operations of a umad file that consists of its descriptor, for structs
 * that begin with a struct umad_fd.
 */
int ibsa__umad_fd_register(struct umad_file *file,
			   struct umad_agent_request *request);
int ibsa__umad_fd_unregister(struct umad_file *file, uint32_t agent);
int ibsa__umad_fd_send(struct umad_file *file, const void *packet, size_t len);
int ibsa__umad_fd_receive(struct umad_file *file, struct umad_buffer *buffers,
			  size_t count);

/*
 * Open the umad file of the MAD device @name, such as "umad0", in the mode
 * with 64-byte umad headers. Return: the descriptor, or a negative errno.
 */
int ibsa__umad_fd_open_named(const char *name) IBSA_MUST_USE;

#endif
