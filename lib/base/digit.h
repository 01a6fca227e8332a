/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Digits, independent of the locale. */
#ifndef BASE_DIGIT_H
#define BASE_DIGIT_H

#include <stddef.h>
#include <stdint.h>

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

/*
 * Parse a group of one to four hexadecimal digits at the start of @text.
 * Return: the first character after the digits; NULL if @text starts with no
 * digit or with more than four.
 */
static inline const char *digits_group_get(const char *text, uint16_t *out)
{
	unsigned int value = 0;
	unsigned int count = 0;

	while (digit_value(*text) >= 0 && count <= 4) {
		value = value << 4 | (unsigned int)digit_value(*text++);
		count++;
	}
	if (count < 1 || count > 4)
		return NULL;
	*out = (uint16_t)value;
	return text;
}

#endif
