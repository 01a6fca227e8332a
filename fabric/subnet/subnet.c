/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery: after each change of a link, its rate or a LID, and when the SA
 * starts, stops or moves, the search follows the cables from the SM's port and
 * finds the end ports, which include port 0 of switches.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fabric/subnet/subnet.h"

static bool is_switch(const struct topology *topo, uint32_t port)
{
	return topo->nodes[topo->ports[port].node].type == IBSA_NODE_SWITCH;
}

/*
 * The search has reached @port: mark it as discovered, and queue it if it
 * belongs to a switch.
 */
static void walk_reach(struct topology *topo, struct walk *walk, uint32_t port)
{
	struct topo_node *node = &topo->nodes[topo->ports[port].node];
	const uint8_t number = topo->ports[port].number;

	if (is_switch(topo, port))
		port = node->first_port;
	if (walk->seen[port])
		return;
	walk->seen[port] = true;
	if (!is_switch(topo, port))
		return;
	node->sa_port = number;
	walk->queue[walk->queued++] = topo->ports[port].node;
}

/* An adapter's port leads to one other port, if its link is up. */
void ibsa__walk_from(struct topology *topo, struct walk *walk, uint32_t port)
{
	walk->queued = 0;
	memset(walk->seen, 0, topo->port_count * sizeof(*walk->seen));
	if (is_switch(topo, port)) {
		walk_reach(topo, walk, port);
	} else if (topo->ports[port].peer != NO_INDEX) {
		walk_reach(topo, walk, port);
		walk_reach(topo, walk, topo->ports[port].peer);
	}
	for (uint32_t head = 0; head < walk->queued; head++) {
		const struct topo_node *node = &topo->nodes[walk->queue[head]];

		for (uint32_t i = 1; i <= node->port_count; i++) {
			const uint32_t peer =
				topo->ports[node->first_port + i].peer;

			if (peer != NO_INDEX)
				walk_reach(topo, walk, peer);
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
		.part = port->part,
		.port = index,
		.leaf = node->switch_index,
		.lid_count = (uint8_t)(1 << port->lmc),
		.rate = span.rate,
		.mtu = span.mtu,
	};

	if (end.leaf == NO_INDEX && port->peer != NO_INDEX)
		end.leaf =
			topo->nodes[topo->ports[port->peer].node].switch_index;
	return end;
}

static int by_guid(const void *a, const void *b)
{
	const struct end_port *x = a;
	const struct end_port *y = b;

	if (x->part != y->part)
		return x->part - y->part;
	return (x->guid > y->guid) - (x->guid < y->guid);
}

static bool is_end(const struct topology *topo, uint32_t port)
{
	return is_switch(topo, port) == !topo->ports[port].number;
}

static int index_ends(struct subnet *subnet)
{
	int err = ibsa__map_reserve(&subnet->end_of_guid, subnet->end_count);

	for (uint32_t i = 0; i < subnet->end_count && !err; i++) {
		struct topo_port *port = end_topo_port(subnet,
						       &subnet->ends[i]);

		port->end = i;
		list_init(&subnet->setups[i].reports);
		err = ibsa__map_put(&subnet->end_of_guid, subnet->ends[i].guid,
				    i);
	}
	return err;
}

/*
 * Return: the initial state of a port. Without an embedded SM, a switch's base
 * port 0 is Active from the start.
 */
static uint8_t first_state(const struct subnet *subnet,
			   const struct topo_port *port)
{
	if (!port->number)
		return subnet->is_bare &&
				       ibsa__is_base_port0(&subnet->topo, port)
			       ? IBSA_PORT_ACTIVE
			       : IBSA_PORT_INIT;
	return port->cable == NO_INDEX ? IBSA_PORT_DOWN : IBSA_PORT_INIT;
}

static int collect_ends(struct subnet *subnet)
{
	struct topology *topo = &subnet->topo;
	uint32_t count = 0;

	for (uint32_t i = 0; i < topo->port_count; i++) {
		topo->ports[i].state = first_state(subnet, &topo->ports[i]);
		topo->nodes[topo->ports[i].node].is_changed = subnet->is_bare;
		count += is_end(topo, i);
	}
	subnet->ends = ibsa__calloc(count, sizeof(*subnet->ends));
	subnet->setups = ibsa__calloc(count, sizeof(*subnet->setups));
	if (!subnet->ends || !subnet->setups)
		return -ENOMEM;
	for (uint32_t i = 0; i < topo->port_count; i++) {
		if (is_end(topo, i))
			subnet->ends[subnet->end_count++] = make_end(topo, i);
	}
	qsort(subnet->ends, subnet->end_count, sizeof(*subnet->ends), by_guid);
	return index_ends(subnet);
}

/*
 * Copy the LIDs of discovered ports to the topology: the SA's answers contain
 * only these ports.
 */
static void ports_publish(struct subnet *subnet)
{
	subnet->router_end = NO_INDEX;
	for (uint32_t i = subnet->ends_from; i < subnet->ends_to; i++) {
		const struct end_port *end = &subnet->ends[i];

		end_topo_port(subnet, end)->lid = end->is_seen ? end->lid : 0;
		if (end->is_seen && subnet->router_end == NO_INDEX &&
		    end_topo_node(subnet, end)->type == IBSA_NODE_ROUTER)
			subnet->router_end = i;
	}
}

/* Set those ports of a switch to Active whose links are up. */
static void switch_activate_links(struct topology *topo,
				  const struct topo_node *node)
{
	for (uint32_t i = 1; i <= node->port_count; i++) {
		struct topo_port *port = &topo->ports[node->first_port + i];

		if (port->peer != NO_INDEX)
			port->state = IBSA_PORT_ACTIVE;
	}
}

/*
 * Configure a port as the SM does, and request a client reregistration if the
 * port is new or the SM has restarted; not when the fabric starts.
 */
static void port_configure(struct subnet *subnet, uint32_t index,
			   enum sweep sweep)
{
	struct end_setup *end = &subnet->setups[index];
	struct topo_port *port = end_topo_port(subnet, &subnet->ends[index]);
	const bool is_new = port->state != IBSA_PORT_ACTIVE;

	end->sm_lid = subnet->ends[subnet->sa_end].lid;
	port->state = IBSA_PORT_ACTIVE;
	if (!port->number)
		switch_activate_links(&subnet->topo,
				      &subnet->topo.nodes[port->node]);
	if (sweep == SWEEP_MASTER || (sweep == SWEEP_AGAIN && is_new))
		end->reregisters++;
}

/*
 * Discover the ports and assign LIDs. Return: false: there are not enough
 * LIDs.
 */
static bool ports_discover(struct subnet *subnet)
{
	bool is_enough = true;

	ibsa__walk_from(&subnet->topo, &subnet->walk,
			subnet->ends[subnet->sa_end].port);
	for (uint32_t i = subnet->ends_from; i < subnet->ends_to; i++)
		subnet->ends[i].is_seen =
			subnet->walk.seen[subnet->ends[i].port];
	if (subnet->sa_running)
		is_enough = ibsa__lids_give(subnet);
	for (uint32_t i = subnet->ends_from; i < subnet->ends_to; i++)
		subnet->ends[i].is_seen = subnet->ends[i].is_seen &&
					  subnet->ends[i].lid;
	return is_enough;
}

static bool sweep_subnet(struct subnet *subnet, enum sweep sweep)
{
	const bool is_enough = ports_discover(subnet);

	for (uint32_t i = subnet->ends_from;
	     subnet->sa_running && i < subnet->ends_to; i++) {
		if (subnet->ends[i].is_seen)
			port_configure(subnet, i, sweep);
	}
	ports_publish(subnet);
	return is_enough;
}

void ibsa__subnet_take_stock(struct subnet *subnet)
{
	for (uint32_t i = subnet->ends_from; i < subnet->ends_to; i++)
		subnet->setups[i].is_known = subnet->ends[i].is_seen;
}

static void report_ports(struct subnet *subnet, enum subnet_change_kind kind)
{
	for (uint32_t i = subnet->ends_from; i < subnet->ends_to; i++) {
		const bool is_known = subnet->setups[i].is_known;

		if (is_known != subnet->ends[i].is_seen &&
		    is_known == (kind == CHANGE_PORT_LOST))
			subnet_changed(subnet, &(struct subnet_change){
						       .kind = kind,
						       .end = &subnet->ends[i],
					       });
	}
}

void ibsa__subnet_report(struct subnet *subnet)
{
	if (!subnet->sa_running || !subnet->ends[subnet->sa_end].is_seen)
		return;
	report_ports(subnet, CHANGE_PORT_LOST);
	subnet_changed(subnet,
		       &(struct subnet_change){ .kind = CHANGE_PORTS_LOST });
	report_ports(subnet, CHANGE_PORT_FOUND);
	ibsa__subnet_take_stock(subnet);
}

void ibsa__subnet_sweep(struct subnet *subnet, enum sweep sweep)
{
	(void)sweep_subnet(subnet, sweep);
	ibsa__routes_reset(&subnet->routes, &subnet->topo);
	subnet_changed(subnet, &(struct subnet_change){ .kind = CHANGE_SWEPT });
}

static int order_nodes(struct subnet *subnet)
{
	const struct topology *topo = &subnet->topo;
	struct end_port *keys = ibsa__calloc(topo->node_count, sizeof(*keys));

	subnet->nodes_by_guid = ibsa__calloc(topo->node_count,
					     sizeof(*subnet->nodes_by_guid));
	if (!keys || !subnet->nodes_by_guid) {
		ibsa__free(keys);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < topo->node_count; i++)
		keys[i] = (struct end_port){ .guid = topo->nodes[i].guid,
					     .port = i };
	qsort(keys, topo->node_count, sizeof(*keys), by_guid);
	for (uint32_t i = 0; i < topo->node_count; i++)
		subnet->nodes_by_guid[i] = keys[i].port;
	ibsa__free(keys);
	return 0;
}

static int list_adapter_ports(struct subnet *subnet)
{
	const struct topology *topo = &subnet->topo;

	subnet->adapter_ports = ibsa__calloc((size_t)topo->port_count + 1,
					     sizeof(uint32_t));
	if (!subnet->adapter_ports)
		return -ENOMEM;
	for (uint32_t i = 0; i < topo->port_count; i++) {
		if (topo->nodes[topo->ports[i].node].type != IBSA_NODE_CA)
			continue;
		if (topo->ports[i].number)
			subnet->adapter_ports[subnet->adapter_port_count++] = i;
		else
			subnet->adapter_count++;
	}
	return 0;
}

uint32_t ibsa__subnet_sa_port(const struct topology *topo, uint32_t node)
{
	const uint32_t first = topo->nodes[node].first_port;

	if (topo->nodes[node].type == IBSA_NODE_SWITCH)
		return first;
	for (uint32_t i = 1; i <= topo->nodes[node].port_count; i++) {
		if (topo->ports[first + i].peer != NO_INDEX)
			return first + i;
	}
	return NO_INDEX;
}

static int walk_init(struct subnet *subnet)
{
	const struct topology *topo = &subnet->topo;

	subnet->walk.queue = ibsa__calloc((size_t)topo->switch_count + 1,
					  sizeof(*subnet->walk.queue));
	subnet->walk.seen = ibsa__calloc(topo->port_count,
					 sizeof(*subnet->walk.seen));
	return subnet->walk.queue && subnet->walk.seen ? 0 : -ENOMEM;
}

/* Set the range of the subnet's end ports. */
static int ends_find(struct subnet *subnet)
{
	subnet->ends_from = 0;
	while (subnet->ends_from < subnet->end_count &&
	       subnet->ends[subnet->ends_from].part < subnet->part)
		subnet->ends_from++;
	subnet->ends_to = subnet->ends_from;
	while (subnet->ends_to < subnet->end_count &&
	       subnet->ends[subnet->ends_to].part == subnet->part)
		subnet->ends_to++;
	return ibsa__lids_init(subnet);
}

static int subnet_prepare(struct subnet *subnet, uint32_t from,
			  uint32_t *out_count)
{
	int err = walk_init(subnet);

	if (err)
		return err;
	*out_count = ibsa__parts_number(&subnet->topo, &subnet->walk, from);
	err = collect_ends(subnet);
	if (!err)
		err = ends_find(subnet);
	if (!err)
		err = order_nodes(subnet);
	return err ? err : list_adapter_ports(subnet);
}

int ibsa__subnet_init(struct subnet *subnet, uint32_t sa_node,
		      uint32_t *out_count, struct ibsa_error *error)
{
	const uint32_t from = ibsa__subnet_sa_port(&subnet->topo, sa_node);
	int err;

	if (from == NO_INDEX)
		return ibsa__fail(error, -EINVAL,
				  "the SA's node \"%.64s\" has no cable; "
				  "connect it, or choose another node for the "
				  "SA",
				  subnet->topo.nodes[sa_node].id);
	err = subnet_prepare(subnet, from, out_count);
	if (err)
		return ibsa__fail(error, err, "out of memory");
	subnet->sa_end = subnet->topo.ports[from].end;
	return 0;
}

/* Return: the first port of an adapter in the subnet that has a cable. */
static uint32_t first_cabled(const struct subnet *subnet)
{
	const struct topology *topo = &subnet->topo;
	uint32_t port = 0;

	while (topo->ports[port].part != subnet->part ||
	       topo->ports[port].cable == NO_INDEX ||
	       topo->nodes[topo->ports[port].node].type != IBSA_NODE_CA)
		port++;
	return port;
}

int ibsa__subnet_part_init(struct subnet *subnet, const struct subnet *first,
			   uint8_t part)
{
	const struct lids lids = { .first = first->lids.first,
				   .limit = first->lids.limit };
	int err;

	*subnet = *first;
	subnet->part = part;
	if (!subnet->is_bare)
		subnet->gid_prefix = first->gid_prefix + part;
	subnet->lids = lids;
	subnet->walk = (struct walk){ .queued = 0 };
	err = walk_init(subnet);
	if (!err)
		err = ends_find(subnet);
	if (!err)
		subnet->sa_end = subnet->topo.ports[first_cabled(subnet)].end;
	return err;
}

int ibsa__subnet_start(struct subnet *subnet, struct ibsa_error *error)
{
	if (!sweep_subnet(subnet, SWEEP_FIRST))
		return ibsa__fail(error, -EINVAL,
				  "there are only %" PRIu32
				  " LIDs, too few for these ports; remove "
				  "some ports, or start with a lower LID",
				  subnet->lids.limit - subnet->lids.first);
	ibsa__subnet_take_stock(subnet);
	return 0;
}

void ibsa__subnet_part_done(struct subnet *subnet)
{
	ibsa__map_done(&subnet->lids.ends);
	ibsa__free(subnet->walk.queue);
	ibsa__free(subnet->walk.seen);
}

void ibsa__subnet_done(struct subnet *subnet)
{
	for (uint32_t i = 0; i < subnet->end_count; i++)
		ibsa__free(subnet->setups[i].pkeys);
	ibsa__map_done(&subnet->end_of_guid);
	ibsa__free(subnet->ends);
	ibsa__free(subnet->setups);
	ibsa__free(subnet->nodes_by_guid);
	ibsa__free(subnet->adapter_ports);
}
