/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Descriptions of SA records: name, fields, decode and encode. records.h has
 * one table per record; this header declares what the tables become.
 *
 * ibsa_record_at     one of the record types; NULL: no such index
 * ibsa_record_find   find a record type by its name or short name; NULL: none
 * ibsa_record_decode decode a record into its struct
 * ibsa_record_encode encode a struct into the bytes of its record
 * ibsa_field_values  how many values a field has: 1, unless it is an array
 * ibsa_field_cm      component bits of one value of a field; 0: none
 * ibsa_field_get     read one number of a record
 * ibsa_field_set     write one number of a record
 *
 * Any thread may call these functions.
 */
#ifndef IBSA_RECORD_H
#define IBSA_RECORD_H

#include <ibsa/types.h>

IBSA_BEGIN

/* How a field is formatted and parsed as text: the last column of a table. */
enum ibsa_show {
	IBSA_SHOW_dec,	      /* decimal number */
	IBSA_SHOW_hex,	      /* 0x and as many digits as the field has */
	IBSA_SHOW_gid,	      /* eight groups, as an IPv6 address */
	IBSA_SHOW_guid,	      /* 0x and 16 digits */
	IBSA_SHOW_text,	      /* UTF-8, without NULs at the end */
	IBSA_SHOW_blob,	      /* bytes as hex digits */
	IBSA_SHOW_mtu,	      /* code of an MTU, as bytes */
	IBSA_SHOW_rate,	      /* code of a rate, as Gb/s */
	IBSA_SHOW_node_type,  /* CA, switch, router */
	IBSA_SHOW_port_state, /* Down, Init, Armed, Active */
	IBSA_SHOW_phys_state, /* Sleep, Polling, ... */
	IBSA_SHOW_lease,      /* seconds, or infinite */
	IBSA_SHOW_sm_state,   /* NotActive, Discovering, Standby, Master */
	IBSA_SHOW_vl_weight,  /* VL and weight, as 3:64 */
};

/* Values of the mask column of a table besides the number of a bit. */
#define IBSA_TWO(bit) ((bit) | 0x40) /* two bits, from this one */
#define IBSA_NO_BIT 0x80	     /* the SA cannot select by the field */
#define IBSA_UNMASKED 0x81	     /* no bit; requests carry the field */

/* The component mask of a field, from the mask column of its row. */
#define IBSA__CM(column)                                                    \
	((column)&IBSA_NO_BIT ? UINT64_C(0)                                 \
			      : ((column)&0x40 ? UINT64_C(3) : UINT64_C(1)) \
					<< ((column)&0x3f))

/* What changes a record at the SA. */
enum ibsa_writer {
	IBSA_WRITER_CLIENTS, /* Sets and Deletes of clients */
	IBSA_WRITER_SM,	     /* only the subnet manager */
};

/**
 * struct ibsa_field - one field of a record: a row of its table in records.h
 * @name:        of the member in the struct
 * @bit_offset:  on the wire, from the most significant bit of the first byte
 * @host_offset: in the struct, in bytes
 * @count:       elements; more than 1 for arrays, text and blobs
 * @nbits:       of one element on the wire, 1 to 64, or 128 for a GID
 * @host_size:   of one element in the struct, in bytes
 * @cm:          the row's column "mask"; see ibsa_field_cm()
 *
 * Text or a blob is one value of @count elements; any other array has @count
 * values, with consecutive component bits.
 */
struct ibsa_field {
	const char *name;
	uint16_t bit_offset;
	uint16_t host_offset;
	uint16_t count;
	uint8_t nbits;
	uint8_t host_size;
	uint8_t cm;
	enum ibsa_show show;
};

/**
 * struct ibsa_record - one SA attribute, such as ibsa_path_record
 * @name:       in the specification, such as "PathRecord"
 * @short_name: in saquery, such as "PR"
 * @brief:      fields that the command ibsa shows in a table
 * @class_version: 2, or 0x80 for Omni-Path
 * @writer:     enum ibsa_writer
 * @size:       bytes on the wire
 * @host_size:  bytes of the struct
 * @reply:      type of the records in replies: the same, except for
 *              MultiPathRecord
 * @mask:       all component bits
 * @decode:     decodes @size bytes
 * @encode:     encodes @size bytes; sets *@over if a value does not fit
 */
struct ibsa_record {
	const char *name;
	const char *short_name;
	const char *brief;
	uint16_t attribute;
	uint8_t class_version;
	enum ibsa_writer writer;
	uint16_t size;
	uint16_t host_size;
	const struct ibsa_record *reply;
	uint64_t mask;
	const struct ibsa_field *fields;
	unsigned int field_count;
	void (*decode)(const uint8_t *wire, void *host);
	void (*encode)(const void *host, uint8_t *wire, uint64_t *over);
};

const struct ibsa_record *ibsa_record_at(unsigned int index);

const struct ibsa_record *ibsa_record_find(const char *name) IBSA_NONNULL(1);

/**
 * ibsa_record_decode - decode a record into its struct
 * @wire: network byte order
 * @len:  bytes after the record are ignored
 * @out:  host byte order
 * @size: of @out
 *
 * Return: 0; -EPROTO @len is too small
 */
int ibsa_record_decode(const struct ibsa_record *record, const void *wire,
		       size_t len, void *out, size_t size) IBSA_MUST_USE;

/**
 * ibsa_record_encode - encode a struct into the bytes of its record
 * @host: host byte order
 * @size: of @host
 * @out:  network byte order; bytes after the record are unchanged
 *
 * Return: 0; -EINVAL @len is too small; -ERANGE a value is wider than its
 * field, or a text does not end with a NUL
 */
int ibsa_record_encode(const struct ibsa_record *record, const void *host,
		       size_t size, void *out, size_t len) IBSA_MUST_USE;

unsigned int ibsa_field_values(const struct ibsa_field *field) IBSA_NONNULL(1);

/**
 * ibsa_field_cm - component bits of one value of a field; 0: none
 * @index: of the value in an array, from 0; else 0
 */
uint64_t ibsa_field_cm(const struct ibsa_field *field, unsigned int index)
	IBSA_NONNULL(1);

/**
 * ibsa_field_get - read one number of a record
 * @field: not a GID, text or blob
 * @index: of the value in an array, from 0; else 0
 * @host:  the record's struct
 */
uint64_t ibsa_field_get(const struct ibsa_field *field, unsigned int index,
			const void *host) IBSA_NONNULL(1, 3);

/**
 * ibsa_field_set - write one number of a record
 * @index: of the value in an array, from 0; else 0
 * @host:  the record's struct
 *
 * Return: 0; -ERANGE @value is wider than the field; -EINVAL no such number
 */
int ibsa_field_set(const struct ibsa_field *field, unsigned int index,
		   uint64_t value, void *host) IBSA_MUST_USE IBSA_NONNULL(1, 4);

IBSA_END

#endif
