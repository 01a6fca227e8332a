/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A record as data: its name, its fields, its codec. One table per record in
 * records.h gives all of it; this header says what a table becomes.
 */
#ifndef IBSA_RECORD_H
#define IBSA_RECORD_H

#include <ibsa/bits.h>
#include <ibsa/types.h>

IBSA_BEGIN

/* How a field is shown and read: the last column of a table. */
enum ibsa_show {
	IBSA_SHOW_dec,	      /* decimal number */
	IBSA_SHOW_hex,	      /* 0x and as many digits as the field has */
	IBSA_SHOW_gid,	      /* eight groups, as an IPv6 address */
	IBSA_SHOW_guid,	      /* 0x and 16 digits */
	IBSA_SHOW_text,	      /* UTF-8; NULs at the end are not shown */
	IBSA_SHOW_blob,	      /* bytes as hex digits */
	IBSA_SHOW_mtu,	      /* code of an MTU, shown in bytes */
	IBSA_SHOW_rate,	      /* code of a rate, shown in Gb/s */
	IBSA_SHOW_node_type,  /* CA, switch, router */
	IBSA_SHOW_port_state, /* Down, Init, Armed, Active */
	IBSA_SHOW_phys_state, /* Sleep, Polling, ... */
	IBSA_SHOW_lease,      /* seconds, or infinite */
	IBSA_SHOW_sm_state,   /* NotActive, Discovering, Standby, Master */
	IBSA_SHOW_vl_weight,  /* VL and weight, as 3:64 */
};

/* What the mask column of a table may say besides a bit number. */
#define IBSA_TWO(bit) ((bit) | 0x40) /* the field owns two bits */
#define IBSA_NO_BIT 0x80	     /* the field cannot be selected */
#define IBSA_UNMASKED 0x81	     /* nor this one, but requests have it */

/* The component mask of a field, from the mask column of its row. */
#define IBSA__CM(column)                                                    \
	((column)&IBSA_NO_BIT ? UINT64_C(0)                                 \
			      : ((column)&0x40 ? UINT64_C(3) : UINT64_C(1)) \
					<< ((column)&0x3f))

/* What changes a record at the SA. */
enum ibsa_writer {
	IBSA_WRITER_CLIENTS, /* their Sets and Deletes */
	IBSA_WRITER_SM,	     /* the subnet manager alone */
};

/**
 * struct ibsa_field - one row of a record's table
 * @name:       as in the struct and on the command line
 * @bit_offset: of the first element in the wire record
 * @nbits:      of one element: 1 to 64, or 128 for a GID
 * @count:      elements: 1, or more for an array
 * @cm:         component mask column; see ibsa_field_cm()
 * @show:       enum ibsa_show
 * @host_offset: of the first element in the host struct, in bytes
 * @host_size:  bytes of one element in the host struct
 *
 * Arrays of text and blob are one value; any other array is @count values,
 * each with its own component bit, counted up from the first.
 */
struct ibsa_field {
	const char *name;
	uint16_t bit_offset;
	uint16_t host_offset;
	uint16_t count;
	uint8_t nbits;
	uint8_t host_size;
	uint8_t cm;
	uint8_t show;
};

/**
 * struct ibsa_record - one SA attribute
 * @name:        as the specification calls it, "PathRecord"
 * @short_name:  as saquery does, "PR"
 * @brief:       names of the fields that a one-line view shows, with commas
 * @attribute:   attribute id
 * @class_version: 2, or 0x80 for OPA
 * @writer:      enum ibsa_writer: a query joins a request that was sent only
 *               for a record that the SM alone changes
 * @size:        bytes on the wire that the table describes
 * @host_size:   sizeof the struct
 * @reply:       the record that a reply has: this one, but for MultiPathRecord
 *               PathRecord
 * @mask:        every component bit that a field of the record has
 * @fields:      the rows, in wire order
 * @field_count: of them
 * @decode:      wire to struct; @wire has at least @size bytes
 * @encode:      struct to wire; writes all @size bytes, reserved ones as
 *               zero, and sets bits in *@over if a value is wider than its
 *               field
 *
 * The records that ibsa knows are objects: ibsa_path_record,
 * ibsa_node_record, ... and ibsa_record_at() walks over them.
 */
struct ibsa_record {
	const char *name;
	const char *short_name;
	const char *brief;
	uint16_t attribute;
	uint8_t class_version;
	uint8_t writer;
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
 * ibsa_record_at - walk over the records that ibsa knows
 * @index: from 0
 *
 * Return: the record, or NULL past the last.
 */
const struct ibsa_record *ibsa_record_at(unsigned int index);

/**
 * ibsa_record_find - a record by its name
 * @name: "PathRecord" or "PR"; case does not matter
 *
 * Return: the record, or NULL.
 */
const struct ibsa_record *ibsa_record_find(const char *name);

/**
 * ibsa_record_decode - a wire record into its struct
 * @record: which
 * @wire:   the bytes
 * @len:    how many there are; more than the record has are ignored
 * @out:    the record's struct, host byte order
 *
 * Return: 0; -EPROTO if @len is less than the record's size.
 */
int ibsa_record_decode(const struct ibsa_record *record, const void *wire,
		       size_t len, void *out) IBSA_MUST_USE;

/**
 * ibsa_record_encode - a struct into its wire record
 * @record: which
 * @host:   the record's struct, host byte order
 * @out:    room for the record's size in bytes
 * @len:    bytes at @out; those beyond the record's size are left alone
 *
 * Return: 0; -EINVAL if @len is less than the record's size; -ERANGE if a
 * value is wider than its field. @out is untouched on failure.
 */
int ibsa_record_encode(const struct ibsa_record *record, const void *host,
		       void *out, size_t len) IBSA_MUST_USE;

/**
 * ibsa_field_values - how many values a field is
 * @field: which
 *
 * Return: 1 for a single value, text or blob; else its element count.
 */
unsigned int ibsa_field_values(const struct ibsa_field *field);

/**
 * ibsa_field_cm - component mask of one value of a field
 * @field: which
 * @index: of the value, from 0
 *
 * Return: the mask in host order; 0 if the value cannot be selected.
 */
uint64_t ibsa_field_cm(const struct ibsa_field *field, unsigned int index);

/**
 * ibsa_field_get - one numeric value of a field
 * @field: which; not a GID, text or blob
 * @index: of the value, from 0
 * @host:  the record's struct
 *
 * Return: the value; 0 for a GID, text or blob.
 */
uint64_t ibsa_field_get(const struct ibsa_field *field, unsigned int index,
			const void *host);

/**
 * ibsa_field_set - set one numeric value of a field
 * @field: which; not a GID, text or blob
 * @index: of the value, from 0
 * @value: what to set it to
 * @host:  the record's struct
 *
 * Return: 0; -ERANGE if the value is wider than the field; -EINVAL for a
 * GID, text or blob or an index out of range.
 */
int ibsa_field_set(const struct ibsa_field *field, unsigned int index,
		   uint64_t value, void *host) IBSA_MUST_USE;

IBSA_END

#endif
