/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All that the command writes: rows as text or as JSON from the same calls. */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum out_shape {
	OUT_TABLE,  /* a line for each row, aligned, below a header */
	OUT_BLOCKS, /* a line for each cell, "name  value" */
	OUT_JSON,   /* an array of flat objects */
};

enum { OUT_COLUMNS = 32 };

struct json_object;

/* A stream that rows are written to. Only @shape is the commands' to set. */
struct out {
	FILE *file;
	enum out_shape shape;
	int err; /* the first errno of writing */
	enum { OUT_MEASURE, OUT_HEADER, OUT_PRINT } phase;
	unsigned int column;
	size_t pad; /* blanks due before the next cell of the line */
	size_t widths[OUT_COLUMNS];
	struct json_object *object;
};

/*
 * Writes one row by out_text(), out_number() and out_none(), the same cells
 * in the same order for each row. It is called more than once for a row: to
 * align a table, its widths are measured first, which keeps memory constant.
 */
typedef void (*out_row_fn)(struct out *out, size_t index, void *arg);

void out_open(struct out *out, FILE *file);

/* All rows of the output: a whole table, all blocks or the whole array. */
void out_rows(struct out *out, size_t count, out_row_fn row, void *arg);

/*
 * A row by itself, written at once: a line of its cells, or an object on a
 * line. For what goes on, of which there is no whole table or array.
 */
void out_event(struct out *out, out_row_fn row, void *arg);

/* Whether what was written went somewhere, and there is still a reader. */
bool out_is_read(const struct out *out);

/* A cell of characters, of which those that are not safe to show are written
 * as ibsa_text_clean() does; so are those of all other functions here. */
void out_text(struct out *out, const char *name, const char *text);

/* A cell that JSON shows as the number, and text as @text says. */
void out_number(struct out *out, const char *name, uint64_t value,
		const char *text);

/* A cell without a value: "-", null in JSON. */
void out_none(struct out *out, const char *name);

/*
 * The last cell of a row, which in a table has no column but a line of its own
 * below the row; @text is NULL for none.
 */
void out_below(struct out *out, const char *name, const char *text);

/* Write what has been put so far; whether that worked, out_close() tells. */
void out_flush(struct out *out);

/* A line of plain text, for help. */
void out_line(struct out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A line that holds something from outside. */
void out_clean_line(struct out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Flush and close. Return: 0, or the negative errno of writing. */
int out_close(struct out *out);

/* One sentence to standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
