/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text under way, and the digits that all text is made of. */
#ifndef TEXT_VALUE_H
#define TEXT_VALUE_H

#include <ibsa/text.h>

/*
 * A text that is being written. It is built here and copied to the caller
 * when it is complete, so that what does not fit leaves the caller's buffer
 * as it was. Characters past the end are dropped, and then nothing fits.
 */
struct ibsa__text {
	size_t len;
	char at[IBSA_VALUE_TEXT];
};

/* Add one character. */
void ibsa__text_char(struct ibsa__text *text, char c);

/* Add characters up to NUL. */
void ibsa__text_string(struct ibsa__text *text, const char *string);

/* Add a number in decimal. */
void ibsa__text_dec(struct ibsa__text *text, uint64_t value);

/* Add a number in hexadecimal, no prefix, with at least @digits digits. */
void ibsa__text_hex(struct ibsa__text *text, uint64_t value,
		    unsigned int digits);

/* Hand over: the length, or -ENOSPC with @out untouched. */
int ibsa__text_done(const struct ibsa__text *text, char *out, size_t size);

/* A letter of ASCII in lower case, whatever the locale. */
char ibsa__lower(char c);

/* Whether two texts are the same but for the case of ASCII letters. */
bool ibsa__text_is_same(const char *a, const char *b);

#endif
