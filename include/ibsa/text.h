/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values to characters in the caller's buffer, and back. Nothing here
 * allocates; every format call ends its text in NUL or fails whole.
 */
#ifndef IBSA_TEXT_H
#define IBSA_TEXT_H

#include <ibsa/record.h>

IBSA_BEGIN

enum {
	IBSA_GID_TEXT = 46,    /* room for any GID as text */
	IBSA_VALUE_TEXT = 512, /* room for any field as text */
};

/**
 * ibsa_gid_format - a GID as text, the way IPv6 addresses are written
 * @gid:  which
 * @out:  room for the text
 * @size: of @out; IBSA_GID_TEXT is enough for all
 *
 * Return: the length without NUL; -ENOSPC if it does not fit.
 * Source: RFC 5952; equals what inet_ntop() gives for AF_INET6.
 */
int ibsa_gid_format(const struct ibsa_gid *gid, char *out, size_t size);

/**
 * ibsa_gid_parse - text to GID
 * @text: any form of an IPv6 address
 * @out:  the GID
 *
 * Return: 0; -EINVAL if @text is not a GID.
 */
int ibsa_gid_parse(const char *text, struct ibsa_gid *out) IBSA_MUST_USE;

/**
 * ibsa_number_parse - text to a number
 * @text:  decimal, or hexadecimal after 0x; nothing before or after it
 * @nbits: how wide the number may be, 1 to 64
 * @out:   the number
 *
 * Return: 0; -EINVAL if @text is no number; -ERANGE if it is too wide.
 */
int ibsa_number_parse(const char *text, unsigned int nbits,
		      uint64_t *out) IBSA_MUST_USE;

/**
 * ibsa_field_name - the name of one value of a field
 * @field: which
 * @index: of the value, from 0
 * @out:   room for the text
 * @size:  of @out
 *
 * The field's name; values of an array are numbered from 1, as the
 * specification does: service_data8_1.
 *
 * Return: the length without NUL; -ENOSPC if it does not fit; -EINVAL if
 * the field has no value @index.
 */
int ibsa_field_name(const struct ibsa_field *field, unsigned int index,
		    char *out, size_t size);

/**
 * ibsa_field_find - a field's value by its name
 * @record:    whose
 * @name:      as ibsa_field_name() writes it; case does not matter, and '-'
 *             stands for '_'
 * @out_index: the value's index
 *
 * Return: the field, or NULL if the record has none of that name.
 */
const struct ibsa_field *ibsa_field_find(const struct ibsa_record *record,
					 const char *name,
					 unsigned int *out_index);

/**
 * ibsa_field_format - one value of a field as text
 * @field: which
 * @index: of the value, from 0
 * @host:  the record's struct
 * @out:   room for the text
 * @size:  of @out; IBSA_VALUE_TEXT is enough for all
 *
 * Text fields come as UTF-8 with what ibsa_text_clean() replaces, and
 * backslashes, written as \xNN. Codes of MTU, rate, type and state come as what
 * they mean ("2048", "100Gb/s", "switch", "Active"), unknown ones as numbers.
 *
 * Return: the length without NUL; -ENOSPC if it does not fit; -EINVAL if
 * the field has no value @index.
 */
int ibsa_field_format(const struct ibsa_field *field, unsigned int index,
		      const void *host, char *out, size_t size);

/**
 * ibsa_field_parse - text to one value of a field
 * @field: which
 * @index: of the value, from 0
 * @text:  what ibsa_field_format() writes, or a plain number
 * @host:  the record's struct
 *
 * A name of a code may be in any case. Fewer bytes than a blob has are
 * followed by zeros; text takes \xNN for any byte but NUL.
 *
 * Return: 0; -EINVAL if @text is no such value or the field has no value
 * @index; -ERANGE if it does not fit the field. @host is untouched on failure.
 */
int ibsa_field_parse(const struct ibsa_field *field, unsigned int index,
		     const char *text, void *host) IBSA_MUST_USE;

/**
 * ibsa_text_clean - text from outside, as text that is safe to show
 * @text: where it begins, up to NUL; set to what did not fit, which is the NUL
 *        when all is done
 * @out:  room for the text, which ends in NUL
 * @size: of @out; above 4, or nothing fits. 4 for each byte and 1 is enough
 *
 * What is not valid UTF-8, control characters (C0 and C1), characters that
 * turn the direction of text or separate lines, and other characters without a
 * shape are written as \xNN, byte by byte. A backslash stays as it is.
 *
 * Return: the length without NUL.
 * Source: RFC 3629; Unicode's general categories Cc, Cf, Zl and Zp.
 */
size_t ibsa_text_clean(const char **text, char *out, size_t size);

/**
 * ibsa_selector_parse - "FIELD=VALUE" into a record and its mask
 * @record: which
 * @text:   "dlid=4", "dgid=fe80::1", "service_data8_3=0x10"
 * @host:   the record's struct
 * @mask:   the component mask, to which the field's bits are added; the GIDs
 *          of a MultiPathRecord have none
 * @error:  filled on failure with what was wrong; may be NULL
 *
 * Return: 0; -ENOENT no such field; -EINVAL no '=', no such value, or the
 * field cannot be selected; -ERANGE the value does not fit. @host and @mask
 * are untouched on failure.
 */
int ibsa_selector_parse(const struct ibsa_record *record, const char *text,
			void *host, uint64_t *mask,
			struct ibsa_error *error) IBSA_MUST_USE;

/**
 * ibsa_status_text - what a MAD status means
 * @status: the 16 bits
 *
 * Return: "success", "no records", ...; "unknown status" for any other.
 */
const char *ibsa_status_text(uint16_t status);

/**
 * ibsa_method_text - the name of a method
 * @method: enum ibsa_method
 *
 * Return: "Get", "GetTableResp", ...; "unknown method" for any other.
 */
const char *ibsa_method_text(uint8_t method);

/**
 * ibsa_mtu_bytes - bytes of an MTU code
 * @code: 1 to 7
 *
 * Return: 256 to 10240; 0 for any other code.
 */
unsigned int ibsa_mtu_bytes(uint8_t code);

/**
 * ibsa_rate_mbps - speed of a rate code
 * @code: 2 to 25
 *
 * Codes are not in order of speed: compare what this returns.
 *
 * Return: megabits a second; 0 for any other code.
 */
unsigned int ibsa_rate_mbps(uint8_t code);

/**
 * ibsa_host_match - rate how well a name matches a node
 * @name:        a node description, its first word, or HOST/DEVICE
 * @description: description of the node
 *
 * Return: 4 @name is @description or its first word; 3 the same, but upper and
 * lower case differ; 2 @name is HOST/DEVICE and @description is "HOST DEVICE";
 * 1 the same, but upper and lower case differ; 0 no match. Any thread may call
 * it.
 */
int ibsa_host_match(const char *name, const char *description);

/**
 * ibsa_host_device - return the device in a node's description
 * @description: description of the node
 *
 * Return: the part of @description after its first word and blanks, such as
 * "mlx5_0" of "node1 mlx5_0"; "" if there is none. Any thread may call it.
 */
const char *ibsa_host_device(const char *description);

IBSA_END

#endif
