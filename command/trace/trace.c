/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa trace: prints the switches and ports of a path, by the switches'
 * forwarding tables.
 */
#include <stdlib.h>

#include "base/list.h"
#include "output/column_table.h"
#include "output/fields.h"
#include "graph/expected.h"
#include "graph/rails.h"
#include "names/node_map.h"
#include "session/query_wait.h"
#include "trace/trace.h"
#include "options/command.h"
#include "options/shared.h"

static void peer_cells(struct out *out, const struct traces *traces,
		       const struct trace_row *row)
{
	if (row->has_no_link) {
		out_none(out, "peer");
		out_none(out, "peer_port");
		return;
	}
	out_text_if_any(
		out, "peer",
		topology_view_node(&traces->view, row->hop.far_node).name);
	out_count(out, "peer_port", row->hop.far_port);
}

static void link_cells(struct out *out, const struct trace_row *row,
		       const struct ibsa_topology_port *port)
{
	const struct ibsa_port_info info = { .neighbor_mtu = port->mtu };
	char width[16] = "";

	if (!row->has_no_link && port->lanes)
		snprintf(width, sizeof(width), "%ux", port->lanes);
	out_text_if_any(out, "width", width);
	out_text_if_any(out, "speed", row->has_no_link ? "" : port->speed);
	if (row->has_no_link || !port->mtu)
		out_no_code(out, "mtu");
	else
		fields_named_as(out, "mtu", &ibsa_port_info_record,
				"neighbor_mtu", &info);
}

static void peer_guid_cells(struct out *out, const struct topology_view *view,
			    const struct trace_row *row)
{
	const struct ibsa_topology_node peer =
		topology_view_node(view, row->hop.far_node);
	const unsigned int end = peer.type == IBSA_NODE_SWITCH
					 ? 0
					 : row->hop.far_port;

	if (row->has_no_link) {
		out_none(out, "peer_node_guid");
		out_none(out, "peer_port_guid");
		return;
	}
	fields_guid(out, "peer_node_guid", peer.guid);
	fields_guid(out, "peer_port_guid",
		    topology_view_port(view, row->hop.far_node, end).guid);
}

static void row_write(struct out *out, size_t index, void *arg)
{
	const struct traces *traces = arg;
	const struct topology_view *view = &traces->view;
	const struct trace_row *row = &traces->all[index];
	const struct ibsa_topology_node node =
		topology_view_node(view, row->hop.node);
	const struct ibsa_topology_port port =
		topology_view_port(view, row->hop.node, row->hop.port);
	const struct ibsa_path path = { .rate = port.rate };

	out_count(out, "hop", row->number);
	out_text_if_any(out, "node", node.name);
	out_count(out, "port", row->hop.port);
	peer_cells(out, traces, row);
	link_cells(out, row, &port);
	out_text_if_any(out, "note",
			row->rail		? row->rail
			: row->hop.is_narrowest ? "narrowest"
						: row->end);
	if (out_is_brief(out))
		return;
	out_count_or_none(out, "slid", row->slid, row->slid);
	out_count(out, "dlid", row->dlid);
	if (row->has_no_link || !port.rate)
		out_no_code(out, "rate");
	else
		fields_named_as(out, "rate", &ibsa_path_record, "rate", &path);
	out_count(out, "narrowest", row->hop.is_narrowest);
	fields_guid(out, "node_guid", node.guid);
	peer_guid_cells(out, view, row);
}

/*
 * Query the path between a pair of ports. Return: the exit status; a failure
 * is printed.
 */
static int path_find(struct cli *cli, const struct end *src,
		     const struct end *dst, struct ibsa_path *out)
{
	const struct ibsa_path match = {
		.sgid = src->gid,
		.slid = (uint16_t)src->lid,
		.dgid = dst->gid,
		.dlid = (uint16_t)dst->lid,
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path) |
			(src->lid ? IBSA_PATH_CM(slid) : IBSA_PATH_CM(sgid)) |
			(dst->lid ? IBSA_PATH_CM(dlid) : IBSA_PATH_CM(dgid)),
	};
	struct ibsa_reason reason = { .detail = "" };
	struct ibsa_stats before;
	int status = query_wait(cli, &query, record_take, out);

	if (status != CLI_NO)
		return status;
	ibsa_stats_get(cli->client, &before);
	(void)!ibsa_reason_wait(cli->client, &query, &reason);
	queries_print(cli, "reason", &before);
	complain("no path from %s to %s%s%s", cli->args[1], cli->args[2],
		 reason.detail[0] ? ": " : "", reason.detail);
	return status;
}

/*
 * Query the forwarding table blocks that contain a LID, of all switches in one
 * query.
 */
static int blocks_read(struct cli *cli, uint32_t dlid, struct traces *traces)
{
	const struct ibsa_lft match = {
		.block_num = (uint16_t)(dlid / IBSA_LFT_BLOCK_LIDS),
	};
	const struct ibsa_query query = {
		.record = &ibsa_lft_record,
		.match = &match,
		.mask = IBSA_LFT_CM(block_num),
		.method = IBSA_METHOD_GET_TABLE,
	};

	free(traces->blocks);
	/*
	 * If the SA has no records, the trace itself tells that a switch has
	 * no table.
	 */
	return records_query(cli, &query, &traces->blocks,
			     &traces->block_count);
}

int trace_row_add(struct traces *traces, const struct trace_row *row)
{
	return list_put(&traces->all, &traces->count, row, sizeof(*row));
}

static int rows_add(struct traces *traces, const struct ibsa_path *path,
		    const struct ibsa_trace *trace)
{
	const bool is_whole = trace->end == IBSA_TRACE_REACHED;
	int status = CLI_DONE;

	for (size_t i = 0; i < trace->count + !is_whole; i++) {
		struct trace_row row = {
			.slid = path->slid,
			.dlid = path->dlid,
			.number = (unsigned int)i + 1,
		};

		if (i < trace->count) {
			row.hop = *ibsa_trace_hop_at(trace, i);
		} else {
			row.hop.node = trace->node;
			row.hop.port = trace->port;
			row.end = ibsa_trace_end_text(trace->end);
			row.has_no_link = true;
		}
		status = trace_row_add(traces, &row);
		if (status != CLI_DONE)
			return status;
	}
	return is_whole ? CLI_DONE : CLI_NO;
}

int trace_topology_read(struct cli *cli, struct traces *traces)
{
	int status;

	if (traces->view.topology)
		return CLI_DONE;
	status = topology_read(cli, &traces->view.topology);
	return status == CLI_DONE ? topology_view_prepare(&traces->view)
				  : status;
}

/*
 * Query the path between a pair of ports. A path with a LID of more than 16
 * bits is refused, because the forwarding table records have no room for it;
 * its slid and dlid are 0. Source: Linux, sa_convert_path_opa_to_ib().
 */
static int short_path_find(struct cli *cli, const struct end *src,
			   const struct end *dst, struct ibsa_path *out)
{
	const int status = path_find(cli, src, dst, out);

	if (status != CLI_DONE || (out->slid && out->dlid))
		return status;
	return fail_no("cannot trace from %s to %s: trace works with LIDs up "
		       "to %u only, and a port of this path has a longer one",
		       cli->args[1], cli->args[2], IBSA_LID_UNICAST_MAX);
}

static int pair_trace(struct cli *cli, struct traces *traces,
		      const struct end *src, const struct end *dst)
{
	struct ibsa_trace *trace;
	struct ibsa_path path;
	int status = short_path_find(cli, src, dst, &path);

	if (status == CLI_DONE)
		status = trace_topology_read(cli, traces);
	if (status == CLI_DONE)
		status = blocks_read(cli, path.dlid, traces);
	if (status != CLI_DONE)
		return status;
	if (ibsa_topology_trace(traces->view.topology, path.slid, path.dlid,
				traces->blocks, traces->block_count, &trace))
		return fail_silent("the SA shows no node with the LID %u or "
				   "%u; the fabric may have changed: try "
				   "again",
				   path.slid, path.dlid);
	status = rows_add(traces, &path, trace);
	if (status == CLI_NO)
		complain("%s from LID %u to LID %u: %s",
			 trace->end == IBSA_TRACE_HIDDEN
				 ? "cannot trace the path"
				 : "the forwarding tables do not lead",
			 path.slid, path.dlid, ibsa_trace_end_text(trace->end));
	ibsa_trace_free(trace);
	return status;
}

/*
 * Trace the paths between all pairs; continue after a pair that has no trace.
 */
static int pairs_trace(struct cli *cli, struct traces *traces,
		       const struct ends *src, const struct ends *dst)
{
	const struct ends_pairs pairs = ends_pair(src, dst, false);
	int worst = CLI_DONE;

	for (size_t i = 0; i < src->count; i++) {
		for (size_t k = 0; k < dst->count; k++) {
			int status;

			if (!ends_has_pair(&pairs, &src->all[i], &dst->all[k]))
				continue;
			status = pair_trace(cli, traces, &src->all[i],
					    &dst->all[k]);
			if (status == CLI_NO)
				worst = CLI_NO;
			else if (status != CLI_DONE)
				return status;
		}
	}
	return worst;
}

/*
 * Refuse a multicast GID or LID as a target. Return: the exit status; a
 * failure is printed.
 */
static int target_check(const char *text, const struct target *target)
{
	const bool is_gid = target->kind == TARGET_GID &&
			    target->gid.raw[0] == 0xff;
	char clean[IBSA_VALUE_TEXT];

	if (!is_gid && (target->kind != TARGET_LID ||
			target->lid < IBSA_LID_MULTICAST_MIN))
		return CLI_DONE;
	return fail_usage("'%s' is a multicast %s, not a port; to show the "
			  "tree of a group, type: ibsa trace --group MGID",
			  fields_clean(text, clean), is_gid ? "GID" : "LID");
}

static int targets_parse(struct cli *cli, struct target targets[2])
{
	const int most = trace_own(cli)->group ? 2 : 3;
	struct ibsa_error error;
	int status = CLI_DONE;

	if (cli->arg_count > most ||
	    (!trace_own(cli)->group && cli->arg_count < 3))
		return fail_usage("trace needs SRC and DST; with --group MGID, "
				  "it takes at most SRC; see ibsa trace "
				  "--help");
	for (int i = 1; i < cli->arg_count && status == CLI_DONE; i++) {
		if (target_parse(cli->args[i], &targets[i - 1], &error) != 0)
			return fail_usage("%s", error.text);
		status = target_check(cli->args[i], &targets[i - 1]);
	}
	return status;
}

static int ends_trace(struct cli *cli, struct traces *traces,
		      const struct ends ends[2])
{
	if (trace_own(cli)->group)
		return trace_group(cli, traces, ends[0].all, ends[0].count);
	return pairs_trace(cli, traces, &ends[0], &ends[1]);
}

/* Note a finding about an adapter in the rows of its links. */
static void rail_note(struct traces *traces, const struct rail_finding *rail)
{
	size_t index;

	if (rail->kind == IBSA_FINDING_RAIL_MISSING ||
	    ibsa_topology_node_find(traces->view.topology, rail->node_guid,
				    &index) != 0)
		return;
	for (size_t i = 0; i < traces->count; i++) {
		struct trace_row *row = &traces->all[i];

		if (row->hop.node == index ||
		    (!row->has_no_link && row->hop.far_node == index))
			row->rail = rail->name;
	}
}

/* Print the findings about the rails of the hosts, and note them in the rows. */
static void rails_note(struct traces *traces, const struct ends ends[2])
{
	struct rails rails = { .is_borrowed = true };
	struct rail_finding rail;
	char told[HOST_TEXT] = "";
	char host[HOST_TEXT];

	if (!traces->view.topology ||
	    rails_use(traces->view.topology, &rails) != CLI_DONE)
		return;
	for (int i = 0; i < 2; i++) {
		size_t index = 0;

		if (!ends[i].count)
			continue;
		(void)host_of(ends[i].all[0].node, host);
		if (strcmp(host, told) == 0)
			continue;
		strcpy(told, host);
		rails_print(&rails, host);
		while (rails_next(&rails, host, &index, &rail))
			rail_note(traces, &rail);
	}
}

/* If a name that no node has is that of a missing rail, print the finding. */
static void rail_explain(struct cli *cli, const char *name)
{
	struct nodes nodes = { .count = 0 };
	struct rails rails = { .topology = NULL };
	struct rail_finding rail;
	char host[HOST_TEXT];

	if (nodes_read(cli, &nodes) == CLI_DONE &&
	    rails_read(cli->client, &nodes, &rails) == CLI_DONE &&
	    rails_find_missing(&rails, name, host, &rail))
		complain("%s: %s", rail.name, rail.what.text);
	rails_free(&rails);
	nodes_free(&nodes);
}

/* Find the ports of an end; if its name is absent, tell where it should be. */
static int end_find(struct cli *cli, struct expected *expected,
		    const struct target *target, struct ends *out)
{
	const int status = ends_find(cli, NULL, target, out);

	if (status == CLI_NO && !expected->topology &&
	    target->kind == TARGET_NAME && strchr(target->name, '/'))
		rail_explain(cli, target->name);
	if (status == CLI_NO && cli->names.is_absence_told &&
	    !expected_tell(cli, expected, target->name, NULL, NULL))
		name_absent_explain(cli, "", target->name);
	return status;
}

/* clang-format off */
static const struct column trace_list[] = {
	ALWAYS("hop", NUMBER),
	MAYBE("node", TEXT),
	ALWAYS("port", NUMBER),
	MAYBE("peer", TEXT),
	MAYBE("peer_port", NUMBER),
	MAYBE_WORDS("width", WIDTH_WORDS),
	MAYBE_WORDS("speed", SPEED_WORDS),
	FIELD("mtu", port_info, "neighbor_mtu"),
	MAYBE("note", TEXT),
	MAYBE("slid", NUMBER),
	ALWAYS("dlid", NUMBER),
	FIELD("rate", path, "rate"),
	ALWAYS("narrowest", NUMBER),
	ALWAYS("node_guid", GUID),
	MAYBE("peer_node_guid", GUID),
	MAYBE("peer_port_guid", GUID),
};
/* clang-format on */

static const struct columns columns_trace = COLUMN_TABLE("trace", trace_list);

static int cmd_trace(struct cli *cli)
{
	struct traces traces = { .count = 0 };
	struct ends ends[2] = { { .count = 0 } };
	struct expected expected = { .count = 0 };
	struct target targets[2];
	int status = columns_use(cli, &columns_trace);

	if (status == CLI_DONE)
		status = targets_parse(cli, targets);
	if (status == CLI_DONE)
		status = node_map_read(cli);
	traces.view.map = cli->names.map;
	if (status == CLI_DONE)
		status = expected_read(cli, trace_own(cli)->expect, &expected);
	for (int i = 1; i < cli->arg_count && status == CLI_DONE; i++)
		status = end_find(cli, &expected, &targets[i - 1],
				  &ends[i - 1]);
	if (status == CLI_DONE)
		status = ends_trace(cli, &traces, ends);
	if (status == CLI_DONE || status == CLI_NO)
		rails_note(&traces, ends);
	if (status == CLI_DONE || status == CLI_NO)
		out_rows(&cli->out, traces.count, row_write, &traces);
	topology_view_free(&traces.view);
	free(traces.all);
	free(traces.blocks);
	expected_free(&expected);
	ends_free(&ends[0]);
	ends_free(&ends[1]);
	return status;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_EXPECTED(struct trace_options, expect),
	{ 0, "group", "MGID", "the tree of a multicast group",
	  OPTION_AT(struct trace_options, group) },
};

static const struct option_table table =
	OPTION_TABLE(rows, struct trace_options);

const struct command command_trace = {
	.name = "trace",
	.arguments = "SRC DST|--group MGID [SRC]",
	.help = "show the switches and ports of a path",
	.options = &table,
	.groups = GROUP_ALL | GROUP_NAMES | GROUP_RECORD,
	.columns = (const struct columns *const[]){ &columns_trace, NULL },
	.run = cmd_trace,
	.text =
	"SRC and DST are one of\n"
	TARGET_TEXT
	"The note \"narrowest\" marks the links with the lowest rate. --group\n"
	"MGID: the links from SRC to the group, or all links of its tree.\n",
};
/* clang-format on */
