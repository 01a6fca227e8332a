/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The topology of an embedded fabric: nodes, ports, cables, and what is odd
 * about the file.
 */
#ifndef IBSA_FABRIC_TOPOLOGY_H
#define IBSA_FABRIC_TOPOLOGY_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

/**
 * struct ibsa_fabric_node - a node of a topology
 * @id:         as other lines of the file name it
 * @name:       its description, else its id
 * @guid:       node GUID, host order; made up if the file gives none
 * @image_guid: of the system that it is part of, host order
 * @vendor:     24 bits; 0 if the file does not say
 * @device:     16 bits; 0 if the file does not say
 * @type:       enum ibsa_node_type
 * @port_count: its ports are numbered from 1 to here
 */
struct ibsa_fabric_node {
	const char *id;
	const char *name;
	uint64_t guid;
	uint64_t image_guid;
	uint32_t vendor;
	uint16_t device;
	uint8_t type;
	uint8_t port_count;
};

/**
 * struct ibsa_fabric_end - a port of a node, and where its cable goes
 * @guid:      port GUID, host order; 0 for all but port 0 of a switch
 * @file_lid:  LID that the file asks for, host order; 0: none
 * @has_cable: whether the members below are meant
 * @is_up:     whether the cable carries anything at present
 * @far_node:  at the other end, an index for ibsa_fabric_node_at()
 * @far_port:  its port
 * @lanes:     width of the link: 1, 2, 4, 8 or 12
 * @speed:     of a lane, "EDR"
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

/*
 * What can be odd about a topology, and the word for it:
 * - one-way: a cable that one end alone gives, where others are given by both
 * - rate-differs: the two ends of a cable say different rates
 * - no-rate: nobody says how fast a cable is, but of others somebody does; or
 *   not in a way that is understood
 * - narrow: a cable has fewer lanes than most
 * - parallel-differs: two cables between the same nodes differ in rate
 * - guid-differs: a port's GUID is another one in another line
 * - no-cable: a node without any
 * - apart: nodes that no way connects with the first adapter
 * - same-name: two adapters have one description
 * - same-lid: a port asks for a LID that another one asks for
 * - no-guid: a node's GUID is 0, so it gets another
 */
#define IBSA_FINDINGS(F)                        \
	F(ONE_WAY, "one-way")                   \
	F(RATE_DIFFERS, "rate-differs")         \
	F(NO_RATE, "no-rate")                   \
	F(NARROW, "narrow")                     \
	F(PARALLEL_DIFFERS, "parallel-differs") \
	F(GUID_DIFFERS, "guid-differs")         \
	F(NO_CABLE, "no-cable")                 \
	F(APART, "apart")                       \
	F(SAME_NAME, "same-name")               \
	F(SAME_LID, "same-lid")                 \
	F(NO_GUID, "no-guid")

enum ibsa_finding_kind {
#define IBSA_FINDING_ROW(kind, name) IBSA_FINDING_##kind,
	IBSA_FINDINGS(IBSA_FINDING_ROW)
#undef IBSA_FINDING_ROW
};

/**
 * struct ibsa_fabric_finding - something odd in a topology file
 * @kind: what it is
 * @name: the word for it, of IBSA_FINDINGS
 * @file: whose line it is, as it was named; "(text)" if it was text
 * @line: from 1
 * @what: one sentence
 */
struct ibsa_fabric_finding {
	enum ibsa_finding_kind kind;
	const char *name;
	const char *file;
	unsigned int line;
	struct ibsa_error what;
};

/**
 * ibsa_fabric_node_at - walk over all nodes
 * @fabric: which
 * @index:  from 0, in the order of the file
 * @out:    the node; its strings live as long as the fabric
 *
 * Return: 0; -ENOENT past the last.
 */
int ibsa_fabric_node_at(struct ibsa_fabric *fabric, size_t index,
			struct ibsa_fabric_node *out) IBSA_MUST_USE;

/**
 * ibsa_fabric_end_at - walk over the ports of a node, and along its cables
 * @fabric: which
 * @node:   index of the node, as for ibsa_fabric_node_at()
 * @port:   0 is the node itself, a switch's own end port; 1 to port_count
 * @out:    the port and its cable
 *
 * Return: 0; -ENOENT there is no such node or port.
 */
int ibsa_fabric_end_at(struct ibsa_fabric *fabric, size_t node,
		       unsigned int port,
		       struct ibsa_fabric_end *out) IBSA_MUST_USE;

/**
 * ibsa_fabric_finding_at - walk over what is odd about the topology
 * @fabric: which, made with @check of its options
 * @index:  from 0, by file and line
 * @out:    the finding; its strings live as long as the fabric
 *
 * There are at most 65536 findings; more are not kept.
 *
 * Return: 0; -ENOENT past the last, or nobody has looked for any.
 */
int ibsa_fabric_finding_at(struct ibsa_fabric *fabric, size_t index,
			   struct ibsa_fabric_finding *out) IBSA_MUST_USE;

IBSA_END

#endif
