/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encoding of a record in 64-bit words: each word is put together in a
 * register from its fields, and stored once. Storing each field by itself
 * would load bytes again that were just stored in another width, which stalls
 * the processor.
 */
#ifndef WIRE_WORD_H
#define WIRE_WORD_H

#include <ibsa/types.h>

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

typedef uint64_t pair __attribute__((vector_size(16)));

/*
 * Return: not 0 if a bit is set in both @a and @b. The function uses vectors,
 * so that the processor's integer units remain free for encoding the fields.
 */
static inline uint64_t common_bits(const uint8_t *a, const uint8_t *b,
				   size_t len)
{
	const size_t start = len % sizeof(pair);
	uint64_t first = 0;
	pair x, y, common = { 0 };

	UNROLL
	for (size_t i = 0; i < start; i++)
		first |= a[i] & b[i];
	UNROLL
	for (size_t i = start; i < len; i += sizeof(pair)) {
		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		common |= x & y;
	}
	return first | common[0] | common[1];
}

#endif
