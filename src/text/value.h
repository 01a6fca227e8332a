/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Buffer for text being written, and the digits of numbers. */
#ifndef TEXT_VALUE_H
#define TEXT_VALUE_H

#include <ibsa/text.h>

/*
 * A text being written. It is copied to the caller when it is complete, so that
 * the caller's buffer does not change if the text does not fit. Characters past
 * the end are dropped, and ibsa__text_done() then returns -ENOSPC.
 */
struct ibsa__text {
	size_t len;
	char at[IBSA_VALUE_TEXT];
};

void ibsa__text_char(struct ibsa__text *text, char c);

void ibsa__text_string(struct ibsa__text *text, const char *string);

void ibsa__text_dec(struct ibsa__text *text, uint64_t value);

/* Add a number in hexadecimal without prefix, with at least @digits digits. */
void ibsa__text_hex(struct ibsa__text *text, uint64_t value,
		    unsigned int digits);

/*
 * Copy the text to @out. Return: its length; -ENOSPC it does not fit in @size
 * bytes, and @out is unchanged.
 */
int ibsa__text_done(const struct ibsa__text *text, char *out, size_t size);

/* Return: the lower case of an ASCII letter, independent of the locale; any
 * other character as it is. */
char ibsa__lower(char c);

/* Whether two texts are equal except for the case of ASCII letters. */
bool ibsa__text_is_same(const char *a, const char *b);

#endif
