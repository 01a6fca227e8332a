/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pools of objects of one size. */
#include <errno.h>

#include "base/alloc.h"
#include "base/pool.h"

enum { CHUNK_OBJECTS = 64, CHUNK_HEADER = 64 };

void ibsa__pool_init(struct pool *pool, size_t object_size)
{
	*pool = (struct pool){ .object_size = object_size };
}

int ibsa__pool_grow(struct pool *pool)
{
	char *chunk = ibsa__calloc(1, CHUNK_HEADER + CHUNK_OBJECTS *
							     pool->object_size);

	if (!chunk)
		return -ENOMEM;
	*(void **)(void *)chunk = pool->chunks;
	pool->chunks = chunk;
	for (size_t i = CHUNK_OBJECTS; i-- > 0;)
		pool_give(pool, chunk + CHUNK_HEADER + i * pool->object_size);
	return 0;
}

void ibsa__pool_done(struct pool *pool)
{
	while (pool->chunks) {
		void *chunk = pool->chunks;

		pool->chunks = *(void **)chunk;
		ibsa__free(chunk);
	}
	pool->free = NULL;
}
