/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of an errno with POSIX's strerror_r(). With _GNU_SOURCE glibc
 * declares another function of that name, which musl does not have. */
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "base/error.h"

struct errno_text ibsa__errno_text(int err)
{
	struct errno_text text = { "" };

	/*
	 * The result is ignored: for an unknown number, glibc returns EINVAL
	 * and musl 0, and both write a text.
	 */
	(void)strerror_r(err, text.bytes, sizeof(text.bytes));
	return text;
}
