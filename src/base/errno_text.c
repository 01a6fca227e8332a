/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of an errno, by the strerror_r() of POSIX: with _GNU_SOURCE, glibc
 * declares another of that name, which musl does not have.
 */
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "base/error.h"

const char *ibsa__errno_text(int err, char *text, size_t size)
{
	text[0] = '\0';
	/* Of an unknown number, glibc and musl write a text and say EINVAL. */
	(void)strerror_r(err, text, size);
	return text;
}
