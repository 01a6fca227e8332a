/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of options: what the files about them share. */
#ifndef CLI_OPTION_TABLE_H
#define CLI_OPTION_TABLE_H

#include "cli.h"

enum { OPTION_ROWS = 29 };

/* Which commands take an option. */
enum option_whose {
	OPTION_OWN,    /* those whose row lists it */
	OPTION_COMMON, /* every command, whatever it may make of it */
	OPTION_OUTPUT, /* the same: it is about the output alone */
};

/**
 * struct option_row - one option
 * @letter:   behind -; 0: it has none
 * @name:     behind --
 * @argument: as --help shows it; NULL: it has none
 * @help:     one line; what stands before a colon says whose it is
 * @set:      takes its value, and returns the exit status; or NULL
 * @at:       of the member of struct cli that it goes into if @set is NULL: a
 *            const char *, or without an argument a bool
 * @whose:    which commands take it
 */
struct option_row {
	char letter;
	const char *name;
	const char *argument;
	const char *help;
	int (*set)(struct cli *cli, const char *value);
	size_t at;
	enum option_whose whose;
};

/* The order is that of --help, and of the bits of cli.given. */
extern const struct option_row *const option_rows;

bool option_is_taken(const struct option_row *row,
		     const struct command *command);

/* Whether the command or a part of it lists the option of that name. */
bool option_is_own(const char *name, const struct command *command);

#endif
