/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of a topology file: nodes, ports and cables. It has no state of a
 * running fabric except, in some files, the states of ports.
 */
#ifndef TOPOLOGY_NET_H
#define TOPOLOGY_NET_H

#include <ibsa/types.h>

#include "base/map.h"
#include "wire/rate.h"

/* The index that stands for no node, port or switch. */
#define NET_NONE MAP_NONE

/*
 * Limits. A subnet has 49151 unicast LIDs, and each node needs one. The limit
 * of ports restricts the memory that a small file can make the parser allocate.
 */
enum {
	NET_NODES_MAX = 0xbfff,
	NET_PORTS_MAX = 1 << 22,
	NET_NODE_PORTS_MAX = 254,
	NET_INCLUDE_DEPTH_MAX = 8,
	NET_INCLUDES_MAX = 256,
	NET_FINDINGS_MAX = 1 << 16,
};

struct net_node {
	const char *id;
	/* Description of the node; its id if it has no description. */
	const char *name;
	uint64_t guid;
	uint64_t image_guid;
	/* Index of the node's port 0; its other ports follow in order. */
	uint32_t first_port;
	uint32_t vendor;
	uint32_t device;
	uint8_t type; /* enum ibsa_node_type */
	uint8_t port_count;
	bool has_enhanced_port0;
	uint8_t numa; /* NUMA node plus 1; 0: the file has none */
	uint32_t pci; /* see net_pci(); 0: the file has none */
};

/*
 * A PCI address as a number: domain, bus, device and function. The address
 * 0000:00:00.0, which is that of a host bridge, stands for none.
 */
static inline uint32_t net_pci(uint32_t domain, uint32_t bus, uint32_t device,
			       uint32_t function)
{
	return domain << 16 | bus << 8 | device << 3 | function;
}

/*
 * A port of a node. Port 0 is a switch's own end port; other nodes do not use
 * it.
 */
struct net_port {
	/* GUID of an end port; 0 for a switch's external ports. */
	uint64_t guid;
	uint32_t node;
	/*
	 * Index of the port at the other end of this port's cable, or NET_NONE.
	 */
	uint32_t cable;
	uint32_t lid; /* 0: none */
	uint8_t number;
	uint8_t lmc;
	uint8_t state; /* enum ibsa_port_state_code; 0: the file has none */
	struct link_rate rate;
};

/*
 * A finding about a topology file: its kind (enum ibsa_finding_kind), its
 * line, and the objects that it is about.
 */
struct net_finding {
	const char *file;
	uint32_t line;
	/*
	 * Indexes of the ports or nodes that the finding is about, depending on
	 * its kind.
	 */
	uint32_t a;
	uint32_t b;
	uint64_t value; /* depends on the kind */
	uint8_t kind;
};

struct ibsa_topology;
struct net_chunk;

struct net {
	struct net_node *nodes;
	struct net_port *ports;
	uint32_t node_count;
	size_t node_room;
	uint32_t port_count;
	size_t port_room;
	uint32_t cable_count;
	struct net_chunk *strings;
	struct net_finding *findings;
	uint32_t finding_count;
	size_t finding_room;
	/* Map from the hash of a node's id to the node's index. */
	struct map ids;
};

/*
 * A topology to parse: the string @text, or the file @path if @text is NULL;
 * the highest valid LID; whether to record findings; and whether a link without
 * a rate in the file gets an unknown rate instead of ibsim's default. @path is
 * also the name of @text in messages; it may be NULL.
 */
struct net_input {
	const char *path;
	const char *text;
	size_t len;
	uint32_t lid_max;
	bool has_check;
	bool has_unknown_rates;
};

/*
 * Parse a topology. Return: 0; -EINVAL the text is invalid, with the reason in
 * @error; -ENOMEM; or the error from opening the file. @out is unchanged on
 * failure.
 */
int ibsa__net_read(const struct net_input *from, struct ibsa_error *error,
		   struct net *out);

void ibsa__net_done(struct net *net);

/* Make a finished topology of the nodes and cables. Return: 0; -ENOMEM. */
int ibsa__net_graph(const struct net *net, struct ibsa_topology **out);

/*
 * Copy @len characters to memory that is freed with @net. Return: the copy;
 * NULL: memory is short.
 */
const char *ibsa__net_string(struct net *net, const char *text, size_t len);

/* Return: the hash of a node's id or name. */
uint64_t ibsa__net_hash(const char *text, size_t len);

/* Return: the index of the node with this id, or NET_NONE. */
uint32_t ibsa__net_node_by_id(const struct net *net, const char *id,
			      size_t len);

/*
 * Return: the index of the node with this id; if there is none, of the first
 * node with this name; or NET_NONE.
 */
uint32_t ibsa__net_node_find(const struct net *net, const char *name);

/*
 * Add a node with its ports. Return: 0; -ENOMEM; -EEXIST
 * another node has this id; -ENOSPC there are too many nodes or ports.
 */
int ibsa__net_node_add(struct net *net, const struct net_node *node,
		       uint32_t *out);

/*
 * Store a finding, unless there are NET_FINDINGS_MAX already. Return: 0 or
 * -ENOMEM.
 */
int ibsa__net_finding_add(struct net *net, const struct net_finding *finding);

/* Write a finding as one sentence. */
void ibsa__net_finding_text(const struct net *net,
			    const struct net_finding *finding,
			    struct ibsa_error *out);

/*
 * Assign GUIDs to those nodes and ports that have none, and check that all
 * GUIDs differ. Return: 0; -ENOMEM; -EEXIST the two nodes in @out have the
 * same GUID.
 */
int ibsa__net_guids_assign(struct net *net, uint32_t out[2]);

#endif
