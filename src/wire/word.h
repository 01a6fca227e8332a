/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encoding of a record in 64-bit words: each word is put together in a
 * register from its fields, and stored once. Storing each field by itself
 * would load bytes again that were just stored in another width, which stalls
 * the processor.
 */
#ifndef WIRE_WORD_H
#define WIRE_WORD_H

#include <ibsa/bits.h>

/*
 * The words stay in registers only if the compiler unrolls the loop. Without
 * optimisation it does not, and clang must not warn about that.
 */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

/*
 * Put @value into a field of @nbits bits of @word. A @value that is wider also
 * changes other bits; common_bits() detects this.
 */
static inline void put_number(uint64_t *word, size_t offset, unsigned int nbits,
			      uint64_t value)
{
	const size_t at = offset % 64;

	if (at + nbits <= 64) {
		word[offset / 64] |= value << (64 - at - nbits);
	} else {
		word[offset / 64] |= value >> (at + nbits - 64);
		word[offset / 64 + 1] |= value << (128 - at - nbits);
	}
}

static inline void put_words(uint8_t *wire, const uint64_t *word, size_t len)
{
	UNROLL
	for (size_t i = 0; i < len / 8; i++)
		ibsa_put_be64(wire + 8 * i, word[i]);
	if (len % 8)
		ibsa_put_be32(wire + len / 8 * 8,
			      (uint32_t)(word[len / 8] >> 32));
}

/*
 * Return: not 0 if a bit is set in both @a and @b. The compiler vectorises
 * this loop.
 */
static inline uint64_t common_bits(const void *a, const void *b, size_t len)
{
	uint64_t x, y, common = 0;
	size_t i;

	UNROLL
	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&x, (const char *)a + i, 8);
		memcpy(&y, (const char *)b + i, 8);
		common |= x & y;
	}
	for (; i < len; i++)
		common |= ((const uint8_t *)a)[i] & ((const uint8_t *)b)[i];
	return common;
}

#endif
