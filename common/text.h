/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A buffer for a text while it is written, and conversion of numbers to
 * digits.
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <ibsa/text.h>

/*
 * A text while it is written. The text is copied to the caller's buffer when it
 * is complete, so that this buffer is unchanged if the text does not fit.
 * Characters that do not fit here are dropped, and ibsa__text_done() returns
 * -ENOSPC.
 */
struct ibsa__text {
	size_t len;
	char at[IBSA_VALUE_TEXT];
};

void ibsa__text_char(struct ibsa__text *text, char c);

void ibsa__text_string(struct ibsa__text *text, const char *string);

void ibsa__text_dec(struct ibsa__text *text, uint64_t value);

/*
 * Append a number in hexadecimal, without prefix, with at least @digits
 * digits.
 */
void ibsa__text_hex(struct ibsa__text *text, uint64_t value,
		    unsigned int digits);

/*
 * Copy the text to the buffer @out of @size bytes. Return: the text's length;
 * -ENOSPC it does not fit, and @out is unchanged.
 */
int ibsa__text_done(const struct ibsa__text *text, char *out, size_t size);

#endif
