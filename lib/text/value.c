/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers from text, independent of the locale. */
#include <errno.h>

#include <ibsa/text.h>

#include "base/digit.h"

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
