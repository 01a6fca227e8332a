/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Conversion of numbers to digits and back, independent of the locale. */
#include <errno.h>

#include "base/digit.h"
#include "text/value.h"

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

int ibsa_number_parse(const char *text, unsigned int nbits, uint64_t *out)
{
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const unsigned int base = hex ? 16 : 10;
	uint64_t value = 0;
	uint64_t limit;
	bool wide = false;

	if (nbits < 1 || nbits > 64)
		return -EINVAL;
	limit = ~UINT64_C(0) >> (64 - nbits);
	if (hex)
		text += 2;
	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		int digit = digit_value(*text);

		if (digit < 0 || digit >= (int)base)
			return -EINVAL;
		/*
		 * After an overflow, the loop continues, to check that the
		 * remaining characters are digits: "99x" is not a number.
		 */
		wide = wide || value > (limit - (uint64_t)digit) / base ||
		       (uint64_t)digit > limit;
		value = value * base + (uint64_t)digit;
	}
	if (wide)
		return -ERANGE;
	*out = value;
	return 0;
}
