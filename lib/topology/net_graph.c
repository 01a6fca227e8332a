/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a topology file into a struct ibsa_topology, without a fabric. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <ibsa/types.h>
#include <ibsa/topology.h>

#include "base/array.h"
#include "base/error.h"
#include "common/clean.h"
#include "topology/net.h"
#include "topology/state.h"

/*
 * Return: the number that stands for an end port in the rows of a topology: its
 * index plus one. @port is the end port itself, or any port of a switch.
 */
static uint32_t end_of(const struct net *net, uint32_t port)
{
	const struct net_node *node = &net->nodes[net->ports[port].node];

	return 1 + (node->type == IBSA_NODE_SWITCH ? node->first_port : port);
}

static int port_load(struct ibsa_topology *topology, const struct net *net,
		     uint32_t index)
{
	const struct net_port *port = &net->ports[index];
	const bool has_cable = port->cable != NET_NONE;
	const struct port_row row = {
		.end = end_of(net, index),
		.number = port->number,
		.is = {
			.lid = port->lid,
			.lmc = port->lmc,
			.state = port->state,
			.rate = has_cable ? port->rate
					  : (struct link_rate){ 0 },
		},
	};
	const struct link_row link = {
		.from = row.end,
		.from_port = port->number,
		.to = has_cable ? end_of(net, port->cable) : 0,
		.to_port = has_cable ? net->ports[port->cable].number : 0,
	};
	int err = ibsa__topology_port_add(topology, &row);

	return err || !has_cable ? err
				 : ibsa__topology_link_add(topology, &link);
}

/*
 * Add a row for an end port to the topology: as in an SA, each end port has
 * one NodeRecord.
 */
static int end_load(struct ibsa_topology *topology, const struct net *net,
		    uint32_t index, uint32_t name)
{
	const struct net_port *port = &net->ports[index];
	const struct net_node *node = &net->nodes[port->node];
	const struct node_row row = {
		.guid = node->guid,
		.system_guid = node->image_guid,
		.port_guid = port->guid,
		.end = 1 + index,
		.lid = port->lid,
		.name = name,
		.vendor_id = node->vendor,
		.device_id = node->device,
		.type = node->type,
		.port_count = node->port_count,
		.port = port->number,
		.has_enhanced_port0 = node->has_enhanced_port0,
	};

	return ibsa__topology_node_add(topology, &row);
}

/*
 * Add the rows of a node. As in an SA, ports of adapters without a link are
 * omitted; port 1 remains if no port has a link.
 */
static int node_load(struct ibsa_topology *topology, const struct net *net,
		     const struct net_node *node)
{
	const bool is_switch = node->type == IBSA_NODE_SWITCH;
	bool has_end = false;
	uint32_t name;
	int err = ibsa__topology_name_add(topology, node->name, &name);

	for (uint32_t i = 0; i <= node->port_count && !err; i++) {
		const uint32_t port = node->first_port + i;
		const bool has_cable = net->ports[port].cable != NET_NONE;

		if (is_switch ? !i : has_cable) {
			err = end_load(topology, net, port, name);
			has_end = true;
		}
		if (!err && (has_cable || (is_switch && !i)))
			err = port_load(topology, net, port);
	}
	if (!err && !has_end)
		err = end_load(topology, net, node->first_port + 1, name);
	return err;
}

int ibsa__net_graph(const struct net *net, struct ibsa_topology **out)
{
	struct ibsa_topology *topology;
	int err = ibsa_topology_new(&topology);

	if (err)
		return err;
	for (uint32_t i = 0; i < net->node_count && !err; i++)
		err = node_load(topology, net, &net->nodes[i]);
	if (!err)
		err = ibsa_topology_finish(topology);
	if (err)
		ibsa_topology_free(topology);
	else
		*out = topology;
	return err;
}

/*
 * Write a finding about the file. Its sentence begins with the file and the
 * line.
 */
static void finding_load(const struct net *net, const struct net_finding *from,
			 struct ibsa_finding *out)
{
	const bool is_node = from->kind == IBSA_FINDING_NO_CABLE ||
			     from->kind == IBSA_FINDING_SAME_NAME ||
			     from->kind == IBSA_FINDING_NO_GUID;
	const struct net_port *port = is_node ? NULL : &net->ports[from->a];
	char line[sizeof(out->what.text) + 128];
	struct ibsa_error what;
	const char *text = line;

	*out = (struct ibsa_finding){
		.kind = from->kind,
		.severity = ibsa_finding_severity(from->kind),
		.name = ibsa_finding_name(from->kind),
		.guid = net->nodes[port ? port->node : from->a].guid,
		.port = port ? port->number : 0,
	};
	ibsa__net_finding_text(net, from, &what);
	snprintf(line, sizeof(line), "%.100s:%" PRIu32 ": %s", from->file,
		 from->line, what.text);
	ibsa__text_clean(&text, out->what.text, sizeof(out->what.text));
}

/*
 * Two kinds are left out. The check of the topology finds equal LIDs in a file,
 * too, and overlapping LIDs of ports with an LMC. Nodes that no cable connects
 * with the others may be a fabric of their own, such as a rail.
 */
static int findings_load(struct ibsa_topology *topology, const struct net *net)
{
	if (ARRAY_GROW(topology->findings, topology->finding_room,
		       net->finding_count))
		return -ENOMEM;
	for (uint32_t i = 0; i < net->finding_count; i++) {
		const struct net_finding *from = &net->findings[i];
		const size_t at = topology->file_finding_count;

		if (from->kind == IBSA_FINDING_SAME_LID ||
		    from->kind == IBSA_FINDING_APART)
			continue;
		finding_load(net, from, &topology->findings[at]);
		topology->file_finding_count++;
	}
	return 0;
}

static int net_load(const struct net *net, struct ibsa_topology **out)
{
	struct ibsa_topology *topology;
	int err = net->node_count ? ibsa__net_graph(net, &topology) : -EINVAL;

	if (err)
		return err;
	err = findings_load(topology, net);
	if (err)
		ibsa_topology_free(topology);
	else
		*out = topology;
	return err;
}

/* A file without a node is not a topology: no fabric is empty. */
static int source_load(const struct net_input *source, struct ibsa_error *error,
		       struct ibsa_topology **out)
{
	const char *name = source->path ? source->path : "(text)";
	struct ibsa_error ignored;
	struct net net;
	int err;

	if (!error)
		error = &ignored;
	err = ibsa__net_read(source, error, &net);
	if (err)
		return err;
	err = net_load(&net, out);
	if (err == -EINVAL)
		ibsa__fail(error, err,
			   "%.100s: there is no node; the file must be output "
			   "of ibnetdiscover, with lines that end in a newline",
			   name);
	else if (err)
		ibsa__fail(error, err, "%.100s: out of memory", name);
	ibsa__net_done(&net);
	return err;
}

int ibsa_topology_load(const char *path, struct ibsa_error *error,
		       struct ibsa_topology **out)
{
	const struct net_input source = {
		.path = path,
		.lid_max = UINT16_MAX,
		.has_check = true,
		.has_unknown_rates = true,
	};

	return source_load(&source, error, out);
}

int ibsa_topology_parse(const char *text, size_t len, const char *name,
			struct ibsa_error *error, struct ibsa_topology **out)
{
	const struct net_input source = {
		.path = name,
		.text = text ? text : "",
		.len = len,
		.lid_max = UINT16_MAX,
		.has_check = true,
		.has_unknown_rates = true,
	};

	return source_load(&source, error, out);
}
