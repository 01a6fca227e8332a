/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the name that a misspelt command or option stands for. */
#ifndef COMMAND_NEAREST_H
#define COMMAND_NEAREST_H

#include <stddef.h>

/* The best of the names that nearest_try() has been called with. */
struct nearest {
	const char *typed;
	size_t len;	  /* of @typed */
	const char *name; /* NULL: none is similar */
	size_t slips;
};

struct nearest nearest_start(const char *typed, size_t len);
void nearest_try(struct nearest *nearest, const char *name);

#endif
