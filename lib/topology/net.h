/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The content of a topology file: nodes, ports and cables. */
#ifndef TOPOLOGY_NET_H
#define TOPOLOGY_NET_H

#include <ibsa/types.h>

#include "base/map.h"
#include "wire/rate.h"

/* The index that stands for no node, port or switch. */
#define SIM_NONE MAP_NONE

/*
 * Limits. A subnet has 49151 unicast LIDs, and each node needs one. The limit
 * of ports restricts the memory that a small file can make the parser allocate.
 */
enum {
	TOPO_NODES_MAX = 0xbfff,
	TOPO_PORTS_MAX = 1 << 22,
	TOPO_NODE_PORTS_MAX = 254,
	TOPO_INCLUDE_DEPTH_MAX = 8,
	TOPO_INCLUDES_MAX = 256,
	TOPO_FINDINGS_MAX = 1 << 16,
};

struct topo_node {
	const char *id;
	/* Description of the node; its id if it has no description. */
	const char *name;
	uint64_t guid;
	uint64_t image_guid;
	/* Index of the node's port 0; its other ports follow in order. */
	uint32_t first_port;
	/* counts only switches; SIM_NONE for other nodes */
	uint32_t switch_index;
	uint32_t vendor;
	uint32_t device;
	uint8_t type; /* enum ibsa_node_type */
	uint8_t port_count;
	uint8_t sa_port; /* For a switch: the port that leads towards the SA. */
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
	 * Index of the port at the other end of this port's cable, or SIM_NONE.
	 */
	uint32_t cable;
	/*
	 * Index of the port at the other end of the cable while the link is up,
	 * otherwise SIM_NONE.
	 */
	uint32_t peer;
	/* Index of the port among the subnet's end ports, or SIM_NONE. */
	uint32_t end;
	uint32_t wanted_lid; /* in the file; 0: none */
	/* LID of the port in the SA's answers; 0: the SA hides the port. */
	uint32_t lid;
	uint8_t number;
	uint8_t lmc;
	struct link_rate most; /* maximum that the port supports */
	struct link_rate rate; /* of its link, when it is up */
	uint8_t state;	       /* enum ibsa_port_state_code */
	bool is_unplugged;     /* the cable is disconnected at either end */
	bool is_disabled;      /* by an SM */
};

/*
 * A finding about a topology file: its kind (enum ibsa_finding_kind), its
 * line, and the objects that it is about.
 */
struct topo_finding {
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
struct topo_chunk;

struct topology {
	struct topo_node *nodes;
	struct topo_port *ports;
	uint32_t node_count;
	size_t node_room;
	uint32_t port_count;
	size_t port_room;
	uint32_t switch_count;
	uint32_t link_count;
	struct topo_chunk *strings;
	struct topo_finding *findings;
	uint32_t finding_count;
	size_t finding_room;
	/* Map from the hash of a node's id to the node's index. */
	struct map ids;
	struct map guids;      /* node GUID to the node's index */
	struct map port_guids; /* port GUID to the port's index */
};

/*
 * A topology to parse: the string @text, or the file @path if @text is NULL;
 * the highest valid LID; whether to record findings; and whether a link
 * without a rate has none instead of ibsim's default. @path is also the name
 * of @text in messages; it may be NULL.
 */
struct topo_source {
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
int ibsa__topology_read(const struct topo_source *from,
			struct ibsa_error *error, struct topology *out);

void ibsa__topology_done(struct topology *topo);

/* Make a finished graph of the nodes and links. Return: 0; -ENOMEM. */
int ibsa__topology_of_file(const struct topology *file,
			   struct ibsa_topology **out);

/*
 * Copy @len characters to memory that is freed with @topo. Return: the copy;
 * NULL: memory is short.
 */
const char *ibsa__topology_string(struct topology *topo, const char *text,
				  size_t len);

/* Return: the hash of a node's id or name. */
uint64_t ibsa__topology_hash(const char *text, size_t len);

/* Return: the index of the node with this id, or SIM_NONE. */
uint32_t ibsa__topology_by_id(const struct topology *topo, const char *id,
			      size_t len);

/*
 * Return: the index of the node with this id; if there is none, of the first
 * node with this name; or SIM_NONE.
 */
uint32_t ibsa__topology_find(const struct topology *topo, const char *name);

/*
 * Add a node with its ports to the topology. Return: 0; -ENOMEM; -EEXIST
 * another node has this id; -ENOSPC there are too many nodes or ports.
 */
int ibsa__topology_add(struct topology *topo, const struct topo_node *node,
		       uint32_t *out);

/*
 * Store a finding, unless the topology has TOPO_FINDINGS_MAX already. Return:
 * 0 or -ENOMEM.
 */
int ibsa__topology_add_finding(struct topology *topo,
			       const struct topo_finding *finding);

/*
 * Assign GUIDs to those nodes and ports that have none, and check that all
 * GUIDs differ. Return: 0; -ENOMEM; -EEXIST the two nodes in @out have the
 * same GUID.
 */
int ibsa__topology_guids(struct topology *topo, uint32_t out[2]);

#endif
