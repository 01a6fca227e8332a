/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The topology of a fabric: nodes, ports and links, from records of the SA or
 * from a topology file; checks of a topology; and the path of a packet through
 * it. A topology does not change when the fabric changes.
 *
 * ibsa_topology_new         create an empty topology
 * ibsa_topology_free        free a topology
 * ibsa_topology_add         add a record to a topology
 * ibsa_topology_finish      connect the nodes of a topology
 * ibsa_topology_info_get    the numbers of nodes, links and islands
 * ibsa_topology_node_at     a node, in the order of node GUIDs
 * ibsa_topology_port_at     a port of a node
 * ibsa_topology_node_find   the first node with a GUID
 * ibsa_topology_lid_find    the port that has a LID
 * ibsa_topology_check       check a topology, and compare it with another
 * ibsa_topology_finding_at  a finding of the last check, of at most 65536
 * ibsa_topology_read        read the topology of a client's subnet from the SA
 * ibsa_topology_wait        read the topology from the SA, and wait
 * ibsa_topology_load        read a topology from a file
 * ibsa_topology_parse       read a topology from text in memory
 * ibsa_topology_copy        copy the topology of an embedded fabric
 *
 * ibsa_finding_name         the name of a kind, as "link-down"; NULL: unknown
 * ibsa_finding_severity     the severity of a kind
 *
 * ibsa_topology_trace       trace the path of a packet to a LID
 * ibsa_trace_hop_at         a link of a trace, in the order of the packet
 * ibsa_trace_end_text       a few words for the end of a trace; "": unknown
 * ibsa_trace_free           free a trace
 * ibsa_topology_trace_group trace a packet to a multicast group
 * ibsa_trace_branch_at      a branch of a tree, those nearer to the start first
 * ibsa_trace_tree_free      free a tree
 *
 * Any thread may call the functions that read a finished topology. Numbers are
 * in host byte order.
 */
#ifndef IBSA_TOPOLOGY_H
#define IBSA_TOPOLOGY_H

#include <ibsa/records.h>
#include <ibsa/types.h>

IBSA_BEGIN

/*
 * Kinds of findings, their names and severities. ibsa_topology_check(3)
 * describes those that it reports, and ibsa-check(8) all.
 */
/* clang-format off */
#define IBSA_FINDINGS(F)                                        \
	F(ONE_DIRECTION,    "one-way",          WARNING)        \
	F(RATE_DIFFERS,     "rate-differs",     WARNING)        \
	F(NO_RATE,          "no-rate",          WARNING)        \
	F(NARROW,           "narrow",           WARNING)        \
	F(PARALLEL_DIFFERS, "parallel-differs", WARNING)        \
	F(GUID_DIFFERS,     "guid-differs",     WARNING)        \
	F(NO_CABLE,         "no-cable",         WARNING)        \
	F(APART,            "apart",            WARNING)        \
	F(SAME_NAME,        "same-name",        WARNING)        \
	F(SAME_LID,         "same-lid",         CRITICAL)       \
	F(NO_GUID,          "no-guid",          WARNING)        \
	F(LINK_DOWN,        "link-down",        CRITICAL)       \
	F(LINK_DEGRADED,    "link-degraded",    WARNING)        \
	F(ONE_END,          "one-end",          WARNING)        \
	F(HIDDEN,           "hidden",           WARNING)        \
	F(NO_PATH,          "no-path",          CRITICAL)       \
	F(SAME_GUID,        "same-guid",        CRITICAL)       \
	F(TWO_MASTERS,      "two-masters",      CRITICAL)       \
	F(NO_NAME,          "no-name",          WARNING)        \
	F(MISSING,          "missing",          CRITICAL)       \
	F(NEW,              "new",              WARNING)        \
	F(MOVED,            "moved",            CRITICAL)       \
	F(SLOWER,           "slower",           WARNING)        \
	F(PORT_DOWN,        "port-down",        CRITICAL)       \
	F(RATE_LOW,         "rate-low",         WARNING)        \
	F(NO_PKEY,          "no-pkey",          CRITICAL)       \
	F(NO_SM,            "no-sm",            CRITICAL)       \
	F(NO_SA,            "no-sa",            CRITICAL)       \
	F(PEER_UNREACHABLE, "peer-unreachable", CRITICAL)       \
	F(RAIL_MISSING,     "rail-missing",     CRITICAL)       \
	F(RAIL_CROSSED,     "rail-crossed",     WARNING)        \
	F(RAIL_APART,       "rail-apart",       WARNING)        \
	F(RAIL_SLOW,        "rail-slow",        WARNING)
/* clang-format on */

#define IBSA__FINDING_ENUM(kind, name, severity) IBSA_FINDING_##kind,
enum ibsa_finding_kind { IBSA_FINDINGS(IBSA__FINDING_ENUM) };

/* Most critical findings prevent communication; most warnings do not. */
enum ibsa_severity {
	IBSA_SEVERITY_WARNING,
	IBSA_SEVERITY_CRITICAL,
};

/**
 * struct ibsa_finding - one finding of a check
 * @name: name of @kind in IBSA_FINDINGS, such as "link-down"
 * @guid: GUID of the node, host byte order; 0: none
 * @port: number of the port; 0: none, or port 0
 * @what: one sentence
 * @missing_device: of rail-missing: name of the adapter that is missing, as the
 *        SA returned it; valid as long as the topology; otherwise NULL
 * @missing_port: number of the port of @missing_device; otherwise 0
 */
struct ibsa_finding {
	enum ibsa_finding_kind kind;
	enum ibsa_severity severity;
	const char *name;
	uint64_t guid;
	unsigned int port;
	struct ibsa_error what;
	uint8_t reserved[4];
	const char *missing_device;
	unsigned int missing_port;
	uint8_t reserved2[4];
};

const char *ibsa_finding_name(enum ibsa_finding_kind kind);

enum ibsa_severity ibsa_finding_severity(enum ibsa_finding_kind kind);

struct ibsa_client;
struct ibsa_fabric;
struct ibsa_reply;
struct ibsa_topology;

/**
 * struct ibsa_topology_info - how many nodes, links and islands a topology has
 * @islands:   number of sets of nodes without a link to another set
 * @levels:    highest level of a switch, as in struct ibsa_topology_node
 * @unmatched: records with a LID for which there is no NodeRecord
 * @hidden:    active ports whose other end is not in the topology
 *
 * An SA shows only ports that share a P_Key with the requester: nodes and links
 * may be missing, most likely if @unmatched or @hidden is not 0.
 *
 * Source: IBA vol 1, 15.4.1; OpenSM 3.3.23, osm_sa_link_record.c.
 */
struct ibsa_topology_info {
	size_t nodes;
	size_t adapters;
	size_t switches;
	size_t links;
	size_t islands;
	unsigned int levels;
	size_t unmatched;
	size_t hidden;
};

/**
 * struct ibsa_topology_node - a node
 * @name:       node description, as on the wire: it may contain any character
 * @vendor_id, @device_id, @revision: 0: unknown
 * @port_count: without port 0
 * @level:      of a switch: number of links to the nearest channel adapter that
 *              is not inside a switch ("Aggregation Node"); 1 if none can be
 *              reached; 0: not a switch
 * @island:     number of the node's island; that of node 0 is 0
 */
struct ibsa_topology_node {
	const char *name;
	uint64_t guid;
	uint64_t system_guid;
	uint32_t vendor_id;
	uint32_t device_id;
	uint32_t revision;
	enum ibsa_node_type type;
	uint8_t port_count;
	bool has_enhanced_port0;
	unsigned int level;
	size_t island;
};

/**
 * struct ibsa_topology_port - a port of a node, and the other end of its link
 * @guid, @lid: port GUID, base LID; 0 also of a port 1 or above of a switch
 * @has_info:   @lmc and the members from @state to @speed_supported are valid
 * @state, @phys_state: codes of PortInfo
 * @mtu, @rate: codes of the SA
 * @lanes:      active lanes: 1, 2, 4, 8 or 12
 * @speed:      active speed of a lane, such as "EDR"; an SA's FDR10 is "QDR"
 * @lanes_supported, @speed_supported: the greatest that the port supports
 * @has_link:   the following members are valid
 * @is_one_end: only one of the two ports reports the link
 * @lanes_common, @speed_common: the greatest that both ends support
 *
 * A GUID, LID, code, number of lanes or speed that is 0 or "" is unknown.
 */
struct ibsa_topology_port {
	unsigned int number;
	uint64_t guid;
	uint32_t lid;
	uint8_t lmc;
	bool has_info;
	enum ibsa_port_state_code state;
	uint8_t phys_state;
	uint8_t mtu;
	uint8_t rate;
	uint8_t lanes;
	const char *speed;
	uint8_t lanes_supported;
	const char *speed_supported;
	bool has_link;
	bool is_one_end;
	size_t far_node;
	unsigned int far_port;
	uint8_t lanes_common;
	const char *speed_common;
};

/**
 * ibsa_topology_new - create an empty topology
 * @out: receives the topology, which ibsa_topology_free() frees
 *
 * Return: 0; -ENOMEM
 */
int ibsa_topology_new(struct ibsa_topology **out) IBSA_MUST_USE IBSA_NONNULL(1);

void ibsa_topology_free(struct ibsa_topology *topology);

/**
 * ibsa_topology_add - add a record to a topology
 * @record: &ibsa_node_record, &ibsa_port_info_record, &ibsa_link_record or
 *          &ibsa_switch_info_record
 * @host:   the record's struct, in host byte order; copied
 * @size:   size of the struct
 *
 * Records may be added in any order. Query PortInfoRecords with 0x80 in the
 * field options: otherwise the SA may return QDR for higher speeds.
 *
 * Return: 0; -EINVAL @record is another type; -EALREADY @topology is finished;
 * -ENOMEM
 */
int ibsa_topology_add(struct ibsa_topology *topology,
		      const struct ibsa_record *record, const void *host,
		      size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 2, 3);

/**
 * ibsa_topology_finish - connect the nodes of a topology
 *
 * Connects the ports, orders the nodes by GUID, and finds levels and islands.
 *
 * Return: 0; -EALREADY @topology is finished; -ENOMEM the topology can then
 * only be freed
 */
int ibsa_topology_finish(struct ibsa_topology *topology) IBSA_MUST_USE
	IBSA_NONNULL(1);

void ibsa_topology_info_get_sized(const struct ibsa_topology *topology,
				  struct ibsa_topology_info *out, size_t size)
	IBSA_NONNULL(1, 2);

IBSA_INLINE void ibsa_topology_info_get(const struct ibsa_topology *topology,
					struct ibsa_topology_info *out)
{
	ibsa_topology_info_get_sized(topology, out, sizeof(*out));
}

int ibsa_topology_node_at_sized(const struct ibsa_topology *topology,
				size_t index, struct ibsa_topology_node *out,
				size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_topology_node_at - a node, in the order of node GUIDs
 * @out: its name is valid as long as the topology
 *
 * Return: 0; -ENOENT @index is not less than the number of nodes
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_node_at(const struct ibsa_topology *topology, size_t index,
		      struct ibsa_topology_node *out)
{
	return ibsa_topology_node_at_sized(topology, index, out, sizeof(*out));
}

int ibsa_topology_port_at_sized(const struct ibsa_topology *topology,
				size_t node, unsigned int number,
				struct ibsa_topology_port *out,
				size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_topology_port_at - a port of a node
 * @number: 0: the end port of a switch
 *
 * Return: 0; -ENOENT no such node, or no record about the port
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_port_at(const struct ibsa_topology *topology, size_t node,
		      unsigned int number, struct ibsa_topology_port *out)
{
	return ibsa_topology_port_at_sized(topology, node, number, out,
					   sizeof(*out));
}

/**
 * ibsa_topology_node_find - the first node with a GUID
 *
 * Return: 0; -ENOENT no node has the GUID
 */
int ibsa_topology_node_find(const struct ibsa_topology *topology, uint64_t guid,
			    size_t *out_index) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_topology_lid_find - the port that has a LID
 * @lid: any of the 2^LMC LIDs of the port
 *
 * Return: 0; -ENOENT no port has the LID
 */
int ibsa_topology_lid_find(const struct ibsa_topology *topology, uint32_t lid,
			   size_t *out_node,
			   unsigned int *out_port) IBSA_MUST_USE
	IBSA_NONNULL(1, 3, 4);

/**
 * ibsa_topology_check - check a topology, and compare it with another
 * @topology: finished; receives the findings, which replace those of an earlier
 *            check
 * @expected: another finished topology, such as one from a file: differences
 *            from it are findings; NULL: similar hosts are compared instead
 *            (rail-missing to rail-slow)
 *
 * No other thread may use @topology during the call. ibsa_topology_check(3)
 * lists the kinds of findings.
 *
 * Return: 0, also if there are findings; -ENOMEM, and there are no findings
 */
int ibsa_topology_check(struct ibsa_topology *topology,
			const struct ibsa_topology *expected) IBSA_MUST_USE
	IBSA_NONNULL(1);

int ibsa_topology_finding_at_sized(const struct ibsa_topology *topology,
				   size_t index, struct ibsa_finding *out,
				   size_t size) IBSA_MUST_USE
	IBSA_NONNULL(1, 3);

/**
 * ibsa_topology_finding_at - a finding of the last check, of at most 65536
 * @out: a copy; its sentence is safe to print
 *
 * Return: 0; -ENOENT @index is not less than the number of findings
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_finding_at(const struct ibsa_topology *topology, size_t index,
			 struct ibsa_finding *out)
{
	return ibsa_topology_finding_at_sized(topology, index, out,
					      sizeof(*out));
}

/**
 * struct ibsa_topology_options - how to read a topology
 * @timeout_ms: deadline of each query; 0: deadline_ms of the client
 */
struct ibsa_topology_options {
	unsigned int timeout_ms;
};

/**
 * typedef ibsa_topology_fn - called once when a topology was read, or the read
 * failed
 * @err:      0; or why the topology could not be read
 * @topology: the finished topology, which the program frees; NULL after an
 *            error
 * @reply:    the last reply, or the reply with the error; valid until the
 *            callback returns
 * @arg:      as given to ibsa_topology_read()
 *
 * May call the same functions as an ibsa_reply_fn.
 */
typedef void (*ibsa_topology_fn)(int err, struct ibsa_topology *topology,
				 const struct ibsa_reply *reply, void *arg);

int ibsa_topology_read_sized(struct ibsa_client *client,
			     const struct ibsa_topology_options *options,
			     size_t size, ibsa_topology_fn done,
			     void *arg) IBSA_MUST_USE IBSA_NONNULL(1);

/**
 * ibsa_topology_read - read the topology of a client's subnet from the SA
 * @options: copied; NULL: all defaults
 * @done:    called once, later
 *
 * Sends four queries: for all NodeRecords, PortInfoRecords, LinkRecords and
 * SwitchInfoRecords.
 *
 * Return: 0; -EINVAL @done is NULL; -ENOMEM; or as ibsa_query_start(). Later
 * failures are the err of @done: -EREMOTEIO the SA refused a query, other than
 * that for SwitchInfoRecords, or was busy; -ENOMEM; or err of struct ibsa_reply
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_read(struct ibsa_client *client,
		   const struct ibsa_topology_options *options,
		   ibsa_topology_fn done, void *arg)
{
	return ibsa_topology_read_sized(client, options, sizeof(*options), done,
					arg);
}

int ibsa_topology_wait_sized(struct ibsa_client *client,
			     const struct ibsa_topology_options *options,
			     size_t size,
			     struct ibsa_topology **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 4);

/**
 * ibsa_topology_wait - read the topology of a client's subnet from the SA, and
 * wait for the result
 *
 * Return: 0; -EBUSY called by a callback of @client; an error or later failure
 * of ibsa_topology_read(); or an error of ibsa_wait(), which is called again
 * after a signal
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_wait(struct ibsa_client *client,
		   const struct ibsa_topology_options *options,
		   struct ibsa_topology **out)
{
	return ibsa_topology_wait_sized(client, options, sizeof(*options), out);
}

/**
 * ibsa_topology_load - read a topology from a file
 * @path:  a file with the output of ibnetdiscover, or a topology file for
 *         ibsa_fabric_load()
 * @error: after an error, one sentence; may be NULL
 *
 * Return: 0; -EINVAL the file is malformed, has no node or is a socket; -EFBIG
 * it is 1 GiB or larger; -ENOMEM; or the error from reading the file
 */
int ibsa_topology_load(const char *path, struct ibsa_error *error,
		       struct ibsa_topology **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 3);

/**
 * ibsa_topology_parse - read a topology from text in memory
 * @name:  name of the text in @error; may be NULL
 * @error: after an error, one sentence; may be NULL
 *
 * Return: 0; -EINVAL @text is malformed, or has an include or no node; -ENOMEM
 */
int ibsa_topology_parse(const char *text, size_t len, const char *name,
			struct ibsa_error *error,
			struct ibsa_topology **out) IBSA_MUST_USE
	IBSA_NONNULL(5);

/**
 * ibsa_topology_copy - copy the topology of an embedded fabric
 *
 * The copy has the links that are up, and the LIDs that the topology file
 * gives, not those of the SM. The function is in libibsa-fabric.
 *
 * Return: 0; -ENOMEM
 */
int ibsa_topology_copy(struct ibsa_fabric *fabric,
		       struct ibsa_topology **out) IBSA_MUST_USE;

enum {
	IBSA_TRACE_HOPS = 64,	  /* most links of a trace */
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
 * @node: node that sends the packet; an index for ibsa_topology_node_at()
 */
struct ibsa_trace_hop {
	size_t node;
	unsigned int port;
	size_t far_node;
	unsigned int far_port;
	bool is_narrowest;
	uint8_t reserved[3];
};

/**
 * struct ibsa_trace - the path of a packet from a port to a LID
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
	return IBSA__AT(struct ibsa_trace_hop, trace->hops, index,
			trace->stride);
}

int ibsa_topology_trace_sized(const struct ibsa_topology *topology,
			      uint32_t slid, uint32_t dlid,
			      const struct ibsa_lft *blocks, size_t size,
			      size_t count,
			      struct ibsa_trace **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 7);

/**
 * ibsa_topology_trace - trace the path of a packet to a LID
 * @slid:   LID of the sender; of a switch, the LID of its port 0
 * @blocks: LinearForwardingTableRecords, host byte order: of each switch, block
 *          @dlid / IBSA_LFT_BLOCK_LIDS, as one GetTable that selects by
 *          block_num returns them; other blocks are ignored
 * @out:    receives the trace, also if the packet does not reach the port;
 *          ibsa_trace_free() frees the trace
 *
 * Return: 0; -ENOENT no port has @slid, or no port has @dlid; -ENOMEM
 *
 * Source: IBA vol 1, 15.2.5.6 (LinearForwardingTableRecord), 18.2.4.3.
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
 * struct ibsa_trace_branch - a link of a group's tree, or a fault of the tree
 * @depth:       number of links from the sender or, without sender, from the
 *               first switch, with this one; 0: ISLAND
 * @end:         REACHED: a link of the tree; LOOP: a link to a switch that the
 *               packet reached before; NO_LINK, HIDDEN: as in enum
 *               ibsa_trace_end; NO_ENTRY: the table of @node has no port for
 *               the group, except that at which the packet arrived; ISLAND: the
 *               table of @node has an entry, but the packet does not reach it
 * @node, @port: node and port that send the packet; NO_ENTRY, ISLAND: port 0
 * @far_node, @far_port: of REACHED and LOOP: node and port that receive the
 *               packet
 */
struct ibsa_trace_branch {
	unsigned int depth;
	enum ibsa_trace_end end;
	size_t node;
	unsigned int port;
	size_t far_node;
	unsigned int far_port;
	uint8_t reserved[4];
};

/** struct ibsa_trace_tree - the tree of a group */
struct ibsa_trace_tree {
	size_t count;
	size_t stride;
	struct ibsa_trace_branch *all;
};

/**
 * ibsa_trace_branch_at - a branch of a tree, those nearer to the start first
 * @index: less than count of @tree; the last branches are those of ISLAND
 */
IBSA_INLINE const struct ibsa_trace_branch *
ibsa_trace_branch_at(const struct ibsa_trace_tree *tree, size_t index)
{
	return IBSA__AT(struct ibsa_trace_branch, tree->all, index,
			tree->stride);
}

int ibsa_topology_trace_group_sized(const struct ibsa_topology *topology,
				    uint32_t slid, uint32_t mlid,
				    const struct ibsa_mft *tables, size_t size,
				    size_t count,
				    struct ibsa_trace_tree **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 7);

/**
 * ibsa_topology_trace_group - trace a packet to a multicast group
 * @slid:   LID of the sender; 0: the tree begins at the first switch, in the
 *          order of node GUIDs, that has an entry for the group
 * @tables: MulticastForwardingTableRecords of all switches, host byte order:
 *          block (@mlid - 0xc000) / 32 of all positions; other records are
 *          ignored
 * @out:    receives the tree, which ibsa_trace_tree_free() frees
 *
 * Return: 0, also if the tree is empty; -ENOENT no port has @slid; -EINVAL
 * @mlid is below 0xc000; -ENOMEM
 *
 * Source: IBA vol 1, 15.2.5.8 (MulticastForwardingTableRecord), 18.2.4.3.3.
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
