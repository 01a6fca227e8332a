/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa fabric info: lists the contents of a topology file and findings about
 * it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/types.h>

#include "output/columns.h"
#include "graph/draw.h"
#include "fabric/fabric.h"

void fabric_info_details(struct out *out)
{
	static const char *const lines[] = {
		"FILE has the format that ibnetdiscover writes and ibsim "
		"reads.",
		"Switches of level 1 have an adapter, switches of level 2 are "
		"next to",
		"them, and so on. A finding is a possible error in the file, "
		"with its",
		"line. The exit status is 1 if there are findings.",
		"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		out_line(out, "%s", lines[i]);
}

enum { KIND_TEXT = 32 };

/*
 * A line in the output of ibsa fabric info: how many objects of one kind the
 * file has.
 */
struct fact {
	const char *what;
	char kind[KIND_TEXT];
	size_t count;
};

/* A line about findings: all findings of one kind, or a single finding. */
struct group {
	unsigned int kind;
	size_t first;
	size_t count;
};

/* All lines; the findings follow the facts. */
struct report {
	struct ibsa_fabric *fabric;
	struct fact *facts;
	size_t count;
	size_t finding_count;
	struct group *shown; /* findings that have a row */
	size_t shown_count;
};

/*
 * Write a line. The table has columns for findings only if there are findings;
 * the JSON output always has their members.
 */
static void fact_cells(struct out *out, const struct report *report,
		       const struct fact *fact)
{
	out_text(out, "what", fact->what);
	out_text(out, "kind", fact->kind);
	out_count(out, "count", fact->count);
	if (report->finding_count == 0 && !out_is_data(out))
		return;
	out_none(out, "file");
	out_none(out, "line");
	out_none(out, "text");
}

static void finding_cells(struct out *out,
			  const struct ibsa_fabric_finding *finding,
			  size_t count)
{
	out_text(out, "what", "finding");
	out_text(out, "kind", finding->name);
	out_count(out, "count", count);
	out_text(out, "file", finding->file);
	out_count(out, "line", finding->line);
	out_text(out, "text", finding->what.text);
}

static void report_row(struct out *out, size_t index, void *arg)
{
	const struct report *report = arg;
	struct ibsa_fabric_finding finding;

	if (index < report->count) {
		fact_cells(out, report, &report->facts[index]);
		return;
	}
	index -= report->count;
	if (ibsa_fabric_finding_at(report->fabric, report->shown[index].first,
				   &finding) == 0)
		finding_cells(out, &finding, report->shown[index].count);
}

/*
 * Collect the findings. For a table, only the first finding of each kind gets
 * a row, with the number of findings of this kind; otherwise each finding gets
 * a row.
 */
static int count_findings(struct report *report, bool is_table)
{
	struct ibsa_fabric_finding finding;

	while (ibsa_fabric_finding_at(report->fabric, report->finding_count,
				      &finding) == 0) {
		struct group *more;
		size_t i = is_table ? 0 : report->shown_count;

		while (i < report->shown_count &&
		       report->shown[i].kind != finding.kind)
			i++;
		if (i == report->shown_count) {
			more = reallocarray(report->shown, i + 1,
					    sizeof(*more));
			if (!more)
				return -1;
			report->shown = more;
			more[i] = (struct group){
				.kind = finding.kind,
				.first = report->finding_count,
			};
			report->shown_count++;
		}
		report->shown[i].count++;
		report->finding_count++;
	}
	return 0;
}

/* Count one more object of a kind; add a line for a new kind. */
static int fact_add(struct report *report, const char *what, const char *kind)
{
	struct fact *more;
	size_t i = 0;

	while (i < report->count && (strcmp(report->facts[i].what, what) != 0 ||
				     strcmp(report->facts[i].kind, kind) != 0))
		i++;
	if (i < report->count) {
		report->facts[i].count++;
		return 0;
	}
	more = reallocarray(report->facts, i + 1, sizeof(*more));
	if (!more)
		return -1;
	report->facts = more;
	more[i] = (struct fact){ .what = what, .count = 1 };
	snprintf(more[i].kind, KIND_TEXT, "%s", kind);
	report->count++;
	return 0;
}

/*
 * Count switches by level, their distance from the nearest adapter. In a chain
 * of switches, each switch has a level of its own.
 */
static int count_switches(struct report *report,
			  const struct topology_view *view)
{
	size_t *counts = calloc(view->info.levels + 1, sizeof(*counts));
	int err = counts ? 0 : -1;

	for (size_t i = 0; i < view->info.nodes && !err; i++)
		counts[topology_view_node(view, i).level]++;
	for (unsigned int i = 1; i <= view->info.levels && !err; i++) {
		char kind[KIND_TEXT];

		snprintf(kind, sizeof(kind), "level %u", i);
		if (counts[i] == 0)
			continue;
		err = fact_add(report, "switch", kind);
		if (!err)
			report->facts[report->count - 1].count = counts[i];
	}
	free(counts);
	return err;
}

static int count_end(struct report *report, size_t node, unsigned int port,
		     const struct ibsa_fabric_end *end)
{
	char rate[KIND_TEXT];
	int err = 0;

	if (end->file_lid)
		err = fact_add(report, "LID", "of the file");
	/* Each cable is counted at only one of its ends. */
	if (err || !end->has_cable || end->far_node < node ||
	    (end->far_node == node && end->far_port < port))
		return err;
	snprintf(rate, sizeof(rate), "%ux%s", end->lanes, end->speed);
	return fact_add(report, "link", rate);
}

static int count_ends(struct report *report)
{
	struct ibsa_fabric_node node;
	struct ibsa_fabric_end end;
	int err = 0;

	for (size_t i = 0;
	     !err && ibsa_fabric_node_at(report->fabric, i, &node) == 0; i++)
		for (unsigned int port = 0; !err && port <= node.port_count;
		     port++)
			if (ibsa_fabric_end_at(report->fabric, i, port, &end) ==
			    0)
				err = count_end(report, i, port, &end);
	return err;
}

static int count_nodes(struct report *report, const struct topology_view *view)
{
	struct ibsa_fabric_node node;
	int err = 0;

	for (size_t i = 0;
	     !err && ibsa_fabric_node_at(report->fabric, i, &node) == 0; i++)
		if (node.type == IBSA_NODE_CA)
			err = fact_add(report, "node", "adapter");
		else if (node.type == IBSA_NODE_SWITCH)
			err = fact_add(report, "node", "switch");
		else
			err = fact_add(report, "node", "router");
	if (!err)
		err = count_switches(report, view);
	return err ? err : count_ends(report);
}

static int judge(const struct cli *cli, size_t findings)
{
	if (findings == 0)
		return CLI_DONE;
	return fail_no(
		"%s: %zu %s; for the meaning, see \"fabric info\" in ibsa(8)",
		cli->args[2], findings, findings == 1 ? "finding" : "findings");
}

static int facts_print(struct cli *cli, struct ibsa_fabric *fabric,
		       const struct topology_view *view)
{
	struct report report = { .fabric = fabric };
	int status = CLI_DEVICE;

	if (count_findings(&report, out_is_brief(&cli->out)) ||
	    count_nodes(&report, view)) {
		complain("out of memory");
	} else {
		if (!draw_is_output(cli))
			out_rows(&cli->out, report.count + report.shown_count,
				 report_row, &report);
		status = judge(cli, report.finding_count);
	}
	free(report.facts);
	free(report.shown);
	return status;
}

static int fabric_show(struct cli *cli, struct ibsa_fabric *fabric)
{
	struct topology_view view = { .topology = NULL };
	int status = CLI_DEVICE;

	if (ibsa_topology_copy(fabric, &view.topology) != 0)
		complain("out of memory");
	else
		status = topology_view_prepare(&view);
	if (status == CLI_DONE && draw_is_output(cli))
		status = draw(cli, fabric_draws_all(cli), &view);
	if (status == CLI_DONE)
		status = facts_print(cli, fabric, &view);
	topology_view_free(&view);
	return status;
}

int fabric_info(struct cli *cli)
{
	const struct ibsa_fabric_options options = { .check = true };
	struct ibsa_fabric *fabric;
	int status = columns_use(cli, &columns_fabric_info);

	if (status == CLI_DONE)
		status = draw_check(cli, fabric_draws_all(cli));
	if (status == CLI_DONE)
		status = fabric_read(cli, &options, &fabric);
	if (status != CLI_DONE)
		return status;
	status = fabric_show(cli, fabric);
	ibsa_fabric_put(fabric);
	return status;
}
