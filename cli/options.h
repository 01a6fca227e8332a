/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of the command line. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli.h"

/*
 * Parse options into @cli, wherever they are on the command line. The other
 * arguments become @cli->args.
 *
 * Return: the exit status; a failure is printed.
 */
int options_parse(struct cli *cli, int argc, char **argv);

/* Whether @command accepts the given options; if not, a message is printed. */
bool options_fit(const struct cli *cli, const struct command *command);

/*
 * The same for a part of a command, which accepts the options of @list, separated
 * by blanks, and options that only change the output.
 */
bool options_only(const struct cli *cli, const char *whose, const char *list);

/* Whether @list, separated by blanks, contains @name. */
bool option_is_listed(const char *name, const char *list);

/* Whether the option @name is given. */
bool options_given(const struct cli *cli, const char *name);

/* Print the options that @command accepts, for --help; NULL: all options. */
void options_help(struct out *out, const struct command *command);

/* Help of an option that differs in a part of a command. */
struct option_words {
	const char *name;
	const char *argument; /* NULL: as in the table */
	const char *help;
};

/*
 * The same for a part of a command, which accepts the options of @list, and --help.
 * @words ends with an entry without a name.
 */
void options_part_help(struct out *out, const char *list,
		       const struct option_words *words);

#endif
