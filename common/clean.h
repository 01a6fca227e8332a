/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which characters are safe to print. */
#ifndef COMMON_CLEAN_H
#define COMMON_CLEAN_H

#include <stddef.h>

/*
 * Return: the length in bytes of the UTF-8 character at the start of @text,
 * which has @len bytes, at least 1; 0 if the bytes are not valid UTF-8 or the
 * character is not safe to print.
 */
size_t ibsa__character_len(const char *text, size_t len);

/*
 * Make text from outside safe to print.
 * @text: *@text is the start of the text, which ends in a NUL; set to the first
 *        character that was not written, or to the NUL if all of the text was
 *        converted
 * @out:  receives the text
 * @size: size of @out in bytes. A character is written only if at least 5 bytes
 *        are free. 4 bytes for each byte of the text and 1 for the NUL are
 *        always enough
 *
 * Each byte of these characters is written as \xNN: bytes that are not valid
 * UTF-8; control characters (C0, DEL and C1); characters that change the
 * direction of the text; U+2028 and U+2029; other invisible format characters;
 * all code points from U+2060 to U+206F, U+FFF0 to U+FFFB and U+E0000 to
 * U+E0FFF; and noncharacters. Characters and \xNN are written completely or not
 * at all. Backslashes are copied, so that the text cannot be converted back.
 *
 * Return: the number of bytes written, without the NUL.
 *
 * Source: RFC 3629; Unicode's general categories Cc, Cf, Zl and Zp.
 */
size_t ibsa__text_clean(const char **text, char *out, size_t size);

#endif
