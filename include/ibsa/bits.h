/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Big-endian numbers in a message, at any bit offset. Nothing needs alignment;
 * any thread may call these functions.
 *
 * ibsa_be16     read a big-endian number
 * ibsa_be32     read a big-endian number
 * ibsa_be64     read a big-endian number
 * ibsa_put_be16 write a big-endian number
 * ibsa_put_be32 write a big-endian number
 * ibsa_put_be64 write a big-endian number
 * ibsa_bits_get read an unsigned big-endian field
 * ibsa_bits_put write an unsigned big-endian field
 */
#ifndef IBSA_BITS_H
#define IBSA_BITS_H

#include <stdint.h>
#include <stddef.h>
#include <string.h>

static inline uint16_t ibsa_be16(const uint8_t *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap16(value);
#endif
	return value;
}

static inline uint32_t ibsa_be32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap32(value);
#endif
	return value;
}

static inline uint64_t ibsa_be64(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	return value;
}

static inline void ibsa_put_be16(uint8_t *p, uint16_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap16(value);
#endif
	memcpy(p, &value, sizeof(value));
}

static inline void ibsa_put_be32(uint8_t *p, uint32_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap32(value);
#endif
	memcpy(p, &value, sizeof(value));
}

static inline void ibsa_put_be64(uint8_t *p, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	memcpy(p, &value, sizeof(value));
}

/* Number of bits below the field in its aligned word of @width bits. */
#define IBSA__BELOW(offset, nbits, width) \
	((width) - (offset) % (width) - (nbits))

/* Whether the field lies within one aligned word of @width bits. */
#define IBSA__WITHIN(offset, nbits, width) \
	((offset) / (width) == ((offset) + (nbits)-1) / (width))

/**
 * ibsa_bits_get - read an unsigned big-endian field
 * @offset: of its most significant bit, from that of the first byte
 * @nbits:  1 to 64: either 16, 32 or 64 at a byte boundary, or within one word
 *          of 8, 16, 32 or 64 bits at a multiple of its size; others are
 *          undefined
 */
static inline uint64_t ibsa_bits_get(const void *bytes, unsigned int offset,
				     unsigned int nbits)
{
	const uint8_t *p = (const uint8_t *)bytes;
	const uint64_t ones = ~UINT64_C(0) >> (64 - nbits);

	if (offset % 8 == 0 && nbits == 64)
		return ibsa_be64(p + offset / 8);
	if (offset % 8 == 0 && nbits == 32)
		return ibsa_be32(p + offset / 8);
	if (offset % 8 == 0 && nbits == 16)
		return ibsa_be16(p + offset / 8);
	if (IBSA__WITHIN(offset, nbits, 8))
		return p[offset / 8] >> IBSA__BELOW(offset, nbits, 8) & ones;
	if (IBSA__WITHIN(offset, nbits, 16))
		return ibsa_be16(p + offset / 16 * 2) >>
			       IBSA__BELOW(offset, nbits, 16) &
		       ones;
	if (IBSA__WITHIN(offset, nbits, 32))
		return ibsa_be32(p + offset / 32 * 4) >>
			       IBSA__BELOW(offset, nbits, 32) &
		       ones;
	return ibsa_be64(p + offset / 64 * 8) >>
		       IBSA__BELOW(offset, nbits, 64) &
	       ones;
}

/**
 * ibsa_bits_put - write an unsigned big-endian field
 * @bytes: the bits of the field are zero
 * @offset, @nbits: as for ibsa_bits_get()
 *
 * Return: 0; or @value without its low @nbits bits, if it does not fit
 */
static inline uint64_t ibsa_bits_put(void *bytes, unsigned int offset,
				     unsigned int nbits, uint64_t value)
{
	uint8_t *p = (uint8_t *)bytes;
	const uint64_t ones = ~UINT64_C(0) >> (64 - nbits);
	const uint64_t over = value & ~ones;

	value &= ones;
	if (offset % 8 == 0 && nbits == 64) {
		ibsa_put_be64(p + offset / 8, value);
	} else if (offset % 8 == 0 && nbits == 32) {
		ibsa_put_be32(p + offset / 8, (uint32_t)value);
	} else if (offset % 8 == 0 && nbits == 16) {
		ibsa_put_be16(p + offset / 8, (uint16_t)value);
	} else if (offset % 8 == 0 && nbits == 8) {
		p[offset / 8] = (uint8_t)value;
	} else if (IBSA__WITHIN(offset, nbits, 8)) {
		p += offset / 8;
		*p |= (uint8_t)(value << IBSA__BELOW(offset, nbits, 8));
	} else if (IBSA__WITHIN(offset, nbits, 16)) {
		p += offset / 16 * 2;
		value <<= IBSA__BELOW(offset, nbits, 16);
		ibsa_put_be16(p, (uint16_t)(ibsa_be16(p) | value));
	} else if (IBSA__WITHIN(offset, nbits, 32)) {
		p += offset / 32 * 4;
		value <<= IBSA__BELOW(offset, nbits, 32);
		ibsa_put_be32(p, (uint32_t)(ibsa_be32(p) | value));
	} else {
		p += offset / 64 * 8;
		value <<= IBSA__BELOW(offset, nbits, 64);
		ibsa_put_be64(p, ibsa_be64(p) | value);
	}
	return over;
}

#endif
