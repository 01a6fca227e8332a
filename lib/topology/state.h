/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internal structs of a topology: the values of SA records, and the graph that
 * is built from them.
 */
#ifndef TOPOLOGY_STATE_H
#define TOPOLOGY_STATE_H

#include <ibsa/types.h>
#include <ibsa/topology.h>

#include "wire/rate.h"

/* The index of a node or port that does not exist. */
#define TOPOLOGY_NONE UINT32_MAX

/*
 * The values of a NodeRecord and of the other records about the same port.
 * @end is the number by which other records refer to the port: its LID, or for
 * a topology file the number that the parser gave the port.
 */
struct node_row {
	uint64_t guid;
	uint64_t system_guid;
	uint64_t port_guid;
	uint32_t end;
	uint32_t lid;
	uint32_t name; /* offset in the names */
	uint32_t vendor_id;
	uint32_t device_id;
	uint32_t revision;
	uint8_t type;
	uint8_t port_count;
	/* Number of the port that the NodeRecord is about; 0 for a switch. */
	uint8_t port;
	bool has_enhanced_port0; /* known from a topology file */
};

/* The values of a port that the topology takes from a PortInfoRecord. */
struct port_values {
	uint32_t lid;
	uint8_t lmc;
	uint8_t state;
	uint8_t phys_state;
	uint8_t mtu;
	struct link_rate rate;
	/* Supported widths: a bit for each value of enum link_width. */
	uint8_t widths;
	/* Supported speeds: a bit for each value of enum link_speed. */
	uint16_t speeds;
};

struct port_row {
	uint32_t end;
	uint8_t number;
	struct port_values is;
};

struct link_row {
	uint32_t from;
	uint32_t to;
	uint8_t from_port;
	uint8_t to_port;
};

struct switch_row {
	uint32_t end;
	bool has_enhanced_port0;
};

/*
 * A node of the graph. The ports of a node are adjacent in the array of ports.
 */
struct graph_node {
	uint64_t guid;
	uint64_t system_guid;
	uint64_t known[4]; /* a bit for each known port */
	uint32_t name;
	uint32_t vendor_id;
	uint32_t device_id;
	uint32_t revision;
	uint32_t first_port;
	uint32_t level;
	uint32_t island;
	uint8_t type;
	uint8_t port_count;
	bool has_enhanced_port0;
};

struct graph_port {
	uint64_t guid;
	uint32_t node;
	/*
	 * Index of the port at the other end of this port's link, or
	 * TOPOLOGY_NONE.
	 */
	uint32_t far;
	struct port_values is;
	uint8_t number;
	bool has_info;
	/* Whether a LinkRecord whose "from" end is this port reports the link. */
	bool is_claimed;
};

/* Two ports with the same GUID or LID. */
struct twin {
	uint8_t kind; /* enum ibsa_finding_kind */
	uint32_t a;
	uint32_t b;
};

enum { TWINS_MAX = 1 << 16 };

struct ibsa_topology {
	struct node_row *node_rows;
	struct port_row *port_rows;
	struct link_row *link_rows;
	struct switch_row *switch_rows;
	size_t node_row_count, node_row_room;
	size_t port_row_count, port_row_room;
	size_t link_row_count, link_row_room;
	size_t switch_row_count, switch_row_room;
	char *names;
	size_t name_len, name_room;
	struct graph_node *nodes;
	struct graph_port *ports;
	uint32_t node_count;
	uint32_t port_count;
	/* Table from a LID to its port: 1 + index of the port; 0: no port. */
	uint32_t *ends;
	uint32_t end_count;
	struct twin *twins;
	size_t twin_count, twin_room;
	/* The first ones are about the topology file; every check leaves them. */
	struct ibsa_finding *findings;
	size_t finding_count, finding_room;
	size_t file_finding_count;
	struct ibsa_topology_info info;
	bool is_finished;
};

/* Whether the node has a record about the port with this number. */
static inline bool port_is_known(const struct graph_node *node,
				 unsigned int number)
{
	return node->known[number / 64] >> number % 64 & 1;
}

/* Whether the port is active, but its other end is not in the topology. */
static inline bool port_is_hidden(const struct graph_port *port)
{
	return port->number && port->far == TOPOLOGY_NONE &&
	       port->is.state == IBSA_PORT_ACTIVE;
}

/*
 * Whether the SA has returned the PortInfo of a port that can have a cable. A
 * topology file has no states.
 */
static inline bool port_is_returned(const struct graph_port *port)
{
	return port->number && port->has_info && port->is.state;
}

static inline bool node_is_switch(const struct ibsa_topology *topology,
				  size_t node)
{
	return topology->nodes[node].type == IBSA_NODE_SWITCH;
}

/* Return: the index after that of the last port of a node. */
static inline uint32_t node_ports_end(const struct ibsa_topology *topology,
				      uint32_t node)
{
	return node + 1 < topology->node_count
		       ? topology->nodes[node + 1].first_port
		       : topology->port_count;
}

/*
 * Return: the index of port @number of the node, for which port_is_known() is
 * true.
 */
uint32_t ibsa__topology_port(const struct graph_node *node,
			     unsigned int number);

/* Copy a name. Return: 0, -ENOMEM. */
int ibsa__topology_name_add(struct ibsa_topology *topology, const char *name,
			    uint32_t *out);

/* Append the values of a NodeRecord to the topology. Return: 0; -ENOMEM. */
int ibsa__topology_node_add(struct ibsa_topology *topology,
			    const struct node_row *node);
int ibsa__topology_port_add(struct ibsa_topology *topology,
			    const struct port_row *port);
int ibsa__topology_link_add(struct ibsa_topology *topology,
			    const struct link_row *link);

/* Record that two ports have the same GUID or LID. Return: 0, -ENOMEM. */
int ibsa__topology_twin_add(struct ibsa_topology *topology,
			    enum ibsa_finding_kind kind, uint32_t a,
			    uint32_t b);

/* Return: how a trace ends at a port without a link, an enum ibsa_trace_end. */
int ibsa__trace_no_link(const struct ibsa_topology_port *port);

/* Compute levels and islands. Return: 0, -ENOMEM. */
int ibsa__topology_levels(struct ibsa_topology *topology);

#endif
