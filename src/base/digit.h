/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Digits, independent of the locale. */
#ifndef BASE_DIGIT_H
#define BASE_DIGIT_H

/* Return: the value of a hexadecimal digit in either case; -1 for any other
 * character. */
static inline int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

#endif
