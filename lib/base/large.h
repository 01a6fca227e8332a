/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files and directories whose inode numbers, sizes or offsets exceed 32 bits.
 *
 * On 32-bit machines glibc's fstat() and readdir() fail with EOVERFLOW for such
 * files. _FILE_OFFSET_BITS=64 does not help: it turns open() into open64(),
 * which ibsim's preload library does not replace. The functions below are safe
 * with it: the library replaces neither form of fstat() and readdir().
 */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <dirent.h>
#include <sys/stat.h>

#if defined(__GLIBC__) && !defined(__LP64__)
#define LARGE_NAME(name) name##64
#else
#define LARGE_NAME(name) name
#endif

typedef struct LARGE_NAME(stat) large_stat;
typedef struct LARGE_NAME(dirent) large_dirent;
typedef __typeof__(((large_stat *)0)->st_ino) large_inode;

static inline int large_fstat(int fd, large_stat *out)
{
	return LARGE_NAME(fstat)(fd, out);
}

static inline const large_dirent *large_readdir(DIR *folder)
{
	return LARGE_NAME(readdir)(folder);
}

#endif
