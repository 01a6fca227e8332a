/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all headers of ibsa use: types, macros, defaults, constants of subnet
 * administration, and functions for numbers in MADs.
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
#ifndef IBSA_TYPES_H
#define IBSA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* MAJOR * 10000 + MINOR * 100 + PATCH of the version of these headers. */
#define IBSA_VERSION_NUMBER 300

#define IBSA_MUST_USE __attribute__((warn_unused_result))
/* The arguments with these numbers, from 1, must not be NULL. */
#define IBSA_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))

/*
 * A function of a header, which passes the size of each struct to NAME_sized()
 * of the library, as bindings do: see "How the interface grows" in ibsa(7).
 */
#define IBSA_INLINE static inline

#ifdef __cplusplus
#define IBSA_BEGIN extern "C" {
#define IBSA_END }
#define IBSA__CAST(type, value) static_cast<type>(value)
#else
#define IBSA_BEGIN
#define IBSA_END
#define IBSA__CAST(type, value) ((type)(value))
#endif

/* Element @index of @array, whose elements begin @stride bytes apart. */
#define IBSA__AT(type, array, index, stride) \
	IBSA__CAST(const type *, ibsa__at(array, (index) * (stride)))

IBSA_INLINE const void *ibsa__at(const void *array, size_t offset)
{
	return IBSA__CAST(const char *, array) + offset;
}

/* A GID: subnet prefix and interface ID, in network byte order. */
struct ibsa_gid {
	uint8_t raw[16];
};

/**
 * struct ibsa_error - one sentence about an error
 * @text: a function that fails writes here what failed, why, and what to do,
 *        with a NUL. Read the text only after a failure
 */
struct ibsa_error {
	char text[256];
};

/*
 * Default values of members of options structs and of arguments that are 0. The
 * library, the manual pages and the help of the command take them from here. A
 * later version may have other values.
 */

/* struct ibsa_options, struct ibsa_query */
#define IBSA_DEFAULT_WINDOW 256	  /* requests in flight at most */
#define IBSA_DEFAULT_WINDOW_MIN 1 /* requests in flight at the start */
#define IBSA_DEFAULT_RETRIES 16	  /* window of ib_sa.h's devices */
#define IBSA_DEFAULT_QUEUE 65536  /* requests that wait for the window */
#define IBSA_DEFAULT_REPLY_MIB 64 /* largest reply, in MiB */
#define IBSA_DEFAULT_DEADLINE_MS 10000
#define IBSA_DEFAULT_FIRST_INTERVAL_MS 500 /* until replies are measured */
#define IBSA_DEFAULT_MAX_INTERVAL_MS 4000
#define IBSA_DEFAULT_JITTER_PERCENT 25

/* ibsa_port_watch_start() */
#define IBSA_DEFAULT_PORT_INTERVAL_MS 1000

/*
 * audit_ms of struct ibsa_event_options, ibsa_service_options,
 * ibsa_ib_device_options and ibsa_verbs_options
 */
#define IBSA_DEFAULT_AUDIT_MS 30000
/* ibsa_service_register(): service_lease of struct ibsa_service */
#define IBSA_DEFAULT_LEASE_S 300

/* struct ibsa_verbs_options */
#define IBSA_DEFAULT_EVENT_QUEUE 16384 /* events of the SM */

/* struct ibsa_fabric_options, ibsa_fault */
#define IBSA_DEFAULT_GID_PREFIX UINT64_C(0xfe80000000000000)
#define IBSA_DEFAULT_FIRST_LID 1
#define IBSA_DEFAULT_DELAY_MS 100

/* struct ibsa_fabric_server_options */
#define IBSA_DEFAULT_CONNECTIONS 1024
#define IBSA_DEFAULT_PATIENCE_MS 10000
#define IBSA_DEFAULT_MEMORY_MB 1024

/* clang-format off */
#define IBSA_METHODS(M)						\
	M(GET,             0x01, "Get")				\
	M(SET,             0x02, "Set")				\
	M(REPORT,          0x06, "Report")			\
	M(GET_TABLE,       0x12, "GetTable")			\
	M(GET_MULTI,       0x14, "GetMulti")			\
	M(DELETE,          0x15, "Delete")			\
	M(GET_RESP,        0x81, "GetResp")			\
	M(REPORT_RESP,     0x86, "ReportResp")			\
	M(GET_TABLE_RESP,  0x92, "GetTableResp")		\
	M(GET_MULTI_RESP,  0x94, "GetMultiResp")		\
	M(DELETE_RESP,     0x95, "DeleteResp")

#define IBSA_STATUSES(S)						\
	S(OK,                     0x0000, "success")			\
	S(BUSY,                   0x0001, "busy")			\
	S(REDIRECT,               0x0002, "redirected")			\
	S(BAD_VERSION,            0x0004, "bad base or class version")	\
	S(BAD_METHOD,             0x0008, "method not supported")	\
	S(BAD_METHOD_ATTRIBUTE,   0x000c,				\
	  "method not supported for this attribute")			\
	S(BAD_VALUE,              0x001c,				\
	  "invalid attribute or modifier value")			\
	S(NO_RESOURCES,           0x0100, "no resources")		\
	S(REQ_INVALID,            0x0200, "request invalid")		\
	S(NO_RECORDS,             0x0300, "no records")			\
	S(TOO_MANY_RECORDS,       0x0400, "too many records")		\
	S(REQ_INVALID_GID,        0x0500, "invalid GID")		\
	S(REQ_INSUFFICIENT,       0x0600, "insufficient components")	\
	S(REQ_DENIED,             0x0700, "request denied")		\
	S(PRIORITY_SUGGESTED,     0x0800, "priority suggested")		\
	/* Only of a replayed capture, which lacks the request. */ \
	S(NOT_RECORDED,           0x7f00, "not recorded")
/* clang-format on */

#define IBSA__METHOD_ENUM(name, value, text) IBSA_METHOD_##name = value,
enum ibsa_method { IBSA_METHODS(IBSA__METHOD_ENUM) };

#define IBSA__STATUS_ENUM(name, value, text) IBSA_STATUS_##name = value,
enum ibsa_status { IBSA_STATUSES(IBSA__STATUS_ENUM) };

enum {
	IBSA_CLASS_SA = 0x03,
	IBSA_CLASS_VERSION = 2,
	IBSA_CLASS_VERSION_OPA = 0x80,
	IBSA_MAD_BYTES = 256,	   /* one MAD on the wire */
	IBSA_SA_HEADER_BYTES = 56, /* MAD, RMPP and SA header */
	IBSA_SA_DATA_BYTES = 200,  /* data of one MAD after this header */
	IBSA_QPN_GSI = 1,
	IBSA_LID_UNICAST_MAX = 0xbfff,
	IBSA_LID_MULTICAST_MIN = 0xc000,
	IBSA_LID_PERMISSIVE = 0xffff,
	IBSA_LMC_MAX = 7,
	IBSA_PKEY_DEFAULT = 0xffff, /* default partition, full member */
	IBSA_PKEY_FULL = 0x8000,    /* the membership bit */
};

#define IBSA_QKEY_GSI UINT32_C(0x80010000)
#define IBSA_LEASE_INFINITE UINT32_C(0xffffffff)

/* Selectors in a query: how the SA compares MTU, rate and packet life time. */
enum ibsa_selector {
	IBSA_SELECT_GREATER = 0,
	IBSA_SELECT_LESS = 1,
	IBSA_SELECT_EXACTLY = 2,
	IBSA_SELECT_BEST = 3,
};

enum ibsa_node_type {
	IBSA_NODE_CA = 1,
	IBSA_NODE_SWITCH = 2,
	IBSA_NODE_ROUTER = 3,
};

enum ibsa_port_state_code {
	IBSA_PORT_DOWN = 1,
	IBSA_PORT_INIT = 2,
	IBSA_PORT_ARMED = 3,
	IBSA_PORT_ACTIVE = 4,
};

/* Flags, and a type, of the RMPP header. IBA vol 1, 13.6.2. */
enum {
	IBSA_RMPP_ACTIVE = 1,
	IBSA_RMPP_FIRST = 2,
	IBSA_RMPP_LAST = 4,
	IBSA_RMPP_TYPE_DATA = 1,
};

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
 * @offset: number of bits at @bytes before the field
 * @nbits:  width of the field, 1 to 64. The field must have 16, 32 or 64 bits
 *          and begin at a byte boundary, or lie within one word of 8, 16, 32 or
 *          64 bits, which begins at a multiple of its size from @bytes;
 *          otherwise, the result is undefined
 */
static inline uint64_t ibsa_bits_get(const void *bytes, unsigned int offset,
				     unsigned int nbits)
{
	const uint8_t *p = IBSA__CAST(const uint8_t *, bytes);
	const uint64_t ones = ~UINT64_C(0) >> (64 - nbits);

	if (offset % 8 == 0 && nbits == 64)
		return ibsa_be64(p + offset / 8);
	if (offset % 8 == 0 && nbits == 32)
		return ibsa_be32(p + offset / 8);
	if (offset % 8 == 0 && nbits == 16)
		return ibsa_be16(p + offset / 8);
	if (IBSA__WITHIN(offset, nbits, 8))
		return IBSA__CAST(uint64_t, p[offset / 8]) >>
			       IBSA__BELOW(offset, nbits, 8) &
		       ones;
	if (IBSA__WITHIN(offset, nbits, 16))
		return IBSA__CAST(uint64_t, ibsa_be16(p + offset / 16 * 2)) >>
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
 * @bytes: the bits of the field must be zero before the call
 * @offset, @nbits: as for ibsa_bits_get()
 *
 * Return: 0 if @value fits into @nbits bits; otherwise @value without its low
 * @nbits bits, which are written nevertheless
 */
static inline uint64_t ibsa_bits_put(void *bytes, unsigned int offset,
				     unsigned int nbits, uint64_t value)
{
	uint8_t *p = IBSA__CAST(uint8_t *, bytes);
	const uint64_t ones = ~UINT64_C(0) >> (64 - nbits);
	const uint64_t over = value & ~ones;

	value &= ones;
	if (offset % 8 == 0 && nbits == 64) {
		ibsa_put_be64(p + offset / 8, value);
	} else if (offset % 8 == 0 && nbits == 32) {
		ibsa_put_be32(p + offset / 8, IBSA__CAST(uint32_t, value));
	} else if (offset % 8 == 0 && nbits == 16) {
		ibsa_put_be16(p + offset / 8, IBSA__CAST(uint16_t, value));
	} else if (offset % 8 == 0 && nbits == 8) {
		p[offset / 8] = IBSA__CAST(uint8_t, value);
	} else if (IBSA__WITHIN(offset, nbits, 8)) {
		p += offset / 8;
		*p |= IBSA__CAST(uint8_t,
				 value << IBSA__BELOW(offset, nbits, 8));
	} else if (IBSA__WITHIN(offset, nbits, 16)) {
		p += offset / 16 * 2;
		value <<= IBSA__BELOW(offset, nbits, 16);
		ibsa_put_be16(p, IBSA__CAST(uint16_t, ibsa_be16(p) | value));
	} else if (IBSA__WITHIN(offset, nbits, 32)) {
		p += offset / 32 * 4;
		value <<= IBSA__BELOW(offset, nbits, 32);
		ibsa_put_be32(p, IBSA__CAST(uint32_t, ibsa_be32(p) | value));
	} else {
		p += offset / 64 * 8;
		value <<= IBSA__BELOW(offset, nbits, 64);
		ibsa_put_be64(p, ibsa_be64(p) | value);
	}
	return over;
}

#endif
