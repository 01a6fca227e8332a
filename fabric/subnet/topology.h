/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The nodes and ports of a fabric that runs: those of its topology file, with
 * what changes while it runs.
 */
#ifndef FABRIC_SUBNET_TOPOLOGY_H
#define FABRIC_SUBNET_TOPOLOGY_H

#include "topology/net.h"

/* The index that stands for no node, port or switch. */
#define NO_INDEX MAP_NONE

struct topo_node {
	const char *id;
	/* Description of the node; its id if it has no description. */
	const char *name;
	uint64_t guid;
	uint64_t image_guid;
	/* Index of the node's port 0; its other ports follow in order. */
	uint32_t first_port;
	/*
	 * Number of this switch among the switches; NO_INDEX for other nodes.
	 */
	uint32_t switch_index;
	uint32_t vendor;
	uint32_t device;
	uint8_t type; /* enum ibsa_node_type */
	uint8_t port_count;
	uint8_t sa_port; /* For a switch: the port that leads towards the SA. */
	/* Port 0 has the state, MTU and capabilities of an adapter's port. */
	bool has_enhanced_port0;
	/*
	 * A link of the switch has changed since the SM last read its
	 * SwitchInfo.
	 */
	bool is_changed;
};

/*
 * A port of the topology. Port 0 is a switch's own end port; other nodes do
 * not use it.
 */
struct topo_port {
	/* GUID of an end port; 0 for a switch's external ports. */
	uint64_t guid;
	uint32_t node;
	/*
	 * Index of the port at the other end of this port's cable, or NO_INDEX.
	 */
	uint32_t cable;
	/*
	 * Index of the port at the other end of the cable while the link is up,
	 * otherwise NO_INDEX.
	 */
	uint32_t peer;
	/* Index of the port among the subnet's end ports, or NO_INDEX. */
	uint32_t end;
	uint32_t wanted_lid; /* in the file; 0: none */
	/* LID of the port in the SA's answers; 0: the SA hides the port. */
	uint32_t lid;
	uint8_t number;
	uint8_t lmc;
	uint8_t part; /* of an end port: number of its subnet (part.c) */
	struct link_rate most; /* maximum that the port supports */
	struct link_rate rate; /* of its link, when it is up */
	/* The rate of its link if an SM enables all widths and speeds. */
	struct link_rate best;
	uint8_t state; /* enum ibsa_port_state_code */
	/* The cable was disconnected, at this end or at the other end. */
	bool is_unplugged;
	bool is_disabled; /* by an SM */
	/* The ends of the link have no enabled width or speed in common. */
	bool is_unmatched;
};

struct topology {
	/*
	 * The content of the topology file, which holds the ids and names of
	 * the nodes.
	 */
	struct net net;
	struct topo_node *nodes;
	struct topo_port *ports;
	uint32_t node_count;
	uint32_t port_count;
	uint32_t switch_count;
	uint32_t link_count;
};

/*
 * Make the topology of a fabric that starts: all links are up. The topology
 * frees @net. Return: 0; -ENOMEM, and @net remains the caller's.
 */
int ibsa__topology_init(struct topology *topo, const struct net *net);

void ibsa__topology_done(struct topology *topo);

/*
 * Copy the nodes and ports, with a cable for each link that is up, to a
 * topology without a fabric. Return: 0; -ENOMEM.
 */
int ibsa__topology_copy(const struct topology *topo,
			struct ibsa_topology **out);

/*
 * Whether this is port 0 of a switch whose port 0 is not enhanced. IBA vol 1,
 * 18.2.4.1.
 */
static inline bool ibsa__is_base_port0(const struct topology *topo,
				       const struct topo_port *port)
{
	const struct topo_node *node = &topo->nodes[port->node];

	return node->type == IBSA_NODE_SWITCH && !port->number &&
	       !node->has_enhanced_port0;
}

/*
 * Return: the index of the node with this id; if there is none, of the first
 * node with this name; or NO_INDEX.
 */
static inline uint32_t ibsa__topology_find(const struct topology *topo,
					   const char *name)
{
	return ibsa__net_node_find(&topo->net, name);
}

#endif
