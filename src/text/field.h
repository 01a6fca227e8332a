/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A field by a name that is part of a longer text. */
#ifndef TEXT_FIELD_H
#define TEXT_FIELD_H

#include <ibsa/text.h>

/* As ibsa_field_find(), for the first @len characters of @name. */
const struct ibsa_field *ibsa__field_find(const struct ibsa_record *record,
					  const char *name, size_t len,
					  unsigned int *out_index);

/* A character of a name as all its spellings have it: '-' is '_'. */
char ibsa__name_fold(char c);

#endif
