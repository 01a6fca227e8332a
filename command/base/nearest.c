/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the name that a misspelt command or option stands for, by the rule of
 * ibsa__selector_parse() for names of fields.
 */
#include <ctype.h>

#include "base/nearest.h"

enum {
	TYPED_MAX = 64,
	/*
	 * Maximum number of characters in which a suggestion differs from the
	 * typed name.
	 */
	SLIP_MAX = 2,
};

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Return: the Levenshtein distance of @name and the @len characters at @typed.
 * Only one row of the matrix is stored.
 */
static size_t distance(const char *name, const char *typed, size_t len)
{
	size_t row[TYPED_MAX + 1];

	for (size_t i = 0; i <= len; i++)
		row[i] = i;
	for (size_t done = 1; *name; name++, done++) {
		size_t corner = row[0];

		row[0] = done;
		for (size_t i = 1; i <= len; i++) {
			const size_t changed =
				corner +
				(tolower((unsigned char)typed[i - 1]) != *name);

			corner = row[i];
			row[i] = smaller_of(smaller_of(row[i], row[i - 1]) + 1,
					    changed);
		}
	}
	return row[len];
}

struct nearest nearest_start(const char *typed, size_t len)
{
	return (struct nearest){ .typed = typed,
				 .len = len,
				 .slips = SLIP_MAX + 1 };
}

void nearest_try(struct nearest *nearest, const char *name)
{
	size_t slips;

	if (nearest->len > TYPED_MAX)
		return;
	slips = distance(name, nearest->typed, nearest->len);
	/* At least one character must be the same. */
	if (slips >= nearest->slips || slips >= nearest->len)
		return;
	nearest->slips = slips;
	nearest->name = name;
}
