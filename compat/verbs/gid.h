/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads GID tables without the kernel's uverbs: from device files and embedded
 * fabrics.
 */
#ifndef VERBS_GID_H
#define VERBS_GID_H

#include "verbs/context.h"

/*
 * The caller's buffer for @max GID table entries, of which @count are filled.
 */
struct ibsa__gids {
	uint8_t *entries;
	size_t entry_size;
	size_t max;
	size_t count;
};

/*
 * Append a GID table entry of @port to the buffer. Return: 0; -EINVAL the
 * buffer is full.
 */
int ibsa__gids_add(struct ibsa__gids *gids, unsigned int port,
		   const struct ibsa_gid_entry *entry) IBSA_MUST_USE;

/*
 * Read one entry of a port's GID table. Return: 0; -ENODATA the entry is empty;
 * -EIO the device was removed; -EINVAL no such port or entry, or the entry
 * cannot be read.
 */
int ibsa__gid_of_files(struct device_files *files, const char *device,
		       uint32_t port, uint32_t index,
		       struct ibsa_gid_entry *out) IBSA_MUST_USE;
int ibsa__gid_of_fabric(const struct ibsa__verbs *verbs, uint32_t port,
			uint32_t index,
			struct ibsa_gid_entry *out) IBSA_MUST_USE;

/*
 * Append all GID table entries of a device that are not empty. Return: 0;
 * -EINVAL the buffer is full, or an entry cannot be read; -EIO the device was
 * removed; -ENOMEM.
 */
int ibsa__gids_of_files(struct device_files *files, const char *device,
			struct ibsa__gids *gids) IBSA_MUST_USE;
int ibsa__gids_of_fabric(const struct ibsa__verbs *verbs,
			 struct ibsa__gids *gids) IBSA_MUST_USE;

#endif
