/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's verbs by ioctl, on the command fd of a context that the caller
 * has opened. ibsa never opens a uverbs device itself.
 *
 * Source: Linux include/uapi/rdma/rdma_user_ioctl_cmds.h, ib_user_ioctl_cmds.h.
 */
#ifndef DEVICE_UVERBS_H
#define DEVICE_UVERBS_H

#include <rdma/rdma_user_ioctl_cmds.h>

#include <ibsa/types.h>

enum { IBSA__UVERBS_ATTRS_MAX = 8 };

/*
 * Query the driver id of a device, which each ioctl to uverbs must contain:
 * with a wrong id, the ioctl returns -EINVAL, as for a wrong argument. Return:
 * 0; -ENODEV no such device; -ENODATA the driver does not publish its id; or
 * as ibsa__nl_query().
 */
int ibsa__uverbs_driver(const char *device, uint32_t *out) IBSA_MUST_USE;

/*
 * Execute one uverbs method; afterwards @attrs contains the kernel's results.
 * Return: 0; -ENOTTY the kernel does not support these ioctls;
 * -EPROTONOSUPPORT it does not support this method; or another error of the
 * kernel.
 */
int ibsa__uverbs_call(int cmd_fd, uint32_t driver, uint16_t object,
		      uint16_t method, struct ib_uverbs_attr *attrs,
		      size_t attr_count) IBSA_MUST_USE;

/*
 * Open another descriptor for the asynchronous events of a device, in
 * non-blocking mode. The kernel delivers port events to each of these
 * descriptors, so the program's own descriptor loses none. Return: 0 or as
 * ibsa__uverbs_call().
 */
int ibsa__uverbs_events_open(int cmd_fd, uint32_t driver,
			     int *out_fd) IBSA_MUST_USE;

/*
 * Query whether a port requires a GRH in every packet. Return: 0; -ERANGE
 * @port is above the highest number that the kernel supports; or as
 * ibsa__uverbs_call().
 */
int ibsa__uverbs_needs_grh(int cmd_fd, uint32_t driver, unsigned int port,
			   bool *out) IBSA_MUST_USE;

/*
 * Read one entry of a port's GID table, of @entry_size bytes; bytes that the
 * kernel does not fill are zero. Return: 0; -ENODATA the entry is empty;
 * -EINVAL no such port or entry, @entry_size is too small, or @flags is not 0;
 * or as ibsa__uverbs_call().
 *
 * Source: Linux drivers/infiniband/core/uverbs_std_types_device.c.
 */
int ibsa__uverbs_gid(int cmd_fd, uint32_t driver, uint32_t port, uint32_t index,
		     uint32_t flags, void *entry,
		     size_t entry_size) IBSA_MUST_USE;

/*
 * Return: the largest number of entries that one call can read: the size of
 * its buffer must fit 16 bits.
 */
static inline size_t ibsa__uverbs_gids_max(size_t entry_size)
{
	return entry_size ? UINT16_MAX / entry_size : 0;
}

/*
 * Read the entries that are not empty from the GID tables of all ports, up to
 * @max_entries and ibsa__uverbs_gids_max(). Return: 0; -EINVAL there are more
 * entries, or @flags is not 0; or as ibsa__uverbs_call().
 */
int ibsa__uverbs_gids(int cmd_fd, uint32_t driver, uint32_t flags,
		      void *entries, size_t max_entries, size_t entry_size,
		      uint64_t *out_count) IBSA_MUST_USE;

/*
 * Read the next asynchronous event: its enum ibv_event_type, and the number of
 * its port, or the handle of its object. Return: 0; -EAGAIN no event; -EIO the
 * device is gone; or the error from reading.
 */
int ibsa__uverbs_event_read(int fd, uint32_t *out_type,
			    uint64_t *out_element) IBSA_MUST_USE;

#endif
