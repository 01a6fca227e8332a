/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of the command line. */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include "output/cli.h"

/*
 * Parse the options, wherever they are on the command line, into @cli. The
 * other arguments become @cli->args.
 *
 * Return: the exit status; a failure is printed.
 */
int options_parse(struct cli *cli, int argc, char **argv);

/*
 * Whether @command accepts all options that are given; if not, a message is
 * printed.
 */
bool options_fit(const struct cli *cli, const struct command *command);

/*
 * Whether a part of a command, such as serve of ibsa fabric, accepts all
 * options that are given: it accepts the options in @list, separated by blanks,
 * and options that only change the output. If the part does not accept an
 * option, print a message that begins with @whose, the name of the part.
 */
bool options_only(const struct cli *cli, const char *whose, const char *list);

/* Whether @list, separated by blanks, contains @name. */
bool option_is_listed(const char *name, const char *list);

/* Whether the option @name is given. */
bool options_given(const struct cli *cli, const char *name);

/* Print the help of the options that @command accepts; NULL: of all options. */
void options_help(struct out *out, const struct command *command);

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
 * Print the lines of the options that a part of a command accepts: those in
 * @list, and --help. @words has the lines that differ, and ends with an entry
 * without a name.
 */
void options_part_help(struct out *out, const char *list,
		       const struct option_words *words);

#endif
