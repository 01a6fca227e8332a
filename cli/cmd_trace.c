/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa trace: the switches and ports of a path, by the forwarding tables. */
#include <stdlib.h>

#include <ibsa/reason.h>
#include <ibsa/sa.h>
#include <ibsa/trace.h>

#include "columns.h"
#include "ends.h"
#include "fields.h"
#include "node_map.h"
#include "query_wait.h"
#include "topology.h"

void cmd_trace_details(struct cli *cli)
{
	static const char *const lines[] = {
		"SRC and DST are one of",
		TARGET_LINES,
		"The note \"narrowest\" marks the links with the lowest rate. If "
		"the tables",
		"of the switches do not lead to DST, the last line tells where "
		"and why.",
		"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		out_line(&cli->out, "%s", lines[i]);
}

/* A row: a link of a trace, or where and why it ended. */
struct row {
	uint32_t slid;
	uint32_t dlid;
	unsigned int number;
	struct ibsa_trace_hop hop;
	const char *end; /* NULL: a link */
};

/**
 * struct traces - all rows
 * @view:    the topology; read with the first path
 * @blocks:  forwarding tables: the block of the path's DLID, of all switches
 */
struct traces {
	struct topology_view view;
	struct row *all;
	size_t count;
	struct ibsa_lft *blocks;
	size_t block_count;
};

static void text_cell(struct out *out, const char *name, const char *text)
{
	out_text_or_none(out, name, text && *text ? text : NULL);
}

static void peer_cells(struct out *out, const struct traces *traces,
		       const struct row *row)
{
	if (row->end) {
		out_none(out, "peer");
		out_none(out, "peer_port");
		return;
	}
	text_cell(out, "peer",
		  topology_view_node(&traces->view, row->hop.far_node).name);
	out_count(out, "peer_port", row->hop.far_port);
}

static void link_cells(struct out *out, const struct row *row,
		       const struct ibsa_topology_port *port)
{
	const struct ibsa_port_info info = { .neighbor_mtu = port->mtu };
	char width[16] = "";

	if (!row->end && port->lanes)
		snprintf(width, sizeof(width), "%ux", port->lanes);
	text_cell(out, "width", width);
	text_cell(out, "speed", row->end ? "" : port->speed);
	if (row->end || !port->mtu)
		out_no_code(out, "mtu");
	else
		fields_named_as(out, "mtu", &ibsa_port_info_record,
				"neighbor_mtu", &info);
}

static void peer_guid_cells(struct out *out, const struct topology_view *view,
			    const struct row *row)
{
	const struct ibsa_topology_node peer =
		topology_view_node(view, row->hop.far_node);
	const unsigned int end = peer.type == IBSA_NODE_SWITCH
					 ? 0
					 : row->hop.far_port;

	if (row->end) {
		out_none(out, "peer_node_guid");
		out_none(out, "peer_port_guid");
		return;
	}
	fields_guid(out, "peer_node_guid", peer.guid);
	fields_guid(out, "peer_port_guid",
		    topology_view_port(view, row->hop.far_node, end).guid);
}

static void trace_row(struct out *out, size_t index, void *arg)
{
	const struct traces *traces = arg;
	const struct topology_view *view = &traces->view;
	const struct row *row = &traces->all[index];
	const struct ibsa_topology_node node =
		topology_view_node(view, row->hop.node);
	const struct ibsa_topology_port port =
		topology_view_port(view, row->hop.node, row->hop.port);
	const struct ibsa_path path = { .rate = port.rate };

	out_count(out, "hop", row->number);
	text_cell(out, "node", node.name);
	out_count(out, "port", row->hop.port);
	peer_cells(out, traces, row);
	link_cells(out, row, &port);
	text_cell(out, "note", row->hop.is_narrowest ? "narrowest" : row->end);
	if (out_is_brief(out))
		return;
	out_count(out, "slid", row->slid);
	out_count(out, "dlid", row->dlid);
	if (row->end || !port.rate)
		out_no_code(out, "rate");
	else
		fields_named_as(out, "rate", &ibsa_path_record, "rate", &path);
	out_count(out, "narrowest", row->hop.is_narrowest);
	fields_guid(out, "node_guid", node.guid);
	peer_guid_cells(out, view, row);
}

static int no_memory(void)
{
	complain("out of memory");
	return CLI_DEVICE;
}

static int path_decode(struct cli *cli, const struct ibsa_reply *reply,
		       void *arg)
{
	(void)cli;
	return ibsa_reply_decode(reply, 0, arg) ? CLI_SILENT : CLI_DONE;
}

/* Query the path of a pair. Return: the exit status; a failure is printed. */
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
	int status = query_wait(cli, &query, path_decode, out);

	if (status != CLI_NO)
		return status;
	(void)!ibsa_reason_wait(cli->client, &query, &reason);
	complain("no path from %s to %s: %s", cli->args[1], cli->args[2],
		 reason.detail);
	return status;
}

static int blocks_decode(struct cli *cli, const struct ibsa_reply *reply,
			 void *arg)
{
	struct traces *traces = arg;

	(void)cli;
	traces->blocks = calloc(reply->count, sizeof(*traces->blocks));
	if (!traces->blocks)
		return no_memory();
	for (size_t i = 0; i < reply->count; i++)
		traces->block_count += !ibsa_reply_decode(
			reply, i, &traces->blocks[traces->block_count]);
	return CLI_DONE;
}

/* Query the tables' block of a LID, of all switches at once. */
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
	int status;

	free(traces->blocks);
	traces->blocks = NULL;
	traces->block_count = 0;
	status = query_wait(cli, &query, blocks_decode, traces);
	/* Without records, the trace itself tells that there is no table. */
	return status == CLI_NO ? CLI_DONE : status;
}

static int rows_add(struct traces *traces, const struct ibsa_path *path,
		    const struct ibsa_trace *trace)
{
	struct row *all = reallocarray(
		traces->all, traces->count + trace->count + 1, sizeof(*all));

	if (!all)
		return no_memory();
	traces->all = all;
	for (size_t i = 0; i <= trace->count; i++) {
		struct row row = {
			.slid = path->slid,
			.dlid = path->dlid,
			.number = (unsigned int)i + 1,
		};

		if (i < trace->count) {
			row.hop = trace->hops[i];
		} else if (trace->end == IBSA_TRACE_REACHED) {
			return CLI_DONE;
		} else {
			row.hop.node = trace->node;
			row.hop.port = trace->port;
			row.end = ibsa_trace_end_text(trace->end);
		}
		all[traces->count++] = row;
	}
	return CLI_NO;
}

static int pair_trace(struct cli *cli, struct traces *traces,
		      const struct end *src, const struct end *dst)
{
	struct ibsa_trace trace;
	struct ibsa_path path;
	int status = path_find(cli, src, dst, &path);

	if (status == CLI_DONE && !traces->view.topology) {
		status = topology_read(cli, &traces->view.topology);
		if (status == CLI_DONE)
			status = topology_view_prepare(&traces->view);
	}
	if (status == CLI_DONE)
		status = blocks_read(cli, path.dlid, traces);
	if (status != CLI_DONE)
		return status;
	if (ibsa_topology_trace(traces->view.topology, path.slid, path.dlid,
				traces->blocks, traces->block_count, &trace)) {
		complain("the SA has no node with the LID %u or %u; the fabric "
			 "may have changed: try again",
			 path.slid, path.dlid);
		return CLI_SILENT;
	}
	status = rows_add(traces, &path, &trace);
	if (status == CLI_NO)
		complain("the forwarding tables do not lead from LID %u to "
			 "LID %u: %s",
			 path.slid, path.dlid, ibsa_trace_end_text(trace.end));
	return status;
}

/* Trace all pairs, also after a pair that has no trace. */
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

static int targets_parse(struct cli *cli, struct target targets[2])
{
	struct ibsa_error error;

	if (cli->arg_count != 3) {
		complain("trace needs SRC and DST; see ibsa trace --help");
		return CLI_USAGE;
	}
	for (int i = 0; i < 2; i++) {
		if (target_parse(cli->args[i + 1], &targets[i], &error) == 0)
			continue;
		complain("%s", error.text);
		return CLI_USAGE;
	}
	return CLI_DONE;
}

int cmd_trace(struct cli *cli)
{
	struct traces traces = { .count = 0 };
	struct ends ends[2] = { { .count = 0 } };
	struct target targets[2];
	int status = columns_use(cli, &columns_trace);

	if (status == CLI_DONE)
		status = targets_parse(cli, targets);
	if (status == CLI_DONE && cli->topology.name_map)
		status = node_map_read(cli->topology.name_map,
				       &traces.view.map);
	for (int i = 0; i < 2 && status == CLI_DONE; i++)
		status = ends_find(cli, &targets[i], &ends[i]);
	if (status == CLI_DONE)
		status = pairs_trace(cli, &traces, &ends[0], &ends[1]);
	if (status == CLI_DONE || status == CLI_NO)
		out_rows(&cli->out, traces.count, trace_row, &traces);
	topology_view_free(&traces.view);
	free(traces.all);
	free(traces.blocks);
	ends_free(&ends[0]);
	ends_free(&ends[1]);
	return status;
}
