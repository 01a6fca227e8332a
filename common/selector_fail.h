/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages about a selector that is not valid, which suggest a correction. */
#ifndef COMMON_SELECTOR_FAIL_H
#define COMMON_SELECTOR_FAIL_H

#include <ibsa/records.h>

/* Maximum number of characters of the caller's text that a message repeats. */
enum { SELECTOR_SHOWN_MAX = 40 };

/* The record has no field with the @len characters at @name. Return: -ENOENT. */
int ibsa__selector_field_fail(const struct ibsa_record *record,
			      const char *name, size_t len,
			      struct ibsa_error *error);

/* The field does not take @value, because of @err. Return: @err. */
int ibsa__selector_value_fail(const struct ibsa_field *field, int err,
			      const char *value, struct ibsa_error *error);

#endif
