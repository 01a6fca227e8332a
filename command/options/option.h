/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of options. A command has a table of its own options, which fill its
 * own struct; the options that many commands have fill struct cli.
 */
#ifndef COMMAND_OPTION_H
#define COMMAND_OPTION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What the value of an option names, in the order in which two options that
 * name the same file are reported.
 */
enum option_file {
	OPTION_NO_FILE,
	OPTION_READS,
	OPTION_READS_AT, /* a file that is read, after the character @ */
	OPTION_RECORDS,
	OPTION_REPLACES,
};

/**
 * struct option_row - one option
 * @letter:   short option; 0: none
 * @name:     long option
 * @argument: name of its value in --help; NULL: it has no value
 * @help:     one line; NULL: the help lists the formats that the command writes
 * @set:      parses the value into the member at @at and returns the exit
 *            status; a failure is printed. NULL: the member is a const char *,
 *            or a bool for an option without a value
 * @at:       offset of the member in the struct that the table fills
 * @parts:    parts of the command that accept the option; 0: all
 * @file:     whether the value names a file, and for what it is used
 * @group:    for an option in struct cli: the bit of its enum option_group
 * @max:      the value is a number from 1 to @max; 0: it is not a number
 * @repeats:  an option with a value that may be given more than once
 */
struct option_row {
	char letter;
	const char *name;
	const char *argument;
	const char *help;
	int (*set)(void *to, const char *value);
	size_t at;
	unsigned int parts;
	enum option_file file;
	unsigned int group;
	unsigned int max;
	bool repeats;
};

/**
 * struct option_table - options of a command
 * @rows: the @count options; in --help they are merged by name with those of
 *        other tables
 * @size: size of the struct that they fill
 */
struct option_table {
	const struct option_row *rows;
	size_t count;
	size_t size;
};

#define OPTION_TABLE(list, type)                                       \
	{                                                              \
		(list), sizeof(list) / sizeof((list)[0]), sizeof(type) \
	}

/* The last members of a row for a member without a parser. */
#define OPTION_AT(type, member) NULL, offsetof(type, member)

/* Those of a member with a parser. */
#define OPTION_BY(set, type, member) set, offsetof(type, member)

/* The number of a macro as text. */
#define OPTION_VALUE(macro) OPTION_TEXT(macro)
#define OPTION_TEXT(number) #number

/*
 * Parse a number from 1 to @max. @option is the option with its dashes. Return:
 * the exit status; a failure is printed.
 */
int option_number(const char *option, const char *value, unsigned int max,
		  unsigned int *out);

#endif
