/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Topologies, their findings and traces, and hosts; see sizes.py. */
#include <ibsa/fabric.h>
#include <ibsa/reach.h>
#include <ibsa/topology.h>

#include "sizes.h"

struct tables {
	struct ibsa_lft all[8];
	size_t count;
};

static void tables_take(const struct ibsa_reply *reply, void *arg)
{
	struct tables *tables = arg;

	while (tables->count < 8 && !IBSA_DECODE(lft, reply, tables->count,
						 &tables->all[tables->count]))
		tables->count++;
}

/* Arrays of structs, from the program to the library and back. */
static void test_trace(struct ibsa_client *client,
		       const struct ibsa_topology *topology)
{
	const struct ibsa_query query = {
		.record = &ibsa_lft_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct tables tables = { .count = 0 };
	struct ibsa_trace *trace;

	CHECK(!ibsa_query_wait(client, &query, tables_take, &tables));
	CHECK(!ibsa_topology_trace(topology, 1, 2, tables.all, tables.count,
				   &trace));
	CHECK(trace->end == IBSA_TRACE_REACHED && trace->count);
	for (size_t i = 0; i + 1 < trace->count; i++)
		CHECK(ibsa_trace_hop_at(trace, i)->far_node ==
		      ibsa_trace_hop_at(trace, i + 1)->node);
	ibsa_trace_free(trace);
}

static uint16_t lid_of(const struct ibsa_topology *topology, uint64_t guid)
{
	struct ibsa_topology_port port;
	size_t node;

	CHECK(!ibsa_topology_node_find(topology, guid, &node));
	CHECK(!ibsa_topology_port_at(topology, node, 0, &port));
	return (uint16_t)port.lid;
}

/* A group with the members node1, node2 and node3. */
static void test_trace_group(const struct ibsa_topology *topology)
{
	struct ibsa_mft tables[] = {
		{ .lid = lid_of(topology, 0x2c90300a0010),
		  .port_mask = { 1 << 1 | 1 << 2 | 1 << 3 } },
		{ .lid = lid_of(topology, 0x2c90300a0020),
		  .port_mask = { 1 << 1 | 1 << 3 } },
	};
	struct ibsa_trace_tree *tree;

	CHECK(!ibsa_topology_trace_group(topology, 1, 0xc000, tables, 2,
					 &tree));
	CHECK(tree->count == 4);
	for (size_t i = 0; i < tree->count; i++)
		CHECK(ibsa_trace_branch_at(tree, i)->end == IBSA_TRACE_REACHED);
	ibsa_trace_tree_free(tree);
}

/* A topology that has more than the expected one. */
static void test_findings(struct ibsa_topology *topology)
{
	static const char text[] = "switchguid=0x2c90300a0010\n"
				   "Switch 4 \"switch1\"\n"
				   "[1] \"node1\"[1] # 4xEDR\n"
				   "caguid=0x2c90300b0100\n"
				   "Ca 1 \"node1\"\n"
				   "[1] \"switch1\"[1] # 4xEDR\n";
	struct ibsa_topology *expected;
	ROOM(struct ibsa_finding) finding;

	CHECK(!ibsa_topology_parse(text, strlen(text), NULL, NULL, &expected));
	CHECK(!ibsa_topology_check(topology, expected));
	FILL(finding,
	     CHECK(!ibsa_topology_finding_at(topology, 0, &finding.out)));
	CHECK(!strcmp(finding.out.name, ibsa_finding_name(finding.out.kind)) &&
	      finding.out.guid);
	ibsa_topology_free(expected);
}

/* A file with an anomaly. */
static void test_file_findings(void)
{
	static const char text[] = "Switch 4 \"switch1\"\n"
				   "[1] \"node1\"[1] # 4xEDR\n"
				   "[2] \"node1\"[2] # 4xEDR\n"
				   "Ca 2 \"node1\"\n"
				   "[1] \"switch1\"[1] # 4xEDR\n";
	struct ibsa_fabric_options options = { .check = true };
	ROOM(struct ibsa_fabric_finding) finding;
	struct ibsa_fabric *fabric;

	CALL_WITH(options, ibsa_fabric_parse(text, strlen(text), &options, NULL,
					     &fabric));
	FILL(finding, CHECK(!ibsa_fabric_finding_at(fabric, 0, &finding.out)));
	CHECK(finding.out.kind == IBSA_FINDING_ONE_DIRECTION &&
	      finding.out.line == 3 && !strcmp(finding.out.name, "one-way"));
	ibsa_fabric_put(fabric);
}

static void topology_take(int err, struct ibsa_topology *topology,
			  const struct ibsa_reply *reply, void *arg)
{
	(void)reply;
	CHECK(!err);
	*(struct ibsa_topology **)arg = topology;
}

void test_topology(struct ibsa_client *client)
{
	struct ibsa_topology_options options = { .timeout_ms = 2000 };
	struct ibsa_topology *topology = NULL;
	ROOM(struct ibsa_topology_info) info;
	ROOM(struct ibsa_topology_node) node;
	ROOM(struct ibsa_topology_port) port;
	size_t other;

	CALL_WITH(options, ibsa_topology_read(client, &options, topology_take,
					      &topology));
	while (!topology)
		CHECK(!ibsa_wait(client, -1));
	ibsa_topology_free(topology);
	CALL_WITH(options, ibsa_topology_wait(client, &options, &topology));
	FILL(info, ibsa_topology_info_get(topology, &info.out));
	CHECK(info.out.nodes == 6 && info.out.islands == 1);
	CHECK(!ibsa_topology_node_find(topology, 0x2c90300a0010, &other));
	FILL(node, CHECK(!ibsa_topology_node_at(topology, other, &node.out)));
	CHECK(node.out.type == IBSA_NODE_SWITCH && node.out.port_count == 4);
	FILL(port,
	     CHECK(!ibsa_topology_port_at(topology, other, 1, &port.out)));
	CHECK(port.out.has_link && port.out.lanes == 4);
	test_trace(client, topology);
	test_trace_group(topology);
	test_findings(topology);
	ibsa_topology_free(topology);
	test_file_findings();
}

/* Records that the library and the program have in arrays. */
static void test_select(void)
{
	struct ibsa_node nodes[] = {
		{ .node_type = IBSA_NODE_CA, .node_description = "node1" },
		{ .node_type = IBSA_NODE_CA, .node_description = "node2" },
	};
	struct ibsa_node *ports;
	size_t count;

	CALL_WITH(nodes[1],
		  ibsa_host_select(nodes, 2, "node2", &ports, &count));
	CHECK(count == 1 && !strcmp(ports[0].node_description, "node2"));
	ibsa_host_ports_free(ports);
}

void test_hosts(struct ibsa_client *client, struct ibsa_gid *to)
{
	struct ibsa_node *ports;
	size_t count;

	CHECK(!ibsa_host_ports(client, "node2", &ports, &count));
	CHECK(count == 1 && !strcmp(ports[0].node_description, "node2"));
	CHECK(!ibsa_gid_parse("fe80::", to));
	for (int i = 0; i < 8; i++)
		to->raw[8 + i] = (uint8_t)(ports[0].port_guid >> (56 - 8 * i));
	ibsa_host_ports_free(ports);
	test_select();
}
