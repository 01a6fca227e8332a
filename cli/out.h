/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the output: rows as text or as JSON, from the same calls. */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum out_shape {
	OUT_TABLE,  /* a line per row, aligned, below a header */
	OUT_BLOCKS, /* a line per cell, "name  value" */
	OUT_JSON,   /* an array of flat objects */
};

enum { OUT_COLUMNS = 32 };

struct json_object;

/* An output stream. Commands set only @shape. */
struct out {
	FILE *file;
	enum out_shape shape;
	int err; /* first errno of writing */
	enum { OUT_MEASURE, OUT_HEADER, OUT_PRINT } phase;
	unsigned int column;
	size_t pad; /* blanks before the next cell of the line */
	size_t widths[OUT_COLUMNS];
	struct json_object *object;
};

/*
 * Write one row by out_text(), out_number() and out_none(), with the same cells in
 * the same order for each row. It is called more than once for a row: a table is
 * measured before it is printed, so that memory use is constant.
 */
typedef void (*out_row_fn)(struct out *out, size_t index, void *arg);

void out_open(struct out *out, FILE *file);

/* Write all rows: a table, blocks or an array. */
void out_rows(struct out *out, size_t count, out_row_fn row, void *arg);

/*
 * Write a single row at once: a line of its cells, or an object on a line. For
 * output without an end, which cannot be a table or an array.
 */
void out_event(struct out *out, out_row_fn row, void *arg);

/* Whether writing has not failed and the output still has a reader. */
bool out_is_read(const struct out *out);

/*
 * Write a text cell. This and all functions below replace characters that are not
 * safe to print as ibsa_text_clean() does.
 */
void out_text(struct out *out, const char *name, const char *text);

/* Write a cell that is @value in JSON and @text in text. */
void out_number(struct out *out, const char *name, uint64_t value,
		const char *text);

/* Write a cell without a value: "-", or null in JSON. */
void out_none(struct out *out, const char *name);

/*
 * Write the last cell of a row. A table prints it on a line below the row; @text
 * is NULL for none.
 */
void out_below(struct out *out, const char *name, const char *text);

/* Flush the output. out_close() returns the error. */
void out_flush(struct out *out);

/* Write a line of plain text, for help. */
void out_line(struct out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Write a line that contains text from outside. */
void out_clean_line(struct out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Flush and close. Return: 0, or the negative errno of a write. */
int out_close(struct out *out);

/* Print a message on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
