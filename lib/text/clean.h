/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which characters are safe to print. */
#ifndef TEXT_CLEAN_H
#define TEXT_CLEAN_H

#include <ibsa/text.h>

/*
 * Return: the length in bytes of the UTF-8 character at the start of @text,
 * which has @len bytes, at least 1; 0 if the bytes are not valid UTF-8 or the
 * character is not safe to print.
 */
size_t ibsa__character_len(const char *text, size_t len);

#endif
