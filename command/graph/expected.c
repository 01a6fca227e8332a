/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds out why the SA does not show a port of the topology of --expect. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "graph/expected.h"
#include "graph/topology.h"
#include "output/codes.h"
#include "output/fields.h"
#include "output/reason.h"
#include "session/query_wait.h"

static int port_add(struct expected *expected,
		    const struct ibsa_topology_node *node,
		    const struct ibsa_topology_port *port)
{
	struct ibsa_node *added = list_add(&expected->ports, &expected->count,
					   sizeof(*added));

	if (!added)
		return no_memory();
	*added = (struct ibsa_node){
		.node_type = IBSA_NODE_CA,
		.num_ports = node->port_count,
		.node_guid = node->guid,
		.port_guid = port->guid,
		.local_port_num = (uint8_t)port->number,
	};
	snprintf(added->node_description, sizeof(added->node_description), "%s",
		 node->name);
	return CLI_DONE;
}

static int node_add(struct expected *expected, size_t index)
{
	struct ibsa_topology_node node;
	struct ibsa_topology_port port;
	int status = CLI_DONE;

	if (ibsa_topology_node_at(expected->topology, index, &node) != 0 ||
	    node.type != IBSA_NODE_CA)
		return CLI_DONE;
	for (unsigned int i = 1; i <= node.port_count && !status; i++)
		if (ibsa_topology_port_at(expected->topology, index, i,
					  &port) == 0 &&
		    port.has_link)
			status = port_add(expected, &node, &port);
	return status;
}

int expected_read(struct cli *cli, const char *path, struct expected *out)
{
	struct ibsa_topology_info info;
	int status;

	*out = (struct expected){ .count = 0 };
	if (!path)
		return CLI_DONE;
	status = topology_expect_load(cli, path, &out->topology);
	if (status != CLI_DONE)
		return status;
	cli->names.is_absence_told = true;
	ibsa_topology_info_get(out->topology, &info);
	for (size_t i = 0; i < info.nodes && status == CLI_DONE; i++)
		status = node_add(out, i);
	return status;
}

void expected_free(struct expected *expected)
{
	ibsa_topology_free(expected->topology);
	free(expected->ports);
	free(expected->islands);
}

/*
 * A port without a port GUID, which a topology file need not have, is compared
 * by node GUID and port number.
 */
static bool is_shown(const struct nodes *nodes, const struct ibsa_node *port)
{
	if (port->port_guid)
		return nodes_at(nodes, port->port_guid);
	for (size_t i = 0; i < nodes->count; i++)
		if (nodes->all[i].node_guid == port->node_guid &&
		    nodes->all[i].local_port_num == port->local_port_num)
			return true;
	return false;
}

/* Return: the number of the node's island in the file; SIZE_MAX: no such node. */
static size_t island_of(const struct expected *expected,
			const struct ibsa_node *of)
{
	struct ibsa_topology_node node;
	size_t index;

	if (ibsa_topology_node_find(expected->topology, of->node_guid,
				    &index) ||
	    ibsa_topology_node_at(expected->topology, index, &node))
		return SIZE_MAX;
	return node.island;
}

/* Find out which islands of the file have a node that the SA shows. */
static int islands_find(struct expected *expected, const struct nodes *nodes)
{
	struct ibsa_topology_info info;

	if (expected->islands)
		return CLI_DONE;
	ibsa_topology_info_get(expected->topology, &info);
	expected->islands = calloc(info.islands + 1,
				   sizeof(*expected->islands));
	if (!expected->islands)
		return no_memory();
	for (size_t i = 0; i < nodes->count; i++) {
		const size_t island = island_of(expected, &nodes->all[i]);

		if (island != SIZE_MAX)
			expected->islands[island] = true;
	}
	return CLI_DONE;
}

/* Whether a port of the file is on an island that the SA shows. */
static bool is_here(const struct expected *expected,
		    const struct ibsa_node *port)
{
	const size_t island = island_of(expected, port);

	return island == SIZE_MAX || expected->islands[island];
}

/* Select the expected ports that the name stands for. */
static int ports_select(const struct expected *expected, const char *name,
			struct node_ports *out)
{
	*out = (struct node_ports){ .count = 0 };
	for (size_t i = 0; i < expected->count && !name; i++)
		if (list_put(&out->all, &out->count, &expected->ports[i],
			     sizeof(*out->all)))
			return CLI_DEVICE;
	if (name && ibsa_host_select(expected->ports, expected->count, name,
				     &out->all, &out->count) != 0)
		return no_memory();
	return CLI_DONE;
}

int expected_absent(struct expected *expected, const struct nodes *nodes,
		    const char *name, struct node_ports *out)
{
	int status = ports_select(expected, name, out);
	bool has_here = false;
	size_t count = 0;

	if (status == CLI_DONE)
		status = islands_find(expected, nodes);
	if (status != CLI_DONE)
		return status;
	for (size_t i = 0; i < out->count; i++)
		has_here |= is_here(expected, &out->all[i]);
	for (size_t i = 0; i < out->count; i++) {
		const struct ibsa_node *port = &out->all[i];

		if (!is_shown(nodes, port) &&
		    (!has_here || is_here(expected, port)))
			out->all[count++] = *port;
	}
	out->count = count;
	return CLI_DONE;
}

/* The port to which the file of --expect connects an absent port. */
struct far_end {
	struct ibsa_topology_node node;
	unsigned int port;
	char name[IBSA_VALUE_TEXT];
	uint16_t lid; /* of the node; 0: the SA does not show the node */
};

static bool far_end_find(const struct expected *expected,
			 const struct nodes *nodes,
			 const struct ibsa_node *port, struct far_end *out)
{
	const struct ibsa_topology *topology = expected->topology;
	struct ibsa_topology_port end;
	size_t index;

	*out = (struct far_end){ .lid = 0 };
	if (ibsa_topology_node_find(topology, port->node_guid, &index) != 0 ||
	    ibsa_topology_port_at(topology, index, port->local_port_num,
				  &end) != 0 ||
	    !end.has_link ||
	    ibsa_topology_node_at(topology, end.far_node, &out->node) != 0)
		return false;
	out->port = end.far_port;
	fields_clean(out->node.name, out->name);
	for (size_t i = 0; i < nodes->count; i++)
		if (nodes->all[i].node_guid == out->node.guid)
			out->lid = nodes->all[i].lid;
	return true;
}

/* Set the reason; @format is the last part of its sentence. */
__attribute__((format(printf, 6, 7))) static void
absence_set(struct ibsa_reason *out, enum ibsa_reason_code code,
	    bool is_certain, const struct ibsa_node *port,
	    const struct far_end *end, const char *format, ...)
{
	char name[IBSA_VALUE_TEXT];
	va_list args;
	int len;

	*out = (struct ibsa_reason){ .code = code, .is_certain = is_certain };
	len = snprintf(out->detail, sizeof(out->detail),
		       "%.64s: expected at %.64s port %u; ",
		       fields_clean(port->node_description, name), end->name,
		       end->port);
	va_start(args, format);
	vsnprintf(out->detail + len, sizeof(out->detail) - (size_t)len, format,
		  args);
	va_end(args);
}

/*
 * Return: the name of the node that is connected to the port @end, although the
 * absent port is expected there; NULL: none is known.
 */
static const char *neighbor_find(struct cli *cli, const struct nodes *nodes,
				 const struct far_end *end,
				 char out[IBSA_VALUE_TEXT])
{
	const struct ibsa_link match = {
		.from_lid = end->lid,
		.from_port = (uint8_t)end->port,
	};
	const struct ibsa_query query = {
		.record = &ibsa_link_record,
		.match = &match,
		.mask = IBSA_LINK_CM(from_lid) | IBSA_LINK_CM(from_port),
	};
	struct ibsa_link link;

	if (ibsa_query_one(cli->client, &query, NULL, &link, sizeof(link)) != 0)
		return NULL;
	for (size_t i = 0; i < nodes->count; i++)
		if (nodes->all[i].lid == link.to_lid)
			return fields_clean(nodes->all[i].node_description,
					    out);
	return NULL;
}

static bool far_state_read(struct cli *cli, const struct far_end *end,
			   struct ibsa_port_info *out)
{
	const struct ibsa_port_info match = {
		.endport_lid = end->lid,
		.port_num = (uint8_t)end->port,
	};
	const struct ibsa_query query = {
		.record = &ibsa_port_info_record,
		.match = &match,
		.mask = IBSA_PORT_INFO_CM(endport_lid) |
			IBSA_PORT_INFO_CM(port_num),
	};

	return ibsa_query_one(cli->client, &query, NULL, out, sizeof(*out)) ==
	       0;
}

/*
 * Explain the absence of a port by the state of the port @end, to which the
 * absent port should be connected.
 */
static void cable_explain(struct cli *cli, const struct nodes *nodes,
			  const struct ibsa_node *port,
			  const struct far_end *end, struct ibsa_reason *out)
{
	char state[CODE_TEXT], phys[CODE_TEXT];
	char other[IBSA_VALUE_TEXT];
	const char *neighbor = neighbor_find(cli, nodes, end, other);
	struct ibsa_port_info info;

	if (neighbor) {
		absence_set(out, IBSA_REASON_UNKNOWN_PORT, true, port, end,
			    "%.64s is connected there", neighbor);
	} else if (!far_state_read(cli, end, &info)) {
		absence_set(out, IBSA_REASON_UNKNOWN_PORT, true, port, end,
			    "the SA does not show that port, so the host is "
			    "probably in no partition of this port");
	} else if (info.port_state == IBSA_PORT_DOWN) {
		absence_set(out, IBSA_REASON_FAR_PORT_DOWN, true, port, end,
			    "that port is Down, physical state %s",
			    codes_name(IBSA_SHOW_phys_state,
				       info.port_physical_state, phys));
	} else {
		absence_set(out, IBSA_REASON_UNKNOWN_PORT, true, port, end,
			    "that port is %s, so the host is in no partition "
			    "of this port, or the SM does not accept it",
			    codes_name(IBSA_SHOW_port_state, info.port_state,
				       state));
	}
}

void expected_explain(struct cli *cli, struct expected *expected,
		      const struct nodes *nodes, const struct ibsa_node *port,
		      struct ibsa_reason *out)
{
	struct far_end end;
	const bool has_end = far_end_find(expected, nodes, port, &end);

	if (!has_end)
		*out = (struct ibsa_reason){
			.code = IBSA_REASON_UNKNOWN_PORT,
			.is_certain = true,
			.detail = "--expect has no cable of the port",
		};
	else if (!end.lid)
		absence_set(out, IBSA_REASON_UNKNOWN_PORT, true, port, &end,
			    "%.64s is missing%s", end.name,
			    nodes_are_shown(cli->client)
				    ? ""
				    : ", or the SA does not show it");
	else if (!cli->client || expected->explained++ >= REASONS_MAX)
		absence_set(out, IBSA_REASON_UNKNOWN_PORT, true, port, &end,
			    "the SA does not show it");
	else
		cable_explain(cli, nodes, port, &end, out);
}

size_t expected_tell(struct cli *cli, struct expected *expected,
		     const char *name, absence_fn report, void *arg)
{
	struct nodes nodes = { .count = 0 };
	struct node_ports ports = { .count = 0 };
	struct ibsa_reason reason;
	size_t count;

	if (!expected->topology || nodes_read(cli, &nodes) != CLI_DONE ||
	    expected_absent(expected, &nodes, name, &ports) != CLI_DONE)
		ports.count = 0;
	count = ports.count;
	for (size_t i = 0; i < count; i++) {
		expected_explain(cli, expected, &nodes, &ports.all[i], &reason);
		if (report)
			report(reason.detail, arg);
		else
			complain("%s", reason.detail);
	}
	node_ports_free(&ports);
	nodes_free(&nodes);
	return count;
}
