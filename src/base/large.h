/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files and directories whose inode numbers, sizes or offsets exceed 32 bits.
 *
 * On 32-bit machines glibc's fstat() and readdir() fail with EOVERFLOW for such
 * files. _FILE_OFFSET_BITS=64 does not help: it turns open() into open64(),
 * which ibsim's preload library does not catch. It catches none of the names
 * below.
 */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <dirent.h>
#include <sys/stat.h>

#if defined(__GLIBC__) && !defined(__LP64__)
typedef struct stat64 large_stat;
typedef struct dirent64 large_dirent;
typedef ino64_t large_inode;

static inline int large_fstat(int fd, large_stat *out)
{
	return fstat64(fd, out);
}

static inline const large_dirent *large_readdir(DIR *folder)
{
	return readdir64(folder);
}
#else
typedef struct stat large_stat;
typedef struct dirent large_dirent;
typedef ino_t large_inode;

static inline int large_fstat(int fd, large_stat *out)
{
	return fstat(fd, out);
}

static inline const large_dirent *large_readdir(DIR *folder)
{
	return readdir(folder);
}
#endif

#endif
