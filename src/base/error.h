/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sentence that goes with an error. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <ibsa/types.h>

/*
 * Write the sentence into @error, if there is one, and return @err: so that
 * "return ibsa__fail(error, -EINVAL, ...)" is the whole of a refusal.
 */
int ibsa__fail(struct ibsa_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The system's text for a positive errno, in @text of @size bytes; thread-safe. */
const char *ibsa__errno_text(int err, char *text, size_t size);

#endif
