/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The topology of an embedded fabric: nodes, ports and cables, and anomalies in
 * its file.
 *
 * The functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
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
 * @name:       description of the node; if the file gives none, the node id
 * @guid:       node GUID, host order; assigned by the fabric if the file gives
 *              none
 * @image_guid: system image GUID of the node, host order; if the file gives
 *              none, @guid
 * @vendor:     vendor id, 24 bits; 0 if the file does not give it
 * @device:     device id, 16 bits; 0 if the file does not give it
 * @type:       enum ibsa_node_type
 * @port_count: number of ports, without port 0 of a switch; the first port has
 *              number 1
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
 * @guid:      port GUID, host order; 0 for all ports of a switch except port 0
 * @file_lid:  LID that the file gives to the port, host order; 0: none. The LID
 *             that the port has may be another one
 * @has_cable: the port has a cable; if false, the members after @has_cable are
 *             not valid
 * @is_up:     the link is up
 * @far_node:  node at the other end, an index for ibsa_fabric_node_at()
 * @far_port:  port number at the other end
 * @lanes:     number of lanes at which the link runs, or will run when it is up
 *             again: 1, 2, 4, 8 or 12
 * @speed:     speed of a lane, such as "EDR", likewise
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
 * @kind: kind of the anomaly
 * @name: name of @kind in IBSA_FINDINGS
 * @file: name of the topology file, or of a file that it includes; "(text)" for
 *        ibsa_fabric_parse()
 * @line: line in the file, from 1
 * @what: one sentence that describes the finding
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
 * ibsa_fabric_node_at - return a node of the topology
 * @fabric: a fabric
 * @index:  from 0, in the order of the file
 * @out:    receives the node; its strings are valid until ibsa_fabric_put()
 *
 * Return: 0; -ENOENT there is no such node. Any thread may call
 * ibsa_fabric_node_at().
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
 * ibsa_fabric_end_at - return a port of a node, and the other end of its cable
 * @fabric: a fabric
 * @node:   index of the node, as for ibsa_fabric_node_at()
 * @port:   1 to port_count; 0: port 0 of a switch, or, on other nodes, no port:
 *          guid of @out is 0, and has_cable is false
 * @out:    receives the port
 *
 * Return: 0; -ENOENT there is no such node or port. Any thread may call
 * ibsa_fabric_end_at().
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
 * ibsa_fabric_finding_at - return an anomaly of the topology file
 * @fabric: a fabric that was loaded with check of struct ibsa_fabric_options
 * @index:  number of the finding, from 0, ordered by file and line
 * @out:    receives the finding; its strings are valid until ibsa_fabric_put()
 *
 * A fabric holds at most 65536 findings; further ones are lost.
 *
 * Return: 0; -ENOENT there is no such finding, or the fabric was loaded without
 * check. Any thread may call ibsa_fabric_finding_at().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_finding_at(struct ibsa_fabric *fabric, size_t index,
		       struct ibsa_fabric_finding *out)
{
	return ibsa_fabric_finding_at_sized(fabric, index, out, sizeof(*out));
}

IBSA_END

#endif
