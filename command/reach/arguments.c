/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the targets of ibsa reach: arguments, and lines of standard input. */
#include <string.h>

#include "base/file_read.h"
#include "reach/options.h"
#include "reach/reach.h"

/*
 * Add a target, or with @why a wrong line. The error of a line is reported when
 * the targets are resolved, so that all messages are in the order of the lines.
 */
static int add_text(struct reach_targets *targets, const char *text,
		    unsigned long line, const char *why)
{
	struct reach_target *target;
	struct ibsa_error error;

	if (targets->count == REACH_TARGETS_MAX)
		return fail_usage("more than %d targets; give fewer at a time",
				  REACH_TARGETS_MAX);
	target = reach_target_add(targets);
	if (!target)
		return no_memory();
	target->line = line;
	target->text = strdup(text);
	if (!target->text)
		return no_memory();
	if (!why && target_parse_any(target->text, &target->what, &error) != 0)
		why = error.text;
	if (!why)
		return CLI_DONE;
	targets->status = CLI_USAGE;
	if (!line)
		return fail_usage("%s", why);
	target->error = strdup(why);
	return target->error ? CLI_DONE : no_memory();
}

/* Add the targets in the lines of standard input. */
static int add_lines(struct reach_targets *targets)
{
	struct lines lines = { .file = stdin };
	int status = CLI_DONE;
	const char *text, *why;

	while (status == CLI_DONE && (text = lines_next(&lines, &why)))
		if (why || *text)
			status = add_text(targets, text, lines.number, why);
	if (lines.err) {
		complain("cannot read standard input: %s",
			 lines_error_text(&lines));
		status = CLI_DEVICE;
	}
	return status;
}

static int add_argument(struct reach_targets *targets, const char *text,
			bool *has_lines)
{
	if (strcmp(text, "-") != 0)
		return add_text(targets, text, 0, NULL);
	if (*has_lines)
		return fail_usage("- is given twice; standard input can be "
				  "read only once");
	*has_lines = true;
	return add_lines(targets);
}

static int check_count(const struct cli *cli, struct reach_targets *targets)
{
	const struct reach_options *own = reach_own(cli);

	targets->is_whole = own->all || own->to ||
			    (own->matrix && cli->arg_count == 1);
	if ((own->all || own->to) && cli->arg_count > 1)
		return fail_usage("%s already means all targets; remove '%s'",
				  own->to ? "--to" : "--all", cli->args[1]);
	if (own->to && own->matrix)
		return fail_usage("--to and --matrix exclude each other; "
				  "remove one");
	if (!targets->is_whole && cli->arg_count == 1)
		return fail_usage("reach needs a TARGET, - or --all; see ibsa "
				  "reach --help");
	return CLI_DONE;
}

int reach_targets_parse(struct cli *cli, struct reach_targets *out)
{
	bool has_lines = false;
	int status;

	*out = (struct reach_targets){ .status = CLI_DONE };
	status = check_count(cli, out);
	/*
	 * The arguments are parsed first: an invalid one ends the command
	 * before it reads standard input.
	 */
	for (int i = 1; i < cli->arg_count && status == CLI_DONE; i++)
		if (strcmp(cli->args[i], "-") != 0)
			status = add_argument(out, cli->args[i], &has_lines);
	for (int i = 1; i < cli->arg_count && status == CLI_DONE; i++)
		if (strcmp(cli->args[i], "-") == 0)
			status = add_argument(out, cli->args[i], &has_lines);
	return status;
}
