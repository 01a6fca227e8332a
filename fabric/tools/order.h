/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sorted arrays. */
#ifndef FABRIC_TOOLS_ORDER_H
#define FABRIC_TOOLS_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Compares a key with an element, as in bsearch(): the result is negative if
 * @key comes before @element.
 */
typedef int (*order_fn)(const void *key, const void *element);

/*
 * Return: the index of @key in a sorted array, or the index at which to insert
 * it.
 */
static inline size_t order_position(const void *key, const void *array,
				    size_t count, size_t size, order_fn compare)
{
	const uint8_t *elements = array;
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(key, elements + middle * size) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline int order_of_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
