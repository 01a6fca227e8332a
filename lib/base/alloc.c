/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of the library: the C library's. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void *ibsa__calloc(size_t count, size_t size)
{
	return calloc(count, size);
}

void *ibsa__realloc(void *old, size_t count, size_t size)
{
	return reallocarray(old, count, size);
}

char *ibsa__strdup(const char *text)
{
	return strdup(text);
}

void ibsa__free(void *memory)
{
	free(memory);
}
