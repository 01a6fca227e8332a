/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A buffer for a text while it is written, independent of the locale. */
#include <errno.h>
#include <string.h>

#include "common/text.h"

void ibsa__text_char(struct ibsa__text *text, char c)
{
	if (text->len < sizeof(text->at))
		text->at[text->len++] = c;
}

void ibsa__text_string(struct ibsa__text *text, const char *string)
{
	while (*string)
		ibsa__text_char(text, *string++);
}

void ibsa__text_dec(struct ibsa__text *text, uint64_t value)
{
	char digits[20];
	unsigned int count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (count)
		ibsa__text_char(text, digits[--count]);
}

void ibsa__text_hex(struct ibsa__text *text, uint64_t value,
		    unsigned int digits)
{
	while (digits < 16 && value >> 4 * digits)
		digits++;
	while (digits--)
		ibsa__text_char(text,
				"0123456789abcdef"[value >> 4 * digits & 0xf]);
}

int ibsa__text_done(const struct ibsa__text *text, char *out, size_t size)
{
	if (text->len >= sizeof(text->at) || text->len >= size)
		return -ENOSPC;
	memcpy(out, text->at, text->len);
	out[text->len] = '\0';
	return (int)text->len;
}
