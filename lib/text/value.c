/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers from text, independent of the locale. */
#include <errno.h>
#include <string.h>

#include "base/digit.h"
#include "text/value.h"

int ibsa__number_parse(const char *text, size_t len, unsigned int nbits,
		       uint64_t *out)
{
	const bool hex = len > 1 && text[0] == '0' &&
			 (text[1] == 'x' || text[1] == 'X');
	const unsigned int base = hex ? 16 : 10;
	uint64_t value = 0;
	uint64_t limit;
	bool wide = false;
	size_t at = hex ? 2 : 0;

	if (nbits < 1 || nbits > 64 || at == len)
		return -EINVAL;
	limit = ~UINT64_C(0) >> (64 - nbits);
	for (; at < len; at++) {
		int digit = digit_value(text[at]);

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

int ibsa_number_parse(const char *text, unsigned int nbits, uint64_t *out)
{
	return ibsa__number_parse(text, strlen(text), nbits, out);
}
