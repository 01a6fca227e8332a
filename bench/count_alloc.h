/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions for programs that link count_alloc.c, an allocator that counts, in
 * place of base/alloc.c.
 */
#ifndef BENCH_COUNT_ALLOC_H
#define BENCH_COUNT_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/*
 * Number of allocations since the start, and number of bytes that are allocated
 * now.
 */
struct alloc_count {
	uint64_t calls;
	size_t bytes;
};

struct alloc_count alloc_counted(void);

/*
 * Print @name and the number of allocations that @run makes when all caches are
 * warm. @count: the argument of @run.
 */
void alloc_print(const char *name, void (*run)(uint64_t count), uint64_t count);

#endif
