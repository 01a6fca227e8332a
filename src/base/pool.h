/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects of one size that are taken and given back all the time. Memory is
 * got in chunks and kept until the pool ends: once warm, nothing allocates.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

/* @free links objects through their first bytes; @chunks likewise. */
struct pool {
	size_t object_size;
	void *free;
	void *chunks;
};

/* An empty pool of objects of @object_size bytes, a pointer at least. */
void ibsa__pool_init(struct pool *pool, size_t object_size);

/* An object with undefined content, or NULL when memory is short. */
void *ibsa__pool_take(struct pool *pool);

/* Give @object back; its content is lost. */
void ibsa__pool_give(struct pool *pool, void *object);

/* Free the memory of all objects, given back or not. */
void ibsa__pool_done(struct pool *pool);

#endif
