/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Codes that stand for something: what a field of such a kind shows. */
#ifndef TEXT_CODE_H
#define TEXT_CODE_H

#include <ibsa/text.h>

/* What @code means in a field shown as @show; NULL if it has no name. */
const char *ibsa__code_text(uint8_t show, uint64_t code);

/* The code of a name, in any case; false if there is none. */
bool ibsa__code_find(uint8_t show, const char *text, uint64_t *out);

#endif
