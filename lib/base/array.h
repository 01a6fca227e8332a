/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

#include <ibsa/types.h>

/*
 * Make room for @want elements of @size bytes. *@array points to the first
 * element, or is NULL; *@room is the number of elements that the array has room
 * for. If *@room is less than @want, the array grows to at least 2 * *@room
 * elements. Return: 0; -ENOMEM, and nothing has changed.
 */
int ibsa__array_grow(void *array, size_t *room, size_t want,
		     size_t size) IBSA_MUST_USE;

/*
 * Call ibsa__array_grow() with the variables @array and @room themselves
 * instead of their addresses.
 */
#define ARRAY_GROW(array, room, want) \
	ibsa__array_grow(&(array), &(room), want, sizeof(*(array)))

#endif
