/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For programs that link fail_alloc.c in the place of base/alloc.c. */
#ifndef TEST_FAIL_ALLOC_H
#define TEST_FAIL_ALLOC_H

#include <stddef.h>

/* Let that many allocations succeed and all later ones fail; -1: no limit. */
void fail_alloc_after(long allocations);

/* Let allocations of more than @bytes fail; 0: no limit. */
void fail_alloc_above(size_t bytes);

#endif
