/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which characters are safe to show. */
#ifndef TEXT_CLEAN_H
#define TEXT_CLEAN_H

#include <ibsa/text.h>

/*
 * The bytes of the UTF-8 character that @text begins with, of @len bytes, at
 * least 1; 0 if it is not a valid one that is safe to show.
 */
size_t ibsa__character_len(const char *text, size_t len);

#endif
