/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Convert values to text and back. Functions named _format write text with a
 * NUL to a buffer of the caller. If both do not fit, they write nothing and
 * return -ENOSPC.
 *
 * ibsa_gid_format        write a GID in the form of an IPv6 address
 * ibsa_gid_parse         parse a GID, in a form of inet_pton()
 * ibsa_number_parse      parse a number, decimal or after 0x hexadecimal
 * ibsa_field_name_format write the name of one value of a field
 * ibsa_field_find        find a field, or a value of an array, by name
 * ibsa_field_format      write one value of a record as text
 * ibsa_field_parse       parse one value of a record
 * ibsa_status_text       the meaning of a MAD status of 16 bits; never NULL
 * ibsa_method_name       the name of a method, such as "Get"; NULL: unknown
 * ibsa_show_is_code      whether values of a kind of enum ibsa_show are codes
 * ibsa_code_name         the meaning of a field's value, such as "100Gb/s"
 * ibsa_mtu_bytes         bytes of an MTU code, 256 to 10240; 0: unknown
 * ibsa_rate_mbps         Mb/s of a rate code, 2500 to 1700000; 0: unknown
 *
 * Any thread may call these functions. They ignore the locale and allocate no
 * memory. After an error, outputs are unchanged.
 */
#ifndef IBSA_TEXT_H
#define IBSA_TEXT_H

#include <ibsa/records.h>
#include <ibsa/types.h>

IBSA_BEGIN

enum {
	IBSA_GID_TEXT = 46,    /* bytes that are enough for each GID */
	IBSA_VALUE_TEXT = 512, /* bytes that are enough for each value */
};

/**
 * ibsa_gid_format - write a GID in the form of an IPv6 address
 * @size: of @out; IBSA_GID_TEXT is always enough
 *
 * Return: the length without the NUL; -ENOSPC
 *
 * Source: RFC 5952; the same as inet_ntop() for AF_INET6.
 */
int ibsa_gid_format(const struct ibsa_gid *gid, char *out, size_t size)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_gid_parse - parse a GID, in a form of inet_pton()
 *
 * Return: 0; -EINVAL not an IPv6 address
 */
int ibsa_gid_parse(const char *text, struct ibsa_gid *out) IBSA_MUST_USE
	IBSA_NONNULL(1, 2);

/**
 * ibsa_number_parse - parse a number, decimal or after 0x hexadecimal
 * @text:  without sign and blanks; decimal also if it begins with 0, as 010
 * @nbits: 1 to 64: the bits into which the number must fit
 *
 * Return: 0; -EINVAL @text is not a number, or @nbits is out of range; -ERANGE
 * the number has more than @nbits bits
 */
int ibsa_number_parse(const char *text, unsigned int nbits,
		      uint64_t *out) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_field_name_format - write the name of one value of a field
 * @index: of an array, index of the value, from 0: the name ends with _ and
 *         @index + 1; of any other field 0: the name is that of @field
 *
 * Return: the length without the NUL; -ENOSPC; -EINVAL no such value
 */
int ibsa_field_name_format(const struct ibsa_field *field, unsigned int index,
			   char *out, size_t size) IBSA_NONNULL(1, 3);

/**
 * ibsa_field_find - find a field, or a value of an array, by name
 * @name:      as ibsa_field_name_format() writes it, in upper or lower case;
 *             '-' is equal to '_'
 * @out_index: receives the index of the value in an array, from 0; else 0
 *
 * Return: the field; NULL if @name names no value of @record
 */
const struct ibsa_field *ibsa_field_find(const struct ibsa_record *record,
					 const char *name,
					 unsigned int *out_index)
	IBSA_NONNULL(1, 2, 3);

/**
 * ibsa_field_format - write one value of a record as text
 * @index: index of the value in an array, from 0; otherwise 0
 * @host:  the record's struct, in host byte order
 * @size:  of @out; IBSA_VALUE_TEXT is always enough
 *
 * The member show of @field determines the form. Of IBSA_SHOW_text, backslashes
 * and bytes that are not safe to print are written as \xNN.
 *
 * Return: the length without the NUL; -ENOSPC; -EINVAL no such value
 */
int ibsa_field_format(const struct ibsa_field *field, unsigned int index,
		      const void *host, char *out, size_t size)
	IBSA_NONNULL(1, 3, 4);

/**
 * ibsa_field_parse - parse one value of a record
 * @index: as for ibsa_field_format()
 * @text:  as ibsa_field_format() writes it; names in upper or lower case; of a
 *         number or code also the number, decimal or after 0x hexadecimal
 * @host:  the record's struct; receives the value, in host byte order
 *
 * Return: 0; -EINVAL no such value, or @text does not have the form of the
 * field; -ERANGE the value does not fit into the field
 */
int ibsa_field_parse(const struct ibsa_field *field, unsigned int index,
		     const char *text, void *host) IBSA_MUST_USE
	IBSA_NONNULL(1, 3, 4);

const char *ibsa_status_text(uint16_t status);

const char *ibsa_method_name(enum ibsa_method method);

bool ibsa_show_is_code(enum ibsa_show show);

/**
 * ibsa_code_name - the meaning of a field's value, such as "100Gb/s"
 * @show: member show of the field
 *
 * Return: the name, or "infinite" for the lease IBSA_LEASE_INFINITE; NULL if
 * @code is unknown, or values of @show are not codes
 */
const char *ibsa_code_name(enum ibsa_show show, uint64_t code);

unsigned int ibsa_mtu_bytes(uint8_t code);

unsigned int ibsa_rate_mbps(uint8_t code);

IBSA_END

#endif
