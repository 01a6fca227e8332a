/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the name that a misspelt command, option or field stands for. */
#include "base/letter.h"
#include "common/nearest.h"

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
 * Return: the Levenshtein distance of @name and the typed text: how many
 * characters must be added, removed or changed. Only one row of the matrix is
 * stored.
 */
static size_t name_distance(const struct nearest *nearest, const char *name)
{
	const size_t len = nearest->len;
	size_t row[TYPED_MAX + 1];

	for (size_t i = 0; i <= len; i++)
		row[i] = i;
	for (size_t done = 1; *name; name++, done++) {
		size_t corner = row[0];

		row[0] = done;
		for (size_t i = 1; i <= len; i++) {
			const char typed = nearest->typed[i - 1];
			const char c = nearest->is_field ? name_fold(typed)
							 : letter_lower(typed);
			const size_t changed = corner +
					       (c != letter_lower(*name));

			corner = row[i];
			row[i] = smaller_of(smaller_of(row[i], row[i - 1]) + 1,
					    changed);
		}
	}
	return row[len];
}

struct nearest ibsa__nearest_start(const char *typed, size_t len, bool is_field)
{
	return (struct nearest){ .typed = typed,
				 .len = len,
				 .is_field = is_field,
				 .slips = SLIP_MAX + 1 };
}

void ibsa__nearest_try(struct nearest *nearest, const char *name)
{
	size_t slips;

	if (nearest->len > TYPED_MAX)
		return;
	slips = name_distance(nearest, name);
	/* At least one character must be the same. */
	if (slips >= nearest->slips || slips >= nearest->len)
		return;
	nearest->slips = slips;
	nearest->name = name;
}
