/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which characters are safe to print. Names of nodes, files and messages come
 * from other systems: none of their characters may control a terminal, end a
 * line, change the writing direction or be invisible.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/clean.h"

struct range {
	uint32_t first, last;
};

/*
 * Valid characters that are not printed: control characters; format characters
 * (Unicode's general categories Cf, Zl and Zp, except those with a glyph); and
 * code points without a character.
 */
static const struct range invisible[] = {
	{ 0x00, 0x1f },	      { 0x7f, 0x9f },	    { 0xad, 0xad },
	{ 0x61c, 0x61c },     { 0x180e, 0x180e },   { 0x200b, 0x200f },
	{ 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0xd800, 0xdfff },
	{ 0xfdd0, 0xfdef },   { 0xfeff, 0xfeff },   { 0xfff0, 0xfffb },
	{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

static bool character_is_visible(uint32_t c)
{
	for (size_t i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++) {
		if (c >= invisible[i].first && c <= invisible[i].last)
			return false;
	}
	/* The last two code points of each plane are noncharacters. */
	return (c & 0xfffe) != 0xfffe && c <= 0x10ffff;
}

/* Source: RFC 3629, 4. */
size_t ibsa__character_len(const char *text, size_t len)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const uint8_t *bytes = (const uint8_t *)text;
	const uint8_t lead = bytes[0];
	uint32_t c;
	size_t more;

	if (lead < 0x80)
		return character_is_visible(lead);
	if (lead < 0xc0 || lead > 0xf7)
		return 0;
	more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
	if (more >= len)
		return 0;
	c = lead & (0x3fu >> more);
	for (size_t i = 1; i <= more; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (bytes[i] & 0x3f);
	}
	return c >= least[more] && character_is_visible(c) ? more + 1 : 0;
}

size_t ibsa__text_clean(const char **text, char *out, size_t size)
{
	enum { CHARACTER_MAX = 4 };
	static const char digits[] = "0123456789abcdef";
	const char *at = *text;
	size_t len = 0;

	while (*at && len + CHARACTER_MAX < size) {
		const uint8_t byte = (uint8_t)*at;
		size_t plain;

		if (byte >= ' ' && byte <= '~') {
			out[len++] = *at++;
			continue;
		}
		plain = ibsa__character_len(at, strnlen(at, CHARACTER_MAX));
		if (plain) {
			memcpy(out + len, at, plain);
			len += plain;
			at += plain;
			continue;
		}
		out[len++] = '\\';
		out[len++] = 'x';
		out[len++] = digits[byte >> 4];
		out[len++] = digits[byte & 15];
		at++;
	}
	if (size)
		out[len] = '\0';
	*text = at;
	return len;
}
