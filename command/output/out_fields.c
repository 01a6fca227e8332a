/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores the cells of a row that the user has chosen, so that they can be
 * written in the chosen order.
 */
#include <stdlib.h>
#include <string.h>

#include "output/out_data.h"

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
