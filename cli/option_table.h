/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of options: what the files about them share. */
#ifndef CLI_OPTION_TABLE_H
#define CLI_OPTION_TABLE_H

#include "cli.h"

enum {
	OPTION_ROWS = 28,
	OPTION_WITHOUT_LETTER = 256,
};

/**
 * struct option_row - one option
 * @key:      its letter, or from OPTION_WITHOUT_LETTER on
 * @name:     behind --
 * @argument: as --help shows it; NULL: it has none
 * @help:     one line; what stands before a colon says whose it is
 * @set:      takes its value, and returns the exit status; or NULL
 * @at:       of the member of struct cli that it goes into if @set is NULL: a
 *            const char *, or without an argument a bool
 */
struct option_row {
	int key;
	const char *name;
	const char *argument;
	const char *help;
	int (*set)(struct cli *cli, const char *value);
	size_t at;
};

/* The order is that of --help, and of the bits of cli.given. */
extern const struct option_row *const option_rows;

/* Whether every command takes it, whatever it may make of it. */
bool option_is_common(const struct option_row *row);

/* Whether it is about the output alone, and so goes with whatever is done. */
bool option_is_of_output(const struct option_row *row);

bool option_is_taken(const struct option_row *row,
		     const struct command *command);

/* Whether its name is one of the words of @list, with a blank between them. */
bool option_is_listed(const struct option_row *row, const char *list);

#endif
