/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers that are a part of a text. */
#ifndef TEXT_VALUE_H
#define TEXT_VALUE_H

#include <ibsa/text.h>

/* Do what ibsa_number_parse() does, with the first @len characters of @text. */
int ibsa__number_parse(const char *text, size_t len, unsigned int nbits,
		       uint64_t *out) IBSA_MUST_USE;

#endif
