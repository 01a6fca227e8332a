/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"

int ibsa__array_grow(void *array, size_t *room, size_t want, size_t size)
{
	enum { FIRST = 8 };
	size_t more = *room ? *room : FIRST;
	void *memory;

	if (want <= *room)
		return 0;
	while (more < want && more <= SIZE_MAX / 2)
		more *= 2;
	if (more < want)
		return -ENOMEM;
	/*
	 * The function copies the pointer to the array by memcpy(), because
	 * the pointer's type is not void *; all pointers to objects have one
	 * size.
	 */
	memcpy(&memory, array, sizeof(memory));
	memory = ibsa__realloc(memory, more, size);
	if (!memory)
		return -ENOMEM;
	memcpy(array, &memory, sizeof(memory));
	*room = more;
	return 0;
}
