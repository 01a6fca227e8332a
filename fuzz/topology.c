/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reader of topology files: it refuses a text with a message, or
 * creates a complete fabric, and a topology without a fabric.
 */
#include <stdlib.h>
#include <string.h>

#include <ibsa/fabric.h>
#include <ibsa/topology.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Check that a cable of this port, if it has one, leads to an existing port,
 * from which it leads back.
 */
static void walk(struct ibsa_fabric *fabric, size_t node, unsigned int port)
{
	struct ibsa_fabric_end end;
	struct ibsa_fabric_end back;

	if (ibsa_fabric_end_at(fabric, node, port, &end))
		abort();
	if (!end.has_cable)
		return;
	if (ibsa_fabric_end_at(fabric, end.far_node, end.far_port, &back) ||
	    !back.has_cable || back.far_node != node || back.far_port != port)
		abort();
}

static void walk_all(struct ibsa_fabric *fabric)
{
	struct ibsa_fabric_finding finding;
	struct ibsa_fabric_node node;

	for (size_t i = 0; !ibsa_fabric_node_at(fabric, i, &node); i++) {
		for (unsigned int port = 0; port <= node.port_count; port++)
			walk(fabric, i, port);
	}
	for (size_t i = 0; !ibsa_fabric_finding_at(fabric, i, &finding); i++) {
		if (!finding.line || !finding.name[0] || !finding.what.text[0])
			abort();
	}
}

/*
 * Check that the functions that list nodes and ports accept the loaded
 * topology. Then open a transport at its first adapter, if that works, and
 * close it.
 */
static void use(struct ibsa_fabric *fabric)
{
	struct ibsa_fabric_port port;
	struct ibsa_fabric_info info;
	struct ibsa_transport *transport;

	ibsa_fabric_info_get(fabric, &info);
	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++) {
		if (!port.node[0] || port.state.lid > 0xbfff)
			abort();
	}
	if (info.lids < 1 || info.nodes < info.adapters + info.switches)
		abort();
	walk_all(fabric);
	if (!ibsa_fabric_attach(fabric, NULL, 0, &transport))
		transport->ops->close(transport);
}

/* A port that has a link has the node at its other end. */
static void topology_walk(const struct ibsa_topology *topology)
{
	struct ibsa_topology_node node;
	struct ibsa_topology_port port;

	for (size_t i = 0; !ibsa_topology_node_at(topology, i, &node); i++) {
		for (unsigned int n = 0; n <= node.port_count; n++) {
			struct ibsa_topology_node far;

			if (!ibsa_topology_port_at(topology, i, n, &port) &&
			    port.has_link &&
			    ibsa_topology_node_at(topology, port.far_node,
						  &far))
				abort();
		}
	}
}

static void topology_parse(const uint8_t *data, size_t size)
{
	struct ibsa_error error = { "" };
	struct ibsa_topology *topology;

	if (ibsa_topology_parse((const char *)data, size, NULL, &error,
				&topology)) {
		if (!error.text[0])
			abort();
		return;
	}
	topology_walk(topology);
	ibsa_topology_free(topology);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .check = true };
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric;

	topology_parse(data, size);
	if (ibsa_fabric_parse((const char *)data, size, &options, &error,
			      &fabric)) {
		if (!error.text[0])
			abort();
		return 0;
	}
	use(fabric);
	ibsa_fabric_put(fabric);
	return 0;
}
