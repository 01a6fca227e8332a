/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles --fields, and determines the columns of CSV before the first row is
 * written.
 */
#include <stdlib.h>
#include <string.h>

#include "output/columns.h"

/* Names of cells, each with a NUL. */
struct names {
	char (*all)[COLUMN_NAME_ROOM];
	size_t count;
	bool failed; /* no memory */
};

static bool names_have(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->all[i], name) == 0)
			return true;
	return false;
}

static void name_add(struct names *names, const char *name)
{
	void *all = reallocarray(names->all, names->count + 1,
				 sizeof(names->all[0]));

	if (!all) {
		names->failed = true;
		return;
	}
	names->all = all;
	snprintf(names->all[names->count++], COLUMN_NAME_ROOM, "%s", name);
}

static void cell_add(const struct cell_type *type, void *arg)
{
	name_add(arg, type->name);
}

/* Print the message for an unknown column name, with the list of all names. */
static int unknown_name(const struct names *known, const char *name)
{
	char list[OUT_COLUMNS * COLUMN_NAME_ROOM] = "";
	size_t len = 0;

	for (size_t i = 0; i < known->count && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
					i > 0 ? ", " : "", known->all[i]);
	return fail_usage("--fields: there is no field '%s'; the fields are %s",
			  name, list);
}

/* Split the value of --fields into column names. Return: the exit status. */
static int names_choose(const char *text, const struct names *known,
			struct names *out)
{
	char name[COLUMN_NAME_ROOM];

	for (;;) {
		const size_t len = strcspn(text, ",");

		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		if (!names_have(known, name))
			return unknown_name(known, name);
		if (names_have(out, name))
			return fail_usage("--fields: '%s' is given twice",
					  name);
		name_add(out, name);
		if (!text[len])
			return CLI_DONE;
		text += len + 1;
	}
}

static void names_select(struct out *out, const struct names *names)
{
	const char *all[OUT_COLUMNS];

	for (size_t i = 0; i < names->count; i++)
		all[i] = names->all[i];
	out_select(out, all, names->count);
}

int columns_use(struct cli *cli, const struct columns *columns)
{
	struct names known = { .count = 0 };
	struct names chosen = { .count = 0 };
	int status = CLI_DONE;

	if (!cli->output.fields && cli->out.shape != OUT_CSV)
		return CLI_DONE;
	columns_each(columns, cell_add, &known);
	if (cli->output.fields)
		status = names_choose(cli->output.fields, &known, &chosen);
	if (known.failed || chosen.failed) {
		complain("out of memory");
		status = CLI_DEVICE;
	}
	if (status == CLI_DONE)
		names_select(&cli->out, cli->output.fields ? &chosen : &known);
	free(known.all);
	free(chosen.all);
	return status;
}
