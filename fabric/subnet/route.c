/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shortest routes between switches, with their lowest rate and MTU. The first
 * query for a destination switch searches the routes from all other switches;
 * the result is stored.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/subnet/subnet.h"

enum {
	MTU_PORT = 4,	     /* 2048 bytes */
	MTU_SWITCH_PORT = 3, /* 1024 bytes: base port 0 of a switch */
};

struct span ibsa__port_span(const struct topology *topo, uint32_t port)
{
	const struct topo_port *at = &topo->ports[port];

	if (!at->number)
		return (struct span){
			.rate = ibsa__rate_rank(WIDTH_4X, SPEED_SDR),
			.mtu = ibsa__is_base_port0(topo, at) ? MTU_SWITCH_PORT
							     : MTU_PORT
		};
	return (struct span){ .rate = ibsa__rate_rank(at->rate.width,
						      at->rate.speed),
			      .mtu = MTU_PORT };
}

static struct span span_least(struct span a, struct span b)
{
	return (struct span){
		.rate = a.rate < b.rate ? a.rate : b.rate,
		.mtu = a.mtu < b.mtu ? a.mtu : b.mtu,
	};
}

/* Return: the switch at the other end of a switch port's cable, or NO_INDEX. */
static uint32_t switch_neighbour(const struct topology *topo, uint32_t port)
{
	const uint32_t peer = topo->ports[port].peer;

	if (peer == NO_INDEX)
		return NO_INDEX;
	return topo->nodes[topo->ports[peer].node].switch_index;
}

static void hops_add(struct routes *routes, const struct topology *topo,
		     const struct topo_node *node, uint32_t *count)
{
	routes->first_hop[node->switch_index] = *count;
	for (uint32_t i = 1; i <= node->port_count; i++) {
		const uint32_t port = node->first_port + i;
		const uint32_t to = switch_neighbour(topo, port);
		const struct span span = ibsa__port_span(topo, port);

		if (to == NO_INDEX)
			continue;
		routes->hops[(*count)++] = (struct hop){
			.to = to,
			.rate = span.rate,
			.mtu = span.mtu,
			.port = topo->ports[topo->ports[port].peer].number,
		};
	}
}

static void cables_follow(struct routes *routes, const struct topology *topo)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < topo->node_count; i++) {
		if (topo->nodes[i].switch_index != NO_INDEX)
			hops_add(routes, topo, &topo->nodes[i], &count);
	}
	routes->first_hop[topo->switch_count] = count;
}

int ibsa__routes_init(struct routes *routes, const struct topology *topo)
{
	/*
	 * One element more than needed is allocated, since a size of 0 is not
	 * allowed.
	 */
	*routes = (struct routes){
		.switch_count = topo->switch_count,
		.hops = ibsa__calloc(2 * (size_t)topo->link_count + 1,
				     sizeof(*routes->hops)),
		.first_hop = ibsa__calloc((size_t)topo->switch_count + 1,
					  sizeof(*routes->first_hop)),
		.queue = ibsa__calloc((size_t)topo->switch_count + 1,
				      sizeof(*routes->queue)),
		.to = ibsa__calloc((size_t)topo->switch_count + 1,
				   sizeof(struct span *)),
	};
	if (!routes->hops || !routes->first_hop || !routes->queue ||
	    !routes->to)
		return -ENOMEM;
	cables_follow(routes, topo);
	return 0;
}

static void spans_forget(struct routes *routes)
{
	for (uint32_t i = 0; routes->to && i < routes->switch_count; i++) {
		ibsa__free(routes->to[i]);
		routes->to[i] = NULL;
	}
}

void ibsa__routes_reset(struct routes *routes, const struct topology *topo)
{
	spans_forget(routes);
	cables_follow(routes, topo);
}

void ibsa__routes_done(struct routes *routes)
{
	spans_forget(routes);
	ibsa__free(routes->to);
	ibsa__free(routes->hops);
	ibsa__free(routes->first_hop);
	ibsa__free(routes->queue);
	*routes = (struct routes){ 0 };
}

/*
 * Search the routes to a destination switch, breadth-first from the
 * destination: the first route found is a shortest one.
 */
static void spans_search(const struct routes *routes, uint32_t from,
			 struct span *spans)
{
	uint32_t head = 0;
	uint32_t tail = 0;

	spans[from] = (struct span){ .rate = UINT8_MAX, .mtu = UINT8_MAX };
	routes->queue[tail++] = from;
	while (head < tail) {
		const uint32_t at = routes->queue[head++];

		for (uint32_t i = routes->first_hop[at];
		     i < routes->first_hop[at + 1]; i++) {
			const struct hop *hop = &routes->hops[i];

			if (spans[hop->to].rate)
				continue;
			spans[hop->to] = span_least(spans[at],
						    (struct span){
							    .rate = hop->rate,
							    .mtu = hop->mtu,
						    });
			spans[hop->to].port = hop->port;
			routes->queue[tail++] = hop->to;
		}
	}
}

static const struct span *spans_to(struct routes *routes, uint32_t to)
{
	struct span *spans = routes->to[to];

	if (spans)
		return spans;
	spans = ibsa__calloc(routes->switch_count, sizeof(*spans));
	if (!spans)
		return NULL;
	spans_search(routes, to, spans);
	routes->to[to] = spans;
	return spans;
}

static bool ends_are_cabled(const struct subnet *subnet,
			    const struct end_port *a, const struct end_port *b)
{
	return a == b || end_topo_port(subnet, a)->peer == b->port;
}

int ibsa__route_span(struct subnet *subnet, const struct end_port *from,
		     const struct end_port *to, struct span *out)
{
	const struct span ends =
		span_least((struct span){ from->rate, from->mtu },
			   (struct span){ to->rate, to->mtu });
	const struct span *spans;

	if (from->leaf == NO_INDEX || to->leaf == NO_INDEX) {
		*out = ends;
		return ends_are_cabled(subnet, from, to) ? 0 : -ENOENT;
	}
	spans = spans_to(&subnet->routes, to->leaf);
	if (!spans)
		return -ENOMEM;
	if (!spans[from->leaf].rate)
		return -ENOENT;
	*out = span_least(ends, spans[from->leaf]);
	return 0;
}

uint8_t ibsa__route_port(struct subnet *subnet, uint32_t from, uint32_t to)
{
	const struct span *spans = spans_to(&subnet->routes, to);

	return spans && spans[from].rate ? spans[from].port : ABOVE_ALL_PORTS;
}

uint8_t ibsa__route_exit(struct subnet *subnet, const struct topo_node *node,
			 uint32_t dlid)
{
	const struct end_port *end = end_by_lid(subnet, dlid);
	const struct topo_port *port;

	if (!end || end->leaf == NO_INDEX)
		return ABOVE_ALL_PORTS;
	if (end->leaf != node->switch_index)
		return ibsa__route_port(subnet, node->switch_index, end->leaf);
	port = end_topo_port(subnet, end);
	if (!port->number)
		return 0;
	return port->peer == NO_INDEX ? ABOVE_ALL_PORTS
				      : subnet->topo.ports[port->peer].number;
}
