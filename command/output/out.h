/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the rows of a command's output as text, JSON or CSV, from the same
 * calls.
 */
#ifndef COMMAND_OUT_H
#define COMMAND_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum out_shape {
	/*
	 * Output as a table: a header, and below it an aligned line for each
	 * row.
	 */
	OUT_TABLE,
	OUT_BLOCKS, /* a line per cell, "name  value" */
	OUT_JSON,   /* an array of flat objects */
	OUT_NDJSON, /* an object per line */
	OUT_CSV,    /* RFC 4180, with a header */
	/* The others have no rows. */
	OUT_NET, /* of ibnetdiscover */
	OUT_SLURM,
	OUT_SLURM_YAML,
	OUT_DOT,
	OUT_SVG,
};

enum { OUT_COLUMNS = 256 };

/* One cell of a row. @text is the value that text output shows. */
struct out_cell {
	/* OUT_DECIMAL: @text is a number in decimal, such as 2.5 */
	enum { OUT_NONE, OUT_NUMBER, OUT_TEXT, OUT_DECIMAL } kind;
	uint64_t number;
	const char *text;
};

/* The bytes of the row that is being written. */
struct out_bytes {
	char *at;
	size_t len;
	size_t size;
	bool failed; /* no memory */
};

/* The name of a cell. */
struct out_name {
	const char *text;
	size_t len;
};

struct out_fields;

/* An output stream. Commands set only @shape. */
struct out {
	FILE *file;
	enum out_shape shape;
	int err; /* first errno of writing */
	enum { OUT_MEASURE, OUT_HEADER, OUT_PRINT } phase;
	unsigned int column;
	/* Number of blanks to write before the next cell of the line. */
	size_t pad;
	size_t widths[OUT_COLUMNS];
	struct out_bytes row;
	bool has_header; /* of CSV */
	/* the cells to write, which the user has chosen; NULL: all cells */
	struct out_fields *fields;
};

/*
 * Write one row by out_text(), out_number() and out_none(), with the same cells
 * in the same order for each row. This function is called more than once for a
 * row: a table is measured before it is printed, so that memory use is
 * constant.
 */
typedef void (*out_row_fn)(struct out *out, size_t index, void *arg);

void out_open(struct out *out, FILE *file);

/*
 * Write only the cells with these names, in this order; the names are copied.
 * For CSV, this must be called before the first row.
 */
void out_select(struct out *out, const char *const *names, size_t count);

/*
 * Whether a row is a line of a table, which has only the most important cells.
 * In every other form, a row has all cells.
 */
bool out_is_brief(const struct out *out);

/*
 * Whether the rows are for a program, or the user has chosen the cells. Each
 * row then has the same cells; a cell without a value is written by
 * out_none().
 */
bool out_is_data(const struct out *out);

/* Whether the output shows the meaning of a number instead of the number. */
static inline bool out_has_text(const struct out *out)
{
	return out->shape < OUT_JSON;
}

/* Write all rows: as a table, blocks, a JSON array or lines. */
void out_rows(struct out *out, size_t count, out_row_fn row, void *arg);

/*
 * Write a single row at once: as a line of cells, or a line with a JSON object.
 * The function is for output without an end, which cannot be a table or an
 * array.
 */
void out_event(struct out *out, out_row_fn row, void *arg);

/* Whether no write has failed and the output still has a reader. */
bool out_is_read(const struct out *out);

/*
 * Write a text cell. In this and all following functions, characters that are
 * not safe to print are replaced as by ibsa__text_clean().
 */
void out_text(struct out *out, const char *name, const char *text);

/*
 * Write a cell whose value is the number @value in JSON and CSV, and @text in
 * text output.
 */
void out_number(struct out *out, const char *name, uint64_t value,
		const char *text);

/* Write a number that text output shows as 0x and four digits. */
void out_hex16(struct out *out, const char *name, uint16_t value);

/* Write a cell whose value is a number; text output shows it in decimal. */
void out_count(struct out *out, const char *name, uint64_t value);

/* Write the number in @text; a cell without a value if @text is NULL. */
void out_decimal(struct out *out, const char *name, const char *text);

/*
 * Write a cell whose name has a known length, which saves a call of strlen().
 */
void out_named(struct out *out, const struct out_name *name,
	       const struct out_cell *cell);

/*
 * Write the cells of a code that has no value. A code with a value is a number;
 * JSON and CSV have its meaning in a cell with "_text" after its name, and an
 * MTU's bytes and a rate's Gb/s in a further one.
 */
void out_no_code(struct out *out, const char *name);

/*
 * Write a cell without a value: "-" in text, null in JSON, an empty cell in
 * CSV.
 */
void out_none(struct out *out, const char *name);

/* Write a number as out_count() does; a cell without a value if unknown. */
void out_count_or_none(struct out *out, const char *name, bool is_known,
		       uint64_t value);

/* Write a text cell; a cell without a value if the text is NULL. */
void out_text_or_none(struct out *out, const char *name, const char *text);

/* Do what out_text_or_none() does; an empty text is not a value either. */
void out_text_if_any(struct out *out, const char *name, const char *text);

/*
 * Write the last cell of a row; @text is NULL if the cell has no value. A table
 * shows the text on a separate line below the row.
 */
void out_below(struct out *out, const char *name, const char *text);

/* Flush the output. out_close() returns the error. */
void out_flush(struct out *out);

/* Write a line of plain text, for help output. */
void out_line(struct out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Write a line of plain text that contains text from outside. */
void out_clean_line(struct out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Flush and close the output. Return: 0, or the negative errno of a failed
 * write.
 */
int out_close(struct out *out);

#endif
