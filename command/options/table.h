/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of options. */
#ifndef COMMAND_OPTION_TABLE_H
#define COMMAND_OPTION_TABLE_H

#include "output/cli.h"

enum { OPTION_COUNT = 49 };

/* The commands that accept an option. */
enum option_whose {
	OPTION_OWN,    /* commands whose row lists it */
	OPTION_COMMON, /* every command; some ignore it */
	OPTION_OUTPUT, /* every command; it changes the output only */
	/*
	 * Every command accepts the option, which changes the output only; a
	 * part of a command accepts it only if the part lists it.
	 */
	OPTION_ROWS,
};

/**
 * struct option_row - one option
 * @letter:   short option; 0: none
 * @name:     long option
 * @argument: name of its value in --help; NULL: it has no value
 * @help:     one line; a prefix before a colon names the commands that accept
 *            it
 * @set:      parses the value and returns the exit status; or NULL
 * @at:       if @set is NULL, offset of the member of struct cli that receives
 *            the value: a const char *, or a bool for an option without a value
 * @whose:    the commands that accept it
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

/* All options, in the order of --help and of the bits in cli.given. */
extern const struct option_row *const option_rows;

bool option_is_taken(const struct option_row *row,
		     const struct command *command);

/*
 * Whether the table row of the command, or of a part of it, lists the option.
 */
bool option_is_own(const char *name, const struct command *command);

#endif
