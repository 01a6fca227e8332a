/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The library's memory, counted. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "count_alloc.h"

static struct alloc_count counted;

struct alloc_count alloc_counted(void)
{
	return counted;
}

void alloc_print(const char *name, void (*run)(uint64_t count), uint64_t count)
{
	const uint64_t before = counted.calls;

	run(count);
	printf("%s %llu\n", name, (unsigned long long)(counted.calls - before));
}

static void *count(void *memory)
{
	counted.calls++;
	counted.bytes += malloc_usable_size(memory);
	return memory;
}

void *ibsa__calloc(size_t count_of, size_t size)
{
	return count(calloc(count_of, size));
}

void *ibsa__realloc(void *old, size_t count_of, size_t size)
{
	size_t before = malloc_usable_size(old);
	void *memory = reallocarray(old, count_of, size);

	counted.bytes -= memory ? before : 0;
	return count(memory);
}

char *ibsa__strdup(const char *text)
{
	return count(strdup(text));
}

void ibsa__free(void *memory)
{
	counted.bytes -= malloc_usable_size(memory);
	free(memory);
}
