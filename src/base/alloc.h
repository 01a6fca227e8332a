/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The library's memory. Everything is allocated here, so that a test can
 * make the n-th allocation fail by replacing these four functions.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* Zeroed memory for @count objects of @size bytes, or NULL. */
void *ibsa__calloc(size_t count, size_t size);

/* @old grown or shrunk to @count objects of @size bytes, or NULL. */
void *ibsa__realloc(void *old, size_t count, size_t size);

/* A copy of @text, or NULL. */
char *ibsa__strdup(const char *text);

void ibsa__free(void *memory);

#endif
