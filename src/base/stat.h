/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lies at a path. */
#ifndef BASE_STAT_H
#define BASE_STAT_H

#include <ibsa/types.h>

#include "base/large.h"

/*
 * As stat(), without its name: no library of ours imports it, since ibsim's
 * preload does not catch it. @flags: of open(), such as O_NOFOLLOW. 0, or the
 * error of opening it.
 */
int ibsa__stat(const char *path, int flags, large_stat *out) IBSA_MUST_USE;

#endif
