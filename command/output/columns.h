/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of the columns in each command's rows: the members of its JSON
 * output, the fields of its CSV output, and the names that --fields accepts.
 */
#ifndef COMMAND_COLUMNS_H
#define COMMAND_COLUMNS_H

#include <ibsa/records.h>

#include "output/cli.h"

enum column_kind {
	COLUMN_TEXT,
	COLUMN_NUMBER,
	COLUMN_DECIMAL,
	COLUMN_GID,
	COLUMN_GUID,
	COLUMN_TIME, /* UTC, ISO 8601 */
	COLUMN_IPV4,
	COLUMN_RATE,   /* as the kernel writes it */
	COLUMN_FIELD,  /* a field of a record */
	COLUMN_RECORD, /* all fields of a record */
};

enum { COLUMN_NAME_ROOM = 64 }; /* for any cell's name */

/**
 * struct column - a row of a table of columns
 * @name:    name of the cell
 * @kind:    what it contains
 * @can_be_none: it may have no value
 * @words:   the only texts that it may have, separated by '|', or NULL
 * @words_of_no: the only texts that it may have in rows whose cell "reach" is
 *               "no"
 * @record:  the record, for COLUMN_FIELD and COLUMN_RECORD
 * @field:   name of the field, for COLUMN_FIELD
 * @has_long_lids: slid and dlid may be Omni-Path LIDs of 32 bits. Long LIDs are
 *           taken from the GIDs, because these fields of the record have 16
 *           bits
 */
struct column {
	const char *name;
	enum column_kind kind;
	bool can_be_none;
	const char *words;
	const struct ibsa_record *record;
	const char *field;
	bool has_long_lids;
	const char *words_of_no;
};

/**
 * struct columns - the rows that a command writes
 * @name:      the command, for some kinds of rows followed by '-' and a word;
 *             also the name of the schema's file
 * @all:       the @count columns
 * @is_stream: the rows are events, which have no end
 */
struct columns {
	const char *name;
	const struct column *all;
	size_t count;
	bool is_stream;
};

/* Return: the columns that ibsa query writes for a record of this type. */
struct column column_of_record(const struct ibsa_record *record);

/**
 * struct cell_type - one cell of a row
 * @name:   name of the cell
 * @column: the column to which it belongs
 * @field:  its field, for the columns of records, or NULL
 * @is_meaning: the meaning of a code
 * @is_quantity: the MTU in bytes or the rate in Gb/s
 */
struct cell_type {
	const char *name;
	const struct column *column;
	const struct ibsa_field *field;
	bool is_meaning;
	bool is_quantity;
};

typedef void (*cell_type_fn)(const struct cell_type *type, void *arg);

/* Call @done for each cell that a row with these columns may have. */
void columns_each(const struct columns *columns, cell_type_fn done, void *arg);

/*
 * Prepare the output for rows with these columns: check --fields, and set what
 * CSV needs. Call this function before the client is opened. Return: the exit
 * status; a failure is printed.
 */
int columns_use(struct cli *cli, const struct columns *columns);

#endif
