/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses rates of ports, and the limit of --rate. */
#include <stdio.h>
#include <string.h>

#include "base/rate.h"

enum { GBPS_MAX = 100000 };

static const struct operator
{
	const char *text;
	int kind;
}
operators[] = {
	{ ">=", RATE_AT_LEAST },
	{ ">", RATE_ABOVE },
	{ "=", RATE_EXACTLY },
};

/*
 * Parse a number with at most one decimal place. Return: the first character
 * after it, or NULL.
 */
static const char *tenths_read(const char *text, unsigned int *out)
{
	const size_t len = strspn(text, "0123456789");
	unsigned int number = 0;

	if (len == 0)
		return NULL;
	for (size_t i = 0; i < len && number < GBPS_MAX; i++)
		number = 10 * number + (unsigned int)(text[i] - '0');
	if (number >= GBPS_MAX)
		return NULL;
	text += len;
	*out = 10 * number;
	if (text[0] == '.' && strspn(text + 1, "0123456789") == 1) {
		*out += (unsigned int)(text[1] - '0');
		text += 2;
	}
	return text;
}

/* Whether a unit is that of bits; GB would be one of bytes. */
static bool is_unit(const char *text)
{
	return !*text ||
	       ((text[0] == 'G' || text[0] == 'g') &&
		(strcmp(text + 1, "b") == 0 || strcmp(text + 1, "b/s") == 0));
}

bool rate_limit_parse(const char *text, struct rate_limit *out)
{
	struct rate_limit limit = { .kind = RATE_AT_LEAST };

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		const size_t len = strlen(operators[i].text);

		if (strncmp(text, operators[i].text, len) != 0)
			continue;
		limit.kind = operators[i].kind;
		text += len;
		break;
	}
	text = tenths_read(text, &limit.tenths);
	if (!text || !limit.tenths || !is_unit(text))
		return false;
	*out = limit;
	return true;
}

bool rate_limit_fits(const struct rate_limit *limit, unsigned int tenths)
{
	switch (limit->kind) {
	case RATE_AT_LEAST:
		return tenths >= limit->tenths;
	case RATE_ABOVE:
		return tenths > limit->tenths;
	case RATE_EXACTLY:
		return tenths == limit->tenths;
	default:
		return true;
	}
}

const char *rate_limit_text(const struct rate_limit *limit,
			    char out[RATE_LIMIT_TEXT])
{
	char number[RATE_LIMIT_TEXT];
	const char *operator= "";

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (operators[i].kind == (int)limit->kind)
			operator= operators[i].text;
	snprintf(out, RATE_LIMIT_TEXT, "%s%.10s Gb/s", operator,
		 tenths_text(limit->tenths, number));
	return out;
}

const char *tenths_text(unsigned int tenths, char out[RATE_LIMIT_TEXT])
{
	snprintf(out, RATE_LIMIT_TEXT, tenths % 10 ? "%u.%u" : "%u",
		 tenths / 10, tenths % 10);
	return out;
}

bool rate_of_port(const char *text, unsigned int *out)
{
	return tenths_read(text, out) && *out > 0;
}
