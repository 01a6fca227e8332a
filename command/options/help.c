/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the list of options for --help. */
#include <string.h>

#include "options/format.h"

static void title_print(struct out *out)
{
	out_line(out, "options, anywhere on the line:");
}

/* The help of --format is the formats of @set. */
static void option_print(struct out *out, const struct option_row *row,
			 const struct option_set *set)
{
	char formats[FORMATS_TEXT];
	char left[48];
	char letter[] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name,
		 row->argument ? " " : "", row->argument ? row->argument : "");
	out_line(out, "  %-21s  %s", left,
		 row->help ? row->help : formats_text(set, "|", formats));
}

void options_help(const struct cli *cli, struct out *out,
		  const struct command *command)
{
	const struct option_set shown = {
		command ? command->groups : ~0U,
		~0U,
	};

	title_print(out);
	for (size_t i = 0; i < cli->options->count; i++) {
		const struct option_row *row = cli->options->all[i].row;

		if (!command || option_is_taken(row, command, &shown))
			option_print(out, row, &shown);
	}
}

/*
 * Print the help of an option in the help of a part of a command, such as ibsa
 * fabric serve: the part's own text in @words; or else the general help without
 * its prefix that names commands, such as "fabric: ".
 */
static void part_option_print(struct out *out, const struct option_row *row,
			      const struct option_set *set,
			      const struct option_words *words)
{
	struct option_row own = *row;
	const char *whose = row->help ? strstr(row->help, ": ") : NULL;

	if (whose)
		own.help = whose + strlen(": ");
	while (words->name && strcmp(words->name, row->name) != 0)
		words++;
	if (words->name)
		own.help = words->help;
	if (words->name && words->argument)
		own.argument = words->argument;
	option_print(out, &own, set);
}

void options_part_help(const struct cli *cli, struct out *out,
		       const struct option_set *set,
		       const struct option_words *words)
{
	title_print(out);
	for (size_t i = 0; i < cli->options->count; i++) {
		const struct option_row *row = cli->options->all[i].row;

		if (option_is_taken(row, cli->command, set))
			part_option_print(out, row, set, words);
	}
}
