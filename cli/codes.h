/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The meanings of codes in the fields of records. */
#ifndef CLI_CODES_H
#define CLI_CODES_H

#include <ibsa/record.h>

enum { CODE_TEXT = 32 };

/* Whether values of the field are codes, whose meaning JSON has beside them. */
bool codes_has_text(const struct ibsa_field *field);

/*
 * Return: the meaning of a value of such a field, a constant or @out; NULL if the
 * value has none.
 */
const char *codes_text(const struct ibsa_field *field, uint64_t code,
		       char out[CODE_TEXT]);

#endif
