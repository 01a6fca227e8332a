/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A function for hashes that multiplies two 64-bit numbers and combines both
 * halves of the product into one number.
 */
#ifndef BASE_FOLD_H
#define BASE_FOLD_H

#include <stdint.h>

/*
 * Compute the 128-bit product of @a and @b from four products of 64 bits, for
 * machines without 128-bit integers. Return: its lower half xor its upper
 * half.
 */
static inline uint64_t fold_product_parts(uint64_t a, uint64_t b)
{
	const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	const uint64_t one = (a >> 32) * (b & UINT32_MAX);
	const uint64_t two = (a & UINT32_MAX) * (b >> 32);
	const uint64_t high = (a >> 32) * (b >> 32);
	const uint64_t middle = (low >> 32) + (one & UINT32_MAX) +
				(two & UINT32_MAX);

	return (middle << 32 | (low & UINT32_MAX)) ^
	       (high + (one >> 32) + (two >> 32) + (middle >> 32));
}

/* Return: the lower 64 bits of @a times @b, xor the upper 64 bits. */
#ifdef __SIZEOF_INT128__
static inline uint64_t fold_product(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 product;
	const product both = (product)a * b;

	return (uint64_t)both ^ (uint64_t)(both >> 64);
}
#else
static inline uint64_t fold_product(uint64_t a, uint64_t b)
{
	return fold_product_parts(a, b);
}
#endif

#endif
