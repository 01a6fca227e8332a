/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pools of objects of one size that are often allocated and freed. A pool
 * allocates memory in chunks and frees it only when the pool itself is freed.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

#include <ibsa/types.h>

/*
 * A pool. @free is a list of unused objects, @chunks a list of chunks of
 * memory; each is linked through the first bytes of its elements.
 */
struct pool {
	size_t object_size;
	void *free;
	void *chunks;
};

/*
 * Initialise an empty pool of objects of @object_size bytes, which is at least
 * the size of a pointer.
 */
void ibsa__pool_init(struct pool *pool, size_t object_size);

/* Free the memory of all objects of the pool, including objects in use. */
void ibsa__pool_done(struct pool *pool);

/* Allocate a chunk for a pool without unused objects. Return: 0; -ENOMEM. */
int ibsa__pool_grow(struct pool *pool) IBSA_MUST_USE;

/*
 * Return: an object; NULL if memory runs out. The first bytes of the object,
 * the size of a pointer, are undefined. All other bytes are 0 in an object that
 * was never used, and otherwise as they were when the object was given back.
 */
static inline void *pool_take(struct pool *pool)
{
	void *object;

	if (!pool->free && ibsa__pool_grow(pool))
		return NULL;
	object = pool->free;
	pool->free = *(void **)object;
	return object;
}

/* Return @object to the pool. */
static inline void pool_give(struct pool *pool, void *object)
{
	*(void **)object = pool->free;
	pool->free = object;
}

#endif
