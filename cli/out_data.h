/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cells as JSON and CSV, and the cells that the user has chosen. */
#ifndef CLI_OUT_DATA_H
#define CLI_OUT_DATA_H

#include "out.h"

/* Append to @bytes; if there is no memory, @bytes->failed is set. */
void out_bytes_put(struct out_bytes *bytes, const char *text, size_t len);

/*
 * Append a member of an object, after a comma unless it is the first. @name has
 * letters, digits and '_' only.
 */
void out_json_put(struct out_bytes *row, const char *name,
		  const struct out_cell *cell);

/*
 * Append a cell of a CSV line. A cell without a value is empty, and an empty text
 * is two quotes.
 */
void out_csv_put(struct out_bytes *row, const struct out_cell *cell);

/* A cell that the user has chosen. */
struct out_field {
	const char *name;
	struct out_cell cell;
};

/* Number of chosen cells, and one of them. */
size_t out_field_count(const struct out_fields *fields);
struct out_field out_field_at(const struct out_fields *fields, size_t index);

/* Begin a row: no cell has a value. */
void out_fields_clear(struct out_fields *fields);

/* Store the cell if it is chosen. Return: false: no memory. */
bool out_fields_put(struct out_fields *fields, const char *name,
		    const struct out_cell *cell);

/* NULL: no memory. The names must be different. */
struct out_fields *out_fields_new(const char *const *names, size_t count);
void out_fields_free(struct out_fields *fields);

#endif
