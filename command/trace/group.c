/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa trace --group: prints the tree of a multicast group. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "output/fields.h"
#include "session/query_wait.h"
#include "trace/trace.h"

enum { BLOCK_LIDS = 32 };

/* The MulticastForwardingTableRecords that the SA returned, decoded. */
struct tables {
	struct ibsa_mft *all;
	size_t count;
};

/* Find the group's multicast LID. */
static int group_find(struct cli *cli, struct ibsa_mcmember *out)
{
	struct ibsa_mcmember match = { .join_state = 0 };
	const struct ibsa_query query = {
		.record = &ibsa_mcmember_record,
		.match = &match,
		.mask = IBSA_MCMEMBER_CM(mgid),
		.method = IBSA_METHOD_GET_TABLE,
	};
	int status;

	if (ibsa_gid_parse(trace_own(cli)->group, &match.mgid) ||
	    match.mgid.raw[0] != 0xff)
		return fail_usage("--group: '%s' is not a multicast GID",
				  trace_own(cli)->group);
	status = query_wait(cli, &query, record_take, out);
	if (status == CLI_NO)
		complain("the SA shows no group %s; list the groups with: ibsa "
			 "query table MCMemberRecord",
			 trace_own(cli)->group);
	return status;
}

/*
 * Query the blocks of the multicast forwarding tables that contain the group,
 * of all switches in one query.
 */
static int tables_read(struct cli *cli, uint32_t mlid, struct tables *out)
{
	const struct ibsa_mft match = {
		.block_num = (uint16_t)((mlid - IBSA_LID_MULTICAST_MIN) /
					BLOCK_LIDS),
	};
	const struct ibsa_query query = {
		.record = &ibsa_mft_record,
		.match = &match,
		.mask = IBSA_MFT_CM(block_num),
		.method = IBSA_METHOD_GET_TABLE,
	};

	return records_query(cli, &query, &out->all, &out->count);
}

static int branches_add(struct traces *traces, uint32_t slid, uint32_t mlid,
			const struct ibsa_trace_tree *tree, size_t count)
{
	int worst = CLI_DONE;

	for (size_t i = 0; i < count; i++) {
		const struct ibsa_trace_branch *branch =
			ibsa_trace_branch_at(tree, i);
		const bool is_link = branch->end == IBSA_TRACE_REACHED ||
				     branch->end == IBSA_TRACE_LOOP;
		const struct trace_row row = {
			.slid = slid,
			.dlid = mlid,
			.number = branch->depth,
			.hop = { .node = branch->node,
				 .port = branch->port,
				 .far_node = branch->far_node,
				 .far_port = branch->far_port },
			.end = branch->end == IBSA_TRACE_REACHED
				       ? NULL
				       : ibsa_trace_end_text(branch->end),
			.has_no_link = !is_link,
		};

		if (row.end)
			worst = CLI_NO;
		if (trace_row_add(traces, &row) != CLI_DONE)
			return CLI_DEVICE;
	}
	return worst;
}

/*
 * Return: the LID of @end, or the LID of the port with its GUID; 0 after a
 * message if there is no such port.
 */
static uint32_t lid_of(const struct traces *traces, const struct end *end)
{
	const uint64_t guid = ibsa_be64(end->gid.raw + 8);

	if (end->lid)
		return end->lid;
	for (size_t i = 0; i < traces->view.info.nodes; i++) {
		for (unsigned int k = 0; k <= UINT8_MAX; k++) {
			const struct ibsa_topology_port port =
				topology_view_port(&traces->view, i, k);

			if (port.lid && port.guid == guid)
				return port.lid;
		}
	}
	complain("the SA shows no port with the GUID 0x%016" PRIx64
		 " of the source",
		 guid);
	return 0;
}

/*
 * Whether the first switch has no entry for the group, so that the tree has no
 * other switch. The first switch is the source itself or the switch to which
 * the source is connected. @out: receives the number of branches up to and with
 * the first switch
 */
static bool ends_at_source(const struct traces *traces,
			   const struct ibsa_trace_tree *tree, size_t *out)
{
	size_t at = 0;

	if (tree->count &&
	    topology_view_node(&traces->view,
			       ibsa_trace_branch_at(tree, 0)->node)
			    .type != IBSA_NODE_SWITCH)
		at = 1; /* after the link of the source */
	*out = at + 1;
	return at < tree->count &&
	       ibsa_trace_branch_at(tree, at)->end == IBSA_TRACE_NO_ENTRY;
}

/*
 * Print that the tables do not form a tree. @has_hole: the first switch (see
 * ends_at_source()) has no entry for the group.
 */
static void gap_print(const struct cli *cli, uint32_t mlid, bool has_hole)
{
	char text[IBSA_VALUE_TEXT];

	if (has_hole)
		complain("no packet from %s reaches the group: the first "
			 "switch has no entry for LID 0x%04x that leads to "
			 "another port",
			 fields_clean(cli->args[1], text), mlid);
	else
		complain("the table entries for multicast LID 0x%04x do not "
			 "form a tree: see the notes in the rows",
			 mlid);
}

static int tree_add(const struct cli *cli, struct traces *traces, uint32_t slid,
		    uint32_t mlid, const struct tables *tables)
{
	struct ibsa_trace_tree *tree = NULL;
	size_t branches;
	bool has_hole;
	const int err = ibsa_topology_trace_group(traces->view.topology, slid,
						  mlid, tables->all,
						  tables->count, &tree);
	int status;

	if (err == -ENOMEM)
		return no_memory();
	if (err)
		return fail_silent("cannot trace from LID %u to the group with "
				   "LID 0x%04x: the SA shows no port with LID "
				   "%u",
				   slid, mlid, slid);
	if (tree->count == 0)
		complain("no switch forwards packets of group %s; a group "
			 "without members has no tree",
			 trace_own(cli)->group);
	has_hole = slid && ends_at_source(traces, tree, &branches);
	status = branches_add(traces, slid, mlid, tree,
			      has_hole ? branches : tree->count);
	if (status == CLI_NO)
		gap_print(cli, mlid, has_hole);
	ibsa_trace_tree_free(tree);
	return status;
}

int trace_group(struct cli *cli, struct traces *traces, const struct end *from,
		size_t count)
{
	struct ibsa_mcmember group = { .mlid = 0 };
	struct tables tables = { .count = 0 };
	uint32_t slid = 0;
	int status = group_find(cli, &group);

	if (status == CLI_DONE)
		status = trace_topology_read(cli, traces);
	if (status == CLI_DONE && count) {
		slid = lid_of(traces, from);
		status = slid ? CLI_DONE : CLI_NO;
	}
	if (status == CLI_DONE && group.mlid < IBSA_LID_MULTICAST_MIN) {
		complain("the SA gives group %s the LID 0x%04x, which is not a "
			 "multicast LID",
			 trace_own(cli)->group, group.mlid);
		status = CLI_SILENT;
	}
	if (status == CLI_DONE)
		status = tables_read(cli, group.mlid, &tables);
	if (status == CLI_DONE)
		status = tree_add(cli, traces, slid, group.mlid, &tables);
	free(tables.all);
	return status;
}
