/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The row of a command. */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "options/common.h"
#include "output/cli.h"

struct columns;

/**
 * struct command - a command; its folder defines it as command_NAME
 * @name:      name of the command
 * @arguments: its arguments as the usage line shows them; "": none
 * @help:      one line for the list of commands
 * @options:   its own options, or NULL; they fill the struct to which cli.own
 *             points
 * @groups:    bits of enum option_group: the options in struct cli that it
 *             accepts, and the formats that it writes
 * @columns:   the kinds of rows that it writes, as the JSON Schema has them,
 *             and NULL at the end; NULL: none, or records
 * @run:       runs the command and returns its exit status
 * @text:      what --help adds to the sentence, or NULL; it is short, because the
 *             manual page has all of it
 * @details:   prints what --help adds to @text, or NULL
 * @can_help:  checks the command's arguments when --help is given, and returns
 *             the exit status; or NULL
 * @part_help: prints the help of the part of the command that the arguments
 *             name, such as serve of ibsa fabric; returns false if they name
 *             none; NULL: the command has no parts with a help of their own
 * @is_default: runs if the command line has no command
 * @file:      number of the argument that names a file to read; 0: none does
 */
struct command {
	const char *name;
	const char *arguments;
	const char *help;
	const struct option_table *options;
	unsigned int groups;
	const struct columns *const *columns;
	int (*run)(struct cli *cli);
	const char *text;
	void (*details)(struct cli *cli);
	int (*can_help)(struct cli *cli);
	bool (*part_help)(struct cli *cli);
	int file;
	bool is_default;
};

#endif
