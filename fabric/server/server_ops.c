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
	struct ibsa_fabric *fabric = owner_fabric(owner);
	size_t memory = 0;

	for (uint32_t i = 0; i < fabric->part_count; i++)
		memory += fabric_part(fabric, i)->files.memory;
	return memory;
}

static const char *node_name(void *owner, uint32_t node)
{
	return owner_fabric(owner)->first.subnet.topo.nodes[node].name;
}

static int seat_find(struct ibsa_fabric *fabric,
		     const struct remote_hello *hello, struct ibsa_error *error,
		     struct fabric_seat *out)
{
	const struct seat_words words = {
		.node = hello->node,
		.device = hello->device,
		.is_machine = hello->features & REMOTE_IS_MACHINE,
	};
	const char *name = *words.device ? words.device : words.node;
	const int err = ibsa__seat_find(fabric, &words, out);

	if (err != -ENODEV)
		return err;
	if (!*name || (name == words.node && words.is_machine))
		return ibsa__fail(
			error, err,
			"the fabric has no channel adapter to send from");
	return ibsa__fail(error, err, "the fabric has no node %s", name);
}

static int node_find_port(const struct ibsa_fabric *fabric, uint32_t node,
			  unsigned int number, struct ibsa_error *error,
			  uint32_t *out)
{
	const struct topology *topo = &fabric->first.subnet.topo;
	const uint32_t port = ibsa__fabric_find_port(fabric, node, number);

	if (port == NO_INDEX)
		return ibsa__fail(error, -ENXIO,
				  "%s has no port %u; its last port is %u",
				  topo->nodes[node].name, number,
				  topo->nodes[node].port_count);
	if (topo->ports[port].end == NO_INDEX)
		return ibsa__fail(error, -ENXIO,
				  "port %u of %s receives no MADs: a switch "
				  "receives them at port 0 only; omit the port",
				  number, topo->nodes[node].name);
	*out = port;
	return 0;
}

/*
 * Make the hello its own answer. It selects the node by its id if that fits,
 * because the id is unique; two nodes may have the same name.
 */
static void hello_answer(const struct ibsa_fabric *fabric,
			 const struct fabric_seat *seat, uint32_t port,
			 struct remote_hello *hello)
{
	const struct topology *topo = &fabric->first.subnet.topo;
	const char *id = topo->nodes[seat->node].id;
	struct seat_walk walk = ibsa__seat_walk(fabric, seat);

	while (ibsa__seat_next(&walk) && walk.node != seat->node)
		;
	memcpy(hello->name, walk.name, sizeof(walk.name));
	hello->port = topo->ports[port].number;
	if (strlen(id) >= sizeof(hello->node))
		return;
	strcpy(hello->node, id);
	hello->device[0] = '\0';
	hello->features &= (uint8_t)~REMOTE_IS_MACHINE;
}

static int port_find(void *owner, struct remote_hello *hello,
		     struct serve_port *out, struct ibsa_error *error)
{
	struct ibsa_fabric *fabric = owner_fabric(owner);
	struct fabric_seat seat;
	uint32_t port = NO_INDEX;
	int err = seat_find(fabric, hello, error, &seat);

	if (!err)
		err = node_find_port(fabric, seat.node, hello->port, error,
				     &port);
	if (err)
		return err;
	hello_answer(fabric, &seat, port, hello);
	*out = (struct serve_port){ seat.node, port, seat.kind };
	return 0;
}

uint32_t ibsa__node_end_port(const struct ibsa_fabric *fabric, uint32_t node,
			     unsigned int number)
{
	const struct topo_node *at = &fabric->first.subnet.topo.nodes[node];
	uint32_t port;

	if (number > at->port_count)
		return NO_INDEX;
	port = at->first_port + number;
	return fabric->first.subnet.topo.ports[port].end == NO_INDEX ? NO_INDEX
								     : port;
}

static bool has_device(void *owner, const struct serve_port *at, uint32_t node)
{
	const struct fabric_seat seat = seat_of(at);

	return ibsa__seat_has(owner_fabric(owner), &seat, node);
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
	const struct subnet *subnet = fabric_subnet_of(fabric, port->port);
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
	const struct topology *topo = &owner_fabric(owner)->first.subnet.topo;

	snprintf(out->text, sizeof(out->text), "%016llx-%u",
		 (unsigned long long)topo->nodes[port->device].guid,
		 topo->ports[port->port].number);
}

static bool issm_find(void *owner, const char *name, struct serve_port *out)
{
	const struct topology *topo = &owner_fabric(owner)->first.subnet.topo;

	for (uint32_t i = 0; i < topo->port_count; i++) {
		const struct topo_port *at = &topo->ports[i];
		const struct serve_port port = { .device = at->node,
						 .port = i };
		struct serve_issm_name found;

		if (at->end == NO_INDEX)
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

_Static_assert(SEAT_NAME_BYTES <= REMOTE_NODE_MAX + 1, "name of a device");
_Static_assert(GUID_CAP_ADAPTER <= (int)SERVE_GIDS_MAX &&
		       PKEYS_MAX <= (int)SERVE_PKEYS_MAX,
	       "tables of a port");

const struct serve_ops ibsa__fabric_serve_ops = {
	.file = &ibsa__fabric_serve_file_ops,
	.open = ibsa__fabric_serve_open,
	.memory = queues_memory,
	.name = node_name,
	.find = port_find,
	.find_mad = ibsa__fabric_serve_find_mad,
	.has_device = has_device,
	.state = port_state,
	.read = ibsa__fabric_serve_read,
	.list = ibsa__fabric_serve_list,
	.issm_name = issm_name,
	.issm_find = issm_find,
	.command = command_run,
	.changes = ibsa__fabric_command_changes,
};
