/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The library's allocator with a budget: a number of allocations succeed, all
 * later ones fail.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "test/support/fail_alloc.h"

static long budget = -1;
static size_t largest = SIZE_MAX;

void fail_alloc_after(long allocations)
{
	budget = allocations;
}

void fail_alloc_above(size_t bytes)
{
	largest = bytes ? bytes : SIZE_MAX;
}

static int is_spent(void)
{
	if (budget < 0)
		return 0;
	if (!budget)
		return 1;
	budget--;
	return 0;
}

void *ibsa__calloc(size_t count, size_t size)
{
	if (is_spent() || (size && count > largest / size))
		return NULL;
	return calloc(count, size);
}

void *ibsa__realloc(void *old, size_t count, size_t size)
{
	if (is_spent() || (size && count > largest / size))
		return NULL;
	return reallocarray(old, count, size);
}

char *ibsa__strdup(const char *text)
{
	return is_spent() || strlen(text) >= largest ? NULL : strdup(text);
}

void ibsa__free(void *memory)
{
	free(memory);
}
