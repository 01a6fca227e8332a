/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows the path of a packet through the switches, by their forwarding
 * tables. The tables come from outside: entries may be missing, be wrong, or
 * form a loop.
 */
#include <errno.h>

#include <ibsa/types.h>
#include <ibsa/text.h>
#include <ibsa/topology.h>

#include "base/alloc.h"
#include "topology/state.h"

/* Entry in a forwarding table for a LID without a route. */
enum { NO_PORT = 255 };

/* A trace that is being made. */
struct tracer {
	const struct ibsa_topology *topology;
	const void *blocks; /* records, one at every @stride bytes */
	size_t stride;
	size_t count;
	uint32_t dlid;
	size_t to; /* node with the LID */
	unsigned int to_port;
	struct ibsa_trace *trace;
};

/* A trace with room for its hops. */
struct roomy_trace {
	struct ibsa_trace trace;
	struct ibsa_trace_hop hops[IBSA_TRACE_HOPS];
};

static void trace_end(struct ibsa_trace *trace, enum ibsa_trace_end end,
		      size_t node, unsigned int port)
{
	trace->end = end;
	trace->node = node;
	trace->port = port;
}

/*
 * Return: the block of a switch's forwarding table that has the entry of the
 * LID; NULL: there is none. The struct is the caller's, of an older or a newer
 * header: only members that the first release had are used.
 */
static const struct ibsa_lft *block_find(const struct tracer *tracer,
					 size_t node)
{
	const uint32_t number = tracer->dlid / IBSA_LFT_BLOCK_LIDS;
	const char *at = tracer->blocks;
	struct ibsa_topology_port port;

	if (ibsa_topology_port_at(tracer->topology, node, 0, &port) != 0)
		return NULL;
	for (size_t i = 0; i < tracer->count; i++, at += tracer->stride) {
		const struct ibsa_lft *block = (const void *)at;

		if (block->lid == port.lid && block->block_num == number)
			return block;
	}
	return NULL;
}

/*
 * Find the port through which a switch sends the packet. Return: false: the
 * trace ends at this switch.
 */
static bool exit_find(const struct tracer *tracer, size_t node,
		      unsigned int *out)
{
	const struct ibsa_lft *block = block_find(tracer, node);

	if (!block) {
		trace_end(tracer->trace, IBSA_TRACE_NO_TABLE, node, 0);
		return false;
	}
	*out = block->port[tracer->dlid % IBSA_LFT_BLOCK_LIDS];
	/*
	 * Port 0 is the switch itself, which does not have the destination
	 * LID, so the entry is invalid.
	 */
	if (*out != NO_PORT && *out != 0)
		return true;
	trace_end(tracer->trace, IBSA_TRACE_NO_ENTRY, node, 0);
	return false;
}

static bool has_visited(const struct ibsa_trace *trace, size_t node)
{
	for (size_t i = 0; i < trace->count; i++) {
		if (trace->hops[i].node == node)
			return true;
	}
	return false;
}

int ibsa__trace_no_link(const struct ibsa_topology_port *port)
{
	return port->state == IBSA_PORT_ACTIVE ? IBSA_TRACE_HIDDEN
					       : IBSA_TRACE_NO_LINK;
}

/*
 * Follow the link of a port to the next node. Return: false: the trace ends at
 * this port.
 */
static bool link_follow(struct tracer *tracer, size_t *node, unsigned int *port)
{
	struct ibsa_trace *trace = tracer->trace;
	struct ibsa_topology_port out = { .number = 0 };

	if (ibsa_topology_port_at(tracer->topology, *node, *port, &out) != 0 ||
	    !out.has_link) {
		trace_end(trace, ibsa__trace_no_link(&out), *node, *port);
		return false;
	}
	if (trace->count == IBSA_TRACE_HOPS) {
		trace_end(trace, IBSA_TRACE_TOO_LONG, *node, *port);
		return false;
	}
	trace->hops[trace->count++] = (struct ibsa_trace_hop){
		.node = *node,
		.port = *port,
		.far_node = out.far_node,
		.far_port = out.far_port,
	};
	*node = out.far_node;
	*port = out.far_port;
	return true;
}

/*
 * Whether the packet goes on from a node that it has reached through @port;
 * @port is 0 at the node that sends it.
 */
static bool packet_goes_on(const struct tracer *tracer, size_t node,
			   unsigned int port)
{
	if (node_is_switch(tracer->topology, node)) {
		if (node == tracer->to)
			trace_end(tracer->trace, IBSA_TRACE_REACHED, node, 0);
		else if (has_visited(tracer->trace, node))
			trace_end(tracer->trace, IBSA_TRACE_LOOP, node, 0);
		else
			return true;
		return false;
	}
	if (node == tracer->to && port == tracer->to_port)
		trace_end(tracer->trace, IBSA_TRACE_REACHED, node, 0);
	else
		trace_end(tracer->trace, IBSA_TRACE_WRONG_PORT, node, port);
	return false;
}

static unsigned int hop_mbps(const struct ibsa_topology *topology,
			     const struct ibsa_trace_hop *hop)
{
	struct ibsa_topology_port port;

	if (ibsa_topology_port_at(topology, hop->node, hop->port, &port) != 0)
		return 0;
	return ibsa_rate_mbps(port.rate);
}

static void narrowest_mark(const struct ibsa_topology *topology,
			   struct ibsa_trace *trace)
{
	unsigned int least = UINT32_MAX;
	unsigned int most = 0;

	for (size_t i = 0; i < trace->count; i++) {
		const unsigned int mbps = hop_mbps(topology, &trace->hops[i]);

		least = mbps < least ? mbps : least;
		most = mbps > most ? mbps : most;
	}
	for (size_t i = 0; least && least < most && i < trace->count; i++)
		trace->hops[i].is_narrowest =
			hop_mbps(topology, &trace->hops[i]) == least;
}

int ibsa_topology_trace_sized(const struct ibsa_topology *topology,
			      uint32_t slid, uint32_t dlid,
			      const struct ibsa_lft *blocks, size_t size,
			      size_t count, struct ibsa_trace **out)
{
	struct roomy_trace *trace;
	struct tracer tracer = {
		.topology = topology,
		.blocks = blocks,
		.stride = size,
		.count = count,
		.dlid = dlid,
	};
	unsigned int port;
	size_t node;
	bool goes_on;

	if (ibsa_topology_lid_find(topology, slid, &node, &port) != 0 ||
	    ibsa_topology_lid_find(topology, dlid, &tracer.to,
				   &tracer.to_port) != 0)
		return -ENOENT;
	trace = ibsa__calloc(1, sizeof(*trace));
	if (!trace)
		return -ENOMEM;
	trace->trace.hops = trace->hops;
	trace->trace.stride = sizeof(trace->hops[0]);
	tracer.trace = &trace->trace;
	if (node_is_switch(topology, node) ||
	    (node == tracer.to && port == tracer.to_port))
		goes_on = packet_goes_on(&tracer, node, port);
	else
		goes_on = link_follow(&tracer, &node, &port) &&
			  packet_goes_on(&tracer, node, port);
	while (goes_on)
		goes_on = exit_find(&tracer, node, &port) &&
			  link_follow(&tracer, &node, &port) &&
			  packet_goes_on(&tracer, node, port);
	narrowest_mark(topology, &trace->trace);
	*out = &trace->trace;
	return 0;
}

void ibsa_trace_free(struct ibsa_trace *trace)
{
	/* The trace is the first member of what was allocated. */
	ibsa__free(trace);
}

const char *ibsa_trace_end_text(enum ibsa_trace_end end)
{
	static const char *const texts[] = {
		[IBSA_TRACE_REACHED] = "reached",
		[IBSA_TRACE_NO_ENTRY] = "no entry for the LID",
		[IBSA_TRACE_NO_TABLE] = "no forwarding table",
		[IBSA_TRACE_NO_LINK] = "the port has no link",
		[IBSA_TRACE_LOOP] = "loop",
		[IBSA_TRACE_WRONG_PORT] = "another port than that of the LID",
		[IBSA_TRACE_TOO_LONG] = "too many links",
		[IBSA_TRACE_ISLAND] = "not connected with the tree",
		[IBSA_TRACE_HIDDEN] = "the SA does not show the other end",
	};

	if (end < 0 || (size_t)end >= sizeof(texts) / sizeof(texts[0]))
		return "";
	return texts[end];
}
