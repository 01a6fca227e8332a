/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa reach: checks which ports have a path from this port, or from each
 * other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/column_table.h"
#include "output/fields.h"
#include "names/nodes.h"
#include "reach/reach.h"
#include "reach/options.h"
#include "options/command.h"
#include "options/shared.h"

/* The rows of ibsa reach: the targets whose result is known. */
struct rows {
	const struct reach_targets *targets;
	const struct reach_result *results; /* a result for each GID */
	const struct reach_target **shown;
	size_t count;
	bool shows_all; /* see nodes_are_shown() */
	/* of targets without a GID, because the SA did not answer */
	struct reach_result unresolved;
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

static const struct reach_result unresolved_down = {
	.is_known = true,
	.reach = IBSA_REACH_UNKNOWN,
	.reason = IBSA_REASON_THIS_PORT_DOWN,
	.is_certain = true,
	.detail = "this port is down: its state is Down",
};

static struct reach_result absence_result(const struct ibsa_reason *absence)
{
	return (struct reach_result){
		.is_known = true,
		.reach = IBSA_REACH_NO,
		.reason = (uint8_t)absence->code,
		.is_certain = absence->is_certain,
		.detail = absence->detail,
	};
}

static struct reach_result result_of(const struct rows *rows,
				     const struct reach_target *target)
{
	if (target->is_unresolved)
		return rows->unresolved;
	if (!target->missing)
		return rows->results[target->index];
	if (target->absence)
		return absence_result(target->absence);
	if (target->missing != IBSA_REASON_NO_NAME)
		return unknown_port;
	return rows->shows_all ? no_name : hidden_name;
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
	const struct reach_result result = result_of(rows, target);
	char reason[REASON_CELL_TEXT];
	char text[REACH_TEXT];

	out_text(out, "reach", reach_word(&result));
	if (!out_is_brief(out) || !rows->targets->is_whole)
		out_text(out, "target", reach_target_text(target, text));
	put_gid(out, target);
	reach_node_cell(out, "node", target);
	out_text_or_none(out, "reason", reach_reason(&result, reason));
	if (out_is_brief(out))
		return;
	out_text_or_none(out, "reason_code", reach_reason_code(&result));
	out_text_or_none(out, "detail", result.detail);
	out_hex16(out, "status", result.status);
	out_count(out, "tries", result.tries);
	out_count(out, "rtt_us", result.rtt_ns / 1000);
}

/* Print why the SA does not show the ports that --expect has. */
static void absence_print(const struct reach_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		if (targets->all[i].absence)
			complain("%s", targets->all[i].absence->detail);
}

/*
 * Write how many ports and hosts the SA shows of all, to end a sentence of
 * --all; "" without --all.
 */
static void shown_text(const struct reach_targets *targets, char *out,
		       size_t size)
{
	const size_t shown = targets->count - targets->absent_count;

	out[0] = '\0';
	if (targets->is_whole && targets->absent_count)
		snprintf(out, size, "; the SA shows %zu of %zu expected ports",
			 shown, targets->count);
	else if (targets->is_whole)
		snprintf(out, size, "; the SA shows %zu %s", shown,
			 shown == 1 ? "port" : "ports");
}

/*
 * Print the message for the result of a single target. For a target that does
 * not exist, the message was printed before.
 */
static void no_path_explain(const struct rows *rows)
{
	const struct reach_target *target = rows->shown[0];
	const struct reach_result result = result_of(rows, target);
	char text[REACH_TEXT];

	if (!target->missing && result.reach == IBSA_REACH_NO)
		complain("%s cannot be reached: %s",
			 reach_target_text(target, text),
			 result.detail ? result.detail
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
	char shown[64];

	for (size_t i = 0; i < targets->count; i++) {
		const struct reach_target *target = &targets->all[i];
		const struct reach_result result = result_of(rows, target);

		reach_count(&tally, &result);
		if (target->missing)
			status = CLI_NO;
		if (result.is_known)
			rows->shown[rows->count++] = target;
	}
	out_rows(&cli->out, rows->count, result_row, rows);
	absence_print(targets);
	shown_text(targets, shown, sizeof(shown));
	if (targets->count > 1 || targets->is_whole)
		reach_summary(cli, &tally, shown);
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

/*
 * Return: the result for targets whose GIDs the SA did not return, because it
 * did not answer a query for NodeRecords.
 */
static struct reach_result unresolved_result(const struct cli *cli)
{
	const struct query_silence *silence = &cli->silence;

	if (port_is_down(cli->client))
		return unresolved_down;
	return (struct reach_result){
		.is_known = true,
		.reach = IBSA_REACH_UNKNOWN,
		.err = silence->err || silence->status ? silence->err
						       : -ENODATA,
		.status = silence->status,
		.tries = silence->tries,
	};
}

/* Query the paths from this port to all targets. Return: the exit status. */
static int from_here_query(struct cli *cli, const struct reach_targets *targets,
			   struct reach_result *results)
{
	struct reach_run run;

	reach_run_start(&run, cli, targets->gid_count);
	(void)reach_run_query(&run, NULL, targets->gids, targets->gid_count,
			      results);
	/*
	 * silence_note() has already printed that the SA does not answer.
	 */
	if (targets->is_silent)
		run.silent.is_known = false;
	return reach_run_end(&run);
}

static int targets_query(struct cli *cli, const struct reach_targets *targets)
{
	struct reach_result *results = calloc(targets->count + 1,
					      sizeof(*results));
	struct rows rows = { .targets = targets, .results = results };
	int status = CLI_DONE;

	rows.shown = calloc(targets->count + 1, sizeof(*rows.shown));
	if (!results || !rows.shown) {
		status = no_memory();
	} else {
		if (targets->is_silent)
			rows.unresolved = unresolved_result(cli);
		status = reach_own(cli)->to
				 ? reach_to(cli, targets, results)
				 : from_here_query(cli, targets, results);
		rows.shows_all = cli->client && nodes_are_shown(cli->client);
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
	reach_summary(cli, &tally, "");
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

/* clang-format off */
/*
 * Column "reason" of ibsa reach: one of these words if "reach" is "no"; an
 * error text if it is "unknown".
 */
#define NO_REASON                                             \
	{                                                     \
		.name = "reason", .kind = COLUMN_TEXT,        \
		.can_be_none = true,                          \
		.words_of_no = "no path" REASON_WORDS,        \
	}

/* Column "reason_code" of ibsa reach: codes of reasons, and of failures. */
#define REACH_CODE                                                     \
	MAYBE_WORDS("reason_code",                                     \
		    "no-path|no-answer|not-sent|no-sm|malformed|"      \
		    "interrupted|no-gid|busy|refused|error" CODE_WORDS)

static const struct column reach_list[] = {
	WORDS("reach", "yes|no|unknown"),
	ALWAYS("target", TEXT),
	MAYBE("gid", GID),
	MAYBE("node", TEXT),
	NO_REASON,
	REACH_CODE,
	MAYBE("detail", TEXT),
	ALWAYS("status", NUMBER),
	ALWAYS("tries", NUMBER),
	ALWAYS("rtt_us", NUMBER),
};

static const struct column reach_matrix_list[] = {
	WORDS("reach", "yes|no|unknown"),
	ALWAYS("from", GID),
	MAYBE("from_host", TEXT),
	MAYBE("from_node", TEXT),
	ALWAYS("to", GID),
	MAYBE("to_host", TEXT),
	MAYBE("to_node", TEXT),
	NO_REASON,
	REACH_CODE,
	MAYBE("detail", TEXT),
	ALWAYS("status", NUMBER),
};
/* clang-format on */

static const struct columns columns_reach = COLUMN_TABLE("reach", reach_list);
static const struct columns columns_reach_matrix =
	COLUMN_TABLE("reach-matrix", reach_matrix_list);

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
	OPTION_EXPECTED(struct reach_options, expect),
	{ 0, "matrix", NULL, "check every pair of ports",
	  OPTION_AT(struct reach_options, matrix) },
	{ 0, "to", "TARGET", "check the paths from all ports to this target",
	  OPTION_AT(struct reach_options, to) },
};

static const struct option_table table =
	OPTION_TABLE(rows, struct reach_options);

const struct command command_reach = {
	.name = "reach",
	.arguments = "TARGET...|-|--all|--to|--matrix [TARGET...]",
	.help = "check which ports can be reached",
	.options = &table,
	.groups = GROUP_ALL | GROUP_RECORD | GROUP_SVG,
	.columns = (const struct columns *const[]){ &columns_reach, &columns_reach_matrix, NULL },
	.run = cmd_reach,
	.text =
	"TARGET is one of\n"
	TARGET_TEXT
	"  -                   standard input: a target on each line\n"
	"--all checks every port of a channel adapter, --to TARGET the paths\n"
	"from each of them to TARGET, --matrix each TARGET from each other.\n",
};
/* clang-format on */
