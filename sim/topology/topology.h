/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a topology file says: nodes, their ports, and which are cabled. */
#ifndef SIM_TOPOLOGY_TOPOLOGY_H
#define SIM_TOPOLOGY_TOPOLOGY_H

#include <ibsa/types.h>

#include "sim/tools/map.h"
#include "sim/topology/rate.h"

/*
 * Limits. A subnet has 49151 unicast LIDs, and each node in use takes one;
 * ports bound the memory that a small hostile file can ask for.
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
	const char *name; /* the description, else the id */
	uint64_t guid;
	uint64_t image_guid;
	uint32_t first_port;   /* index of port 0; ports follow in order */
	uint32_t switch_index; /* counts switches only; else SIM_NONE */
	uint32_t vendor;
	uint32_t device;
	uint8_t type; /* enum ibsa_node_type */
	uint8_t port_count;
	uint8_t sa_port; /* of a switch: the one towards the SA */
	bool is_changed; /* a switch's link, since an SM has looked */
};

/* Port 0 stands for the node itself: a switch's own end port. */
struct topo_port {
	uint64_t guid; /* of an end port; 0 for a switch's others */
	uint32_t node;
	uint32_t cable; /* index of the port at its other end, or SIM_NONE */
	uint32_t peer;	/* the same, or SIM_NONE while the link is down */
	uint32_t end;	/* of an end port, its index there; else SIM_NONE */
	uint32_t wanted_lid; /* of the file; 0: it does not say */
	uint32_t lid;	     /* in the SA's answers; 0: not in them */
	uint8_t number;
	uint8_t lmc;
	struct link_rate most; /* that the port supports */
	struct link_rate rate; /* of its link, when it is up */
	uint8_t state;	       /* enum ibsa_port_state_code */
	bool is_unplugged;     /* the cable at this or the other end */
	bool is_disabled;      /* by an SM */
};

/* What is odd in a line: enum ibsa_finding_kind, and what it is about. */
struct topo_finding {
	const char *file;
	uint32_t line;
	uint32_t a; /* indexes of ports, or of nodes, as the kind has it */
	uint32_t b;
	uint64_t value; /* as the kind has it */
	uint8_t kind;
};

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
	struct map ids;	       /* hash of a node's id to its index */
	struct map guids;      /* node GUID to its index */
	struct map port_guids; /* port GUID to the port's index */
};

/*
 * Where a topology comes from: @text, or the file @path if @text is NULL; the
 * highest LID that is not refused; and whether to look for findings.
 */
struct topo_source {
	const char *path;
	const char *text;
	size_t len;
	uint32_t lid_max;
	bool has_check;
};

/*
 * Read a topology. Return: 0; -EINVAL with a sentence in @error; -ENOMEM; or
 * the error of opening the file. @out is untouched on failure.
 */
int ibsa__topology_read(const struct topo_source *from,
			struct ibsa_error *error, struct topology *out);

void ibsa__topology_done(struct topology *topo);

/* A copy of @len characters that lives as long as @topo, or NULL. */
const char *ibsa__topology_string(struct topology *topo, const char *text,
				  size_t len);

/* A hash of such text as ids and names are. */
uint64_t ibsa__topology_hash(const char *text, size_t len);

/* The node of that id, or SIM_NONE. */
uint32_t ibsa__topology_by_id(const struct topology *topo, const char *id,
			      size_t len);

/* The node of that id, else the first of that name, or SIM_NONE. */
uint32_t ibsa__topology_find(const struct topology *topo, const char *name);

/*
 * Add a node with its ports. Return: 0; -ENOMEM; -EEXIST the id is taken;
 * -ENOSPC too many nodes or ports.
 */
int ibsa__topology_add(struct topology *topo, const struct topo_node *node,
		       uint32_t *out);

/* Keep a finding; those past the limit are not. Return: 0 or -ENOMEM. */
int ibsa__topology_add_finding(struct topology *topo,
			       const struct topo_finding *finding);

/*
 * Give a GUID to what has none, and see that none is there twice. Return:
 * 0; -ENOMEM; -EEXIST, and the two nodes in @out.
 */
int ibsa__topology_guids(struct topology *topo, uint32_t out[2]);

#endif
