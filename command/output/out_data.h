/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes cells as JSON and CSV, and collects the cells that the user has
 * chosen.
 */
#ifndef COMMAND_OUT_DATA_H
#define COMMAND_OUT_DATA_H

#include "output/out.h"

/* Append bytes to @bytes; if memory is short, @bytes->failed is set. */
void out_bytes_put(struct out_bytes *bytes, const char *text, size_t len);

/*
 * Append a cell to the output's row. JSON: a member of an object, after a comma
 * unless it is the first; @name consists of letters, digits and '_' only. CSV:
 * a cell without a value is empty; an empty text is two quotes.
 */
void out_data_put(struct out *out, const struct out_name *name,
		  const struct out_cell *cell);

/* A cell that the user has chosen. */
struct out_field {
	struct out_name name;
	struct out_cell cell;
};

/*
 * out_field_count() returns the number of cells that the user has chosen;
 * out_field_at() returns the cell with number @index.
 */
size_t out_field_count(const struct out_fields *fields);
struct out_field out_field_at(const struct out_fields *fields, size_t index);

/* Begin a row: none of the chosen cells has a value yet. */
void out_fields_clear(struct out_fields *fields);

/*
 * Store a cell of the row if the user has chosen it. Return: false: memory is
 * short.
 */
bool out_fields_put(struct out_fields *fields, const struct out_name *name,
		    const struct out_cell *cell);

/*
 * Create the list of chosen cells; their names must be different. Return:
 * NULL: memory is short.
 */
struct out_fields *out_fields_new(const char *const *names, size_t count);
void out_fields_free(struct out_fields *fields);

#endif
