/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of the library. All allocations use these functions, so that a test
 * can replace them and make the n-th allocation fail. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* Return: zeroed memory for @count objects of @size bytes, or NULL. */
void *ibsa__calloc(size_t count, size_t size);

/* Return: @old resized to @count objects of @size bytes, or NULL. */
void *ibsa__realloc(void *old, size_t count, size_t size);

/* Return: a copy of @text, or NULL. */
char *ibsa__strdup(const char *text);

void ibsa__free(void *memory);

#endif
