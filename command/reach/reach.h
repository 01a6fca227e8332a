/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types and functions of ibsa reach: its targets, results and matrix. */
#ifndef COMMAND_REACH_H
#define COMMAND_REACH_H

#include <ibsa/reach.h>

#include "output/cli.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "output/reason.h"
#include "names/target.h"

enum {
	/* maximum number of ports in a matrix, which has 65536 queries then */
	REACH_MATRIX_MAX = 256,
	REACH_TARGETS_MAX = 1 << 20, /* arguments and lines */
	REACH_REDIRECT_BYTES = 72,   /* size of a ClassPortInfo */
};

/**
 * struct reach_target - a target and the port that it stands for
 * @text:    the target as it was given; NULL: --all or --to has added the
 *           target
 * @line:    line number in standard input; 0: the target is an argument
 * @error:   why the line is wrong, or NULL
 * @what:    parsed @text; its name points into @text
 * @gid:     GID to query
 * @node:    the node's description, or NULL if it is unknown
 * @missing: the reason why the target has no GID, and so no path; 0: the target
 *           has a GID, or @is_unresolved is set
 * @absence: why the SA does not show a port that the topology of --expect or
 *           other hosts have; NULL: the SA shows it
 * @is_unresolved: the target has no GID, because the SA did not answer
 * @same:    first target with the same GID
 * @index:   index of its GID in struct reach_targets
 * @after:   if a name stands for several ports, of each but the first one: 1 +
 *           the index of the first one; otherwise 0
 */
struct reach_target {
	char *text;
	unsigned long line;
	char *error;
	struct target what;
	struct ibsa_gid gid;
	char *node;
	int missing;
	struct ibsa_reason *absence;
	bool is_unresolved;
	const struct reach_target *same;
	size_t index;
	size_t after;
};

/**
 * struct reach_targets - all targets, and a list with each of their GIDs once
 * @first:     first target of each GID
 * @gid_count: length of @gids and @first
 * @is_whole:  --all or --to is given: the targets are all ports of channel
 *             adapters
 * @absent_count: number of targets with @absence
 * @is_silent: the SA did not answer; targets that need a query have no GID
 * @status:    exit status if a line of standard input was wrong, or @is_silent
 */
struct reach_targets {
	struct reach_target *all;
	size_t count;
	struct ibsa_gid *gids;
	const struct reach_target **first;
	size_t gid_count;
	size_t absent_count;
	bool is_whole;
	bool is_silent;
	int status;
};

/*
 * Parse the targets on the command line, and those on standard input if "-" is
 * given. Return: the exit status; a failure is printed. The caller frees @out
 * in any case.
 */
int reach_targets_parse(struct cli *cli, struct reach_targets *out);

/*
 * Find the GIDs of the targets by queries. Return: the exit status; a failure
 * is printed.
 */
int reach_targets_resolve(struct cli *cli, struct reach_targets *targets);

/* Append an empty target. Return: NULL: memory is short. */
struct reach_target *reach_target_add(struct reach_targets *targets);

/* Return: whether a target has a GID. */
bool reach_target_has_gid(const struct reach_target *target);

void reach_targets_free(struct reach_targets *targets);

/* Size of the text of a target, or its GID, that is safe to print. */
enum { REACH_TEXT = 512 };
const char *reach_target_text(const struct reach_target *target,
			      char out[REACH_TEXT]);

/*
 * reach_node_cell() writes the node of a target as a cell.
 * reach_target_label() returns the node's name, or else the target's text, as
 * a label.
 */
void reach_node_cell(struct out *out, const char *name,
		     const struct reach_target *target);
const char *reach_target_label(const struct reach_target *target,
			       char out[REACH_TEXT]);

/*
 * The result of ibsa reach for one target; all members are zero if there is no
 * result.
 */
struct reach_result {
	bool is_known; /* the query has ended, with or without an answer */
	uint8_t reach;
	uint8_t redirects;
	uint16_t status;
	int err;
	unsigned int tries;
	uint64_t rtt_ns;
	uint8_t reason; /* enum ibsa_reason_code */
	bool is_certain;
	const char *detail; /* of the reason; NULL: none */
};

/*
 * Query the paths from all targets to the target of --to, with one query for
 * each of its ports. Return: the exit status; a failure is printed.
 */
int reach_to(struct cli *cli, const struct reach_targets *targets,
	     struct reach_result *results);

/*
 * reach_word() returns "yes", "no" or "unknown" for a result; reach_reason()
 * returns the reason, and reach_reason_code() its code, or NULL.
 */
const char *reach_word(const struct reach_result *result);
const char *reach_reason(const struct reach_result *result,
			 char out[REASON_CELL_TEXT]);
const char *reach_reason_code(const struct reach_result *result);
void reach_results_free(struct reach_result *results, size_t count);

/* Reason why no more queries are sent. */
enum reach_end {
	REACH_GOES_ON,
	REACH_INTERRUPTED,
	/*
	 * The run ended because too many successive queries were not answered.
	 */
	REACH_SILENT,
	REACH_BROKEN, /* ibsa_wait() failed */
};

/* The queries of a command, in batches of queries that are sent together. */
struct reach_run {
	struct cli *cli;
	struct progress progress;
	struct ibsa_stats before; /* of the client, before the run */
	size_t total;
	size_t done;
	size_t failures; /* ports that are not reachable */
	enum reach_end end;
	int status; /* the worst exit status of a query so far */
	/* number of successive queries without an answer so far */
	unsigned int unanswered_in_row;
	struct reach_result silent, refused;	/* first result of each kind */
	uint8_t redirect[REACH_REDIRECT_BYTES]; /* ClassPortInfo of @refused */
	bool is_redirected;
	/* The current batch. */
	struct ibsa_reach_batch *batch;
	struct reach_result *results;
	const size_t *asked; /* of a search for reasons: indices of results */
	size_t left;
};

/*
 * reach_signals_start() opens the client and begins to wait for signals; it
 * returns the exit status. reach_signals_stop() ends the wait.
 */
int reach_signals_start(struct cli *cli, struct interrupt *interrupt);
void reach_signals_stop(struct cli *cli);

/* Begin a run, after reach_signals_start(). */
void reach_run_start(struct reach_run *run, struct cli *cli, size_t total);

/*
 * Query the paths to all @gids from the GID @from, or from this port if @from
 * is NULL, and the reasons of the first REASONS_MAX failures of the run. The
 * result of a query that was not sent stays as it is. Return:
 * whether further queries may be sent.
 */
bool reach_run_query(struct reach_run *run, const struct ibsa_gid *from,
		     const struct ibsa_gid *gids, size_t count,
		     struct reach_result *results);

/* Print the failure because of which the run has ended, if there is one. */
int reach_run_end(struct reach_run *run);

/* Number of results of each kind. */
struct reach_tally {
	size_t yes, no, unknown, unasked;
};

void reach_count(struct reach_tally *tally, const struct reach_result *result);

/*
 * Print a summary of the results on stderr: if at least one result is not yes,
 * with -v, or on a terminal. @more: the end of the message.
 */
void reach_summary(const struct cli *cli, const struct reach_tally *tally,
		   const char *more);

/* Query and print the matrix of paths. Return: the exit status. */
int reach_matrix(struct cli *cli, struct reach_targets *targets);

/* Draw the matrix of paths; @results has a row for each source GID. */
void reach_svg(FILE *file, const struct reach_targets *targets,
	       const struct reach_result *results);

/*
 * Return: the worse of two exit statuses. From worst to best: a wrong command
 * line, a refusal, a failed device, no answer, no, yes.
 */
int reach_worse(int a, int b);

#endif
