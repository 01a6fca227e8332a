/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of the command line. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli.h"

/*
 * Options into @cli, wherever they stand; what is left becomes @cli->args.
 *
 * Return: the exit status; what is wrong has been said.
 */
int options_parse(struct cli *cli, int argc, char **argv);

/* Whether those given mean something to @command; if not, it has been said. */
bool options_fit(const struct cli *cli, const struct command *command);

/*
 * The same of a part of a command, which takes those on @list, names with a
 * blank between them, and those that are about the output alone.
 */
bool options_only(const struct cli *cli, const char *whose, const char *list);

/* Whether @name is one of the words of @list, with a blank between them. */
bool option_is_listed(const char *name, const char *list);

/* Whether the option of that name is given. */
bool options_given(const struct cli *cli, const char *name);

/* The list of options, for --help: those that @command takes, NULL: all. */
void options_help(struct out *out, const struct command *command);

/* What an option is to a part of a command. */
struct option_words {
	const char *name;
	const char *argument; /* NULL: as elsewhere */
	const char *help;
};

/*
 * The same of the part of a command that takes those on @list, and --help;
 * @words, up to one without a name, says what some of them are to it.
 */
void options_part_help(struct out *out, const char *list,
		       const struct option_words *words);

#endif
