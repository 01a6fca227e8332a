/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Archives in the ustar format, which ibsa doctor --report writes and a fabric
 * is loaded from.
 *
 * Source: POSIX.1-2017, pax, "ustar Interchange Format".
 */
#ifndef COMMON_TAR_H
#define COMMON_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TAR_BLOCK_BYTES = 512,
	TAR_NAME_MAX = 100, /* bytes of a member's name */
};

/* The member of a report that has its MADs, a pcap file. */
#define TAR_MADS "mads.pcap"

/*
 * Write the header of a regular file. Its @len bytes follow, and zeros up to a
 * whole block; two blocks of zeros end the archive. Return: false: the name has
 * more than TAR_NAME_MAX bytes, or the file 8 GiB or more.
 */
bool ibsa__tar_put(const char *name, uint64_t len, uint64_t mtime_s,
		   uint8_t out[TAR_BLOCK_BYTES]);

/* Whether the @len bytes at the start of a file are those of an archive. */
bool ibsa__is_tar(const uint8_t *bytes, size_t len);

/*
 * Find a regular file in an archive in memory; "./" before a name is ignored.
 * Return: its bytes, or NULL: the archive does not have all of them.
 */
const uint8_t *ibsa__tar_find(const uint8_t *bytes, size_t len,
			      const char *name, size_t *out_len);

#endif
