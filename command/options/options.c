/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses the options of the command line, and checks that a command accepts
 * them.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "options/table.h"
#include "options/options.h"

/*
 * Return: the value that getopt_long() returns for an option: its letter, or a
 * number above all letters.
 */
static int option_key(size_t i)
{
	enum { WITHOUT_LETTER = 256 };

	return option_rows[i].letter ? option_rows[i].letter
				     : WITHOUT_LETTER + (int)i;
}

/*
 * Make the tables for getopt_long(). Options and arguments may be mixed: "-"
 * makes getopt_long() return arguments in their order.
 */
static void make_options(char *letters, struct option *options)
{
	*letters++ = '-';
	*letters++ = ':';
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		int has = option_rows[i].argument ? required_argument
						  : no_argument;

		options[i] = (struct option){ .name = option_rows[i].name,
					      .has_arg = has,
					      .val = option_key(i) };
		if (!option_rows[i].letter)
			continue;
		*letters++ = option_rows[i].letter;
		if (option_rows[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
	options[OPTION_COUNT] = (struct option){ .name = NULL };
}

/* Return: the number of options whose names begin with @start. */
static size_t count_names(const char *start)
{
	size_t count = 0;

	for (size_t i = 0; i < OPTION_COUNT; i++)
		count += strncmp(option_rows[i].name, start, strlen(start)) ==
			 0;
	return count;
}

static bool is_key(int key)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (option_key(i) == key)
			return true;
	return false;
}

/*
 * Return: the name of the option for which @text, "--name" or "--name=value",
 * is probably misspelt; or NULL.
 */
static const char *option_meant(const char *text)
{
	const char *name = text + strlen("--");
	struct nearest nearest = nearest_start(name, strcspn(name, "="));

	for (size_t i = 0; i < OPTION_COUNT; i++)
		nearest_try(&nearest, option_rows[i].name);
	return nearest.name;
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
static int wrong_option(char **argv, int key)
{
	const char *text = argv[optind - 1];
	const bool runs_command = is_exec_without_end(argv);
	const char *more = runs_command
				   ? "write options of the command after --"
				   : "see ibsa --help";

	if (key == ':')
		complain("option '%s' needs a value; see ibsa --help", text);
	else if (optopt != 0 && is_key(optopt))
		complain("option '%.*s' takes no value; see ibsa --help",
			 (int)strcspn(text, "="), text);
	else if (optopt != 0)
		complain("unknown option '-%c'; %s", optopt, more);
	else if (count_names(text + strlen("--")) > 1)
		complain("option '%s' is ambiguous; see ibsa --help", text);
	else if (!runs_command && option_meant(text))
		complain("unknown option '%s'; did you mean '--%s'?", text,
			 option_meant(text));
	else
		complain("unknown option '%s'; %s", text, more);
	return CLI_USAGE;
}

static int set_name(struct cli *cli, const struct option_row *row,
		    const char *value)
{
	if (!*value) {
		complain("--%s: the value is empty", row->name);
		return CLI_USAGE;
	}
	memcpy((char *)cli + row->at, &value, sizeof(value));
	return CLI_DONE;
}

static int option_set(struct cli *cli, const struct option_row *row,
		      const char *value)
{
	const bool is_given = true;

	if (row->set)
		return row->set(cli, value);
	if (row->argument)
		return set_name(cli, row, value);
	memcpy((char *)cli + row->at, &is_given, sizeof(is_given));
	return CLI_DONE;
}

static int option_take(struct cli *cli, int key, char **argv)
{
	if (key == 1) {
		cli->args[cli->arg_count++] = optarg;
		return CLI_DONE;
	}
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (option_key(i) != key)
			continue;
		cli->given |= UINT64_C(1) << i;
		return option_set(cli, &option_rows[i], optarg);
	}
	return wrong_option(argv, key);
}

int options_parse(struct cli *cli, int argc, char **argv)
{
	struct option options[OPTION_COUNT + 1];
	char letters[2 * OPTION_COUNT + 3];
	int status = CLI_DONE;
	int key;

	make_options(letters, options);
	cli->args = calloc((size_t)argc + 1, sizeof(*cli->args));
	if (!cli->args) {
		complain("out of memory");
		return CLI_DEVICE;
	}
	opterr = 0;
	while (status == CLI_DONE &&
	       (key = getopt_long(argc, argv, letters, options, NULL)) != -1)
		status = option_take(cli, key, argv);
	while (status == CLI_DONE && optind < argc)
		cli->args[cli->arg_count++] = argv[optind++];
	return status;
}

bool options_fit(const struct cli *cli, const struct command *command)
{
	if (cli->fabric.sa_mode && !option_is_own("sa", command)) {
		complain("--sa: '%s' is for ibsa fabric only; here it is a "
			 "LID, a GID, or lid=..,sl=..,gid=..",
			 cli->fabric.sa_mode);
		return false;
	}
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(cli->given >> i & 1) || option_is_taken(row, command))
			continue;
		complain("%s has no option --%s", command->name, row->name);
		return false;
	}
	return true;
}

bool options_only(const struct cli *cli, const char *whose, const char *list)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(cli->given >> i & 1) || row->whose == OPTION_OUTPUT ||
		    option_is_listed(row->name, list))
			continue;
		complain("%s has no option --%s", whose, row->name);
		return false;
	}
	return true;
}

bool options_given(const struct cli *cli, const char *name)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (strcmp(option_rows[i].name, name) == 0)
			return cli->given >> i & 1;
	return false;
}
