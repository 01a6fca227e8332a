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
 * The same of a part of a command, which takes those on @list, words with a
 * blank between them, and those that every command takes.
 */
bool options_only(const struct cli *cli, const char *whose, const char *list);

/* The list of options, for --help: those that @command takes, NULL: all. */
void options_help(struct cli *cli, const struct command *command);

#endif
