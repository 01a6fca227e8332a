/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library for LD_PRELOAD whose allocations fail: number FAIL_AT of them, and
 * also all later ones if FAIL_ALL is set. It writes the number of allocations
 * to the descriptor FAIL_COUNT_FD when the program ends.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Functions of glibc that no header declares. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_long allocations;
static long fail_at;
static bool fails_all;

__attribute__((constructor)) static void fail_start(void)
{
	const char *at = getenv("FAIL_AT");

	fails_all = getenv("FAIL_ALL") != NULL;
	fail_at = at ? atol(at) : 0;
	allocations = 0;
}

__attribute__((destructor)) static void fail_end(void)
{
	const char *fd = getenv("FAIL_COUNT_FD");

	fail_at = 0;
	if (fd)
		dprintf(atoi(fd), "%ld\n", allocations);
}

static bool is_failing(void)
{
	const long number = ++allocations;

	if (!fail_at || number < fail_at || (number > fail_at && !fails_all))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return is_failing() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return is_failing() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return is_failing() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, count * size);
}
