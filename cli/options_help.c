/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list of options that --help shows. */
#include "option_table.h"
#include "options.h"

static void show(struct out *out, const struct option_row *row)
{
	char left[32];
	char letter[] = "    ";

	if (row->key < OPTION_WITHOUT_LETTER)
		snprintf(letter, sizeof(letter), "-%c, ", (char)row->key);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name,
		 row->argument ? " " : "", row->argument ? row->argument : "");
	out_line(out, "  %-21s  %s", left, row->help);
}

void options_help(struct cli *cli, const struct command *command)
{
	const char *list = command && command->options ? command->options(cli)
						       : NULL;

	out_line(&cli->out, "options, anywhere on the line:");
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		const struct option_row *row = &option_rows[i];

		if (command && !option_is_taken(row, command))
			continue;
		if (list && !option_is_common(row) &&
		    !option_is_listed(row, list))
			continue;
		show(&cli->out, row);
	}
}
