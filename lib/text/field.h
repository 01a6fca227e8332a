/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds a field of a record type by a name that is part of a longer text. */
#ifndef TEXT_FIELD_H
#define TEXT_FIELD_H

#include <ibsa/text.h>

/*
 * Do what ibsa_field_find() does, for a name that consists of the first @len
 * characters of @name.
 */
const struct ibsa_field *ibsa__field_find(const struct ibsa_record *record,
					  const char *name, size_t len,
					  unsigned int *out_index);

/*
 * Return: the canonical form of a character in a name: lower case, '_' for '-'.
 */
char ibsa__name_fold(char c);

/*
 * Whether the @len characters at @name are the beginning of the name @field,
 * in any case and with or without its underscores.
 */
bool ibsa__name_abbreviates(const char *name, size_t len, const char *field);

#endif
