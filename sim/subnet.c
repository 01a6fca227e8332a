/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet that the SA sees: the end ports within its reach, and their
 * LIDs. LIDs of the file stay if they are valid; the others are given as
 * OpenSM does, to the SA's own port first and then in order of GUIDs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sim/fabric.h"

enum { LMC_MAX = 7 };

/* Everything that a cable walk needs: which nodes and ports were seen. */
struct walk {
	struct topology *topo;
	uint32_t *queue; /* switches to look at */
	uint32_t queued;
	bool *seen; /* by port */
	uint32_t found;
};

static bool is_switch(const struct topology *topo, uint32_t port)
{
	return topo->nodes[topo->ports[port].node].type == IBSA_NODE_SWITCH;
}

/* Arrive at @port: an end port is found, a switch is queued too. */
static void arrive(struct walk *walk, uint32_t port)
{
	struct topo_node *node =
		&walk->topo->nodes[walk->topo->ports[port].node];
	const uint8_t number = walk->topo->ports[port].number;

	if (is_switch(walk->topo, port))
		port = node->first_port;
	if (walk->seen[port])
		return;
	walk->seen[port] = true;
	walk->found++;
	if (!is_switch(walk->topo, port))
		return;
	node->sa_port = number;
	walk->queue[walk->queued++] = walk->topo->ports[port].node;
}

static void walk_from(struct walk *walk, uint32_t port)
{
	const struct topology *topo = walk->topo;

	arrive(walk, port);
	if (!is_switch(topo, port) && topo->ports[port].peer != SIM_NONE)
		arrive(walk, topo->ports[port].peer);
	for (uint32_t head = 0; head < walk->queued; head++) {
		const struct topo_node *node = &topo->nodes[walk->queue[head]];

		for (uint32_t i = 1; i <= node->port_count; i++) {
			const uint32_t peer =
				topo->ports[node->first_port + i].peer;

			if (peer != SIM_NONE)
				arrive(walk, peer);
		}
	}
}

static struct end_port make_end(const struct topology *topo, uint32_t index)
{
	const struct topo_port *port = &topo->ports[index];
	const struct topo_node *node = &topo->nodes[port->node];
	const struct span span = ibsa__port_span(topo, index);
	struct end_port end = {
		.guid = port->guid,
		.port = index,
		.leaf = node->switch_index,
		.lid_count = (uint8_t)(1 << port->lmc),
		.rate = span.rate,
		.mtu = span.mtu,
	};

	if (end.leaf == SIM_NONE && port->peer != SIM_NONE)
		end.leaf =
			topo->nodes[topo->ports[port->peer].node].switch_index;
	return end;
}

static int by_guid(const void *a, const void *b)
{
	const struct end_port *x = a;
	const struct end_port *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

static int collect_ends(struct ibsa_fabric *fabric, const struct walk *walk)
{
	const struct topology *topo = &fabric->topo;

	fabric->ends = ibsa__calloc(walk->found, sizeof(*fabric->ends));
	if (!fabric->ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < topo->port_count; i++) {
		if (walk->seen[i])
			fabric->ends[fabric->end_count++] = make_end(topo, i);
	}
	qsort(fabric->ends, fabric->end_count, sizeof(*fabric->ends), by_guid);
	for (uint32_t i = 0; i < fabric->end_count; i++) {
		int err = ibsa__map_put(&fabric->end_of_guid,
					fabric->ends[i].guid, i);

		if (err)
			return err;
		if (end_topo_node(fabric, &fabric->ends[i])->type ==
			    IBSA_NODE_ROUTER &&
		    fabric->router_end == SIM_NONE)
			fabric->router_end = i;
	}
	return 0;
}

/* Whether the LIDs from @lid on are there and free. */
static bool is_free(const struct ibsa_fabric *fabric, uint32_t lid,
		    uint32_t count)
{
	if (!lid || lid % count || lid + count > fabric->lid_limit)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (fabric->end_of_lid[lid + i] != SIM_NONE)
			return false;
	}
	return true;
}

static void take_lid(struct ibsa_fabric *fabric, uint32_t index, uint32_t lid)
{
	struct end_port *end = &fabric->ends[index];

	end->lid = (uint16_t)lid;
	fabric->lid_count += end->lid_count;
	for (uint32_t i = 0; i < end->lid_count; i++)
		fabric->end_of_lid[lid + i] = index;
	if (fabric->lid_top < lid + end->lid_count - 1)
		fabric->lid_top = lid + end->lid_count - 1;
}

static void keep_lid(struct ibsa_fabric *fabric, uint32_t index)
{
	const struct end_port *end = &fabric->ends[index];
	const uint32_t lid = end_topo_port(fabric, end)->lid;

	if (is_free(fabric, lid, end->lid_count))
		take_lid(fabric, index, lid);
}

/*
 * The lowest free LIDs; *@next says below which ones there are none of that
 * alignment. False: there are none at all.
 */
static bool give_lid(struct ibsa_fabric *fabric, uint32_t index, uint32_t *next)
{
	const uint32_t count = fabric->ends[index].lid_count;

	if (fabric->ends[index].lid)
		return true;
	for (; *next < fabric->lid_limit; *next += count) {
		if (!is_free(fabric, *next, count))
			continue;
		take_lid(fabric, index, *next);
		return true;
	}
	return false;
}

static bool give_lids(struct ibsa_fabric *fabric)
{
	uint32_t next[LMC_MAX + 1] = { 1, 2, 4, 8, 16, 32, 64, 128 };
	uint32_t index = fabric->sa_end;

	/* The SA's own port comes first. */
	for (uint32_t i = 0; i <= fabric->end_count; index = i++) {
		const struct end_port *end = &fabric->ends[index];

		if (!give_lid(fabric, index,
			      &next[end_topo_port(fabric, end)->lmc]))
			return false;
	}
	return true;
}

static int assign_lids(struct ibsa_fabric *fabric)
{
	fabric->lid_limit = IBSA_LID_UNICAST_MAX + 1;
	fabric->end_of_lid = ibsa__calloc(fabric->lid_limit,
					  sizeof(*fabric->end_of_lid));
	if (!fabric->end_of_lid)
		return -ENOMEM;
	memset(fabric->end_of_lid, 0xff,
	       fabric->lid_limit * sizeof(*fabric->end_of_lid));
	keep_lid(fabric, fabric->sa_end);
	for (uint32_t i = 0; i < fabric->end_count; i++) {
		if (i != fabric->sa_end)
			keep_lid(fabric, i);
	}
	return give_lids(fabric) ? 0 : -ENOSPC;
}

/* Ports out of the SA's reach have no LID, whatever the file says. */
static void publish_lids(struct ibsa_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->topo.port_count; i++)
		fabric->topo.ports[i].lid = 0;
	for (uint32_t i = 0; i < fabric->end_count; i++)
		end_topo_port(fabric, &fabric->ends[i])->lid =
			fabric->ends[i].lid;
}

static int order_nodes(struct ibsa_fabric *fabric)
{
	const struct topology *topo = &fabric->topo;
	struct end_port *keys = ibsa__calloc(topo->node_count, sizeof(*keys));

	fabric->nodes_by_guid = ibsa__calloc(topo->node_count,
					     sizeof(*fabric->nodes_by_guid));
	if (!keys || !fabric->nodes_by_guid) {
		ibsa__free(keys);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < topo->node_count; i++)
		keys[i] = (struct end_port){ .guid = topo->nodes[i].guid,
					     .port = i };
	qsort(keys, topo->node_count, sizeof(*keys), by_guid);
	for (uint32_t i = 0; i < topo->node_count; i++)
		fabric->nodes_by_guid[i] = keys[i].port;
	ibsa__free(keys);
	return 0;
}

static int list_adapter_ports(struct ibsa_fabric *fabric)
{
	const struct topology *topo = &fabric->topo;

	fabric->adapter_ports = ibsa__calloc((size_t)topo->port_count + 1,
					     sizeof(uint32_t));
	if (!fabric->adapter_ports)
		return -ENOMEM;
	for (uint32_t i = 0; i < topo->port_count; i++) {
		if (topo->nodes[topo->ports[i].node].type != IBSA_NODE_CA)
			continue;
		if (topo->ports[i].number)
			fabric->adapter_ports[fabric->adapter_port_count++] = i;
		else
			fabric->adapter_count++;
	}
	return 0;
}

/* The port that the SA sits on: a switch's own, else the first connected. */
static uint32_t sa_port(const struct topology *topo, uint32_t node)
{
	const uint32_t first = topo->nodes[node].first_port;

	if (topo->nodes[node].type == IBSA_NODE_SWITCH)
		return first;
	for (uint32_t i = 1; i <= topo->nodes[node].port_count; i++) {
		if (topo->ports[first + i].peer != SIM_NONE)
			return first + i;
	}
	return SIM_NONE;
}

static int find_ends(struct ibsa_fabric *fabric, uint32_t from)
{
	struct topology *topo = &fabric->topo;
	struct walk walk = {
		.topo = topo,
		.queue = ibsa__calloc((size_t)topo->switch_count + 1,
				      sizeof(*walk.queue)),
		.seen = ibsa__calloc(topo->port_count, sizeof(*walk.seen)),
	};
	int err = -ENOMEM;

	if (walk.queue && walk.seen) {
		walk_from(&walk, from);
		err = collect_ends(fabric, &walk);
	}
	ibsa__free(walk.queue);
	ibsa__free(walk.seen);
	return err;
}

int ibsa__subnet_init(struct ibsa_fabric *fabric, uint32_t sa_node,
		      struct ibsa_error *error)
{
	const uint32_t from = sa_port(&fabric->topo, sa_node);
	int err;

	if (from == SIM_NONE)
		return ibsa__fail(error, -EINVAL,
				  "the SA's node \"%.64s\" has no cable; "
				  "connect it, or name another for the SA",
				  fabric->topo.nodes[sa_node].id);
	fabric->router_end = SIM_NONE;
	err = find_ends(fabric, from);
	if (!err) {
		fabric->sa_end = map_find(&fabric->end_of_guid,
					  fabric->topo.ports[from].guid);
		err = assign_lids(fabric);
	}
	if (err == -ENOSPC)
		return ibsa__fail(error, -EINVAL,
				  "one subnet has 49151 LIDs, too few for "
				  "these ports; take some out");
	if (!err)
		err = order_nodes(fabric);
	if (!err)
		err = list_adapter_ports(fabric);
	if (err)
		return ibsa__fail(error, err, "out of memory");
	publish_lids(fabric);
	return 0;
}

void ibsa__subnet_done(struct ibsa_fabric *fabric)
{
	ibsa__map_done(&fabric->end_of_guid);
	ibsa__free(fabric->ends);
	ibsa__free(fabric->end_of_lid);
	ibsa__free(fabric->nodes_by_guid);
	ibsa__free(fabric->adapter_ports);
}
