/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsers for the texts in sysfs files. No I/O. */
#ifndef DEVICE_PARSE_H
#define DEVICE_PARSE_H

#include <ibsa/types.h>

/*
 * Parse the number at the start of a text: decimal, 0x hexadecimal or 0 octal,
 * after blanks. The rest is ignored ("4: ACTIVE" is 4). Return: 0; -EPROTO
 * there is no number; -ERANGE it is above @max.
 */
int ibsa__parse_number(const char *text, uint64_t max,
		       uint64_t *out) IBSA_MUST_USE;

/*
 * Parse a decimal number without sign or leading zeros: the name of a port's
 * directory. Return: 0; -EPROTO not such a number; -ERANGE it is too large.
 */
int ibsa__parse_index(const char *text, unsigned int *out) IBSA_MUST_USE;

/*
 * Parse a GUID of four groups of up to four hexadecimal digits, such as
 * "b83f:d203:0044:0010". Return: 0; -EPROTO not of this form.
 */
int ibsa__parse_guid(const char *text, uint64_t *out) IBSA_MUST_USE;

/* Parse eight such groups. Return: 0; -EPROTO. */
int ibsa__parse_gid(const char *text, struct ibsa_gid *out) IBSA_MUST_USE;

/*
 * Parse the type of a GID, with or without a line feed at its end. *@out_is_v2
 * is true for "RoCE v2", false for "IB/RoCE v1". Return: 0; -EPROTO the text
 * is neither.
 */
int ibsa__parse_gid_type(const char *text, bool *out_is_v2) IBSA_MUST_USE;

/*
 * Whether the text of a device's uevent file names a driver of Omni-Path
 * adapters.
 */
bool ibsa__parse_is_opa(const char *text);

/*
 * Compare two names as strcmp() does, but treat a sequence of digits as one
 * number: mlx5_9 is before mlx5_10.
 */
int ibsa__name_compare(const char *a, const char *b);

#endif
