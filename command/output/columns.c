/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists the cells of rows, and checks --fields. */
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "base/list.h"
#include "output/codes.h"
#include "output/columns.h"

struct column column_of_record(const struct ibsa_record *record)
{
	return (struct column){ .kind = COLUMN_RECORD, .record = record };
}

/*
 * Call back for the cells of a field: its value, and the meaning if the value
 * is a code.
 */
static void field_cells(const struct column *column, const char *name,
			const struct ibsa_field *field, cell_type_fn done,
			void *arg)
{
	char meaning[COLUMN_NAME_ROOM + sizeof("_bytes")];
	struct cell_type type = { .name = name,
				  .column = column,
				  .field = field };
	const char *suffix;

	done(&type, arg);
	if (!codes_has_text(field))
		return;
	snprintf(meaning, sizeof(meaning), "%s_text", name);
	type.name = meaning;
	type.is_meaning = true;
	done(&type, arg);
	suffix = codes_quantity_suffix(field);
	if (!suffix)
		return;
	snprintf(meaning, sizeof(meaning), "%s%s", name, suffix);
	type.is_meaning = false;
	type.is_quantity = true;
	done(&type, arg);
}

static void record_cells(const struct column *column, cell_type_fn done,
			 void *arg)
{
	const struct ibsa_record *record = column->record;
	char name[COLUMN_NAME_ROOM];

	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		for (unsigned int k = 0; k < ibsa_field_values(field); k++)
			if (ibsa_field_name_format(field, k, name,
						   sizeof(name)) >= 0)
				field_cells(column, name, field, done, arg);
	}
}

void columns_each(const struct columns *columns, cell_type_fn done, void *arg)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct column *column = &columns->all[i];
		const struct cell_type type = { .name = column->name,
						.column = column };
		unsigned int index;

		if (column->kind == COLUMN_RECORD)
			record_cells(column, done, arg);
		else if (column->kind == COLUMN_FIELD)
			field_cells(column, column->name,
				    ibsa_field_find(column->record,
						    column->field, &index),
				    done, arg);
		else
			done(&type, arg);
	}
}

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
	char *added = list_add(&names->all, &names->count, COLUMN_NAME_ROOM);

	names->failed |= !added;
	if (added)
		snprintf(added, COLUMN_NAME_ROOM, "%s", name);
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
	return fail_usage("--fields: there is no field '%s'; the fields are "
			  "%s",
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
		status = no_memory();
	}
	if (status == CLI_DONE)
		names_select(&cli->out, cli->output.fields ? &chosen : &known);
	free(known.all);
	free(chosen.all);
	return status;
}
