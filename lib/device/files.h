/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that describe RDMA devices, as the kernel provides them in /sys.
 * The source of these files is /sys, a test tree or a fabric server. An object
 * reads only the files of the machine or fabric that it was opened on.
 */
#ifndef DEVICE_FILES_H
#define DEVICE_FILES_H

#include <stdatomic.h>
#include <stddef.h>

#include <ibsa/types.h>

/* Buffer size for a device file: the kernel writes at most one page. */
enum { IBSA__FILE_BYTES = 4096 };

/*
 * The content of a device file up to its first NUL byte; @bytes ends with a
 * NUL.
 */
struct ibsa__file_text {
	char bytes[IBSA__FILE_BYTES + 1];
};

/* The names in a directory. */
struct ibsa__names {
	char **at;
	size_t count;
	size_t room;
};

struct device_files;

/*
 * Operations that read the files. Paths are relative to the root and have no
 * leading slash. Any thread may call them. @read: read a file; *@out ends with
 * a NUL. Return: 0, or the error from opening or reading the file. @list: add
 * the names in a directory to @names with ibsa__names_add(); if @names is NULL,
 * only open the directory. Return: 0, or the error from opening or reading the
 * directory. @free: free @files after the last put. @takes_locks: @read and
 * @list take a lock; a signal handler that interrupts one of them must not call
 * either
 */
struct device_files_ops {
	int (*read)(struct device_files *files, const char *path,
		    struct ibsa__file_text *out);
	int (*list)(struct device_files *files, const char *path,
		    struct ibsa__names *names);
	void (*free)(struct device_files *files);
	bool takes_locks;
};

/*
 * Device files and their source. Each implementation has this struct as its
 * first member.
 */
struct device_files {
	const struct device_files_ops *ops;
	atomic_uint holders;
};

/* Initialise @files with one reference, the caller's. */
void ibsa__files_init(struct device_files *files,
		      const struct device_files_ops *ops);

/* Take another reference. Return: @files. */
struct device_files *ibsa__files_get(struct device_files *files);

/* Remove a reference; @files may be NULL. */
void ibsa__files_put(struct device_files *files);

/*
 * In these functions, the path below the root is a format of printf(), such as
 * "class/infiniband/%s".
 */

/*
 * Read a file. Return: 0; -ENAMETOOLONG; or the error from opening or reading
 * it.
 */
int ibsa__file_read(struct device_files *files, struct ibsa__file_text *out,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4))) IBSA_MUST_USE;

/*
 * Read a file that contains a number, which must not exceed @max. Return: as
 * ibsa__file_read(); also -EPROTO or -ERANGE, as ibsa__parse_number().
 */
int ibsa__number_read(struct device_files *files, uint64_t max, uint64_t *out,
		      const char *format, ...)
	__attribute__((format(printf, 4, 5))) IBSA_MUST_USE;

/* Return: 0 if the directory can be opened; -ENAMETOOLONG; or the error from
 * opening it. */
int ibsa__folder_check(struct device_files *files, const char *format, ...)
	__attribute__((format(printf, 2, 3))) IBSA_MUST_USE;

/*
 * List a directory in natural order, without names that begin with a dot; free
 * @out with ibsa__names_free(). Return: 0; -ENOMEM; -ENAMETOOLONG; or the error
 * from reading the directory.
 */
int ibsa__names_read(struct device_files *files, struct ibsa__names *out,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4))) IBSA_MUST_USE;

/*
 * Add a copy of one name to @names. Implementations of the operation list call
 * this. Return: 0; -ENOMEM.
 */
int ibsa__names_add(struct ibsa__names *names, const char *name) IBSA_MUST_USE;

void ibsa__names_free(struct ibsa__names *names);

#endif
