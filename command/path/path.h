/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of ibsa path share: the query, and the rows of the output. */
#ifndef COMMAND_PATH_H
#define COMMAND_PATH_H

#include <ibsa/reach.h>

#include "names/ends.h"
#include "output/fields.h"

/**
 * struct path_options - options of ibsa path
 * @all:       print all paths
 * @all_pairs: print a path from each port of the first host to each port of the
 *             second host
 * @why:       print why there is no path
 */
struct path_options {
	bool all;
	bool all_pairs;
	bool why;
};

/* The options of the command that runs. */
static inline const struct path_options *path_own(const struct cli *cli)
{
	return cli->own;
}

/*
 * A path query in one layout of PathRecords: that of InfiniBand or that of
 * Omni-Path.
 */
struct form {
	const struct ibsa_record *record;
	union fields_host match;
	struct fields_mask mask;
	/*
	 * The command line has a field or a value that is invalid in this
	 * layout; @error has the reason.
	 */
	bool is_wrong;
	struct ibsa_error error;
};

/*
 * The query on the command line in both PathRecord layouts. The link layer of
 * the port, once it is open, selects the layout.
 */
struct path_query {
	struct target ends[2];
	struct form ib;
	struct form opa;
	bool is_opa; /* the port's link layer is Omni-Path */
};

/* Parse the command line in both layouts. Return: the exit status. */
int path_arguments_parse(struct cli *cli, struct path_query *path_query);

/*
 * Select the PathRecord layout that the SA of this port supports. Return: the
 * exit status.
 */
int path_form_choose(struct cli *cli, struct path_query *path_query,
		     struct form **out);

/*
 * A row of the output: a path that the SA returned, with the devices of its
 * two ports; or the reason why there is no path.
 */
struct row {
	const struct end *src;
	const struct end *dst;
	union fields_host host;
	struct ibsa_reason *reason; /* NULL: there is a path */
};

/* All rows of the output, in the order in which replies arrived. */
struct rows {
	const struct ibsa_record *record;
	bool is_opa;
	bool has_devices; /* the table shows the device of each port */
	/* With --why: a row without a path has the reason why there is none. */
	bool has_reasons;
	struct row *all;
	size_t count;
	/* The ports of the path that is being queried. */
	const struct end *src;
	const struct end *dst;
	const union fields_host *match; /* values of the query */
	/*
	 * The last selector of the command line that a path in a reply did not
	 * meet.
	 */
	const char *unmet;
	union fields_host unmet_host; /* this path */
};

/* Write row number @index of @arg, which is a struct rows. */
void path_row(struct out *out, size_t index, void *arg);

#endif
