/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A kernel whose commands for GID tables the test plays, on a context that
 * somebody else has opened: link with --wrap of ioctl and of
 * ibsa__uverbs_driver. What a real kernel does is tried in a virtual machine.
 */
#ifndef TEST_VERBS_KERNEL_H
#define TEST_VERBS_KERNEL_H

#include <infiniband/verbs.h>
#include <stdbool.h>

enum { KERNEL_FD = 99, KERNEL_ENTRIES = 4 };

/*
 * @entries: by port, then index; @fails: every command fails with that errno;
 * @driver, @driver_err: what netlink says of @device; @needs: the driver that
 * commands have to name; @commands, @questions: counted.
 */
struct kernel {
	struct ibv_gid_entry entries[KERNEL_ENTRIES];
	size_t count;
	unsigned int ports;
	unsigned int table_len;
	int fails;
	const char *device;
	uint32_t driver;
	int driver_err;
	uint32_t needs;
	unsigned int commands;
	unsigned int driver_queries;
};

extern struct kernel kernel;

/* A foreign context of @device, and a kernel with three entries for it. */
struct foreign {
	struct ibv_device device;
	struct ibv_context context;
};

void kernel_reset(struct foreign *foreign, const char *device);

#endif
