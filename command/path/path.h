/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of ibsa path share: the query, and the rows of the output. */
#ifndef COMMAND_PATH_H
#define COMMAND_PATH_H

#include <ibsa/reach.h>

#include "names/ends.h"
#include "output/fields.h"

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
	const char *note;	    /* a finding about a rail, or NULL */
};

/* All rows of the output, in the order in which replies arrived. */
struct rows {
	const struct ibsa_record *record;
	bool is_opa;
	bool has_devices; /* the table shows the device of each port */
	struct row *all;
	size_t count;
	size_t missing;	 /* rows without a path; a table with one has reasons */
	size_t failures; /* for which a reason was searched */
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

/*
 * Add a row; the caller may remove the last row by decrementing @count. Return:
 * the row; NULL: out of memory.
 */
struct row *path_row_add(struct rows *rows);

/* Write the addresses of two ports into a query. */
void path_put_ends(struct form *form, const struct end *src,
		   const struct end *dst);

/*
 * Add a row. path_add_missing(): for a pair without a path, with the fields of
 * the query. path_add_unnamed(): for a name that no node has. path_add_down():
 * if this port is down, with this reason. Return: CLI_NO; path_add_down()
 * returns CLI_SILENT, also without a row. CLI_DEVICE: out of memory.
 */
int path_add_missing(struct rows *rows, const struct form *pair,
		     const struct ibsa_reason *reason);
int path_add_unnamed(struct cli *cli, struct rows *rows,
		     const struct form *form, const struct ends ends[2],
		     const char *name);
int path_add_down(struct cli *cli, struct rows *rows, const struct form *form);

/*
 * Find out why the SA returned no path between two ports, or only a path that
 * does not meet a selector; print the reason, and add a row.
 */
int path_missing_explain(struct cli *cli, const struct ibsa_query *query,
			 const struct form *pair, struct rows *rows);

/* A port of a host that the SA does not show, and why. */
struct absent_port {
	struct end end;
	struct ibsa_reason reason;
};

/* The absent ports of one host, and other findings about its rails. */
struct absent {
	struct absent_port *all;
	size_t count;
	struct rail_finding *rails;
	size_t rail_count;
};

struct expected;
struct rail_finding;

/*
 * Find the ports of the two targets that the SA does not show: ports in the
 * topology of --expect; without --expect, rails that hosts like theirs have.
 * @nodes: all nodes; NULL: they are queried if they are needed.
 * Return: the exit status; a failure is printed. The caller frees both elements
 * of @out in any case.
 */
int absent_find(struct cli *cli, struct expected *expected,
		const struct nodes *nodes, const struct target *targets,
		const struct ends ends[2], struct absent out[2]);

/*
 * Add the findings about rails of the two hosts that are slower than the same
 * rails of hosts like them. Both elements of @ends have a port. Return: the
 * exit status; a failure is printed.
 */
int slow_rails_find(struct cli *cli, const struct nodes *nodes,
		    const struct ends ends[2], struct absent out[2]);

void absent_rails_note(struct rows *rows, const struct absent absent[2]);
void absent_free(struct absent *absent);

/*
 * Print the absent ports of the two hosts, and add a row for each, with the
 * port of the other host to which it would have a path. Return: the exit
 * status, CLI_NO if there is a row.
 */
int absent_rows_add(struct rows *rows, const struct form *form,
		    const struct ends ends[2], const struct absent absent[2]);

/* Write row number @index of @arg, which is a struct rows. */
void path_row(struct out *out, size_t index, void *arg);

#endif
