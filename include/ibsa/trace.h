/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way of a packet through the switches of a topology, as their forwarding
 * tables direct it. These functions send no query: the caller provides the
 * tables.
 */
#ifndef IBSA_TRACE_H
#define IBSA_TRACE_H

#include <ibsa/records.h>
#include <ibsa/topology.h>

IBSA_BEGIN

enum {
	IBSA_TRACE_HOPS = 64,	  /* the most links of a trace */
	IBSA_LFT_BLOCK_LIDS = 64, /* LIDs of a LinearForwardingTableRecord */
};

/* How a trace ended. */
enum ibsa_trace_end {
	IBSA_TRACE_REACHED,    /* the packet reached the port with the LID */
	IBSA_TRACE_NO_ENTRY,   /* a switch's table has no port for the LID */
	IBSA_TRACE_NO_TABLE,   /* the caller gave no table of a switch */
	IBSA_TRACE_NO_LINK,    /* the port to send from has no link */
	IBSA_TRACE_LOOP,       /* the packet reached a switch for the second
				* time */
	IBSA_TRACE_WRONG_PORT, /* the packet reached an end port that does not
				* have the LID */
	IBSA_TRACE_TOO_LONG,   /* there are more than IBSA_TRACE_HOPS links */
	IBSA_TRACE_ISLAND,     /* only for groups: the packet does not reach a
				* switch whose table has an entry */
	IBSA_TRACE_HIDDEN,     /* the port to send from is active, but the SA
				* does not show the other end of its link */
};

/**
 * struct ibsa_trace_hop - a link of a trace
 * @node:     index of the node that sends the packet; see
 *            ibsa_topology_node_at()
 * @port:     number of the port of @node
 * @far_node: index of the node that receives the packet
 * @far_port: number of the port of @far_node
 * @is_narrowest: no link of the trace has a lower rate, and another link has a
 *            higher one; several links may be the narrowest. False for all
 *            links unless the rates of all links of the trace are known
 *
 * ibsa_topology_port_at() returns the width, speed and MTU of the link.
 */
struct ibsa_trace_hop {
	size_t node;
	unsigned int port;
	size_t far_node;
	unsigned int far_port;
	bool is_narrowest;
};

/**
 * struct ibsa_trace - the way from a port to a LID
 * @end:   enum ibsa_trace_end, where each value is described
 * @node:  index of the node at which the trace ended: the destination or the
 *         last node that the packet reached
 * @port:  port number of @node: of NO_LINK, HIDDEN and TOO_LONG, the port
 *         through which the packet would leave @node; of WRONG_PORT, the port
 *         that received the packet; else 0
 * @count: number of links
 * @stride, @hops: the links, in the order of the packet, for
 *         ibsa_trace_hop_at()
 */
struct ibsa_trace {
	enum ibsa_trace_end end;
	size_t node;
	unsigned int port;
	size_t count;
	size_t stride;
	struct ibsa_trace_hop *hops;
};

/**
 * ibsa_trace_hop_at - a link of a trace
 * @trace: from ibsa_topology_trace()
 * @index: number of the link, from 0; less than count of @trace
 *
 * Return: the link, which belongs to @trace.
 */
IBSA_INLINE const struct ibsa_trace_hop *
ibsa_trace_hop_at(const struct ibsa_trace *trace, size_t index)
{
	return (const struct ibsa_trace_hop *)IBSA__AT(trace->hops, index,
						       trace->stride);
}

/* For bindings: ibsa_topology_trace() with the size of @blocks. */
int ibsa_topology_trace_sized(const struct ibsa_topology *topology,
			      uint32_t slid, uint32_t dlid,
			      const struct ibsa_lft *blocks, size_t size,
			      size_t count,
			      struct ibsa_trace **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 7);

/**
 * ibsa_topology_trace - trace the way of a packet through the switches
 * @topology: a finished topology
 * @slid:     LID of the port that sends the packet; the LID of a switch is the
 *            LID of its port 0
 * @dlid:     destination LID of the packet
 * @blocks:   LinearForwardingTableRecords, in host byte order: of each switch
 *            on the way, block @dlid / IBSA_LFT_BLOCK_LIDS, rounded down. If
 *            the block of a switch is missing, the trace ends with NO_TABLE.
 *            Records of other switches and blocks are ignored
 * @count:    number of @blocks
 * @out:      receives the trace, also if it does not reach the port;
 *            ibsa_trace_free() frees it
 *
 * To get @blocks, send one GetTable query that selects by block_num only: the
 * reply has this block of all switches.
 *
 * Return: 0; -ENOENT no port has @slid, or no port has @dlid; -ENOMEM. After an
 * error @out is unchanged. Any thread may call ibsa_topology_trace().
 *
 * Source: IBA vol 1, 15.2.5.7 (LinearForwardingTableRecord), 18.2.4.3.
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_trace(const struct ibsa_topology *topology, uint32_t slid,
		    uint32_t dlid, const struct ibsa_lft *blocks, size_t count,
		    struct ibsa_trace **out)
{
	return ibsa_topology_trace_sized(topology, slid, dlid, blocks,
					 sizeof(*blocks), count, out);
}

/**
 * ibsa_trace_free - free a trace
 * @trace: from ibsa_topology_trace(); NULL: nothing happens
 *
 * Any thread may call ibsa_trace_free().
 */
void ibsa_trace_free(struct ibsa_trace *trace);

/**
 * ibsa_trace_end_text - the text for the end of a trace
 * @end: enum ibsa_trace_end
 *
 * Return: a constant of a few words, such as "loop"; "" for unknown codes.
 */
const char *ibsa_trace_end_text(enum ibsa_trace_end end);

/**
 * struct ibsa_trace_branch - a link of a group's tree, or where the tree is
 * wrong
 * @depth:    of REACHED and LOOP: number of links from the sender, or the first
 *            switch, to @far_node; of ISLAND: 0; of NO_LINK, HIDDEN and
 *            NO_ENTRY: 1 plus the number of links from the sender, or the first
 *            switch, to @node
 * @end:      enum ibsa_trace_end: REACHED a link of the tree; LOOP a link to a
 *            switch that the packet has reached before; NO_LINK @port has no
 *            link; HIDDEN @port is active, but the SA does not show its other
 *            end; NO_ENTRY the table of the switch @node has no port for the
 *            group, not even port 0, except the port at which the packet
 *            arrived; ISLAND the table of the switch @node has an entry for the
 *            group, but the packet does not reach @node
 * @node:     index of the node that sends the packet; of NO_ENTRY and ISLAND,
 *            index of the switch
 * @port:     number of the port of @node that sends the packet; of NO_ENTRY and
 *            ISLAND 0
 * @far_node: of REACHED and LOOP: index of the node that receives the packet;
 *            else 0
 * @far_port: of REACHED and LOOP: number of the port of @far_node; else 0
 */
struct ibsa_trace_branch {
	unsigned int depth;
	enum ibsa_trace_end end;
	size_t node;
	unsigned int port;
	size_t far_node;
	unsigned int far_port;
};

/**
 * struct ibsa_trace_tree - the tree of a group
 * @count: number of branches
 * @stride, @all: the branches, links nearer to the start first, for
 *         ibsa_trace_branch_at()
 */
struct ibsa_trace_tree {
	size_t count;
	size_t stride;
	struct ibsa_trace_branch *all;
};

/**
 * ibsa_trace_branch_at - a branch of a group's tree
 * @tree:  from ibsa_topology_trace_group()
 * @index: number of the branch, from 0; less than count of @tree
 *
 * Return: the branch, which belongs to @tree.
 */
IBSA_INLINE const struct ibsa_trace_branch *
ibsa_trace_branch_at(const struct ibsa_trace_tree *tree, size_t index)
{
	return (const struct ibsa_trace_branch *)IBSA__AT(tree->all, index,
							  tree->stride);
}

/* For bindings: ibsa_topology_trace_group() with the size of @tables. */
int ibsa_topology_trace_group_sized(const struct ibsa_topology *topology,
				    uint32_t slid, uint32_t mlid,
				    const struct ibsa_mft *tables, size_t size,
				    size_t count,
				    struct ibsa_trace_tree **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 7);

/**
 * ibsa_topology_trace_group - trace a packet to a multicast group
 * @topology: a finished topology
 * @slid:     LID of the port that sends the packet; 0: the tree begins at the
 *            first switch, in the order of node GUIDs, whose table has an entry
 *            for the group
 * @mlid:     multicast LID of the group
 * @tables:   MulticastForwardingTableRecords of all switches, in host byte
 *            order: block (@mlid - 0xc000) / 32, rounded down, of all positions
 *            (a position is 16 ports). Other blocks are ignored
 * @count:    number of @tables
 * @out:      receives the tree, which ibsa_trace_tree_free() frees
 *
 * A switch sends the packet through all ports of its table's entry except the
 * port at which the packet arrived. The trace continues only once through each
 * switch, so a loop ends it. Each switch that has an entry, but that the packet
 * does not reach, is a branch ISLAND.
 *
 * If @slid is 0 and no table has an entry for the group, the tree is empty. If
 * @slid is not 0, and the table of the switch that sends the packet, or that
 * receives it first, has no entry for the group, this switch is a branch
 * NO_ENTRY.
 *
 * Return: 0, also if the tree is empty; -ENOENT no port has @slid; -EINVAL
 * @mlid is below 0xc000; -ENOMEM. After an error @out is unchanged. Any thread
 * may call ibsa_topology_trace_group().
 *
 * Source: IBA vol 1, 15.2.5.10 (MulticastForwardingTableRecord), 18.2.4.3.3.
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_trace_group(const struct ibsa_topology *topology, uint32_t slid,
			  uint32_t mlid, const struct ibsa_mft *tables,
			  size_t count, struct ibsa_trace_tree **out)
{
	return ibsa_topology_trace_group_sized(topology, slid, mlid, tables,
					       sizeof(*tables), count, out);
}

/**
 * ibsa_trace_tree_free - free a tree
 * @tree: from ibsa_topology_trace_group(); NULL: nothing happens
 */
void ibsa_trace_tree_free(struct ibsa_trace_tree *tree);

IBSA_END

#endif
