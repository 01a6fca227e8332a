/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the list of all options. An option that several commands have in their
 * tables is in it once: it can be on the command line before the command.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "options/merge.h"

/* A table whose rows from @at on are not merged yet. */
struct merged_table {
	const struct option_table *table;
	const struct command *owner;
	size_t at;
};

static const struct option_row *head(const struct merged_table *merged)
{
	return merged->at < merged->table->count
		       ? &merged->table->rows[merged->at]
		       : NULL;
}

static void entry_add(struct options *options, const struct option_row *row,
		      const struct command *owner)
{
	assert(options->count < OPTIONS_MAX);
	for (size_t i = 0; i < options->count; i++)
		assert(strcmp(options->all[i].row->name, row->name) != 0);
	options->all[options->count++] =
		(struct option_entry){ .row = row, .owner = owner };
}

static void table_add(struct options *options, const struct option_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		entry_add(options, &table->rows[i], NULL);
}

/* Return: the table whose next row has the first name, or NULL at the end. */
static const struct merged_table *first_find(const struct merged_table *tables,
					     size_t count)
{
	const struct merged_table *first = NULL;

	for (size_t i = 0; i < count; i++)
		if (head(&tables[i]) &&
		    (!first ||
		     strcmp(head(&tables[i])->name, head(first)->name) < 0))
			first = &tables[i];
	return first;
}

/*
 * Skip the row in a table if it has the name of @row: for getopt_long(), the
 * two are one option, so they must have the same form.
 */
static void row_skip(struct merged_table *table, const struct option_row *row)
{
	const struct option_row *same = head(table);

	if (!same || strcmp(same->name, row->name) != 0)
		return;
	assert(same->letter == row->letter && !same->group == !row->group &&
	       !same->argument == !row->argument);
	table->at++;
}

static void tables_merge(struct options *options, struct merged_table *tables,
			 size_t count)
{
	const struct merged_table *first;

	while ((first = first_find(tables, count))) {
		const struct option_row *row = head(first);

		entry_add(options, row, first->owner);
		for (size_t i = 0; i < count; i++)
			row_skip(&tables[i], row);
	}
}

/* Return: the number of tables, of which @out receives those with rows. */
static size_t tables_list(const struct command *const *commands,
			  struct merged_table *out)
{
	size_t count = 0;

	out[count++] = (struct merged_table){ .table = &options_files };
	for (; *commands; commands++)
		if ((*commands)->options)
			out[count++] = (struct merged_table){
				.table = (*commands)->options,
				.owner = *commands,
			};
	return count;
}

struct options *options_merge(const struct command *const *commands)
{
	struct merged_table tables[OPTIONS_MAX];
	struct options *options = calloc(1, sizeof(*options));

	if (!options)
		return NULL;
	options->all = calloc(OPTIONS_MAX, sizeof(*options->all));
	if (!options->all) {
		free(options);
		return NULL;
	}
	table_add(options, &options_open);
	tables_merge(options, tables, tables_list(commands, tables));
	table_add(options, &options_output);
	return options;
}
