/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way of a packet through the switches of a topology, as their forwarding
 * tables direct it. These functions send no query: the caller provides the
 * tables. Any thread may call them.
 *
 * ibsa_trace_hop_at         a link of a trace, in the order of the packet
 * ibsa_topology_trace       trace the way of a packet to a LID
 * ibsa_trace_free           free a trace
 * ibsa_trace_end_text       a few words for the end of a trace; "": unknown
 * ibsa_trace_branch_at      a branch of a tree, those nearer to the start first
 * ibsa_topology_trace_group trace a packet to a multicast group
 * ibsa_trace_tree_free      free a tree
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
 * @node:         that sends the packet; an index for ibsa_topology_node_at()
 * @is_narrowest: no link of the trace has a lower rate, and another a higher
 *                one
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
 * @node: the destination, or the last node that the packet reached
 * @port: of @node, through which the packet would leave (NO_LINK, HIDDEN,
 *        TOO_LONG) or that received it (WRONG_PORT); else 0
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
 * ibsa_trace_hop_at - a link of a trace, in the order of the packet
 * @index: less than count of @trace
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
 * ibsa_topology_trace - trace the way of a packet to a LID
 * @slid:   of the sender; of a switch, that of its port 0
 * @blocks: LinearForwardingTableRecords, host byte order: of each switch, block
 *          @dlid / IBSA_LFT_BLOCK_LIDS, as one GetTable that selects by
 *          block_num returns them; others are ignored
 * @out:    also if the trace does not reach the port; ibsa_trace_free() frees
 *          it
 *
 * Return: 0; -ENOENT no port has @slid, or none has @dlid
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

void ibsa_trace_free(struct ibsa_trace *trace);

const char *ibsa_trace_end_text(enum ibsa_trace_end end);

/**
 * struct ibsa_trace_branch - a link of a group's tree, or where the tree is
 * wrong
 * @depth:       links from the sender, or the first switch
 * @end:         REACHED a link of the tree; LOOP a link to a switch that was
 *               reached before; NO_LINK, HIDDEN as above; NO_ENTRY the table of
 *               @node has no other port for the group; ISLAND it has an entry,
 *               but the packet does not reach it
 * @node, @port: that sends the packet
 * @far_node, @far_port: of REACHED and LOOP: that receives it
 */
struct ibsa_trace_branch {
	unsigned int depth;
	enum ibsa_trace_end end;
	size_t node;
	unsigned int port;
	size_t far_node;
	unsigned int far_port;
};

/** struct ibsa_trace_tree - the tree of a group */
struct ibsa_trace_tree {
	size_t count;
	size_t stride;
	struct ibsa_trace_branch *all;
};

/**
 * ibsa_trace_branch_at - a branch of a tree, those nearer to the start first
 * @index: less than count of @tree
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
 * @slid:   of the sender; 0: the tree begins at the first switch with an entry
 * @tables: MulticastForwardingTableRecords of all switches, host byte order:
 *          block (@mlid - 0xc000) / 32 of all positions; others are ignored
 * @out:    ibsa_trace_tree_free() frees it
 *
 * Return: 0, also if the tree is empty; -ENOENT no port has @slid; -EINVAL
 * @mlid is below 0xc000; -ENOMEM
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

void ibsa_trace_tree_free(struct ibsa_trace_tree *tree);

IBSA_END

#endif
