/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the rows of a command's output as text, JSON or CSV, from the same
 * calls.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean.h"
#include "output/out_data.h"

enum {
	GAP = 2,		/* blanks between columns */
	SENTENCE_BYTES = 16384, /* for two paths */
	/*
	 * Number of bytes of a text that one call of ibsa__text_clean() handles.
	 */
	PART_BYTES = 512,
};

void out_open(struct out *out, FILE *file)
{
	*out = (struct out){ .file = file };
}

static void note_error(struct out *out, int err)
{
	if (out->err == 0)
		out->err = err ? err : EIO;
}

void out_select(struct out *out, const char *const *names, size_t count)
{
	out_fields_free(out->fields);
	out->fields = out_fields_new(names, count);
	if (!out->fields)
		note_error(out, ENOMEM);
}

bool out_is_brief(const struct out *out)
{
	return out->shape == OUT_TABLE && !out->fields;
}

bool out_is_data(const struct out *out)
{
	return out->shape >= OUT_JSON || out->fields;
}

static void out_put(struct out *out, const char *text)
{
	if (out->err == 0 && fputs(text, out->file) < 0)
		note_error(out, errno);
}

/*
 * Write text without terminal codes and line ends, because the text may come
 * from another machine.
 */
static void put_clean(struct out *out, const char *text)
{
	char part[PART_BYTES];

	while (ibsa__text_clean(&text, part, sizeof(part)) && out->err == 0)
		out_put(out, part);
}

/*
 * Return: the width of a text on a terminal: its number of UTF-8 characters,
 * which is the number of bytes that are not continuation bytes.
 */
static size_t text_width(const char *text)
{
	char part[PART_BYTES];
	size_t width = 0;
	size_t len;

	while ((len = ibsa__text_clean(&text, part, sizeof(part))) > 0)
		for (size_t i = 0; i < len; i++)
			width += ((unsigned char)part[i] & 0xc0) != 0x80;
	return width;
}

static void widen(struct out *out, unsigned int column, const char *text)
{
	size_t width = text_width(text);

	if (out->widths[column] < width)
		out->widths[column] = width;
}

static void put_blanks(struct out *out, size_t count)
{
	static const char blanks[] = "                                ";
	const size_t max = sizeof(blanks) - 1;

	for (; count > max; count -= max)
		out_put(out, blanks);
	out_put(out, blanks + max - count);
}

static void put_padded(struct out *out, unsigned int column, const char *text)
{
	size_t width = text_width(text);

	put_blanks(out, out->pad);
	put_clean(out, text);
	out->pad = GAP;
	if (out->widths[column] > width)
		out->pad += out->widths[column] - width;
}

static void put_title(struct out *out, unsigned int column, const char *name)
{
	char title[64];
	size_t len = 0;

	for (; name[len] && len < sizeof(title) - 1; len++)
		title[len] = (char)toupper((unsigned char)name[len]);
	title[len] = '\0';
	put_padded(out, column, title);
}

static void table_cell(struct out *out, const char *name, const char *text)
{
	unsigned int column = out->column;

	if (column >= OUT_COLUMNS)
		return;
	out->column++;
	if (out->phase == OUT_HEADER) {
		put_title(out, column, name);
	} else if (out->phase == OUT_PRINT) {
		put_padded(out, column, *text ? text : "-");
	} else {
		widen(out, column, name);
		widen(out, column, text);
	}
}

static void block_cell(struct out *out, const char *name, const char *text)
{
	if (out->phase == OUT_MEASURE) {
		widen(out, 0, name);
		return;
	}
	out->pad = 0;
	put_padded(out, 0, name);
	if (*text)
		put_padded(out, 0, text);
	out_put(out, "\n");
}

static void text_cell(struct out *out, const char *name, const char *text)
{
	if (out->shape == OUT_TABLE)
		table_cell(out, name, text);
	else
		block_cell(out, name, text);
}

/* Write a cell in the chosen form: table, block, JSON or CSV. */
static void shape_cell(struct out *out, const struct out_name *name,
		       const struct out_cell *cell)
{
	if (out->shape >= OUT_JSON)
		out_data_put(out, name, cell);
	else
		text_cell(out, name->text,
			  cell->kind == OUT_NONE ? "-" : cell->text);
}

void out_named(struct out *out, const struct out_name *name,
	       const struct out_cell *cell)
{
	if (!out->fields)
		shape_cell(out, name, cell);
	else if (!out_fields_put(out->fields, name, cell))
		note_error(out, ENOMEM);
}

static void put_cell(struct out *out, const char *name,
		     const struct out_cell *cell)
{
	out_named(out, &(struct out_name){ name, strlen(name) }, cell);
}

void out_text(struct out *out, const char *name, const char *text)
{
	put_cell(out, name, &(struct out_cell){ OUT_TEXT, 0, text });
}

void out_number(struct out *out, const char *name, uint64_t number,
		const char *text)
{
	put_cell(out, name, &(struct out_cell){ OUT_NUMBER, number, text });
}

void out_count(struct out *out, const char *name, uint64_t number)
{
	char text[24] = "";

	if (out_has_text(out))
		snprintf(text, sizeof(text), "%" PRIu64, number);
	out_number(out, name, number, text);
}

void out_none(struct out *out, const char *name)
{
	put_cell(out, name, &(struct out_cell){ .kind = OUT_NONE });
}

void out_hex16(struct out *out, const char *name, uint16_t value)
{
	char text[sizeof("0xffff")];

	snprintf(text, sizeof(text), "0x%04x", value);
	out_number(out, name, value, text);
}

void out_count_or_none(struct out *out, const char *name, bool is_known,
		       uint64_t number)
{
	if (is_known)
		out_count(out, name, number);
	else
		out_none(out, name);
}

void out_text_or_none(struct out *out, const char *name, const char *text)
{
	if (text)
		out_text(out, name, text);
	else
		out_none(out, name);
}

void out_text_if_any(struct out *out, const char *name, const char *text)
{
	out_text_or_none(out, name, text && *text ? text : NULL);
}

void out_decimal(struct out *out, const char *name, const char *text)
{
	if (text)
		put_cell(out, name, &(struct out_cell){ OUT_DECIMAL, 0, text });
	else
		out_none(out, name);
}

static bool name_ends(const char *name, const char *end)
{
	const size_t len = strlen(name);

	return len >= strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

void out_no_code(struct out *out, const char *name)
{
	char text[64];

	out_none(out, name);
	snprintf(text, sizeof(text), "%s_text", name);
	if (!out_is_data(out))
		return;
	out_none(out, text);
	if (!name_ends(name, "mtu") && !name_ends(name, "rate"))
		return;
	snprintf(text, sizeof(text), "%s%s", name,
		 name_ends(name, "mtu") ? "_bytes" : "_gbps");
	out_none(out, text);
}

void out_below(struct out *out, const char *name, const char *text)
{
	if (!out_is_brief(out)) {
		out_text_or_none(out, name, text);
		return;
	}
	if (out->phase != OUT_PRINT || !text)
		return;
	out_put(out, "\n    ");
	put_clean(out, text);
}

static void run_row(struct out *out, out_row_fn row, size_t index, void *arg)
{
	out->column = 0;
	out->pad = 0;
	out->row.len = 0;
	if (!out->fields) {
		row(out, index, arg);
		return;
	}
	out_fields_clear(out->fields);
	row(out, index, arg);
	for (size_t i = 0; i < out_field_count(out->fields); i++) {
		const struct out_field field = out_field_at(out->fields, i);

		shape_cell(out, &field.name, &field.cell);
	}
}

static void table_rows(struct out *out, size_t count, out_row_fn row, void *arg)
{
	memset(out->widths, 0, sizeof(out->widths));
	out->phase = OUT_MEASURE;
	for (size_t i = 0; i < count; i++)
		run_row(out, row, i, arg);
	out->phase = OUT_HEADER;
	run_row(out, row, 0, arg);
	out_put(out, "\n");
	out->phase = OUT_PRINT;
	for (size_t i = 0; i < count && out->err == 0; i++) {
		run_row(out, row, i, arg);
		out_put(out, "\n");
	}
}

static void block_rows(struct out *out, size_t count, out_row_fn row, void *arg)
{
	memset(out->widths, 0, sizeof(out->widths));
	for (size_t i = 0; i < count && out->err == 0; i++) {
		if (i > 0)
			out_put(out, "\n");
		out->phase = OUT_MEASURE;
		run_row(out, row, i, arg);
		out->phase = OUT_PRINT;
		run_row(out, row, i, arg);
	}
}

/* Write the bytes of a row. */
static void put_row(struct out *out)
{
	if (out->row.failed)
		note_error(out, ENOMEM);
	if (out->err == 0 &&
	    fwrite(out->row.at, 1, out->row.len, out->file) < out->row.len)
		note_error(out, errno);
}

static void json_row(struct out *out, out_row_fn row, size_t index, void *arg)
{
	run_row(out, row, index, arg);
	out_put(out, "{");
	put_row(out);
	out_put(out, "}");
}

/*
 * Write each row as one line with a JSON object, so that a table of any size
 * needs constant memory.
 */
static void json_rows(struct out *out, size_t count, out_row_fn row, void *arg)
{
	out_put(out, "[");
	for (size_t i = 0; i < count && out->err == 0; i++) {
		out_put(out, i > 0 ? ",\n" : "\n");
		json_row(out, row, i, arg);
	}
	out_put(out, count > 0 ? "\n]\n" : "]\n");
}

/* A line ends as other lines of text do, not with CR LF. */
static void csv_line(struct out *out)
{
	out_bytes_put(&out->row, "\n", 1);
	put_row(out);
}

/* Write the header before the first row. */
static void csv_header(struct out *out)
{
	if (out->has_header || !out->fields)
		return;
	out->has_header = true;
	out->column = 0;
	out->row.len = 0;
	for (size_t i = 0; i < out_field_count(out->fields); i++) {
		const struct out_field field = out_field_at(out->fields, i);

		shape_cell(out, &field.name,
			   &(struct out_cell){ OUT_TEXT, 0, field.name.text });
	}
	csv_line(out);
}

/* Write a row of JSON or CSV as one line. */
static void data_line(struct out *out, out_row_fn row, size_t index, void *arg)
{
	if (out->shape == OUT_CSV) {
		run_row(out, row, index, arg);
		csv_line(out);
	} else {
		json_row(out, row, index, arg);
		out_put(out, "\n");
	}
}

static void data_lines(struct out *out, size_t count, out_row_fn row, void *arg)
{
	if (out->shape == OUT_CSV)
		csv_header(out);
	for (size_t i = 0; i < count && out->err == 0; i++)
		data_line(out, row, i, arg);
}

void out_rows(struct out *out, size_t count, out_row_fn row, void *arg)
{
	if (out->shape == OUT_JSON)
		json_rows(out, count, row, arg);
	else if (out->shape > OUT_JSON)
		data_lines(out, count, row, arg);
	else if (count > 0 && out->shape == OUT_TABLE)
		table_rows(out, count, row, arg);
	else if (count > 0)
		block_rows(out, count, row, arg);
}

/*
 * Write a row of events as an aligned line. A column is as wide as its widest
 * cell so far.
 */
static void event_line(struct out *out, out_row_fn row, void *arg)
{
	const enum out_shape shape = out->shape;

	out->shape = OUT_TABLE;
	out->phase = OUT_MEASURE;
	run_row(out, row, 0, arg);
	out->phase = OUT_PRINT;
	run_row(out, row, 0, arg);
	out->shape = shape;
}

void out_event(struct out *out, out_row_fn row, void *arg)
{
	if (out->shape >= OUT_JSON) {
		data_lines(out, 1, row, arg);
	} else {
		event_line(out, row, arg);
		out_put(out, "\n");
	}
	out_flush(out);
}

void out_flush(struct out *out)
{
	if (out->err == 0 && fflush(out->file) != 0)
		note_error(out, errno);
}

/*
 * Whether the output still has a reader: for a pipe without one, poll()
 * reports an error or a hang-up.
 */
bool out_is_read(const struct out *out)
{
	struct pollfd fd = { .fd = fileno(out->file) };

	return out->err == 0 &&
	       (poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLERR | POLLHUP)));
}

void out_line(struct out *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (out->err == 0 && vfprintf(out->file, format, args) < 0)
		note_error(out, errno);
	va_end(args);
	out_put(out, "\n");
}

void out_clean_line(struct out *out, const char *format, ...)
{
	char text[SENTENCE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_clean(out, text);
	out_put(out, "\n");
}

int out_close(struct out *out)
{
	errno = 0;
	if (fclose(out->file) != 0)
		note_error(out, errno);
	out->file = NULL;
	out_fields_free(out->fields);
	free(out->row.at);
	return -out->err;
}
