/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The topology of an embedded fabric: nodes, ports and cables, and anomalies in
 * its file.
 *
 * ibsa_fabric_node_at    a node, in the order of the file
 * ibsa_fabric_end_at     a port of a node, and the other end of its cable
 * ibsa_fabric_finding_at an anomaly of the file, ordered by file and line
 *
 * Any thread may call these functions. They are in libibsa-fabric: link with
 * the flags of "pkg-config ibsa-fabric".
 */
#ifndef IBSA_FABRIC_TOPOLOGY_H
#define IBSA_FABRIC_TOPOLOGY_H

#include <ibsa/finding.h>
#include <ibsa/sa.h>

IBSA_BEGIN

struct ibsa_fabric;

/**
 * struct ibsa_fabric_node - a node of a topology
 * @id:         node id, by which other lines of the file refer to the node
 * @name:       description, or else node id
 * @guid:       assigned by the fabric if the file gives none
 * @vendor, @device: 0: the file does not give it
 * @port_count: without port 0 of a switch
 */
struct ibsa_fabric_node {
	const char *id;
	const char *name;
	uint64_t guid;
	uint64_t image_guid;
	uint32_t vendor;
	uint16_t device;
	enum ibsa_node_type type;
	uint8_t port_count;
};

/**
 * struct ibsa_fabric_end - a port of a node, and the other end of its cable
 * @guid:      0 for ports of a switch except port 0
 * @file_lid:  that the file gives; 0: none
 * @has_cable: the following members are valid
 * @far_node:  an index for ibsa_fabric_node_at()
 * @lanes:     at which the link runs when it is up: 1, 2, 4, 8 or 12
 * @speed:     of a lane, such as "EDR"
 */
struct ibsa_fabric_end {
	uint64_t guid;
	uint32_t file_lid;
	bool has_cable;
	bool is_up;
	size_t far_node;
	unsigned int far_port;
	unsigned int lanes;
	const char *speed;
};

/**
 * struct ibsa_fabric_finding - an anomaly in a topology file
 * @name: of @kind in IBSA_FINDINGS
 * @file: also one that is included; "(text)" for ibsa_fabric_parse()
 */
struct ibsa_fabric_finding {
	enum ibsa_finding_kind kind;
	const char *name;
	const char *file;
	unsigned int line;
	struct ibsa_error what;
};

/* For bindings: ibsa_fabric_node_at() with the size of @out. */
int ibsa_fabric_node_at_sized(struct ibsa_fabric *fabric, size_t index,
			      struct ibsa_fabric_node *out,
			      size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_fabric_node_at - a node, in the order of the file
 * @out: its strings are valid until ibsa_fabric_put()
 *
 * Return: 0; -ENOENT
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fabric_node_at(struct ibsa_fabric *fabric,
						  size_t index,
						  struct ibsa_fabric_node *out)
{
	return ibsa_fabric_node_at_sized(fabric, index, out, sizeof(*out));
}

/* For bindings: ibsa_fabric_end_at() with the size of @out. */
int ibsa_fabric_end_at_sized(struct ibsa_fabric *fabric, size_t node,
			     unsigned int port, struct ibsa_fabric_end *out,
			     size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_fabric_end_at - a port of a node, and the other end of its cable
 * @node: index, as for ibsa_fabric_node_at()
 * @port: from 1; 0: port 0 of a switch
 *
 * Return: 0; -ENOENT
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fabric_end_at(struct ibsa_fabric *fabric,
						 size_t node, unsigned int port,
						 struct ibsa_fabric_end *out)
{
	return ibsa_fabric_end_at_sized(fabric, node, port, out, sizeof(*out));
}

/* For bindings: ibsa_fabric_finding_at() with the size of @out. */
int ibsa_fabric_finding_at_sized(struct ibsa_fabric *fabric, size_t index,
				 struct ibsa_fabric_finding *out,
				 size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_fabric_finding_at - an anomaly of the file, ordered by file and line
 * @fabric: loaded with check of struct ibsa_fabric_options
 * @out:    its strings are valid until ibsa_fabric_put()
 *
 * At most 65536 are held.
 *
 * Return: 0; -ENOENT
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_finding_at(struct ibsa_fabric *fabric, size_t index,
		       struct ibsa_fabric_finding *out)
{
	return ibsa_fabric_finding_at_sized(fabric, index, out, sizeof(*out));
}

IBSA_END

#endif
