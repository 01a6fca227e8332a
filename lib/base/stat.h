/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The type and numbers of a file. */
#ifndef BASE_STAT_H
#define BASE_STAT_H

#include <ibsa/types.h>

#include "base/large.h"

/*
 * Do what stat() does, without calling stat(): ibsim's preload library does
 * not replace stat(), so a check fails if a library imports it. @flags: flags
 * of open(), such as O_NOFOLLOW. Return: 0, or the negative errno of open() or
 * fstat().
 */
int ibsa__stat(const char *path, int flags, large_stat *out) IBSA_MUST_USE;

#endif
