/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of libibverbs, for a struct ibv_context that libibverbs has opened
 * and, where a port has no uverbs device, for one of ibsa_verbs_open().
 */
#ifndef IBSA_VERBS_H
#define IBSA_VERBS_H

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <ibsa/ibsa.h>
#include <ibsa/types.h>

IBSA_BEGIN

/**
 * ibsa_verbs_open - a verbs context without a uverbs device
 * @options: which device or node of a fabric; how the SA is asked: @sa, @grh,
 *           @sm_key, @window and what follows. A context has all ports: @port,
 *           @transport and @context have to be 0. NULL: all defaults
 * @error:   filled on failure: what was wrong, and what to do; may be NULL
 * @out:     the context; ibsa_verbs_close() closes it
 *
 * For the embedded fabric and for machines where only MAD devices are there to
 * be opened. Only functions of libibsa take it: ibsa_query_gid_ex(),
 * ibsa_query_gid_table(), _ibv_query_gid_ex(), _ibv_query_gid_table() and
 * ibsa_verbs_close(). In it are set: device, with name (cut to 63 bytes) and
 * node_type; cmd_fd, which is -1; and async_fd.
 *
 * Return: 0; -EINVAL @port, @transport or @context, or another option is out
 * of range, or the fabric's file does not parse; -ENODEV no such device;
 * -ENOSYS the RDMA modules are not loaded; -ENETDOWN no name was given and no
 * port is active; -ENOENT and the like from opening the fabric's file; -EMFILE
 * no descriptor is left; -ENOMEM. Any thread.
 */
int ibsa_verbs_open(const struct ibsa_options *options,
		    struct ibsa_error *error,
		    struct ibv_context **out) IBSA_MUST_USE;

/**
 * ibsa_verbs_close - close a context of ibsa_verbs_open()
 * @context: or NULL
 *
 * Calls that other threads have under way end as if it were still open. A
 * forked child does not have its parent's contexts.
 *
 * Return: 0; -EINVAL it is none of ibsa_verbs_open(), or is closed. Any thread.
 */
int ibsa_verbs_close(struct ibv_context *context);

/**
 * ibsa_query_gid_ex - one entry of a port's GID table
 * @context:   of libibverbs or of ibsa_verbs_open()
 * @port_num:  from 1
 * @gid_index: of the entry, from 0
 * @entry:     the entry: GID in network order, all else in host order
 * @flags:     has to be 0
 *
 * By the kernel's command for it, on the context's command file; else from
 * sysfs. Of sysfs, @entry->ndev_ifindex is in the caller's network name space,
 * or 0; of the kernel's command, in that of the interface. It is 0, too, where
 * there is no interface. Nothing is kept of what was read.
 *
 * Return: 0, or a positive errno, and @entry is untouched: ENODATA the entry
 * is empty; EINVAL there is no such port or entry, it cannot be read, or
 * @flags are not 0; EOPNOTSUPP @flags are not 0, and the kernel has no command
 * for it; EIO the device is gone. Thread-safe.
 *
 * Source: ibv_query_gid_ex(3) of rdma-core.
 */
int ibsa_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags) IBSA_MUST_USE;

/**
 * ibsa_query_gid_table - all entries of a device that are not empty
 * @context:     of libibverbs or of ibsa_verbs_open()
 * @entries:     the entries of all ports, by port, then by index
 * @max_entries: room for so many
 * @flags:       has to be 0
 *
 * As ibsa_query_gid_ex(), in one go: one question to the kernel, or each file
 * of sysfs once.
 *
 * Return: how many entries there are; or a negative errno, and @entries is
 * undefined: -EINVAL there are more than @max_entries, one cannot be read,
 * @flags are not 0, or, from the kernel's command, @max_entries is 0;
 * -EOPNOTSUPP @flags are not 0, and the kernel has no command for it; -EIO the
 * device is gone; -ENOMEM. Thread-safe.
 *
 * Source: ibv_query_gid_table(3) of rdma-core.
 */
ssize_t ibsa_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags) IBSA_MUST_USE;

/**
 * _ibv_query_gid_ex - what ibv_query_gid_ex() of rdma-core's header calls
 * @entry_size: of @entry: what it has more than this library knows is zeroed
 *
 * All else is as in ibsa_query_gid_ex(). A program that is linked with
 * libibverbs as well calls the one that it was linked with first.
 *
 * Return: as ibsa_query_gid_ex(); EINVAL @entry_size is less than 32, too.
 */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t entry_size);

/**
 * _ibv_query_gid_table - what ibv_query_gid_table() of that header calls
 * @entry_size: from one entry to the next: what is more than this library
 *              knows is zeroed; of less, entries are cut
 *
 * Return: as ibsa_query_gid_table(); -EINVAL @entry_size is 0, too.
 */
ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size);

IBSA_END

#endif
