/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of the codes in fields. */
#ifndef TEXT_CODE_H
#define TEXT_CODE_H

#include <ibsa/text.h>

/*
 * Find the code with the name @text, regardless of case. Return: false if no
 * code has this name.
 */
bool ibsa__code_find(uint8_t show, const char *text, uint64_t *out);

#endif
