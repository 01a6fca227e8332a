/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The texts that sysfs files hold, to values. No I/O: text in, number out. */
#ifndef DEVICE_PARSE_H
#define DEVICE_PARSE_H

#include <ibsa/types.h>

/*
 * The number a text starts with: decimal, 0x hexadecimal or 0 octal, after
 * blanks; what follows it is ignored ("4: ACTIVE" is 4). 0, -EPROTO if there
 * is none, -ERANGE if it is above @max.
 */
int ibsa__parse_number(const char *text, uint64_t max,
		       uint64_t *out) IBSA_MUST_USE;

/* A whole decimal number without sign or leading zeros: a port's folder. */
int ibsa__parse_index(const char *text, unsigned int *out) IBSA_MUST_USE;

/* Four groups of up to four hex digits, "b83f:d203:0044:0010". 0, -EPROTO. */
int ibsa__parse_guid(const char *text, uint64_t *out) IBSA_MUST_USE;

/* Eight such groups. 0 or -EPROTO. */
int ibsa__parse_gid(const char *text, struct ibsa_gid *out) IBSA_MUST_USE;

/*
 * The type of a GID, with or without the line's end: whether it is "RoCE v2".
 * 0 or, if it is not "IB/RoCE v1" either, -EPROTO.
 */
int ibsa__parse_gid_type(const char *text, bool *out_is_v2) IBSA_MUST_USE;

/* Whether a device's uevent file names a driver of Omni-Path adapters. */
bool ibsa__parse_is_opa(const char *text);

/* strcmp() that takes a run of digits as one number: mlx5_9 < mlx5_10. */
int ibsa__name_compare(const char *a, const char *b);

#endif
