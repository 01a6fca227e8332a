/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts of errors. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <ibsa/types.h>

/*
 * Write a message in the form of printf() into @error, unless @error is NULL.
 * Return: @err, so that a caller can write "return ibsa__fail(error, -EINVAL,
 * ...)".
 */
int ibsa__fail(struct ibsa_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct errno_text {
	char bytes[64];
};

/*
 * Return: the system's message for the positive errno value @err. Any thread
 * may call this.
 */
struct errno_text ibsa__errno_text(int err);

#endif
