/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GIDs in the notation of IPv6 addresses. */
#include <errno.h>

#include <ibsa/types.h>

#include "base/digit.h"
#include "common/text.h"

/* The 16-bit groups that a GID's text has, and the place of "::" in it. */
struct groups {
	uint16_t at[8];
	unsigned int count;
	/*
	 * Index of the group before which the text has "::"; NO_GAP: the text
	 * has no "::".
	 */
	unsigned int gap;
};

enum { NO_GAP = 9 };

/*
 * Find the longest run of at least two groups that are zero; of several
 * longest ones, the first. *@first is its first group. Return: its length.
 * Source: RFC 5952, 4.2.
 */
static unsigned int zeros_find(const uint16_t *groups, unsigned int *first)
{
	unsigned int best = 1;
	unsigned int run = 0;

	for (unsigned int i = 0; i < 8; i++) {
		run = groups[i] ? 0 : run + 1;
		if (run > best) {
			best = run;
			*first = i + 1 - run;
		}
	}
	return best > 1 ? best : 0;
}

static void ipv4_put(struct ibsa__text *text, const uint8_t *bytes)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (i)
			ibsa__text_char(text, '.');
		ibsa__text_dec(text, bytes[i]);
	}
}

/*
 * Whether the last four bytes of the GID are written as an IPv4 address.
 * Source: RFC 5952, 5.
 */
static bool holds_ipv4(const uint16_t *groups, unsigned int first,
		       unsigned int zeros)
{
	return first == 0 &&
	       (zeros == 6 || (zeros == 5 && groups[5] == 0xffff));
}

int ibsa_gid_format(const struct ibsa_gid *gid, char *out, size_t size)
{
	struct ibsa__text text = { .len = 0 };
	uint16_t groups[8];
	unsigned int first = 8;
	unsigned int zeros;
	unsigned int end = 8;

	for (unsigned int i = 0; i < 8; i++)
		groups[i] = ibsa_be16(gid->raw + 2 * i);
	zeros = zeros_find(groups, &first);
	if (holds_ipv4(groups, first, zeros))
		end = 6;
	for (unsigned int i = 0; i < end; i++) {
		if (i == first) {
			ibsa__text_string(&text, "::");
			i += zeros - 1;
			continue;
		}
		if (i && i != first + zeros)
			ibsa__text_char(&text, ':');
		ibsa__text_hex(&text, groups[i], 1);
	}
	if (end == 6 && zeros == 5)
		ibsa__text_char(&text, ':');
	if (end == 6)
		ipv4_put(&text, gid->raw + 12);
	return ibsa__text_done(&text, out, size);
}

/*
 * Parse one of the four numbers of an IPv4 address. Return: the first
 * character after it; NULL if it is invalid.
 */
static const char *octet_get(const char *text, unsigned int *out)
{
	const char *start = text;
	unsigned int value = 0;

	while (*text >= '0' && *text <= '9' && value <= 255)
		value = value * 10 + (unsigned int)(*text++ - '0');
	if (text == start || value > 255 || (*start == '0' && text > start + 1))
		return NULL;
	*out = value;
	return text;
}

/* Parse an IPv4 address, which must end the text, into two groups of 16 bits. */
static bool ipv4_get(const char *text, struct groups *groups)
{
	unsigned int octets[4];

	if (groups->count > 6)
		return false;
	for (unsigned int i = 0; i < 4; i++) {
		if (i && *text++ != '.')
			return false;
		text = octet_get(text, &octets[i]);
		if (!text)
			return false;
	}
	groups->at[groups->count++] = (uint16_t)(octets[0] << 8 | octets[1]);
	groups->at[groups->count++] = (uint16_t)(octets[2] << 8 | octets[3]);
	return !*text;
}

/* Parse the groups of a GID's text. Return: false if the text is not a GID. */
static bool groups_get(const char *text, struct groups *groups)
{
	const char *end;

	do {
		if (text[0] == ':' && text[1] == ':' && groups->gap == NO_GAP) {
			groups->gap = groups->count;
			text += 2;
			if (!*text)
				return true;
		} else if (groups->count && *text++ != ':') {
			return false;
		}
		if (groups->count == 8)
			return false;
		end = digits_group_get(text, &groups->at[groups->count]);
		if (!end)
			return false;
		if (*end == '.')
			return ipv4_get(text, groups);
		groups->count++;
		text = end;
	} while (*text);
	return true;
}

int ibsa_gid_parse(const char *text, struct ibsa_gid *out)
{
	struct groups groups = { .gap = NO_GAP };
	struct ibsa_gid gid = { 0 };
	unsigned int skipped;

	if (!groups_get(text, &groups))
		return -EINVAL;
	/* A text without "::" has eight groups, a text with "::" has fewer. */
	if ((groups.gap == NO_GAP) != (groups.count == 8))
		return -EINVAL;
	skipped = 8 - groups.count;
	for (unsigned int i = 0; i < groups.count; i++) {
		unsigned int to = i < groups.gap ? i : i + skipped;

		ibsa_put_be16(gid.raw + 2 * to, groups.at[i]);
	}
	*out = gid;
	return 0;
}
