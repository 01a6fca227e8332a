/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes cells as JSON (RFC 8259) and CSV (RFC 4180). Text is cleaned before,
 * so that it is valid UTF-8 without control characters.
 */
#include <stdlib.h>
#include <string.h>

#include "common/clean.h"
#include "output/out_data.h"

enum {
	FIRST_BYTES = 4096, /* of a row */
	/*
	 * Number of bytes of a text that one call of ibsa__text_clean() handles.
	 */
	PART_BYTES = 512,
	DIGITS = 20, /* of a number with 64 bits */
};

static bool bytes_grow(struct out_bytes *bytes, size_t more)
{
	size_t size = bytes->size ? bytes->size : FIRST_BYTES;
	char *at;

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

static bool bytes_reserve(struct out_bytes *bytes, size_t more)
{
	return bytes->size - bytes->len >= more || bytes_grow(bytes, more);
}

void out_bytes_put(struct out_bytes *bytes, const char *text, size_t len)
{
	if (!bytes_reserve(bytes, len))
		return;
	memcpy(bytes->at + bytes->len, text, len);
	bytes->len += len;
}

/*
 * Write a decimal number to @at, which has room for DIGITS characters. Return:
 * the end of the number.
 */
static char *number_write(char *at, uint64_t number)
{
	char digits[DIGITS];
	size_t first = sizeof(digits);

	for (; number > 9; number /= 10)
		digits[--first] = (char)('0' + number % 10);
	*at++ = (char)('0' + number);
	while (first < sizeof(digits))
		*at++ = digits[first++];
	return at;
}

static void put_number(struct out_bytes *bytes, uint64_t number)
{
	if (!bytes_reserve(bytes, DIGITS))
		return;
	bytes->len = (size_t)(number_write(bytes->at + bytes->len, number) -
			      bytes->at);
}

/*
 * Return: the number of characters before the first one that is special in
 * JSON or not ASCII.
 */
static size_t plain_len(const char *text)
{
	const char *at = text;

	while (*at >= ' ' && *at <= '~' && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - text);
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
	char *at;

	if (!bytes_reserve(bytes, plain + 1))
		return;
	at = bytes->at + bytes->len;
	*at = '"';
	memcpy(at + 1, text, plain);
	bytes->len += plain + 1;
	text += plain;
	while (*text && ibsa__text_clean(&text, part, sizeof(part)))
		put_escaped(bytes, part, escape);
	out_bytes_put(bytes, "\"", 1);
}

static void json_put(struct out_bytes *row, const struct out_name *name,
		     const struct out_cell *cell)
{
	char *at;

	if (!bytes_reserve(row, name->len + sizeof(",\"\":null") + DIGITS))
		return;
	at = row->at + row->len;
	*at = ',';
	at += row->len > 0;
	*at++ = '"';
	memcpy(at, name->text, name->len);
	at += name->len;
	memcpy(at, "\":null", 6);
	at += 2;
	if (cell->kind == OUT_NUMBER)
		at = number_write(at, cell->number);
	else if (cell->kind == OUT_NONE)
		at += 4;
	row->len = (size_t)(at - row->at);
	if (cell->kind == OUT_TEXT)
		put_string(row, cell->text, '\\');
	else if (cell->kind == OUT_DECIMAL)
		out_bytes_put(row, cell->text, strlen(cell->text));
}

/* Whether CSV needs no quotes around the text. */
static bool is_plain(const char *text)
{
	const size_t len = plain_len(text);

	return len > 0 && text[len] == '\0' && !strchr(text, ',') &&
	       text[0] != ' ' && text[len - 1] != ' ';
}

static void csv_put(struct out_bytes *row, const struct out_cell *cell)
{
	if (cell->kind == OUT_NUMBER)
		put_number(row, cell->number);
	else if (cell->kind == OUT_DECIMAL)
		out_bytes_put(row, cell->text, strlen(cell->text));
	else if (cell->kind == OUT_TEXT && is_plain(cell->text))
		out_bytes_put(row, cell->text, strlen(cell->text));
	else if (cell->kind == OUT_TEXT)
		put_string(row, cell->text, '"');
}

void out_data_put(struct out *out, const struct out_name *name,
		  const struct out_cell *cell)
{
	if (out->shape != OUT_CSV) {
		json_put(&out->row, name, cell);
		return;
	}
	if (out->column++ > 0)
		out_bytes_put(&out->row, ",", 1);
	csv_put(&out->row, cell);
}

/* A stored cell of the row; its text is in the row's bytes. */
struct saved {
	struct out_name name;
	struct out_cell cell;
	size_t text_at;
};

/**
 * struct out_fields - the cells that are written
 * @texts: the texts of one row, each with a NUL
 * @next:  the cell that is expected next; cells mostly come in order
 * @names: the bytes of all names
 */
struct out_fields {
	struct out_bytes texts;
	char *names;
	size_t next;
	size_t count;
	struct saved all[];
};

size_t out_field_count(const struct out_fields *fields)
{
	return fields->count;
}

struct out_field out_field_at(const struct out_fields *fields, size_t index)
{
	const struct saved *saved = &fields->all[index];
	struct out_field field = { .name = saved->name, .cell = saved->cell };

	if (field.cell.text)
		field.cell.text = fields->texts.at + saved->text_at;
	return field;
}

void out_fields_clear(struct out_fields *fields)
{
	fields->texts.len = 0;
	fields->next = 0;
	for (size_t i = 0; i < fields->count; i++)
		fields->all[i].cell = (struct out_cell){ .kind = OUT_NONE };
}

/* Return: the stored cell with this name; NULL: the cell is not written. */
static struct saved *saved_find(struct out_fields *fields,
				const struct out_name *name)
{
	for (size_t i = 0; i < fields->count; i++) {
		const size_t at = (fields->next + i) % fields->count;

		if (fields->all[at].name.len != name->len ||
		    memcmp(fields->all[at].name.text, name->text, name->len))
			continue;
		fields->next = at + 1;
		return &fields->all[at];
	}
	return NULL;
}

bool out_fields_put(struct out_fields *fields, const struct out_name *name,
		    const struct out_cell *cell)
{
	struct saved *saved = saved_find(fields, name);

	if (!saved)
		return true;
	saved->cell = *cell;
	saved->text_at = fields->texts.len;
	if (cell->text)
		out_bytes_put(&fields->texts, cell->text,
			      strlen(cell->text) + 1);
	return !fields->texts.failed;
}

struct out_fields *out_fields_new(const char *const *names, size_t count)
{
	struct out_fields *fields =
		calloc(1, sizeof(*fields) + count * sizeof(fields->all[0]));
	size_t size = 0;
	char *at;

	for (size_t i = 0; i < count; i++)
		size += strlen(names[i]) + 1;
	at = malloc(size + 1);
	if (!fields || !at) {
		free(fields);
		free(at);
		return NULL;
	}
	fields->names = at;
	fields->count = count;
	for (size_t i = 0; i < count; i++) {
		fields->all[i].name.text = strcpy(at, names[i]);
		fields->all[i].name.len = strlen(at);
		at += strlen(at) + 1;
	}
	return fields;
}

void out_fields_free(struct out_fields *fields)
{
	if (!fields)
		return;
	free(fields->texts.at);
	free(fields->names);
	free(fields);
}
