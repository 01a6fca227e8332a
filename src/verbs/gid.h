/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GID tables without the kernel's commands for them: files, and fabrics. */
#ifndef VERBS_GID_H
#define VERBS_GID_H

#include "verbs/context.h"

/* Entries as they are asked for: how many there is room for, and are. */
struct ibsa__gids {
	uint8_t *entries;
	size_t entry_size;
	size_t max;
	size_t count;
};

/* Add one of port @port. 0; -EINVAL there is no room. */
int ibsa__gids_add(struct ibsa__gids *gids, unsigned int port,
		   const struct ibsa_gid_entry *entry) IBSA_MUST_USE;

/*
 * One entry of a port's table. 0; -ENODATA it is empty; -EIO the device is
 * gone; -EINVAL no such port or entry, or it cannot be read.
 */
int ibsa__gid_of_files(struct device_files *files, const char *device,
		       uint32_t port, uint32_t index,
		       struct ibsa_gid_entry *out) IBSA_MUST_USE;
int ibsa__gid_of_fabric(const struct ibsa__verbs *verbs, uint32_t port,
			uint32_t index,
			struct ibsa_gid_entry *out) IBSA_MUST_USE;

/*
 * All that are not empty, added. 0; -EINVAL there is no room, or one cannot
 * be read; -EIO the device is gone; -ENOMEM.
 */
int ibsa__gids_of_files(struct device_files *files, const char *device,
			struct ibsa__gids *gids) IBSA_MUST_USE;
int ibsa__gids_of_fabric(const struct ibsa__verbs *verbs,
			 struct ibsa__gids *gids) IBSA_MUST_USE;

#endif
