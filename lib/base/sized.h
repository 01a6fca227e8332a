/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Structs that cross the interface with their size: the caller may have been
 * compiled with an older or a newer header, whose struct is shorter or longer.
 * Structs grow at their end only.
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <errno.h>

#include <ibsa/types.h>

#include "base/error.h"

/*
 * Copy a struct of the caller, @in with @size bytes, into @out, which has
 * @known bytes. Members that the caller's struct lacks are zero; if @in is
 * NULL, all members are. Return: 0; -E2BIG a byte of @in after the first @known
 * is not zero: the caller uses a member that this version lacks.
 */
int ibsa__sized_read(void *out, size_t known, const void *in,
		     size_t size) IBSA_MUST_USE;

/* Write the message for -E2BIG of ibsa__sized_read(). Return: -E2BIG. */
int ibsa__too_new_fail(struct ibsa_error *error);

/* Do what ibsa__sized_read() does, and set *@error after an error. */
int ibsa__options_read(void *out, size_t known, const void *in, size_t size,
		       struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Copy @in, which has @known bytes, into a struct of the caller, @out with
 * @size bytes, as far as it fits. Members that only the caller's struct has
 * become zero.
 */
void ibsa__sized_write(void *out, size_t size, const void *in, size_t known);

#endif
