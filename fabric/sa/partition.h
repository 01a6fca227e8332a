/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a partition file in OpenSM's format: the P_Keys of ports, and
 * multicast groups that exist from the start.
 */
#ifndef FABRIC_SA_PARTITION_H
#define FABRIC_SA_PARTITION_H

#include "fabric/sa/sa.h"

/* Maximum number of partitions in one file. */
enum { PARTITIONS_MAX = 4096 };

/*
 * Set the P_Keys of all end ports and create the groups as the partition file
 * @path requires; these groups replace the default group. Return: 0; -EINVAL
 * the file is invalid, with file, line and reason in @error; -ENOMEM; or the
 * error from opening the file.
 */
int ibsa__partitions_read(struct sa *sa, const char *path,
			  struct ibsa_error *error);

/*
 * Parse a partition file whose content is a string; used by the fuzzer. @name
 * is the file's name in error messages.
 */
int ibsa__partitions_parse(struct sa *sa, const char *name, const char *text,
			   size_t len, struct ibsa_error *error);

#endif
