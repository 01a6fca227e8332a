/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of ibsa reach share: targets, answers, the matrix. */
#ifndef CLI_REACH_H
#define CLI_REACH_H

#include <ibsa/reach.h>

#include "cli.h"
#include "interrupt.h"
#include "progress.h"
#include "target.h"

enum {
	REACH_MATRIX_MAX = 256,	     /* ports of a matrix: 65536 questions */
	REACH_TARGETS_MAX = 1 << 20, /* arguments and lines */
	REACH_REDIRECT_BYTES = 72,   /* of a ClassPortInfo */
};

/**
 * struct reach_target - a target as it was given, and what it stands for
 * @text:    as it was given; NULL: one of all ports
 * @line:    of standard input; 0: an argument
 * @what:    parsed; its name points into @text
 * @gid:     what to ask for
 * @node:    the node's description as it came, or NULL: not known
 * @missing: why it has no GID, and cannot be reached; or NULL
 * @index:   of its GID in struct reach_targets
 * @after:   of a further port of a name: 1 + the index of the first
 */
struct reach_target {
	char *text;
	unsigned long line;
	struct target what;
	struct ibsa_gid gid;
	char *node;
	const char *missing;
	const struct reach_target *same;
	size_t index;
	size_t after;
};

/**
 * struct reach_targets - all targets, and their GIDs, each once
 * @first:     which target has a GID first
 * @gid_count: of @gids and @first
 * @is_whole:  every port of a channel adapter, instead of arguments
 * @status:    exit status if all else is well: a line may have been wrong
 */
struct reach_targets {
	struct reach_target *all;
	size_t count;
	size_t room;
	struct ibsa_gid *gids;
	const struct reach_target **first;
	size_t gid_count;
	bool is_whole;
	int status;
};

/* The command line, and standard input if "-" is on it. Return: the exit
 * status; what is wrong has been said. To be freed in any case. */
int reach_targets_parse(struct cli *cli, struct reach_targets *out);

/* Ask for what they stand for. Return: likewise. */
int reach_targets_resolve(struct cli *cli, struct reach_targets *targets);

void reach_targets_free(struct reach_targets *targets);

/* The text of a target, or of its GID, safe to show. */
enum { REACH_TEXT = 512 };
const char *reach_target_text(const struct reach_target *target,
			      char out[REACH_TEXT]);

/* Its node as a cell; as a name for people, or its GID. */
void reach_node_cell(struct out *out, const char *name,
		     const struct reach_target *target);
const char *reach_target_label(const struct reach_target *target,
			       char out[REACH_TEXT]);

/* An answer, or that there is none: all zero. */
struct reach_result {
	bool is_known; /* asked and told, whatever the answer */
	uint8_t reach;
	uint8_t redirects;
	uint16_t status;
	int err;
	unsigned int tries;
	uint64_t rtt_ns;
};

/* "yes", "no", "unknown"; and why, or NULL. */
const char *reach_word(const struct reach_result *result);
const char *reach_reason(const struct reach_result *result);

/* Why no more is asked. */
enum reach_end {
	REACH_GOES_ON,
	REACH_INTERRUPTED,
	REACH_SILENT, /* so many in a row without an answer */
	REACH_BROKEN, /* waiting failed */
};

/* Questions that are being asked, batch after batch. */
struct reach_run {
	struct cli *cli;
	struct interrupt interrupt;
	struct progress progress;
	size_t total;
	size_t done;
	enum reach_end end;
	int status;			/* exit status of the worst answer */
	unsigned int unanswered_in_row; /* in a row */
	struct reach_result silent, refused;	/* the first of each */
	uint8_t redirect[REACH_REDIRECT_BYTES]; /* ClassPortInfo of @refused */
	bool is_redirected;
	/* The batch under way. */
	struct ibsa_reach_batch *batch;
	struct reach_result *results;
	size_t left;
};

/* Open the client, see signals. Return: the exit status; if it is not 0, no
 * end is needed. */
int reach_run_start(struct reach_run *run, struct cli *cli, size_t total);

/* Ask for all of @gids, from @from or, if NULL, from this port. What was not
 * asked stays as it is in @results. Return: whether to go on. */
bool reach_run_query(struct reach_run *run, const struct ibsa_gid *from,
		     const struct ibsa_gid *gids, size_t count,
		     struct reach_result *results);

/* Say what went wrong. Return: the exit status. */
int reach_run_end(struct reach_run *run);

/* How many of each there are. */
struct reach_tally {
	size_t yes, no, unknown, unasked;
};

void reach_count(struct reach_tally *tally, const struct reach_result *result);

/* One sentence, if not all is well or somebody looks. */
void reach_summary(const struct cli *cli, const struct reach_tally *tally);

/* The matrix of all targets. Return: the exit status. */
int reach_matrix(struct cli *cli, struct reach_targets *targets);

/* A picture of it: @results has a row for each GID that asks. */
void reach_svg(FILE *file, const struct reach_targets *targets,
	       const struct reach_result *results);

/* The worse of two exit statuses: a refusal, silence, no, yes; but a wrong
 * command line above all. */
int reach_worse(int a, int b);

#endif
