/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the options for --help. */
#include <string.h>

#include "options/format.h"

/*
 * The options of most commands, in groups. --help lists only their names;
 * ibsa(8) explains the options.
 */
static const struct heading {
	const char *name;
	unsigned int groups;
} headings[] = {
	{ "port", GROUP_DEVICE | GROUP_FABRIC | GROUP_RECORD },
	{ "SA", GROUP_SA | GROUP_KEY | GROUP_TIMEOUT },
	{ "output", GROUP_FORMAT | GROUP_ROWS | GROUP_VERBOSE },
	{ "help", GROUP_VERSION | GROUP_HELP },
};

enum { HEADINGS = sizeof(headings) / sizeof(headings[0]) };

static bool has_heading(const struct option_row *row)
{
	for (size_t i = 0; i < HEADINGS; i++)
		if (row->group & headings[i].groups)
			return true;
	return false;
}

/* An option's line in the help of a command: @words, or those of its row. */
static void option_print(struct out *out, const struct option_row *row,
			 const struct option_words *words)
{
	const char *argument = words->argument ? words->argument
					       : row->argument;
	char left[48];
	char letter[] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name,
		 argument ? " " : "", argument ? argument : "");
	out_line(out, "  %-21s  %s", left, words->help);
}

/* Return: the entry of @words with this name, or an entry without a name. */
static const struct option_words *words_find(const struct option_words *words,
					     const char *name)
{
	while (words->name && strcmp(words->name, name) != 0)
		words++;
	return words;
}

/*
 * Print an option that is not under a heading: an option of the command, of a
 * few commands, or one of which @words has a text. The text of --format is the
 * formats of @set.
 */
static void own_print(const struct cli *cli, struct out *out,
		      const struct option_row *row,
		      const struct option_set *set,
		      const struct option_words *words)
{
	const struct option_row *own = option_find(cli->command->options,
						   row->name);
	const struct option_words *found = words_find(words, row->name);
	struct option_words line = { .help = own ? own->help : row->help };
	char formats[FORMATS_TEXT];

	if (found->name)
		line = *found;
	else if (!line.help)
		line.help = formats_text(set, "|", formats);
	else if (has_heading(row))
		return;
	option_print(out, row, &line);
}

/*
 * Print a line with a heading and the names of its options, of those in @set
 * that have no line of their own. Without such an option, print nothing.
 */
static void heading_print(const struct cli *cli, struct out *out,
			  const struct heading *heading,
			  const struct option_set *set,
			  const struct option_words *words)
{
	char text[128];
	size_t len = 0;

	for (size_t i = 0; i < cli->options->count; i++) {
		const struct option_row *row = cli->options->all[i].row;
		char letter[] = "-x, ";

		if (!(row->group & heading->groups & set->groups) ||
		    words_find(words, row->name)->name ||
		    (cli->command && !row->help))
			continue;
		letter[1] = row->letter;
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"  %s--%s%s%s",
					row->letter ? letter : "", row->name,
					row->argument ? " " : "",
					row->argument ? row->argument : "");
	}
	if (len)
		out_line(out, "  %-6s%s", heading->name, text);
}

void options_common_help(const struct cli *cli, struct out *out)
{
	static const struct option_set all = { ~0U, 0 };
	static const struct option_words none = { .name = NULL };

	out_line(out, "options of most commands, anywhere on the line:");
	for (size_t i = 0; i < HEADINGS; i++)
		heading_print(cli, out, &headings[i], &all, &none);
}

void options_help(const struct cli *cli, struct out *out,
		  const struct option_set *set,
		  const struct option_words *words)
{
	static const struct option_words none = { .name = NULL };

	if (!words)
		words = &none;
	out_line(out, "options, anywhere on the line:");
	for (size_t i = 0; i < cli->options->count; i++) {
		const struct option_row *row = cli->options->all[i].row;

		if (option_is_taken(row, cli->command, set))
			own_print(cli, out, row, set, words);
	}
	out_line(out, "and, as ibsa(8) explains them:");
	for (size_t i = 0; i < HEADINGS; i++)
		heading_print(cli, out, &headings[i], set, words);
}
