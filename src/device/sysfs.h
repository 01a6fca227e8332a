/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files and folders below the sysfs root, by calls that ibsim's preload
 * catches: open, read, close, opendir, readdir and closedir, no other.
 */
#ifndef DEVICE_SYSFS_H
#define DEVICE_SYSFS_H

#include <ibsa/types.h>

enum { IBSA__SYSFS_BYTES = 4096 }; /* the kernel writes a page at most */

/* What a file held, up to the first NUL; @bytes ends with a NUL. */
struct ibsa__sysfs_text {
	char bytes[IBSA__SYSFS_BYTES + 1];
};

/* The names in a folder. */
struct ibsa__names {
	char **at;
	size_t count;
};

/* All take the path below the root as a format, "class/infiniband/%s". */

/* 0, or the error of opening or reading it. */
int ibsa__sysfs_read(struct ibsa__sysfs_text *out, const char *format, ...)
	__attribute__((format(printf, 2, 3))) IBSA_MUST_USE;

/* 0, or the error of opening it as a folder. */
int ibsa__sysfs_folder(const char *format, ...)
	__attribute__((format(printf, 1, 2))) IBSA_MUST_USE;

/*
 * In natural order. Names that begin with a dot are left out. 0, -ENOMEM or the
 * error of reading the folder; free with ibsa__names_free().
 */
int ibsa__sysfs_names(struct ibsa__names *out, const char *format, ...)
	__attribute__((format(printf, 2, 3))) IBSA_MUST_USE;

/* The same in the folder's own order. */
int ibsa__sysfs_names_unsorted(struct ibsa__names *out, const char *format, ...)
	__attribute__((format(printf, 2, 3))) IBSA_MUST_USE;

void ibsa__names_free(struct ibsa__names *names);

#endif
