/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the list of options for --help. */
#include <string.h>

#include "options/table.h"
#include "options/options.h"

static void title_print(struct out *out)
{
	out_line(out, "options, anywhere on the line:");
}

static void option_print(struct out *out, const struct option_row *row)
{
	char left[48];
	char letter[] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name,
		 row->argument ? " " : "", row->argument ? row->argument : "");
	out_line(out, "  %-21s  %s", left, row->help);
}

void options_help(struct out *out, const struct command *command)
{
	title_print(out);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (!command ||
		    (option_is_taken(&option_rows[i], command) &&
		     !option_is_listed(option_rows[i].name,
				       command->refused ? command->refused
							: "")))
			option_print(out, &option_rows[i]);
}

/*
 * Print the help of an option in the help of a part of a command, such as ibsa
 * fabric serve: the part's own text in @words; or else the general help without
 * its prefix that names commands, such as "fabric: ".
 */
static void part_option_print(struct out *out, const struct option_row *row,
			      const struct option_words *words)
{
	struct option_row own = *row;
	const char *whose = strstr(row->help, ": ");

	if (whose)
		own.help = whose + strlen(": ");
	while (words->name && strcmp(words->name, row->name) != 0)
		words++;
	if (words->name)
		own.help = words->help;
	if (words->name && words->argument)
		own.argument = words->argument;
	option_print(out, &own);
}

void options_part_help(struct out *out, const char *list,
		       const struct option_words *words)
{
	title_print(out);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (option_rows[i].letter == 'h' ||
		    option_is_listed(option_rows[i].name, list))
			part_option_print(out, &option_rows[i], words);
}
