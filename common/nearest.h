/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the name that a misspelt command, option or field stands for. */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The best of the names that ibsa__nearest_try() has been called with. */
struct nearest {
	const char *typed;
	size_t len;	  /* of @typed */
	bool is_field;	  /* '-' in @typed stands for '_' */
	const char *name; /* NULL: none is similar */
	size_t slips;
};

struct nearest ibsa__nearest_start(const char *typed, size_t len,
				   bool is_field);
void ibsa__nearest_try(struct nearest *nearest, const char *name);

#endif
