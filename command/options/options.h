/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of the command line. */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include "options/command.h"

/**
 * struct option_entry - an option, and its use on the command line
 * @row:   its row; in the tables of other commands that have the option, the
 *         row has the same letter, name and kind of value
 * @owner: a command whose table has the row; NULL: it fills struct cli
 * @value: the value that was given last, or NULL
 * @is_given: the option is given
 */
struct option_entry {
	const struct option_row *row;
	const struct command *owner;
	const char *value;
	bool is_given;
};

/* All options in the order of --help; each name occurs once. */
struct options {
	struct option_entry *all;
	size_t count;
};

/**
 * struct option_set - options that a part of a command accepts
 * @groups: those in struct cli
 * @parts:  those of the command's own options whose parts include one of these
 *          bits
 */
struct option_set {
	unsigned int groups;
	unsigned int parts;
};

/*
 * Parse the options, wherever they are on the command line: those in struct cli
 * into @cli, those of the command into a new struct, @cli->own. The other
 * arguments become @cli->args, the row of the command @cli->command; without
 * arguments, that of the default command. @commands
 * ends with NULL.
 *
 * Return: the exit status; a failure is printed.
 */
int options_parse(struct cli *cli, const struct command *const *commands,
		  int argc, char **argv);
void options_free(struct cli *cli);

/* Return: the command with this name, or NULL. */
const struct command *command_find(const struct command *const *commands,
				   const char *name);

/*
 * Whether the command accepts all options that are given; if not, a message is
 * printed.
 */
bool options_fit(const struct cli *cli);

/*
 * Whether all options that are given are in @set. If not, print a message that
 * begins with @whose, the name of the part of the command.
 */
bool options_only(const struct cli *cli, const char *whose,
		  const struct option_set *set);

/*
 * Whether no option for queries is given, because the fabric is read from the
 * file of the first argument; if not, a message is printed. @may_have_device:
 * --device is not for queries.
 */
bool options_fit_file(const struct cli *cli, bool may_have_device);

/* Whether the option @name is given. */
bool options_given(const struct cli *cli, const char *name);

/* Print the names of the options of most commands, in groups. */
void options_common_help(const struct cli *cli, struct out *out);

/*
 * An option whose line in the help of a part of a command, such as serve of
 * ibsa fabric, differs from its line in the help of the command.
 */
struct option_words {
	const char *name;
	const char *argument; /* NULL: as in the table */
	const char *help;
};

/*
 * Print the help of the options in @set, which the command or a part of it
 * accepts: of the options that most commands have, only the names; of each
 * other option, a line. @words contains the lines that differ from those in the
 * tables, and ends with an entry without a name; NULL: no line differs.
 */
void options_help(const struct cli *cli, struct out *out,
		  const struct option_set *set,
		  const struct option_words *words);

/* Return: the row of this name in a table, or NULL. @table may be NULL. */
const struct option_row *option_find(const struct option_table *table,
				     const char *name);

/*
 * Whether @command has the option with the name of @row, and @set contains it.
 */
bool option_is_taken(const struct option_row *row,
		     const struct command *command,
		     const struct option_set *set);

#endif
