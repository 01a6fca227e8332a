/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a whole file into memory. */
#ifndef BASE_READ_FILE_H
#define BASE_READ_FILE_H

#include <stddef.h>

#include <ibsa/types.h>

/*
 * Read a whole file into *@out, which the caller frees. Return: 0; -EFBIG the
 * file has 1 GiB or more; -ENOMEM; or the error of open() or read().
 */
int ibsa__read_file(const char *path, char **out,
		    size_t *out_len) IBSA_MUST_USE;

#endif
