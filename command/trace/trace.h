/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of ibsa trace. */
#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include <ibsa/topology.h>

#include "names/ends.h"
#include "graph/topology.h"

/*
 * Options of ibsa trace: the MGID of --group as text, and the file of --expect;
 * or NULL.
 */
struct trace_options {
	const char *group;
	const char *expect;
};

/* The options of the command that runs. */
static inline const struct trace_options *trace_own(const struct cli *cli)
{
	return cli->own;
}

/*
 * A row of ibsa trace: a link on the path, or the node at which the trace has
 * ended, and the reason.
 */
struct trace_row {
	uint32_t slid;
	uint32_t dlid;
	unsigned int number;
	struct ibsa_trace_hop hop;
	/* the reason why the trace has ended at this node, or NULL */
	const char *end;
	const char *rail; /* a finding about an adapter at the link, or NULL */
	bool has_no_link;
};

/**
 * struct traces - all rows
 * @view:    the topology; it is read before the first path is traced
 * @blocks:  for each switch, the block of its forwarding table that contains
 *           the path's DLID
 */
struct traces {
	struct topology_view view;
	struct trace_row *all;
	size_t count;
	struct ibsa_lft *blocks;
	size_t block_count;
};

/*
 * Add a row to the output of ibsa trace. Return: the exit status; a failure is
 * printed.
 */
int trace_row_add(struct traces *traces, const struct trace_row *row);

/*
 * Read the topology, unless it was read already. Return: the exit status; a
 * failure is printed.
 */
int trace_topology_read(struct cli *cli, struct traces *traces);

/*
 * Trace the tree of --group. If @count is not 0, trace from the port @from[0];
 * otherwise print the whole tree. Return: the exit status; a failure is
 * printed.
 */
int trace_group(struct cli *cli, struct traces *traces, const struct end *from,
		size_t count);

#endif
