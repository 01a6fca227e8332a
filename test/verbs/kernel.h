/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A simulated kernel with commands for GID tables, for a context of libibverbs.
 * Link with --wrap of ioctl and of ibsa__uverbs_driver. A real kernel is tested
 * in a virtual machine.
 */
#ifndef TEST_VERBS_KERNEL_H
#define TEST_VERBS_KERNEL_H

#include <infiniband/verbs.h>
#include <stdbool.h>

enum { KERNEL_FD = 99, KERNEL_ENTRIES = 4 };

/*
 * @entries: by port, then index; @fails: errno of every command; @driver,
 * @driver_err: netlink's answer for @device; @needs: the driver number that
 * commands must have; @commands, @driver_queries: counters.
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

/*
 * A context of libibverbs for @device, and a kernel with three entries for it.
 */
struct foreign {
	struct ibv_device device;
	struct ibv_context context;
};

void kernel_reset(struct foreign *foreign, const char *device);

#endif
