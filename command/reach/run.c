/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs the queries of ibsa reach, and stops when the SA no longer answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/query_wait.h"
#include "reach/reach.h"

/*
 * After this many queries in a row without an answer, the remaining ones are
 * not sent. Each query had its full timeout.
 */
enum { UNANSWERED_MAX = 16 };

static const char second_signal_text[] = "ended before all answers were there";

int reach_worse(int a, int b)
{
	if (a == CLI_USAGE || b == CLI_USAGE)
		return CLI_USAGE;
	return a > b ? a : b;
}

const char *reach_word(const struct reach_result *result)
{
	switch (result->reach) {
	case IBSA_REACH_YES:
		return "yes";
	case IBSA_REACH_NO:
		return "no";
	default:
		return "unknown";
	}
}

/* Why a query has no result, and the code of that. */
struct failure {
	const char *text, *code;
};

static struct failure failure_of(const struct reach_result *result)
{
	const bool is_busy = result->status & IBSA_STATUS_BUSY;

	switch (result->err) {
	case 0:
		if (result->reach == IBSA_REACH_NO)
			return (struct failure){ "no path", "no-path" };
		return (struct failure){ ibsa_status_text(result->status),
					 is_busy ? "busy" : "refused" };
	case -ETIMEDOUT:
		if (result->tries)
			return (struct failure){ "the SA did not answer",
						 "no-answer" };
		return (struct failure){ "not sent", "not-sent" };
	case -EAGAIN:
		return (struct failure){ "no subnet manager", "no-sm" };
	case -ENETDOWN:
		return (struct failure){
			ibsa_reason_text(IBSA_REASON_THIS_PORT_DOWN),
			reason_code_name(IBSA_REASON_THIS_PORT_DOWN),
		};
	case -EPROTO:
		return (struct failure){ "malformed answer", "malformed" };
	case -ECANCELED:
		return (struct failure){ "interrupted", "interrupted" };
	case -ENODATA:
		return (struct failure){ "the SA returned no GID", "no-gid" };
	default:
		return (struct failure){ strerror(-result->err), "error" };
	}
}

const char *reach_reason(const struct reach_result *result,
			 char out[REASON_CELL_TEXT])
{
	if (result->reach == IBSA_REACH_YES)
		return NULL;
	if (result->reason)
		return reason_words(result->reason, result->is_certain, out);
	return failure_of(result).text;
}

const char *reach_reason_code(const struct reach_result *result)
{
	if (result->reach == IBSA_REACH_YES)
		return NULL;
	return result->reason ? reason_code_name(result->reason)
			      : failure_of(result).code;
}

void reach_results_free(struct reach_result *results, size_t count)
{
	for (size_t i = 0; results && i < count; i++)
		free((char *)results[i].detail);
	free(results);
}

static void note_failure(struct reach_run *run,
			 const struct reach_result *result)
{
	const bool refused = result->err == 0 &&
			     !(result->status & IBSA_STATUS_BUSY);
	struct reach_result *first = refused ? &run->refused : &run->silent;

	run->status = reach_worse(run->status,
				  refused ? CLI_REFUSED : CLI_SILENT);
	if (!first->is_known)
		*first = *result;
}

/*
 * If the first status by which the SA has refused a query is a redirection,
 * store the target of the redirection.
 */
static void note_redirect(struct reach_run *run,
			  const struct ibsa_reach_answer *answer)
{
	if (!answer->redirect || run->refused.is_known)
		return;
	memcpy(run->redirect, answer->redirect, sizeof(run->redirect));
	run->is_redirected = true;
}

static void judge(struct reach_run *run, const struct reach_result *result)
{
	run->done++;
	run->unanswered_in_row = result->err ? run->unanswered_in_row + 1 : 0;
	if (result->reach == IBSA_REACH_NO)
		run->status = reach_worse(run->status, CLI_NO);
	else if (result->reach == IBSA_REACH_UNKNOWN)
		note_failure(run, result);
}

/*
 * End the batch of queries. The batch then reports -ECANCELED for each query
 * without an answer, with 0 tries if the query was not sent.
 */
static void run_stop(struct reach_run *run, enum reach_end why)
{
	if (run->end != REACH_GOES_ON)
		return;
	run->end = why;
	(void)ibsa_reach_stop(run->batch);
}

static void answer_received(const struct ibsa_reach_answer *answer, void *arg)
{
	struct reach_run *run = arg;
	struct reach_result *result = &run->results[answer->index];

	run->left = answer->left;
	if (answer->err == -ECANCELED &&
	    (answer->tries == 0 || run->end != REACH_INTERRUPTED))
		return;
	*result = (struct reach_result){
		.is_known = true,
		.reach = (uint8_t)answer->reach,
		.redirects = answer->redirects,
		.status = answer->status,
		.err = answer->err,
		.tries = answer->tries,
		.rtt_ns = answer->rtt_ns,
	};
	if (answer->err == -ECANCELED)
		return;
	note_redirect(run, answer);
	judge(run, result);
	if (run->unanswered_in_row == UNANSWERED_MAX && run->done < run->total)
		run_stop(run, REACH_SILENT);
}

int reach_signals_start(struct cli *cli, struct interrupt *interrupt)
{
	int status = client_open(cli);

	if (status == CLI_DONE)
		status = interrupt_start(interrupt, second_signal_text);
	if (status != CLI_DONE)
		return status;
	cli->interrupt = interrupt;
	interrupt_wakes(interrupt, cli->client);
	return CLI_DONE;
}

void reach_signals_stop(struct cli *cli)
{
	if (cli->interrupt)
		interrupt_stop(cli->interrupt);
	cli->interrupt = NULL;
}

void reach_run_start(struct reach_run *run, struct cli *cli, size_t total)
{
	*run = (struct reach_run){
		.cli = cli,
		.total = total,
	};
	ibsa_stats_get(cli->client, &run->before);
	progress_start(&run->progress);
}

static void wait_for_all(struct reach_run *run)
{
	while (run->left > 0) {
		int err;

		if (interrupt_seen(run->cli->interrupt))
			run_stop(run, REACH_INTERRUPTED);
		err = ibsa_wait(run->cli->client,
				progress_pause_ms(&run->progress));
		if (err && err != -EINTR) {
			run->end = REACH_BROKEN;
			client_abandon(run->cli, err);
			return;
		}
		progress_count(&run->progress, run->done, run->total);
	}
}

static bool batch_run(struct reach_run *run, const struct ibsa_gid *from,
		      const struct ibsa_gid *gids, size_t count,
		      enum ibsa_why why, ibsa_reach_fn report)
{
	struct ibsa_reach_options options = { .why = why };
	int err;

	if (from)
		options.from = *from;
	run->left = count;
	err = ibsa_reach_start(run->cli->client, &options, gids, count, report,
			       run, &run->batch);
	if (err) {
		complain("cannot send queries to the SA: %s", strerror(-err));
		run->end = REACH_BROKEN;
		return false;
	}
	wait_for_all(run);
	return run->end == REACH_GOES_ON;
}

/* A result stays a failure if the SA has a path by now. */
static void reason_received(const struct ibsa_reach_answer *answer, void *arg)
{
	struct reach_run *run = arg;
	struct reach_result *result = &run->results[run->asked[answer->index]];

	run->left = answer->left;
	if (answer->err || answer->reach != IBSA_REACH_NO)
		return;
	result->reason = (uint8_t)answer->reason;
	result->is_certain = answer->is_certain;
	result->detail = answer->detail[0] ? strdup(answer->detail) : NULL;
}

/* Search the reasons of failures, of the first REASONS_MAX of the run. */
static bool reasons_find(struct reach_run *run, const struct ibsa_gid *from,
			 const struct ibsa_gid *gids, size_t count)
{
	struct ibsa_gid failed[REASONS_MAX];
	size_t asked[REASONS_MAX];
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		if (!run->results[i].is_known ||
		    run->results[i].reach != IBSA_REACH_NO ||
		    run->failures++ >= REASONS_MAX)
			continue;
		failed[found] = gids[i];
		asked[found++] = i;
	}
	run->asked = asked;
	return !found || batch_run(run, from, failed, found, IBSA_WHY_ALWAYS,
				   reason_received);
}

bool reach_run_query(struct reach_run *run, const struct ibsa_gid *from,
		     const struct ibsa_gid *gids, size_t count,
		     struct reach_result *results)
{
	if (run->end != REACH_GOES_ON || count == 0)
		return run->end == REACH_GOES_ON;
	run->results = results;
	return batch_run(run, from, gids, count, IBSA_WHY_NEVER,
			 answer_received) &&
	       reasons_find(run, from, gids, count);
}

static void explain(struct reach_run *run, const struct reach_result *result)
{
	const struct ibsa_reply reply = {
		.record = &ibsa_path_record,
		.err = result->err,
		.status = result->status,
		.redirects = result->redirects,
		.tries = result->tries,
		.redirect = run->is_redirected ? run->redirect : NULL,
	};

	if (result->is_known)
		(void)reply_explain(run->cli, &reply);
}

int reach_run_end(struct reach_run *run)
{
	reach_signals_stop(run->cli);
	progress_end();
	queries_print(run->cli, "reach", &run->before);
	explain(run, &run->silent);
	explain(run, &run->refused);
	if (run->failures > REASONS_MAX)
		complain("the reasons are those of the first %d of %zu "
			 "failures; name other targets to learn theirs",
			 REASONS_MAX, run->failures);
	if (run->end == REACH_SILENT)
		complain("%d queries in a row had no answer; the others were "
			 "not sent",
			 UNANSWERED_MAX);
	else if (run->end == REACH_INTERRUPTED)
		complain("interrupted");
	if (run->end != REACH_GOES_ON)
		run->status = reach_worse(run->status, CLI_SILENT);
	return run->status;
}

void reach_count(struct reach_tally *tally, const struct reach_result *result)
{
	if (!result->is_known)
		tally->unasked++;
	else if (result->reach == IBSA_REACH_YES)
		tally->yes++;
	else if (result->reach == IBSA_REACH_NO)
		tally->no++;
	else
		tally->unknown++;
}

void reach_summary(const struct cli *cli, const struct reach_tally *tally,
		   const char *more)
{
	const size_t total = tally->yes + tally->no + tally->unknown +
			     tally->unasked;
	char unasked[64] = "";

	if (tally->yes == total && !cli->output.verbose &&
	    !isatty(STDERR_FILENO))
		return;
	if (tally->unasked > 0)
		snprintf(unasked, sizeof(unasked), ", %zu not asked",
			 tally->unasked);
	complain("%zu of %zu reachable, %zu not, %zu unknown%s%s", tally->yes,
		 total, tally->no, tally->unknown, unasked, more);
}
