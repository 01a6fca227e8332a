/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The meanings of codes in the fields of records. */
#ifndef COMMAND_CODES_H
#define COMMAND_CODES_H

#include <ibsa/records.h>

enum { CODE_TEXT = 32 };

/*
 * Whether the values of the field are codes. JSON output then has a further
 * member with the meaning of the code.
 */
bool codes_has_text(const struct ibsa_field *field);

/*
 * Return: the meaning of a code, which is a constant or was written to @out;
 * NULL if the code has no meaning.
 */
const char *codes_text(const struct ibsa_field *field, uint64_t code,
		       char out[CODE_TEXT]);

#endif
