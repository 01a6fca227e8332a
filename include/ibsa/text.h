/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Convert values to text and back. Text goes to a buffer of the caller, with a
 * NUL. If the text does not fit, nothing is written. Any thread may call these
 * functions. These functions ignore the locale and allocate no memory.
 */
#ifndef IBSA_TEXT_H
#define IBSA_TEXT_H

#include <ibsa/record.h>
#include <ibsa/sa.h>

IBSA_BEGIN

enum {
	IBSA_GID_TEXT = 46,    /* bytes that are enough for each GID */
	IBSA_VALUE_TEXT = 512, /* bytes that are enough for each field */
};

/**
 * ibsa_gid_format - write a GID as text, in the form of an IPv6 address
 * @gid:  the GID, 16 bytes in network byte order
 * @out:  receives the text
 * @size: size of @out in bytes; IBSA_GID_TEXT is always enough
 *
 * Return: the length in bytes without the NUL; -ENOSPC the text does not fit,
 * and @out is unchanged.
 *
 * Source: RFC 5952; the same as inet_ntop() for AF_INET6.
 */
int ibsa_gid_format(const struct ibsa_gid *gid, char *out, size_t size)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_gid_parse - parse a GID
 * @text: the GID, in a form that inet_pton() accepts for AF_INET6
 * @out:  receives the GID, in network byte order
 *
 * Return: 0; -EINVAL @text is not an IPv6 address, and @out is unchanged.
 */
int ibsa_gid_parse(const char *text, struct ibsa_gid *out) IBSA_MUST_USE
	IBSA_NONNULL(1, 2);

/**
 * ibsa_number_parse - parse a number
 * @text:  a decimal number, or a hexadecimal number after 0x or 0X, without
 *         sign, blanks or other characters. A number that begins with 0 is
 *         decimal, too
 * @nbits: maximum number of bits of the number, 1 to 64
 * @out:   receives the number
 *
 * Return: 0; -EINVAL @text is not a number, or @nbits is out of range; -ERANGE
 * the number has more than @nbits bits. After an error @out is unchanged.
 */
int ibsa_number_parse(const char *text, unsigned int nbits,
		      uint64_t *out) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_field_name_format - write the name of one value of a field
 * @field: a field of a record
 * @index: index of the value within the field, from 0; 0 if the field is not
 *         an array
 * @out:   receives the name
 * @size:  size of @out in bytes
 *
 * The name of a value of an array ends in the number of the value, counted from
 * 1 as in the specification, such as service_data8_1 for @index 0.
 *
 * Return: the length without the NUL; -ENOSPC the name does not fit; -EINVAL
 * @index is not less than ibsa_field_values(). After an error @out is
 * unchanged.
 */
int ibsa_field_name_format(const struct ibsa_field *field, unsigned int index,
			   char *out, size_t size) IBSA_NONNULL(1, 3);

/**
 * ibsa_field_find - find a field of a record, or one value of an array, by name
 * @record:    the record type
 * @name:      a name as ibsa_field_name_format() writes it, in upper or lower
 *             case; '-' is equal to '_'. The name of an array needs the number
 * @out_index: receives the index of the value within the field: for an array
 *             0 is the first value (its name ends in _1); for other fields 0
 *
 * Return: the field; or NULL if the record type has no value with this name,
 * and @out_index is unchanged.
 */
const struct ibsa_field *ibsa_field_find(const struct ibsa_record *record,
					 const char *name,
					 unsigned int *out_index)
	IBSA_NONNULL(1, 2, 3);

/**
 * ibsa_field_format - write one value of a record as text
 * @field: a field of the record
 * @index: index of the value within the field, from 0; 0 if the field is not
 *         an array
 * @host:  the record's struct
 * @out:   receives the text
 * @size:  size of @out in bytes; IBSA_VALUE_TEXT is always enough
 *
 * @field->show determines the form: see enum ibsa_show. In a text field, NULs
 * at the end are omitted; a backslash is written as \x5c, and as \xNN any other
 * NUL and each byte of a character that is not safe to print: of invalid UTF-8,
 * control and invisible characters, and those that change the direction of the
 * text. Codes of MTUs, rates,
 * types and states are written as their meaning ("2048", "100Gb/s", "switch",
 * "Active"), and codes without a meaning as decimal numbers.
 *
 * Return: the length without the NUL; -ENOSPC the text does not fit; -EINVAL
 * @index is not less than ibsa_field_values(). After an error @out is
 * unchanged.
 */
int ibsa_field_format(const struct ibsa_field *field, unsigned int index,
		      const void *host, char *out, size_t size)
	IBSA_NONNULL(1, 3, 4);

/**
 * ibsa_field_parse - parse one value of a record
 * @field: a field of the record
 * @index: index of the value within the field, from 0; 0 if the field is not
 *         an array
 * @text:  the value as ibsa_field_format() writes it, or in another form, see
 *         below
 * @host:  the record's struct; receives the value
 *
 * Numbers may be decimal or, after 0x, hexadecimal. Names of codes may be in
 * upper or lower case, and rates without "/s". A number that is not the name of
 * a code is the code: the MTUs "2048" and "4" are both code 4. If a blob is
 * shorter than its field, the other bytes are set to zero. For a text field
 * (IBSA_SHOW_text), \xNN with two hexadecimal digits stands for any byte, also
 * NUL; a backslash before other characters is an error.
 *
 * Return: 0; -EINVAL @text is not of the field's kind, or @index is not less
 * than ibsa_field_values(); -ERANGE the value does not fit the field. After an
 * error @host is unchanged.
 */
int ibsa_field_parse(const struct ibsa_field *field, unsigned int index,
		     const char *text, void *host) IBSA_MUST_USE
	IBSA_NONNULL(1, 3, 4);

/**
 * ibsa_status_text - the meaning of the MAD status of an SA's reply
 * @status: all 16 bits, host byte order
 *
 * Return: a constant such as "success" or "no records"; "unknown status" for a
 * status that is not in enum ibsa_status.
 */
const char *ibsa_status_text(uint16_t status);

/**
 * ibsa_method_name - the name of a method
 * @method: enum ibsa_method
 *
 * Return: a constant such as "Get" or "GetTableResp"; NULL for any other
 * method.
 */
const char *ibsa_method_name(enum ibsa_method method);

/**
 * ibsa_show_is_code - check whether fields of a kind contain codes
 * @show: enum ibsa_show
 *
 * Return: true for MTUs, rates, node types and states: ibsa_code_name() returns
 * the meanings of their numbers. False for all other kinds, also for leases, of
 * which only one number has a meaning of its own.
 */
bool ibsa_show_is_code(enum ibsa_show show);

/**
 * ibsa_code_name - the meaning of a value of a field
 * @show: enum ibsa_show of the field
 * @code: the value
 *
 * Return: a constant such as "100Gb/s", "switch" or "Active", or "infinite" for
 * the lease IBSA_LEASE_INFINITE; NULL for an unknown code, for other leases,
 * and for kinds without codes.
 */
const char *ibsa_code_name(enum ibsa_show show, uint64_t code);

/**
 * ibsa_mtu_bytes - the MTU of an MTU code
 * @code: 1 to 7; only Omni-Path uses 6 and 7
 *
 * Return: bytes, 256 to 10240; 0 for any other code.
 */
unsigned int ibsa_mtu_bytes(uint8_t code);

/**
 * ibsa_rate_mbps - the rate of a rate code
 * @code: 2 to 25
 *
 * A higher code may stand for a lower rate: to compare rates, compare the
 * results of this function.
 *
 * Return: megabits per second, 2500 to 1700000; 0 for any other code. This is
 * the exact rate without fractions: 103125 for the code of the nominal rate 100
 * Gb/s.
 */
unsigned int ibsa_rate_mbps(uint8_t code);

IBSA_END

#endif
