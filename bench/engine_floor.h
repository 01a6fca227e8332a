/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lower bound of B5 and B6: queries on the same transport without an
 * engine, so without deadlines, retries, a queue or checks.
 */
#ifndef BENCH_ENGINE_FLOOR_H
#define BENCH_ENGINE_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* Run @count queries, with 64 or with a million in flight. */
void engine_floor_small(uint64_t count);
void engine_floor_large(uint64_t count);

/* Memory of one query in flight. */
size_t engine_floor_bytes(void);

#endif
