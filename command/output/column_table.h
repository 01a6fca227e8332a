/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The entries of a table of columns. */
#ifndef COMMAND_COLUMN_TABLE_H
#define COMMAND_COLUMN_TABLE_H

#include "output/columns.h"

/*
 * Table entries for a column that always has a value, and for one that may
 * have none.
 */
#define ALWAYS(name, kind)                 \
	{                                  \
		name, COLUMN_##kind, false \
	}
#define MAYBE(name, kind)                 \
	{                                 \
		name, COLUMN_##kind, true \
	}
#define WORDS(name, words)                      \
	{                                       \
		name, COLUMN_TEXT, false, words \
	}
#define MAYBE_WORDS(name, words)               \
	{                                      \
		name, COLUMN_TEXT, true, words \
	}
#define FIELD(name, record, field)                                             \
	{                                                                      \
		name, COLUMN_FIELD, true, NULL, &ibsa_##record##_record, field \
	}
#define RECORD(record)                                                    \
	{                                                                 \
		NULL, COLUMN_RECORD, false, NULL, &ibsa_##record##_record \
	}

/* The words of a link's width and speed. */
#define WIDTH_WORDS "1x|2x|4x|8x|12x"
#define SPEED_WORDS "SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR"

/* The struct columns of the table @list; see there for @name. */
#define COLUMN_TABLE(name, list)                              \
	{                                                     \
		name, list, sizeof(list) / sizeof((list)[0]), \
	}
/* The same for rows that are events. */
#define COLUMN_STREAM(name, list)                                   \
	{                                                           \
		name, list, sizeof(list) / sizeof((list)[0]), true, \
	}

#endif
