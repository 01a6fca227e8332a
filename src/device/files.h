/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that describe devices, as the kernel shows them in /sys: those of
 * this machine, of a test tree, or of a fabric server. An object holds the
 * files of the fabric that it was opened on and reads no others.
 */
#ifndef DEVICE_FILES_H
#define DEVICE_FILES_H

#include <stdatomic.h>
#include <stddef.h>

#include <ibsa/types.h>

enum { IBSA__FILE_BYTES = 4096 }; /* the kernel writes a page at most */

/* What a file held, up to the first NUL; @bytes ends with a NUL. */
struct ibsa__file_text {
	char bytes[IBSA__FILE_BYTES + 1];
};

/* The names in a folder. */
struct ibsa__names {
	char **at;
	size_t count;
	size_t room;
};

struct device_files;

/*
 * How to read the files. Paths are relative to the root, without a leading
 * slash. Any thread.
 *
 * @read: read the file; *@out ends with a NUL. Return: 0 or the error of
 *        opening or reading it
 * @list: add the folder's names to @names with ibsa__names_add(); @names NULL:
 *        check only that the folder can be opened. Return: 0, or the error of
 *        opening or reading it
 * @free: free @files; the last holder has put it
 * @takes_locks: read and list take a lock, which a signal handler that calls
 *        them would wait for if it interrupts one of them
 */
struct device_files_ops {
	int (*read)(struct device_files *files, const char *path,
		    struct ibsa__file_text *out);
	int (*list)(struct device_files *files, const char *path,
		    struct ibsa__names *names);
	void (*free)(struct device_files *files);
	bool takes_locks;
};

/* An implementation embeds this as its first member. */
struct device_files {
	const struct device_files_ops *ops;
	atomic_uint holders;
};

/* The first holder is the caller. */
void ibsa__files_init(struct device_files *files,
		      const struct device_files_ops *ops);

/* One more holder. Return: @files. */
struct device_files *ibsa__files_get(struct device_files *files);

/* One holder less; takes NULL. */
void ibsa__files_put(struct device_files *files);

/* All take the path below the root as a format, "class/infiniband/%s". */

/* 0, or the error of opening or reading it. */
int ibsa__file_read(struct device_files *files, struct ibsa__file_text *out,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4))) IBSA_MUST_USE;

/* 0, or the error of opening it as a folder. */
int ibsa__folder_check(struct device_files *files, const char *format, ...)
	__attribute__((format(printf, 2, 3))) IBSA_MUST_USE;

/*
 * In natural order. Names that begin with a dot are left out. 0, -ENOMEM or the
 * error of reading the folder; free with ibsa__names_free().
 */
int ibsa__names_read(struct device_files *files, struct ibsa__names *out,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4))) IBSA_MUST_USE;

/* The same in the folder's own order. */
int ibsa__names_read_unsorted(struct device_files *files,
			      struct ibsa__names *out, const char *format, ...)
	__attribute__((format(printf, 3, 4))) IBSA_MUST_USE;

/* For implementations: add one name, which is copied. Return: 0; -ENOMEM. */
int ibsa__names_add(struct ibsa__names *names, const char *name) IBSA_MUST_USE;

void ibsa__names_free(struct ibsa__names *names);

#endif
