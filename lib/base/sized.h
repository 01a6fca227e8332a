/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Structs that cross the interface with their size: the caller may have been
 * compiled with an older or a newer header, whose struct is shorter or longer.
 * Structs grow at their end only.
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <errno.h>
#include <string.h>

#include "base/error.h"

/*
 * Copy a struct of the caller, @in with @size bytes, into @out, which has
 * @known bytes. Members that the caller's struct lacks are zero; all are if @in
 * is NULL. Return: 0; -E2BIG a byte of @in after the first @known is not zero:
 * the caller uses a member that this version lacks.
 */
static inline int sized_read(void *out, size_t known, const void *in,
			     size_t size)
{
	const char *bytes = in;

	if (!in || size < known) {
		memset(out, 0, known);
		if (in)
			memcpy(out, in, size);
		return 0;
	}
	memcpy(out, in, known);
	for (size_t i = known; i < size; i++) {
		if (bytes[i])
			return -E2BIG;
	}
	return 0;
}

/* Return: -E2BIG of sized_read(), with *@error set. */
static inline int too_new_fail(struct ibsa_error *error)
{
	return ibsa__fail(error, -E2BIG,
			  "the program sets an option that this version of "
			  "the library does not have; install the version of "
			  "ibsa for which the program was built");
}

/* As sized_read(); *@error is set after an error. */
static inline int options_read(void *out, size_t known, const void *in,
			       size_t size, struct ibsa_error *error)
{
	const int err = sized_read(out, known, in, size);

	return err ? too_new_fail(error) : 0;
}

/*
 * Copy @in, which has @known bytes, into a struct of the caller, @out with
 * @size bytes: as much as fits. Members that only the caller's has are zero.
 */
static inline void sized_write(void *out, size_t size, const void *in,
			       size_t known)
{
	if (size <= known) {
		memcpy(out, in, size);
		return;
	}
	memcpy(out, in, known);
	memset((char *)out + known, 0, size - known);
}

#endif
