/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts of errors. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <ibsa/types.h>

/*
 * Write the message into @error unless it is NULL. Return: @err, so that a
 * caller can write "return ibsa__fail(error, -EINVAL, ...)".
 */
int ibsa__fail(struct ibsa_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct errno_text {
	char bytes[64];
};

/* The system's text for a positive errno; thread-safe. */
struct errno_text ibsa__errno_text(int err);

#endif
