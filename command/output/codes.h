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

/*
 * Return: the end of the name of the cell with the quantity for which a code of
 * the field stands: "_bytes" for an MTU, "_gbps" for a rate; NULL: the codes of
 * the field stand for no quantity.
 */
const char *codes_quantity_suffix(const struct ibsa_field *field);

/*
 * Write the quantity for which a code stands as a decimal number. Return: @out;
 * NULL if the code is unknown.
 */
const char *codes_quantity(const struct ibsa_field *field, uint64_t code,
			   char out[CODE_TEXT]);

/* Return: @out, with a rate in Gb/s; NULL if @mbps is 0. */
const char *codes_gbps(uint64_t mbps, char out[CODE_TEXT]);

/* Whether the field is a P_Key, which JSON has as text, such as "0xffff". */
bool codes_is_pkey(const struct ibsa_field *field);

/*
 * Return: the name of a code, such as "Active"; without a name, the code as
 * text.
 */
const char *codes_name(enum ibsa_show show, uint64_t code, char out[CODE_TEXT]);

#endif
