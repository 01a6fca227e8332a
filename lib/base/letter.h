/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Comparison of texts without regard to the case of ASCII letters. strcasecmp()
 * depends on the locale: in a Turkish one, "I" and "i" differ.
 */
#ifndef BASE_LETTER_H
#define BASE_LETTER_H

#include <stdbool.h>
#include <stddef.h>

/* Return: an ASCII letter in lower case; any other character unchanged. */
static inline char letter_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Return: the canonical form of a character in a field's name. */
static inline char name_fold(char c)
{
	return c == '-' ? '_' : letter_lower(c);
}

/* Whether two texts are equal except for the case of letters. */
static inline bool letters_are_same(const char *a, const char *b)
{
	while (*a && letter_lower(*a) == letter_lower(*b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

/*
 * Whether the first @len characters of two texts are equal except for the case
 * of letters; false if a text is shorter.
 */
static inline bool letters_start_same(const char *a, const char *b, size_t len)
{
	size_t i = 0;

	while (i < len && a[i] && letter_lower(a[i]) == letter_lower(b[i]))
		i++;
	return i == len;
}

#endif
