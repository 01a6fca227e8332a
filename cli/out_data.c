/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes cells as JSON (RFC 8259) and CSV (RFC 4180). Text is cleaned before,
 * so that it is valid UTF-8 without control characters.
 */
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "out_data.h"

enum {
	FIRST_BYTES = 4096, /* of a row */
	/*
	 * Number of bytes of a text that one call of ibsa_text_clean() handles.
	 */
	PART_BYTES = 512,
	DIGITS = 20, /* of a number with 64 bits */
};

static bool bytes_reserve(struct out_bytes *bytes, size_t more)
{
	size_t size = bytes->size ? bytes->size : FIRST_BYTES;
	char *at;

	if (bytes->size - bytes->len >= more)
		return true;
	while (size - bytes->len < more)
		size *= 2;
	at = realloc(bytes->at, size);
	if (!at) {
		bytes->failed = true;
		return false;
	}
	bytes->at = at;
	bytes->size = size;
	return true;
}

void out_bytes_put(struct out_bytes *bytes, const char *text, size_t len)
{
	if (!bytes_reserve(bytes, len))
		return;
	memcpy(bytes->at + bytes->len, text, len);
	bytes->len += len;
}

static void put_name(struct out_bytes *row, const char *name)
{
	const size_t len = strlen(name);
	char *at;

	if (!bytes_reserve(row, len + sizeof(",\"\":")))
		return;
	at = row->at + row->len;
	if (row->len > 0)
		*at++ = ',';
	*at++ = '"';
	memcpy(at, name, len);
	at += len;
	*at++ = '"';
	*at++ = ':';
	row->len = (size_t)(at - row->at);
}

static void put_number(struct out_bytes *bytes, uint64_t number)
{
	char digits[DIGITS];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	out_bytes_put(bytes, digits + first, sizeof(digits) - first);
}

/*
 * Return: the number of characters before the first one that is special in
 * JSON or not ASCII.
 */
static size_t plain_len(const char *text)
{
	size_t len = 0;

	while (text[len] >= ' ' && text[len] <= '~' && text[len] != '"' &&
	       text[len] != '\\')
		len++;
	return len;
}

/*
 * Append text with the character @escape before each '"' and before each
 * @escape.
 */
static void put_escaped(struct out_bytes *bytes, const char *text, char escape)
{
	const char special[] = { '"', escape, '\0' };

	while (*text) {
		const size_t plain = strcspn(text, special);

		out_bytes_put(bytes, text, plain);
		text += plain;
		if (!*text)
			break;
		out_bytes_put(bytes, &escape, 1);
		out_bytes_put(bytes, text++, 1);
	}
}

static void put_string(struct out_bytes *bytes, const char *text, char escape)
{
	const size_t plain = plain_len(text);
	char part[PART_BYTES];

	out_bytes_put(bytes, "\"", 1);
	out_bytes_put(bytes, text, plain);
	text += plain;
	while (ibsa_text_clean(&text, part, sizeof(part)))
		put_escaped(bytes, part, escape);
	out_bytes_put(bytes, "\"", 1);
}

void out_json_put(struct out_bytes *row, const char *name,
		  const struct out_cell *cell)
{
	put_name(row, name);
	if (cell->kind == OUT_NUMBER)
		put_number(row, cell->number);
	else if (cell->kind == OUT_TEXT)
		put_string(row, cell->text, '\\');
	else
		out_bytes_put(row, "null", 4);
}

/* Whether CSV needs no quotes around the text. */
static bool is_plain(const char *text)
{
	const size_t len = plain_len(text);

	return len > 0 && text[len] == '\0' && !strchr(text, ',') &&
	       text[0] != ' ' && text[len - 1] != ' ';
}

void out_csv_put(struct out_bytes *row, const struct out_cell *cell)
{
	if (cell->kind == OUT_NUMBER)
		put_number(row, cell->number);
	else if (cell->kind == OUT_TEXT && is_plain(cell->text))
		out_bytes_put(row, cell->text, strlen(cell->text));
	else if (cell->kind == OUT_TEXT)
		put_string(row, cell->text, '"');
}
