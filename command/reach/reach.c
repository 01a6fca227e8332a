/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa reach: checks which ports have a path from this port, or from each
 * other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/columns.h"
#include "output/fields.h"
#include "names/nodes.h"
#include "reach/reach.h"
#include "reach/options.h"
#include "names/target.h"
#include "options/command.h"
#include "options/shared.h"

static void cmd_reach_details(struct cli *cli)
{
	static const char *const lines[] = {
		"TARGET is one of",
		TARGET_LINES,
		"  -                   standard input: a target on each line",
		"--all checks every port of a channel adapter.",
		"--matrix checks each TARGET from each other TARGET.",
		"A multicast GID is reachable from the members of its group.",
		"--why with --all or --matrix also finds why there is no path.",
		"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		out_line(&cli->out, "%s", lines[i]);
}

/* The rows of ibsa reach: the targets whose result is known. */
struct rows {
	const struct reach_targets *targets;
	const struct reach_result *results; /* a result for each GID */
	const struct reach_target **shown;
	size_t count;
	bool shows_all; /* see nodes_are_shown() */
	bool is_down;	/* this port is down */
};

/* Results of targets that do not exist and so have no GID. */
static const struct reach_result no_name = {
	.is_known = true,
	.reach = IBSA_REACH_NO,
	.reason = IBSA_REASON_NO_NAME,
	.is_certain = true,
	.detail = "no such name: " REASON_NO_NAME_TEXT,
};
static const struct reach_result hidden_name = {
	.is_known = true,
	.reach = IBSA_REACH_NO,
	.reason = IBSA_REASON_NO_NAME,
	.detail = "possibly no such name: " REASON_NO_NAME_TEXT,
};
static const struct reach_result unknown_port = {
	.is_known = true,
	.reach = IBSA_REACH_NO,
	.reason = IBSA_REASON_UNKNOWN_PORT,
	.is_certain = true,
	.detail = "unknown, or in no partition of this port: the SA shows no "
		  "port with this LID",
};

static const struct reach_result unresolved = {
	.is_known = true,
	.reach = IBSA_REACH_UNKNOWN,
	.err = -ENODATA,
};
static const struct reach_result unresolved_down = {
	.is_known = true,
	.reach = IBSA_REACH_UNKNOWN,
	.reason = IBSA_REASON_THIS_PORT_DOWN,
	.is_certain = true,
	.detail = "this port is down: its state is Down",
};

static const struct reach_result *result_of(const struct rows *rows,
					    const struct reach_target *target)
{
	if (target->is_unresolved)
		return rows->is_down ? &unresolved_down : &unresolved;
	if (!target->missing)
		return &rows->results[target->index];
	if (target->missing != IBSA_REASON_NO_NAME)
		return &unknown_port;
	return rows->shows_all ? &no_name : &hidden_name;
}

static void put_gid(struct out *out, const struct reach_target *target)
{
	if (reach_target_has_gid(target))
		fields_gid(out, "gid", &target->gid);
	else
		out_none(out, "gid");
}

static void result_row(struct out *out, size_t index, void *arg)
{
	const struct rows *rows = arg;
	const struct reach_target *target = rows->shown[index];
	const struct reach_result *result = result_of(rows, target);
	char reason[REASON_CELL_TEXT];
	char text[REACH_TEXT];

	out_text(out, "reach", reach_word(result));
	if (!out_is_brief(out) || !rows->targets->is_whole)
		out_text(out, "target", reach_target_text(target, text));
	put_gid(out, target);
	reach_node_cell(out, "node", target);
	out_text_or_none(out, "reason", reach_reason(result, reason));
	if (out_is_brief(out))
		return;
	out_text_or_none(out, "detail", result->detail);
	snprintf(text, sizeof(text), "0x%04x", result->status);
	out_number(out, "status", result->status, text);
	out_count(out, "tries", result->tries);
	out_count(out, "rtt_us", result->rtt_ns / 1000);
}

/*
 * Print the message for the result of a single target. For a target that does
 * not exist, the message was printed before.
 */
static void no_path_explain(const struct rows *rows)
{
	const struct reach_target *target = rows->shown[0];
	const struct reach_result *result = result_of(rows, target);
	char text[REACH_TEXT];

	if (!target->missing && result->reach == IBSA_REACH_NO)
		complain("%s cannot be reached: %s",
			 reach_target_text(target, text),
			 result->detail ? result->detail
					: "the SA has no path to it");
}

/*
 * Print the results. Return: CLI_DONE, or the exit status for targets that do
 * not exist.
 */
static int results_print(struct cli *cli, struct rows *rows)
{
	const struct reach_targets *targets = rows->targets;
	struct reach_tally tally = { .yes = 0 };
	int status = CLI_DONE;

	for (size_t i = 0; i < targets->count; i++) {
		const struct reach_target *target = &targets->all[i];

		reach_count(&tally, result_of(rows, target));
		if (target->missing)
			status = CLI_NO;
		if (result_of(rows, target)->is_known)
			rows->shown[rows->count++] = target;
	}
	out_rows(&cli->out, rows->count, result_row, rows);
	if (targets->count > 1 || targets->is_whole)
		reach_summary(cli, &tally);
	else if (rows->count == 1)
		no_path_explain(rows);
	return status;
}

static bool port_is_down(struct ibsa_client *client)
{
	struct ibsa_port_state port;

	return ibsa_port_get(client, true, &port) == 0 &&
	       port.port_state == IBSA_PORT_DOWN;
}

static int targets_query(struct cli *cli, const struct reach_targets *targets)
{
	struct reach_result *results = calloc(targets->count + 1,
					      sizeof(*results));
	struct rows rows = { .targets = targets, .results = results };
	struct reach_run run;
	int status = CLI_DONE;

	rows.shown = calloc(targets->count + 1, sizeof(*rows.shown));
	if (!results || !rows.shown) {
		complain("out of memory");
		status = CLI_DEVICE;
	} else {
		rows.is_down = targets->is_silent && port_is_down(cli->client);
		reach_run_start(&run, cli, targets->gid_count,
				reach_own(cli)->why || !targets->is_whole);
		(void)reach_run_query(&run, NULL, targets->gids,
				      targets->gid_count, results);
		rows.shows_all = cli->client && nodes_are_shown(cli);
		/*
		 * silence_note() has already printed that the SA does not
		 * answer.
		 */
		if (targets->is_silent)
			run.silent.is_known = false;
		status = reach_run_end(&run);
		status = reach_worse(status, results_print(cli, &rows));
	}
	reach_results_free(results, targets->count);
	free(rows.shown);
	return status;
}

static int check_options(const struct cli *cli)
{
	if (cli->out.shape != OUT_SVG || reach_own(cli)->matrix)
		return CLI_DONE;
	return fail_usage("--format svg needs --matrix");
}

static int interrupted_report(struct cli *cli,
			      const struct reach_targets *targets)
{
	const size_t count = targets->count;
	const struct reach_tally tally = {
		.unasked = reach_own(cli)->matrix ? count * count : count,
	};

	complain("interrupted");
	out_rows(&cli->out, 0, result_row, NULL);
	reach_summary(cli, &tally);
	return CLI_SILENT;
}

static int targets_reach(struct cli *cli, struct reach_targets *targets)
{
	struct interrupt interrupt;
	int status = reach_signals_start(cli, &interrupt);

	if (status != CLI_DONE)
		return status;
	status = reach_targets_resolve(cli, targets);
	if (interrupt_seen(&interrupt) && status != CLI_DONE)
		status = interrupted_report(cli, targets);
	else if (status == CLI_DONE)
		status = reach_own(cli)->matrix ? reach_matrix(cli, targets)
						: targets_query(cli, targets);
	reach_signals_stop(cli);
	return reach_worse(status, targets->status);
}

static int cmd_reach(struct cli *cli)
{
	struct reach_targets targets = { .count = 0 };
	int status = columns_use(cli, reach_own(cli)->matrix
					      ? &columns_reach_matrix
					      : &columns_reach);

	if (status == CLI_DONE)
		status = check_options(cli);
	if (status == CLI_DONE)
		status = reach_targets_parse(cli, &targets);
	if (status == CLI_DONE)
		status = targets_reach(cli, &targets);
	reach_targets_free(&targets);
	return status;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_ALL("check every port that the SA has", struct reach_options, all),
	{ 0, "matrix", NULL, "reach: check every pair of ports",
	  OPTION_AT(struct reach_options, matrix) },
	OPTION_WHY(struct reach_options, why),
};

static const struct option_table table =
	OPTION_TABLE(rows, struct reach_options);

const struct command command_reach = {
	.name = "reach",
	.arguments = "TARGET...|-|--all|--matrix [TARGET...]",
	.help = "check which ports can be reached",
	.options = &table,
	.groups = GROUP_ALL | GROUP_RECORD | GROUP_SVG,
	.columns = (const struct columns *const[]){ &columns_reach, &columns_reach_matrix, NULL },
	.run = cmd_reach,
	.details = cmd_reach_details,
};
/* clang-format on */
