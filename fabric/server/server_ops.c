/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ports of a fabric, as the operations of a fabric server. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "fabric/server/server.h"
#include "fabric/subnet/guid.h"

static struct ibsa_fabric *owner_fabric(void *owner)
{
	const struct ibsa_fabric_server *server = owner;

	return server->fabric;
}

static size_t queues_memory(void *owner)
{
	return owner_fabric(owner)->files.memory;
}

static const char *node_name(void *owner, uint32_t node)
{
	return owner_fabric(owner)->subnet.topo.nodes[node].name;
}

static int node_find(const struct ibsa_fabric *fabric,
		     const struct remote_hello *hello, struct ibsa_error *error,
		     uint32_t *out)
{
	const uint32_t node = ibsa__fabric_find_adapter(
		fabric, *hello->node ? hello->node : NULL);

	if (node == SIM_NONE && !*hello->node)
		return ibsa__fail(
			error, -ENODEV,
			"the fabric has no channel adapter to send from");
	if (node == SIM_NONE)
		return ibsa__fail(error, -ENODEV, "the fabric has no node %s",
				  hello->node);
	*out = node;
	return 0;
}

static int node_find_port(const struct ibsa_fabric *fabric, uint32_t node,
			  unsigned int number, struct ibsa_error *error,
			  uint32_t *out)
{
	const struct topology *topo = &fabric->subnet.topo;
	const uint32_t port = ibsa__fabric_find_port(fabric, node, number);

	if (port == SIM_NONE)
		return ibsa__fail(error, -ENXIO,
				  "%s has no port %u; its last port is %u",
				  topo->nodes[node].name, number,
				  topo->nodes[node].port_count);
	if (topo->ports[port].end == SIM_NONE)
		return ibsa__fail(error, -ENXIO,
				  "port %u of %s receives no MADs: a switch "
				  "receives them at port 0 only; omit the port",
				  number, topo->nodes[node].name);
	*out = port;
	return 0;
}

static int port_find(void *owner, struct remote_hello *hello,
		     struct serve_port *out, struct ibsa_error *error)
{
	const struct ibsa_fabric *fabric = owner_fabric(owner);
	const struct topology *topo = &fabric->subnet.topo;
	uint32_t node = SIM_NONE;
	uint32_t port = SIM_NONE;
	int err = node_find(fabric, hello, error, &node);

	if (!err)
		err = node_find_port(fabric, node, hello->port, error, &port);
	if (err)
		return err;
	hello->port = topo->ports[port].number;
	/*
	 * Return the node's id if it fits, because the id is unique; two nodes
	 * may have the same name.
	 */
	if (strlen(topo->nodes[node].id) < sizeof(hello->node))
		strcpy(hello->node, topo->nodes[node].id);
	*out = (struct serve_port){ .device = node, .port = port };
	return 0;
}

uint32_t ibsa__node_end_port(const struct ibsa_fabric *fabric, uint32_t node,
			     unsigned int number)
{
	const struct topo_node *at = &fabric->subnet.topo.nodes[node];
	uint32_t port;

	if (number > at->port_count)
		return SIM_NONE;
	port = at->first_port + number;
	return fabric->subnet.topo.ports[port].end == SIM_NONE ? SIM_NONE
							       : port;
}

static int port_find_number(void *owner, uint32_t node, unsigned int number,
			    struct serve_port *out)
{
	const uint32_t port = ibsa__node_end_port(owner_fabric(owner), node,
						  number);

	if (port == SIM_NONE)
		return -ENODEV;
	*out = (struct serve_port){ .device = node, .port = port };
	return 0;
}

static void gids_get(const struct subnet *subnet, uint64_t port_guid,
		     struct ibsa_gid out[GUID_CAP_ADAPTER])
{
	for (uint32_t i = 0; i < GUID_CAP_ADAPTER; i++) {
		const uint64_t guid = ibsa__aliases_guid_at(&subnet->aliases,
							    port_guid, i);

		ibsa_put_be64(out[i].raw, guid ? subnet->gid_prefix : 0);
		ibsa_put_be64(out[i].raw + 8, guid);
	}
}

static void port_state(void *owner, const struct serve_port *port,
		       struct serve_state *out)
{
	const struct ibsa_fabric *fabric = owner_fabric(owner);
	const struct subnet *subnet = &fabric->subnet;
	const struct topo_port *at = &subnet->topo.ports[port->port];
	const struct end_setup *setup = &subnet->setups[at->end];

	ibsa__fabric_port_state(fabric, port->port, &out->port);
	out->gid_count = GUID_CAP_ADAPTER;
	gids_get(subnet, at->guid, out->gids);
	out->pkey_count = setup_pkey_count(setup);
	for (uint32_t i = 0; i < out->pkey_count; i++)
		out->pkeys[i] = setup_pkey(setup, i);
}

static void issm_name(void *owner, const struct serve_port *port,
		      struct serve_issm_name *out)
{
	const struct topology *topo = &owner_fabric(owner)->subnet.topo;

	snprintf(out->text, sizeof(out->text), "%016llx-%u",
		 (unsigned long long)topo->nodes[port->device].guid,
		 topo->ports[port->port].number);
}

static bool issm_find(void *owner, const char *name, struct serve_port *out)
{
	const struct topology *topo = &owner_fabric(owner)->subnet.topo;

	for (uint32_t i = 0; i < topo->port_count; i++) {
		const struct topo_port *at = &topo->ports[i];
		const struct serve_port port = { at->node, i };
		struct serve_issm_name found;

		if (at->end == SIM_NONE)
			continue;
		issm_name(owner, &port, &found);
		if (strcmp(found.text, name) != 0)
			continue;
		*out = port;
		return true;
	}
	return false;
}

static int command_run(void *owner, const char *line, char *out, size_t room,
		       struct ibsa_error *error)
{
	return ibsa_fabric_server_command(owner, line, out, room, error);
}

_Static_assert(GUID_CAP_ADAPTER <= (int)SERVE_GIDS_MAX &&
		       PKEYS_MAX <= (int)SERVE_PKEYS_MAX,
	       "tables of a port");

const struct serve_ops ibsa__fabric_serve_ops = {
	.file = &ibsa__fabric_serve_file_ops,
	.open = ibsa__fabric_serve_open,
	.memory = queues_memory,
	.name = node_name,
	.find = port_find,
	.find_port = port_find_number,
	.state = port_state,
	.read = ibsa__fabric_serve_read,
	.list = ibsa__fabric_serve_list,
	.issm_name = issm_name,
	.issm_find = issm_find,
	.command = command_run,
};
