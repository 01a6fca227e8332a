/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the list of all options, parses those of the command line, and checks
 * that a command accepts them.
 */
#include <assert.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "options/format.h"
#include "options/options.h"

enum { OPTIONS_MAX = 128 };

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

/*
 * Return: of the tables with a row left, the one whose next row has the first
 * name in the alphabet; NULL: no row is left.
 */
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
 * Skip the next row of a table if it has the same name as @row. For
 * getopt_long(), both are one option, so both must have the same letter and
 * kind of value.
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

/*
 * Write the tables of options that are merged by name to @out. Return: their
 * number.
 */
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

/*
 * Merge the tables of all commands, by name, and those of struct cli. An option
 * that several commands have is in the list once: it can be on the command line
 * before the command. Return: NULL: no memory.
 */
static struct options *options_merge(const struct command *const *commands)
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

/* An option on the command line. */
struct option_use {
	struct option_entry *entry;
	const char *value;
};

const struct command *command_find(const struct command *const *commands,
				   const char *name)
{
	for (; *commands; commands++)
		if (strcmp((*commands)->name, name) == 0)
			return *commands;
	return NULL;
}

/*
 * Return: the value that getopt_long() returns for an option: its letter, or a
 * number above all letters.
 */
static int option_key(const struct options *options, size_t i)
{
	enum { WITHOUT_LETTER = 256 };
	const char letter = options->all[i].row->letter;

	return letter ? letter : WITHOUT_LETTER + (int)i;
}

/*
 * Make the tables for getopt_long(). Options and arguments may be mixed: "-"
 * makes getopt_long() return arguments in their order.
 */
static void make_options(const struct options *options, char *letters,
			 struct option *out)
{
	*letters++ = '-';
	*letters++ = ':';
	for (size_t i = 0; i < options->count; i++) {
		const struct option_row *row = options->all[i].row;

		out[i] = (struct option){
			.name = row->name,
			.has_arg = row->argument ? required_argument
						 : no_argument,
			.val = option_key(options, i),
		};
		if (!row->letter)
			continue;
		*letters++ = row->letter;
		if (row->argument)
			*letters++ = ':';
	}
	*letters = '\0';
	out[options->count] = (struct option){ .name = NULL };
}

/* Return: the number of options whose names begin with @start. */
static size_t count_names(const struct options *options, const char *start)
{
	size_t count = 0;

	for (size_t i = 0; i < options->count; i++)
		count += strncmp(options->all[i].row->name, start,
				 strlen(start)) == 0;
	return count;
}

static bool is_key(const struct options *options, int key)
{
	for (size_t i = 0; i < options->count; i++)
		if (option_key(options, i) == key)
			return true;
	return false;
}

/*
 * Return: the name of the option for which @text, "--name" or "--name=value",
 * is probably misspelt; or NULL.
 */
static const char *option_meant(const struct options *options, const char *text)
{
	const char *name = text + strlen("--");
	struct nearest nearest = ibsa__nearest_start(name, strcspn(name, "="),
						     false);

	for (size_t i = 0; i < options->count; i++)
		ibsa__nearest_try(&nearest, options->all[i].row->name);
	return nearest.name;
}

/* Options that have been removed, and what replaces each. */
static const char *const renamed[][2] = {
	{ "--csv", "--format csv" },
	{ "--dot", "--format dot; it writes to standard output" },
	{ "--ndjson", "--format ndjson" },
	{ "--net", "--format net" },
	{ "--pairs", "--all" },
	{ "--slurm", "--format slurm" },
	{ "--slurm-yaml", "--format slurm-yaml" },
	{ "--why", "what path and reach do without an option" },
	{ "--svg", "--format svg; it writes to standard output" },
};

/*
 * Return: what replaces the removed option @text, "--name" or "--name=value";
 * NULL: it is no such option.
 */
static const char *option_renamed(const char *text)
{
	const size_t len = strcspn(text, "=");

	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (strlen(renamed[i][0]) == len &&
		    strncmp(renamed[i][0], text, len) == 0)
			return renamed[i][1];
	return NULL;
}

/*
 * Whether the command line is "ibsa fabric exec" without the -- that must
 * separate its options from the command.
 */
static bool is_exec_without_end(char **argv)
{
	bool is_exec = false;

	for (int i = 1; argv[i]; i++) {
		if (strcmp(argv[i], "--") == 0)
			return false;
		is_exec |= strcmp(argv[i], "exec") == 0 &&
			   strcmp(argv[i - 1], "fabric") == 0;
	}
	return is_exec;
}

/*
 * Print the message for an invalid option. optopt is 0 for a long option that
 * is unknown or ambiguous; the option's key for a long option that takes no
 * value but was given one; and the letter for an unknown short option.
 */
static int wrong_option(const struct options *options, char **argv, int key)
{
	const char *text = argv[optind - 1];
	const char *new_name = option_renamed(text);
	const bool runs_command = is_exec_without_end(argv);
	const char *more = runs_command
				   ? "write options of the command after --"
				   : "see ibsa --help";

	if (key == ':')
		complain("option '%s' needs a value; see ibsa --help", text);
	else if (optopt != 0 && is_key(options, optopt))
		complain("option '%.*s' takes no value; see ibsa --help",
			 (int)strcspn(text, "="), text);
	else if (optopt != 0)
		complain("unknown option '-%c'; %s", optopt, more);
	else if (!runs_command && new_name)
		complain("%.*s is now %s", (int)strcspn(text, "="), text,
			 new_name);
	else if (count_names(options, text + strlen("--")) > 1)
		complain("option '%s' is ambiguous; see ibsa --help", text);
	else if (!runs_command && option_meant(options, text))
		complain("unknown option '%s'; did you mean '--%s'?", text,
			 option_meant(options, text));
	else
		complain("unknown option '%s'; %s", text, more);
	return CLI_USAGE;
}

static int text_set(void *to, const struct option_row *row, const char *value)
{
	if (!*value)
		return fail_usage("--%s: the value is empty", row->name);
	memcpy(to, &value, sizeof(value));
	return CLI_DONE;
}

/* Parse a value into the struct @base, which the row's table fills. */
static int row_set(void *base, const struct option_row *row, const char *value)
{
	void *to = (char *)base + row->at;
	const bool is_given = true;
	char name[64];

	snprintf(name, sizeof(name), "--%s", row->name);
	if (row->max)
		return option_number(name, value, row->max, to);
	if (row->set)
		return row->set(to, value);
	if (row->argument)
		return text_set(to, row, value);
	memcpy(to, &is_given, sizeof(is_given));
	return CLI_DONE;
}

/*
 * Parse the value of an option that the command does not accept: if the value
 * is wrong, this is reported, and not that the command does not accept the
 * option.
 */
static int value_check(const struct option_entry *entry, const char *value)
{
	void *unused = calloc(1, entry->owner->options->size);
	int status;

	if (!unused)
		return no_memory();
	status = row_set(unused, entry->row, value);
	free(unused);
	return status;
}

static int use_set(struct cli *cli, const struct option_use *use)
{
	struct option_entry *entry = use->entry;
	const struct option_row *own;

	if (entry->is_given && entry->row->argument && !entry->row->repeats)
		return fail_usage("option --%s is given twice, '%s' and '%s'; "
				  "remove one",
				  entry->row->name, entry->value, use->value);
	entry->is_given = true;
	entry->value = use->value;
	if (!entry->owner)
		return row_set(cli, entry->row, use->value);
	own = cli->command
		      ? option_find(cli->command->options, entry->row->name)
		      : NULL;
	return own ? row_set(cli->own, own, use->value)
		   : value_check(entry, use->value);
}

static struct option_entry *entry_of_key(const struct options *options, int key)
{
	for (size_t i = 0; i < options->count; i++)
		if (option_key(options, i) == key)
			return &options->all[i];
	return NULL;
}

/*
 * Whether the value of an option is the next option instead, because the value
 * was forgotten. "--option=--value" is a value.
 */
static bool is_next_option(const struct options *options, char **argv,
			   const char *value)
{
	const size_t len = value ? strcspn(value, "=") : 0;

	if (!value || value != argv[optind - 1] || value[0] != '-' || !value[1])
		return false;
	if (value[1] != '-')
		return !value[2] && is_key(options, value[1]);
	for (size_t i = 0; i < options->count; i++) {
		const char *name = options->all[i].row->name;

		if (strlen(name) + 2 == len &&
		    strncmp(name, value + 2, len - 2) == 0)
			return true;
	}
	return !value[2];
}

/*
 * Split the command line into arguments and options; the command is known after
 * this. Return: what getopt_long() returned last: -1 at the end, or a wrong
 * option.
 */
static int line_split(struct cli *cli, int argc, char **argv,
		      struct option_use *uses, size_t *out_count)
{
	struct option longs[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 3];
	int key;

	make_options(cli->options, letters, longs);
	opterr = 0;
	while ((key = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		struct option_entry *entry = entry_of_key(cli->options, key);

		if (entry && is_next_option(cli->options, argv, optarg)) {
			optind--;
			return ':';
		}
		if (entry)
			uses[(*out_count)++] = (struct option_use){ entry,
								    optarg };
		else if (key == 1)
			cli->args[cli->arg_count++] = optarg;
		else
			return key;
	}
	while (optind < argc)
		cli->args[cli->arg_count++] = argv[optind++];
	return -1;
}

static const struct command *
command_default(const struct command *const *commands)
{
	while (*commands && !(*commands)->is_default)
		commands++;
	return *commands;
}

/* Find the command, and make the struct that its own options fill. */
static int command_prepare(struct cli *cli,
			   const struct command *const *commands)
{
	cli->command = cli->arg_count > 0 ? command_find(commands, cli->args[0])
					  : command_default(commands);
	if (!cli->command || !cli->command->options)
		return CLI_DONE;
	cli->own = calloc(1, cli->command->options->size);
	return cli->own ? CLI_DONE : no_memory();
}

static int line_parse(struct cli *cli, const struct command *const *commands,
		      int argc, char **argv, struct option_use *uses)
{
	size_t count = 0;
	const int last = line_split(cli, argc, argv, uses, &count);
	int status = command_prepare(cli, commands);

	for (size_t i = 0; i < count && status == CLI_DONE; i++)
		status = use_set(cli, &uses[i]);
	if (status == CLI_DONE && last != -1)
		status = wrong_option(cli->options, argv, last);
	return status;
}

int options_parse(struct cli *cli, const struct command *const *commands,
		  int argc, char **argv)
{
	/* In "-ab", an argument of argv is several options. */
	size_t most = 1;
	struct option_use *uses;
	int status;

	for (int i = 1; i < argc; i++)
		most += strlen(argv[i]) + 1;
	cli->options = options_merge(commands);
	cli->args = calloc((size_t)argc + 1, sizeof(*cli->args));
	uses = calloc(most, sizeof(*uses));
	status = cli->options && cli->args && uses
			 ? line_parse(cli, commands, argc, argv, uses)
			 : no_memory();
	free(uses);
	return status;
}

void options_free(struct cli *cli)
{
	free(cli->names.devices);
	free(cli->args);
	free(cli->own);
	if (cli->options)
		free(cli->options->all);
	free(cli->options);
}

const struct option_row *option_find(const struct option_table *table,
				     const char *name)
{
	for (size_t i = 0; table && i < table->count; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return &table->rows[i];
	return NULL;
}

bool option_is_taken(const struct option_row *row,
		     const struct command *command,
		     const struct option_set *set)
{
	const struct option_row *own;

	if (row->group)
		return row->group & set->groups;
	own = option_find(command->options, row->name);
	return own && (!own->parts || own->parts & set->parts);
}

bool options_only(const struct cli *cli, const char *whose,
		  const struct option_set *set)
{
	for (size_t i = 0; i < cli->options->count; i++) {
		const struct option_entry *entry = &cli->options->all[i];

		if (!entry->is_given ||
		    option_is_taken(entry->row, cli->command, set))
			continue;
		complain("%s has no option --%s", whose, entry->row->name);
		return false;
	}
	return format_fits(cli, whose, set);
}

bool options_fit(const struct cli *cli)
{
	const struct command *command = cli->command;
	const struct option_set set = { command->groups, ~0U };

	if (cli->sa.word && !(command->groups & GROUP_SA_WORD)) {
		complain("--sa: '%s' is for ibsa fabric only; give a LID, a "
			 "GID, or lid=..,sl=..,gid=..",
			 cli->sa.word);
		return false;
	}
	return options_only(cli, command->name, &set);
}

bool options_fit_file(const struct cli *cli, bool may_have_device)
{
	static const char *const names[] = { "device", "fabric", "port",
					     "record", "sa",	 "sm-key" };
	const char *wrong = NULL;

	for (size_t i = may_have_device; i < sizeof(names) / sizeof(names[0]);
	     i++)
		if (options_given(cli, names[i]))
			wrong = names[i];
	if (wrong)
		complain("%s: --%s is for queries to the SA, but the fabric is "
			 "read from the file '%s'; remove the option or the "
			 "file",
			 cli->command->name, wrong, cli->args[1]);
	return !wrong;
}

bool options_given(const struct cli *cli, const char *name)
{
	for (size_t i = 0; i < cli->options->count; i++)
		if (strcmp(cli->options->all[i].row->name, name) == 0)
			return cli->options->all[i].is_given;
	return false;
}
