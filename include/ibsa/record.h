/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Descriptions of SA records: name, fields, decode and encode. records.h has
 * one table per record; this header declares what the tables become.
 *
 * Any thread may call these functions.
 */
#ifndef IBSA_RECORD_H
#define IBSA_RECORD_H

#include <ibsa/bits.h>
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
 * struct ibsa_field - one field of a record: a row of the record's table in
 * records.h
 * @name:       name of the member in the struct, and on the command line
 * @bit_offset: offset of the first element on the wire, in bits from the most
 *              significant bit of the first byte
 * @nbits:      bits of one element: 1 to 64, or 128 for a GID
 * @count:      number of elements; more than 1 for arrays, text and blobs
 * @cm:         the row's column "mask": number of the field's component bit;
 *              IBSA_TWO() of the first of two bits; IBSA_NO_BIT: the SA cannot
 *              select by the field; or IBSA_UNMASKED: no bit, but requests
 *              carry the field. ibsa_field_cm() returns the component bits
 * @show:       enum ibsa_show
 * @host_offset: offset of the first element in the struct, in bytes
 * @host_size:  size of one element in the struct, in bytes
 *
 * A field of text or a blob is one value of @count elements. Any other array
 * has @count values. If the SA can select by the values of an array, each value
 * has one component bit, and these bits are consecutive.
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
 * struct ibsa_record - one SA attribute
 * @name:        name in the specification, such as "PathRecord"
 * @short_name:  name in saquery, such as "PR"
 * @brief:       names of the fields that the command ibsa shows in a table,
 *               separated by commas
 * @attribute:   attribute ID
 * @class_version: class version of the MADs: 2, or 0x80 for Omni-Path
 * @writer:      enum ibsa_writer: what changes records of this type. Unless
 *               @writer is IBSA_WRITER_SM, a query does not join a request that
 *               has already been sent; see ibsa_query_start()
 * @size:        bytes of the record on the wire that its table in records.h
 *               describes
 * @host_size:   size of the struct, in bytes
 * @reply:       the type of the records in replies: the same record, except for
 *               MultiPathRecord, to which the SA replies with records of type
 *               &ibsa_path_record
 * @mask:        all component bits of the record's fields
 * @fields:      the fields, in the order on the wire
 * @field_count: number of @fields
 * @decode:      decodes the first @size bytes at @wire into the struct
 * @encode:      encodes the struct into @size bytes at @wire, reserved bits as
 *               zero; sets *@over to 0, or to another number if a value is
 *               wider than its field or a text does not end with a NUL
 *
 * Each record that the library supports is an object, such as ibsa_path_record.
 * ibsa_record_at() returns all of them.
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

/**
 * ibsa_record_at - one of the record types that the library supports
 * @index: number of the record, from 0
 *
 * Return: the record, or NULL if @index is above that of the last record.
 */
const struct ibsa_record *ibsa_record_at(unsigned int index);

/**
 * ibsa_record_find - find a record type by its name
 * @name: name or short name of the record, such as "PathRecord" or "PR", in
 *        upper or lower case
 *
 * Return: the record, or NULL if there is no such record.
 */
const struct ibsa_record *ibsa_record_find(const char *name) IBSA_NONNULL(1);

/**
 * ibsa_record_decode - decode a record into its struct
 * @record: the type of the record
 * @wire:   the bytes of the record, network byte order
 * @len:    number of bytes at @wire; bytes after the record are ignored
 * @out:    receives the record's struct, host byte order
 * @size:   size of @out in bytes
 *
 * Return: 0; -EPROTO @len is less than the record's size, and @out is
 * unchanged.
 */
int ibsa_record_decode(const struct ibsa_record *record, const void *wire,
		       size_t len, void *out, size_t size) IBSA_MUST_USE;

/**
 * ibsa_record_encode - encode a struct into the bytes of its record
 * @record: the type of the record
 * @host:   the record's struct, host byte order
 * @size:   size of @host in bytes
 * @out:    receives the bytes of the record, network byte order
 * @len:    size of @out in bytes; bytes after the record are unchanged
 *
 * Return: 0; -EINVAL @len is less than the record's size; -ERANGE a value is
 * wider than its field, or a text does not end with a NUL (the text's array in
 * the struct has one byte more than the field). After an error @out is
 * unchanged.
 */
int ibsa_record_encode(const struct ibsa_record *record, const void *host,
		       size_t size, void *out, size_t len) IBSA_MUST_USE;

/**
 * ibsa_field_values - the number of values of a field
 * @field: a field of a record
 *
 * Return: @count of the field for an array of numbers or GIDs; 1 for any other
 * field.
 */
unsigned int ibsa_field_values(const struct ibsa_field *field) IBSA_NONNULL(1);

/**
 * ibsa_field_cm - the component bits of one value of a field
 * @field: a field of a record
 * @index: index of the value within the field, from 0; 0 if the field is not
 *         an array
 *
 * Return: the bits, one or two, in host byte order; 0 if the value has none, or
 * if @index is not less than ibsa_field_values().
 */
uint64_t ibsa_field_cm(const struct ibsa_field *field, unsigned int index)
	IBSA_NONNULL(1);

/**
 * ibsa_field_get - read one number of a record
 * @field: a field of the record at @host; not a GID, text or blob
 * @index: index of the value within the field, from 0; 0 if the field is not
 *         an array
 * @host:  the record's struct, with host_size bytes
 *
 * Return: the number; 0 for a GID, text or blob, or if @index is not less than
 * ibsa_field_values().
 */
uint64_t ibsa_field_get(const struct ibsa_field *field, unsigned int index,
			const void *host) IBSA_NONNULL(1, 3);

/**
 * ibsa_field_set - write one number of a record
 * @field: a field of the record at @host; not a GID, text or blob
 * @index: index of the value within the field, from 0; 0 if the field is not
 *         an array
 * @value: the number
 * @host:  the record's struct, with host_size bytes
 *
 * Return: 0; -ERANGE @value is wider than the field; -EINVAL the field is a
 * GID, text or blob, or @index is not less than ibsa_field_values(). After an
 * error @host is unchanged.
 */
int ibsa_field_set(const struct ibsa_field *field, unsigned int index,
		   uint64_t value, void *host) IBSA_MUST_USE IBSA_NONNULL(1, 4);

IBSA_END

#endif
