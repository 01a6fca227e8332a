/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsers for the texts in sysfs files. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/digit.h"
#include "device/parse.h"

#define GID_V1 "IB/RoCE v1"
#define GID_V2 "RoCE v2"
#define OPA_DRIVER "DRIVER=hfi"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

int ibsa__parse_number(const char *text, uint64_t max, uint64_t *out)
{
	unsigned long long value;

	while (is_blank(*text))
		text++;
	/*
	 * The first character is checked because strtoull() accepts a sign and
	 * reads "-1" as a very large number.
	 */
	if (!is_digit(*text))
		return -EPROTO;
	errno = 0;
	value = strtoull(text, NULL, 0);
	if (errno == ERANGE || value > max)
		return -ERANGE;
	*out = value;
	return 0;
}

int ibsa__parse_index(const char *text, unsigned int *out)
{
	uint64_t value = 0;

	if (!*text || (text[0] == '0' && text[1]))
		return -EPROTO;
	for (; *text; text++) {
		if (!is_digit(*text))
			return -EPROTO;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > UINT_MAX)
			return -ERANGE;
	}
	*out = (unsigned int)value;
	return 0;
}

static int groups_parse(const char *text, unsigned int count, uint8_t *out)
{
	uint16_t group;

	while (is_blank(*text))
		text++;
	for (unsigned int i = 0; i < count; i++) {
		if (i > 0 && *text++ != ':')
			return -EPROTO;
		text = digits_group_get(text, &group);
		if (!text)
			return -EPROTO;
		ibsa_put_be16(out + 2 * i, group);
	}
	return *text && !is_blank(*text) ? -EPROTO : 0;
}

int ibsa__parse_guid(const char *text, uint64_t *out)
{
	uint8_t raw[8];
	int err = groups_parse(text, 4, raw);

	if (err)
		return err;
	*out = ibsa_be64(raw);
	return 0;
}

int ibsa__parse_gid(const char *text, struct ibsa_gid *out)
{
	struct ibsa_gid gid;
	int err = groups_parse(text, 8, gid.raw);

	if (err)
		return err;
	*out = gid;
	return 0;
}

int ibsa__parse_gid_type(const char *text, bool *out_is_v2)
{
	size_t len = strlen(text);
	bool is_v2;

	if (len && text[len - 1] == '\n')
		len--;
	is_v2 = len == strlen(GID_V2) && !memcmp(text, GID_V2, len);
	if (!is_v2 && (len != strlen(GID_V1) || memcmp(text, GID_V1, len)))
		return -EPROTO;
	*out_is_v2 = is_v2;
	return 0;
}

bool ibsa__parse_is_opa(const char *text)
{
	const char *line = text;

	while (line && strncmp(line, OPA_DRIVER, strlen(OPA_DRIVER))) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return line != NULL;
}

/*
 * Skip the digits at *@text and count those after leading zeros in *@out_len.
 * Return: the first digit after leading zeros.
 */
static const char *digits_take(const char **text, size_t *out_len)
{
	const char *start;

	while (**text == '0')
		(*text)++;
	start = *text;
	while (is_digit(**text))
		(*text)++;
	*out_len = (size_t)(*text - start);
	return start;
}

static int digits_compare(const char **a, const char **b)
{
	size_t a_len;
	size_t b_len;
	const char *a_digits = digits_take(a, &a_len);
	const char *b_digits = digits_take(b, &b_len);

	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return memcmp(a_digits, b_digits, a_len);
}

int ibsa__name_compare(const char *a, const char *b)
{
	const char *p = a;
	const char *q = b;

	while (*p && *q) {
		int order;

		if (is_digit(*p) && is_digit(*q))
			order = digits_compare(&p, &q);
		else
			order = (unsigned char)*p++ - (unsigned char)*q++;
		if (order)
			return order;
	}
	if (*p || *q)
		return *p ? 1 : -1;
	/*
	 * The texts differ only in leading zeros, as in "a01" and "a1": any
	 * fixed order will do.
	 */
	return strcmp(a, b);
}
