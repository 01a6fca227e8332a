/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion of a record's array fields between the struct and the bytes of a
 * MAD. Each array field begins and ends at a byte.
 */
#ifndef WIRE_ARRAY_H
#define WIRE_ARRAY_H

#include <ibsa/types.h>

/*
 * The functions put_... return the bits of the values that do not fit the
 * field, as ibsa_bits_put() does.
 */

/*
 * Decode an array of 4-bit values. The first value of two is in the upper half
 * of a byte.
 */
static inline void get_nib(uint8_t *out, const uint8_t *wire, size_t count)
{
	for (size_t i = 0; i < count; i += 2) {
		out[i] = wire[i / 2] >> 4;
		out[i + 1] = wire[i / 2] & 0xf;
	}
}

/*
 * Encode an array of 4-bit values, eight at a time: the length of each of
 * these arrays is a multiple of eight.
 */
static inline uint64_t put_nib(uint8_t *wire, const uint8_t *in, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i += 8) {
		uint64_t pairs = ibsa_be64(in + i);

		all |= pairs;
		pairs = (pairs | pairs >> 4) & UINT64_C(0x00ff00ff00ff00ff);
		pairs = (pairs | pairs >> 8) & UINT64_C(0x0000ffff0000ffff);
		ibsa_put_be32(wire + i / 2, (uint32_t)(pairs | pairs >> 16));
	}
	return all & UINT64_C(0xf0f0f0f0f0f0f0f0);
}

static inline void get_u8(uint8_t *out, const uint8_t *wire, size_t count)
{
	memcpy(out, wire, count);
}

static inline uint64_t put_u8(uint8_t *wire, const uint8_t *in, size_t count)
{
	memcpy(wire, in, count);
	return 0;
}

/* Values of 16, 32 or 64 bits. */
#define ARRAY_OF(bits)                                                    \
	static inline void get_u##bits(uint##bits##_t *out,               \
				       const uint8_t *wire, size_t count) \
	{                                                                 \
		for (size_t i = 0; i < count; i++)                        \
			out[i] = ibsa_be##bits(wire + sizeof(*out) * i);  \
	}                                                                 \
	static inline uint64_t put_u##bits(                               \
		uint8_t *wire, const uint##bits##_t *in, size_t count)    \
	{                                                                 \
		for (size_t i = 0; i < count; i++)                        \
			ibsa_put_be##bits(wire + sizeof(*in) * i, in[i]); \
		return 0;                                                 \
	}

ARRAY_OF(16)
ARRAY_OF(32)
ARRAY_OF(64)
#undef ARRAY_OF

static inline void get_gid(struct ibsa_gid *out, const uint8_t *wire,
			   size_t count)
{
	memcpy(out, wire, count * sizeof(*out));
}

static inline uint64_t put_gid(uint8_t *wire, const struct ibsa_gid *in,
			       size_t count)
{
	memcpy(wire, in, count * sizeof(*in));
	return 0;
}

/*
 * Decode a text field: copy all bytes of the field, including NULs and the
 * bytes after them, because an SA compares all bytes. The struct's member has
 * one more byte, a NUL.
 */
static inline void get_chr(char *out, const uint8_t *wire, size_t count)
{
	memcpy(out, wire, count);
	out[count] = '\0';
}

static inline uint64_t put_chr(uint8_t *wire, const char *in, size_t count)
{
	memcpy(wire, in, count);
	return in[count] != '\0';
}

#endif
