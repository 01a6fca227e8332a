/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads an expected topology. From the output of ibsa topology -j, this file
 * makes SA records for which ibsa topology -j would write the same output. The
 * LIDs in these records are arbitrary: they are not compared, and the output
 * for a topology file may have none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/types.h>

#include "graph/expect_rows.h"
#include "graph/topology.h"

struct expect {
	const char *path;
	struct expect_rows rows;
	struct ibsa_topology *topology;
};

static int no_memory(void)
{
	complain("out of memory");
	return CLI_DEVICE;
}

/*
 * Compare two ends by the NodeRecord that they belong to: a switch has one
 * NodeRecord, an adapter one for each port.
 */
static int by_record(const void *a, const void *b)
{
	const struct end *x = *(struct end *const *)a;
	const struct end *y = *(struct end *const *)b;

	if (x->node_guid != y->node_guid)
		return x->node_guid < y->node_guid ? -1 : 1;
	if (x->node_type == IBSA_NODE_SWITCH && x->node_type == y->node_type)
		return 0;
	return (x->port > y->port) - (x->port < y->port);
}

static int node_add(struct expect *expect, const struct end *end)
{
	struct ibsa_node node = {
		.lid = end->lid,
		.node_type = end->node_type,
		.num_ports = end->num_ports,
		.node_guid = end->node_guid,
		.port_guid = end->port_guid,
		.local_port_num = end->port,
	};

	memcpy(node.node_description, end->name, sizeof(end->name));
	return ibsa_topology_add(expect->topology, &ibsa_node_record, &node,
				 sizeof(node));
}

/*
 * Add the NodeRecords of all ends to the topology. Return: 0; -ENOMEM; or
 * -ERANGE there are more ends than LIDs.
 */
static int nodes_add(struct expect *expect)
{
	struct end **ends = calloc(2 * expect->rows.count + 1,
				   sizeof(struct end *));
	size_t count = 0;
	uint32_t lid = 0;
	int err = ends ? 0 : -ENOMEM;

	for (size_t i = 0; i < expect->rows.count && !err; i++) {
		ends[count++] = &expect->rows.all[i].ends[0];
		if (expect->rows.all[i].count)
			ends[count++] = &expect->rows.all[i].ends[1];
	}
	if (count)
		qsort(ends, count, sizeof(struct end *), by_record);
	for (size_t i = 0; i < count && !err; i++) {
		const bool is_first = i == 0 ||
				      by_record(&ends[i - 1], &ends[i]) != 0;

		lid += is_first;
		ends[i]->lid = (uint16_t)lid;
		if (lid > UINT16_MAX)
			err = -ERANGE;
		else if (is_first)
			err = node_add(expect, ends[i]);
	}
	free(ends);
	return err;
}

static int port_add(struct expect *expect, const struct row *row, int index)
{
	const struct end *end = &row->ends[index];
	const bool is_switch = end->node_type == IBSA_NODE_SWITCH;
	const struct ibsa_port_info port = {
		.endport_lid = end->lid,
		.port_num = end->port,
		.lid = is_switch ? 0 : end->lid,
		.link_width_active = row->width,
		.link_speed_active = row->speed.bit,
		.link_speed_ext_active = row->speed.ext,
		.link_speed_ext_active2 = row->speed.ext2,
	};

	return ibsa_topology_add(expect->topology, &ibsa_port_info_record,
				 &port, sizeof(port));
}

static int link_add(struct expect *expect, const struct end *from,
		    const struct end *to)
{
	const struct ibsa_link link = {
		.from_lid = from->lid,
		.from_port = from->port,
		.to_lid = to->lid,
		.to_port = to->port,
	};

	return ibsa_topology_add(expect->topology, &ibsa_link_record, &link,
				 sizeof(link));
}

static int link_row_add(struct expect *expect, const struct row *row)
{
	int err;

	if (!row->count)
		return 0;
	err = port_add(expect, row, 0);
	if (!err)
		err = port_add(expect, row, 1);
	if (!err)
		err = link_add(expect, &row->ends[0], &row->ends[1]);
	if (!err && row->count > 1)
		err = link_add(expect, &row->ends[1], &row->ends[0]);
	return err;
}

static int topology_make(struct expect *expect, struct ibsa_topology **out)
{
	int err = ibsa_topology_new(&expect->topology);

	if (!err)
		err = nodes_add(expect);
	for (size_t i = 0; i < expect->rows.count && !err; i++)
		err = link_row_add(expect, &expect->rows.all[i]);
	if (!err)
		err = ibsa_topology_finish(expect->topology);
	if (!err) {
		*out = expect->topology;
		return CLI_DONE;
	}
	ibsa_topology_free(expect->topology);
	if (err != -ERANGE)
		return no_memory();
	complain("--expect: %s: JSON is limited to %d ports; write the file "
		 "with ibsa topology --net",
		 expect->path, UINT16_MAX);
	return CLI_USAGE;
}

static int json_load(const char *path, const struct file_text *file,
		     struct ibsa_topology **out)
{
	struct expect expect = { .path = path };
	int status = expect_rows_read(path, file, &expect.rows);

	if (status == CLI_DONE)
		status = topology_make(&expect, out);
	free(expect.rows.all);
	return status;
}

static int net_load(const char *path, const struct file_text *file,
		    struct ibsa_topology **out)
{
	struct ibsa_error error = { .text = "" };
	const int err = topology_file_load(path, file, &error, out);

	if (err)
		complain("--expect: %s", error.text);
	return err ? CLI_USAGE : CLI_DONE;
}

int topology_expect_load(const struct cli *cli, const char *path,
			 struct ibsa_topology **out)
{
	struct ibsa_error error = { .text = "" };
	struct file_text file;
	const char *first;
	int status;

	if (file_read(path, cli->open.deadline_ms, &error, &file) != 0) {
		complain("--expect: %s", error.text);
		return CLI_USAGE;
	}
	first = file.text + strspn(file.text, " \t\r\n");
	status = *first == '[' || *first == '{' ? json_load(path, &file, out)
						: net_load(path, &file, out);
	free(file.text);
	return status;
}
