/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions for programs that link fail_alloc.c, an allocator that can fail,
 * in place of base/alloc.c.
 */
#ifndef TEST_FAIL_ALLOC_H
#define TEST_FAIL_ALLOC_H

#include <stddef.h>

/*
 * Let the next @allocations allocations succeed and all later ones fail; -1:
 * all succeed.
 */
void fail_alloc_after(long allocations);

/*
 * Let each allocation of more than @bytes fail from now on; 0: no limit on the
 * size of an allocation.
 */
void fail_alloc_above(size_t bytes);

#endif
