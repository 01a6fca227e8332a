/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's verbs by ioctl, on the command file of a context that somebody
 * else has opened and set up. Nothing here opens one.
 *
 * Source: Linux include/uapi/rdma/rdma_user_ioctl_cmds.h, ib_user_ioctl_cmds.h.
 */
#ifndef DEVICE_UVERBS_H
#define DEVICE_UVERBS_H

#include <rdma/rdma_user_ioctl_cmds.h>

#include <ibsa/types.h>

enum { IBSA__UVERBS_ATTRS_MAX = 8 };

/*
 * Which driver a device has, as every call has to say: a wrong one is refused
 * with the -EINVAL of a wrong argument. 0; -ENODEV no such device; -ENODATA
 * its driver keeps that to itself; or as ibsa__nl_query().
 */
int ibsa__uverbs_driver(const char *device, uint32_t *out) IBSA_MUST_USE;

/*
 * One call; what the kernel writes into @attrs is there afterwards. 0, or the
 * kernel's error; -ENOTTY it has no such calls, -EPROTONOSUPPORT not this one.
 */
int ibsa__uverbs_call(int cmd_fd, uint32_t driver, uint16_t object,
		      uint16_t method, struct ib_uverbs_attr *attrs,
		      size_t attr_count) IBSA_MUST_USE;

/*
 * A file of our own for the device's asynchronous events; port events arrive
 * on each such file, so the program's own misses none. It does not block.
 * 0 or as ibsa__uverbs_call().
 */
int ibsa__uverbs_events_open(int cmd_fd, uint32_t driver,
			     int *out_fd) IBSA_MUST_USE;

/*
 * Whether a port sends nothing without a GRH. 0, or as ibsa__uverbs_call();
 * -ERANGE the kernel knows no port of so high a number.
 */
int ibsa__uverbs_needs_grh(int cmd_fd, uint32_t driver, unsigned int port,
			   bool *out) IBSA_MUST_USE;

/*
 * One entry of a port's GID table, of @entry_size bytes: what the kernel does
 * not know is zeroed. 0, or as ibsa__uverbs_call(); -ENODATA it is empty;
 * -EINVAL no such port or entry, too little room, or @flags.
 *
 * Source: Linux drivers/infiniband/core/uverbs_std_types_device.c.
 */
int ibsa__uverbs_gid(int cmd_fd, uint32_t driver, uint32_t port, uint32_t index,
		     uint32_t flags, void *entry,
		     size_t entry_size) IBSA_MUST_USE;

/* So many entries a call has room for: it says their bytes in 16 bits. */
static inline size_t ibsa__uverbs_gids_max(size_t entry_size)
{
	return entry_size ? UINT16_MAX / entry_size : 0;
}

/*
 * All entries that are not empty, of all ports; of @max_entries at most
 * ibsa__uverbs_gids_max() are given to the kernel. 0, or as
 * ibsa__uverbs_call(); -EINVAL there are more, or no room, or @flags.
 */
int ibsa__uverbs_gids(int cmd_fd, uint32_t driver, uint32_t flags,
		      void *entries, size_t max_entries, size_t entry_size,
		      uint64_t *out_count) IBSA_MUST_USE;

/*
 * The next event: enum ibv_event_type, and the port or object it is of.
 * 0; -EAGAIN there is none; -EIO the device is gone; or the error of reading.
 */
int ibsa__uverbs_event_read(int fd, uint32_t *out_type,
			    uint64_t *out_element) IBSA_MUST_USE;

#endif
