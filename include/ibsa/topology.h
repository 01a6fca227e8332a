/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The topology of a fabric: nodes, ports and links, from records of the SA or
 * from a topology file. A topology is a copy: it does not change when the
 * fabric changes.
 */
#ifndef IBSA_TOPOLOGY_H
#define IBSA_TOPOLOGY_H

#include <ibsa/finding.h>
#include <ibsa/record.h>
#include <ibsa/sa.h>
#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_client;
struct ibsa_fabric;
struct ibsa_reply;
struct ibsa_topology;

/**
 * struct ibsa_topology_info - how many nodes, links and islands a topology has
 * @nodes:     number of nodes
 * @adapters:  number of channel adapters among the nodes
 * @switches:  number of switches among the nodes
 * @links:     number of links
 * @islands:   number of islands: sets of nodes that are connected with each
 *             other, but not with the nodes of another set
 * @levels:    highest level of a switch; see struct ibsa_topology_node
 * @unmatched: number of PortInfoRecords, LinkRecords and SwitchInfoRecords with
 *             a LID for which there is no NodeRecord
 * @hidden:    number of active ports whose other end is not in the topology,
 *             such as ports of which the SA does not return the LinkRecord
 *
 * An SA returns a record of a port only if the requester shares a P_Key with
 * the port, and a LinkRecord only if, in addition, the two ends share a P_Key
 * with each other. If @unmatched or @hidden is not 0, the topology may lack
 * nodes and links.
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
 * @name:        node description, as it is on the wire: it may contain any
 *               character; "" if the node has no description
 * @guid:        node GUID, host order
 * @system_guid: system image GUID, host order
 * @vendor_id:   vendor id, 24 bits; 0: unknown
 * @device_id:   device id; 0: unknown
 * @revision:    revision of the device; 0 if it is unknown
 * @type:        enum ibsa_node_type
 * @port_count:  number of ports without port 0; the first port has number 1
 * @has_enhanced_port0: whether the node is a switch whose port 0 is an enhanced
 *                      port
 * @level:       of a switch: number of links to the nearest channel adapter
 *               over switches alone, at least 1; of channel adapters and
 *               routers 0
 * @island:      number of the node's island (a set of connected nodes), from 0.
 *               The island with the node of index 0 is island 0
 *
 * An aggregation node, which is a channel adapter inside a switch, does not
 * count for the levels; its description contains "Aggregation Node". Switches
 * that are not connected with a channel adapter in this way have level 1.
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
 * @number:     port number; 0: the end port of a switch
 * @guid:       port GUID, host order; 0: unknown, or a port of a switch other
 *              than port 0
 * @lid:        LID, host order; 0: the port has no known LID, as all ports of a
 *              switch except port 0
 * @lmc:        LMC
 * @has_info:   there is a PortInfoRecord of the port; in a topology from a
 *              file: the port has a link, or is port 0 of a switch; if false,
 *              the members from @state to @speed_supported are 0 or ""
 * @state:      enum ibsa_port_state_code; 0: unknown
 * @phys_state: physical state, a code of PortInfo; 0: unknown
 * @mtu:        code of the MTU of the link (NeighborMTU); 0: unknown
 * @rate:       code of the rate of the link; 0: unknown
 * @lanes:      active width: 1, 2, 4, 8 or 12; 0: unknown
 * @speed:      active speed of a lane, such as "EDR"; "": unknown
 * @lanes_supported: the greatest width that the port supports; 0: unknown
 * @speed_supported: the highest speed that the port supports; "": unknown
 * @has_link:   the port has a link; if false, the members after @has_link are
 *              not valid
 * @is_one_end: only one of the two ports reports the link. @has_link is true
 *              for both ports; the port that does not report this link may have
 *              another link
 * @far_node:   index of the node at the other end
 * @far_port:   port number at the other end
 * @lanes_common: the greatest width that both ends support; 0: unknown
 * @speed_common: the highest speed that both ends support; "": unknown
 *
 * The strings are constants. Records of the SA do not distinguish the speeds
 * FDR10 and QDR; "QDR" is returned for both.
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
 * Return: 0; -ENOMEM.
 */
int ibsa_topology_new(struct ibsa_topology **out) IBSA_MUST_USE IBSA_NONNULL(1);

/**
 * ibsa_topology_free - free a topology
 * @topology: a topology, before or after ibsa_topology_finish(); NULL: nothing
 *            happens
 */
void ibsa_topology_free(struct ibsa_topology *topology);

/**
 * ibsa_topology_add - add a record to a topology
 * @topology: a topology before ibsa_topology_finish()
 * @record:   &ibsa_node_record, &ibsa_port_info_record, &ibsa_link_record or
 *            &ibsa_switch_info_record
 * @host:     the record's struct, in host byte order; copied
 * @size:     size of the struct in bytes
 *
 * Records may be added in any order. Without NodeRecords, the topology has no
 * nodes; without LinkRecords, it has no links; without PortInfoRecords, the
 * states and rates of its ports are unknown. Query PortInfoRecords with 0x80 in
 * the field options: otherwise the SA may return QDR for ports with a higher
 * speed.
 *
 * Return: 0; -EINVAL @record is a record of another type; -EALREADY
 * ibsa_topology_finish() was called; -ENOMEM.
 */
int ibsa_topology_add(struct ibsa_topology *topology,
		      const struct ibsa_record *record, const void *host,
		      size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 2, 3);

/**
 * ibsa_topology_finish - connect the nodes of a topology
 * @topology: a topology to which all records have been added
 *
 * Connects the ports, orders the nodes by GUID, and computes the level of each
 * switch and the island of each node; struct ibsa_topology_node explains both.
 * The functions that return nodes and ports need a finished topology. If
 * several LinkRecords begin at one port, the first whose two ends have
 * NodeRecords is used. NodeRecords of channel adapters or of routers become one
 * node if their node GUIDs and system image GUIDs are the same and their port
 * numbers differ. Each other NodeRecord becomes a node of its own, even if
 * another node has the same node GUID.
 *
 * Return: 0; -EALREADY the topology is finished; -ENOMEM, and the topology can
 * only be freed.
 */
int ibsa_topology_finish(struct ibsa_topology *topology) IBSA_MUST_USE
	IBSA_NONNULL(1);

/* For bindings: ibsa_topology_info_get() with the size of @out. */
void ibsa_topology_info_get_sized(const struct ibsa_topology *topology,
				  struct ibsa_topology_info *out, size_t size)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_topology_info_get - return how many nodes, links and islands a topology
 * has
 * @topology: a finished topology
 * @out:      receives the numbers
 *
 * Any thread may call ibsa_topology_info_get().
 */
IBSA_INLINE void ibsa_topology_info_get(const struct ibsa_topology *topology,
					struct ibsa_topology_info *out)
{
	ibsa_topology_info_get_sized(topology, out, sizeof(*out));
}

/* For bindings: ibsa_topology_node_at() with the size of @out. */
int ibsa_topology_node_at_sized(const struct ibsa_topology *topology,
				size_t index, struct ibsa_topology_node *out,
				size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_topology_node_at - return a node
 * @topology: a finished topology
 * @index:    from 0, in the order of node GUIDs
 * @out:      receives the node; its name is valid as long as the topology
 *
 * Return: 0; -ENOENT there is no such node. Any thread may call
 * ibsa_topology_node_at().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_node_at(const struct ibsa_topology *topology, size_t index,
		      struct ibsa_topology_node *out)
{
	return ibsa_topology_node_at_sized(topology, index, out, sizeof(*out));
}

/* For bindings: ibsa_topology_port_at() with the size of @out. */
int ibsa_topology_port_at_sized(const struct ibsa_topology *topology,
				size_t node, unsigned int number,
				struct ibsa_topology_port *out,
				size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_topology_port_at - return a port of a node
 * @topology: a finished topology
 * @node:     index of the node
 * @number:   port number; 0: the end port of a switch
 * @out:      receives the port
 *
 * Return: 0; -ENOENT there is no such node, or no record is about the port,
 * even if the node has a port with this number. Any thread may call
 * ibsa_topology_port_at().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_port_at(const struct ibsa_topology *topology, size_t node,
		      unsigned int number, struct ibsa_topology_port *out)
{
	return ibsa_topology_port_at_sized(topology, node, number, out,
					   sizeof(*out));
}

/**
 * ibsa_topology_node_find - find a node by its GUID
 * @topology:  a finished topology
 * @guid:      node GUID, host order
 * @out_index: receives the index of the node; of several, the lowest
 *
 * Return: 0; -ENOENT there is no such node. Any thread may call
 * ibsa_topology_node_find().
 */
int ibsa_topology_node_find(const struct ibsa_topology *topology, uint64_t guid,
			    size_t *out_index) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_topology_lid_find - find a port that has a LID
 * @topology: a finished topology
 * @lid:      LID, host order; any of the LIDs of a port with an LMC above 0
 * @out_node: receives the index of the node
 * @out_port: receives the port number; 0: the end port of a switch
 *
 * Return: 0; -ENOENT no port has the LID. Any thread may call
 * ibsa_topology_lid_find().
 */
int ibsa_topology_lid_find(const struct ibsa_topology *topology, uint32_t lid,
			   size_t *out_node,
			   unsigned int *out_port) IBSA_MUST_USE
	IBSA_NONNULL(1, 3, 4);

/**
 * ibsa_topology_check - check a topology
 * @topology: a finished topology; receives the findings, in place of those of
 *            an earlier check
 * @expected: the finished topology that is expected, such as that of a file;
 *            may be NULL
 *
 * Reports links that are not active, that are narrower or slower than both ends
 * support, or that only one end reports; of channel adapters and routers, ports
 * without a link that are not active; one finding for all active ports whose
 * other end is not in the topology, or, if there are no such ports, for the
 * records with a LID that no node has; two ports with the same LID, two nodes
 * with the same GUID, and two ports with the same GUID of nodes with different
 * GUIDs; and nodes whose description is empty or blank.
 *
 * With @expected, ibsa_topology_check() also reports nodes and links that are
 * missing or new, cables that are plugged into another port than expected, and
 * links that are narrower or slower than expected. A link that is narrower or
 * slower than expected is not also reported as narrower or slower than both of
 * its ends support. Nodes are compared by their node GUIDs, cables by node
 * GUIDs and port numbers. If a node is missing or new, its links are not also
 * reported as missing or new. A link or a node is not reported as missing if,
 * in @expected, it is connected to a port that in @topology is active, and
 * whose other end is not in @topology. If hidden or unmatched of struct
 * ibsa_topology_info is not 0, a link is also not reported as missing if
 * @topology has, for both of its ports, neither a PortInfoRecord nor a link.
 *
 * No other thread may use @topology during the call.
 *
 * Return: 0, also if there are findings; -ENOMEM, and @topology has no
 * findings.
 */
int ibsa_topology_check(struct ibsa_topology *topology,
			const struct ibsa_topology *expected) IBSA_MUST_USE
	IBSA_NONNULL(1);

/* For bindings: ibsa_topology_finding_at() with the size of @out. */
int ibsa_topology_finding_at_sized(const struct ibsa_topology *topology,
				   size_t index, struct ibsa_finding *out,
				   size_t size) IBSA_MUST_USE
	IBSA_NONNULL(1, 3);

/**
 * ibsa_topology_finding_at - return a finding of the last check
 * @topology: a topology after ibsa_topology_check()
 * @index:    from 0
 * @out:      receives the finding, a copy
 *
 * ibsa_topology_check() stores at most 65536 findings, and omits further ones.
 * Node descriptions in the sentence @out->what are safe to print.
 *
 * Return: 0; -ENOENT there is no such finding. Any thread may call
 * ibsa_topology_finding_at().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_finding_at(const struct ibsa_topology *topology, size_t index,
			 struct ibsa_finding *out)
{
	return ibsa_topology_finding_at_sized(topology, index, out,
					      sizeof(*out));
}

/**
 * struct ibsa_topology_options - how to read a topology; zero is the default of
 * each member
 * @timeout_ms: deadline of each query, in milliseconds; default: deadline_ms of
 *              the client
 */
struct ibsa_topology_options {
	unsigned int timeout_ms;
};

/**
 * typedef ibsa_topology_fn - called once when a topology was read, or the read
 * failed
 * @err:      0; or the error from reading the topology
 * @topology: the finished topology, which the program frees, then or later,
 *            with ibsa_topology_free(); NULL if @err is not 0
 * @reply:    the last reply, or the reply with the error; never NULL; valid
 *            until the callback returns
 * @arg:      as given to ibsa_topology_read()
 *
 * The functions that ibsa_reply_fn lists call an ibsa_topology_fn, which may
 * call the same functions as an ibsa_reply_fn.
 */
typedef void (*ibsa_topology_fn)(int err, struct ibsa_topology *topology,
				 const struct ibsa_reply *reply, void *arg);

/* For bindings: ibsa_topology_read() with the size of @options. */
int ibsa_topology_read_sized(struct ibsa_client *client,
			     const struct ibsa_topology_options *options,
			     size_t size, ibsa_topology_fn done,
			     void *arg) IBSA_MUST_USE IBSA_NONNULL(1);

/**
 * ibsa_topology_read - read the topology of a client's subnet from the SA
 * @client:  an open client
 * @options: copied; NULL: all defaults
 * @done:    called once, later, never from within this call
 * @arg:     passed to @done unchanged
 *
 * Requests all NodeRecords, PortInfoRecords, LinkRecords and SwitchInfoRecords:
 * four queries, independent of the size of the subnet. If the SA replies to the
 * query for SwitchInfoRecords with an error status, or is busy until the
 * deadline of this query, has_enhanced_port0 of struct ibsa_topology_node is
 * false for all switches; this is not a failure.
 *
 * Return: 0; -EINVAL @done is NULL; -ENOMEM; or the error of
 * ibsa_query_start(). After an error @done is not called. Later failures, in
 * @err of the callback: -EREMOTEIO the SA refused the query for NodeRecords,
 * PortInfoRecords or LinkRecords, or was busy until the deadline of one of
 * these queries; -ENOMEM; or @err of struct ibsa_reply of one of the four
 * queries, such as after a timeout or ibsa_close().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_topology_read(struct ibsa_client *client,
		   const struct ibsa_topology_options *options,
		   ibsa_topology_fn done, void *arg)
{
	return ibsa_topology_read_sized(client, options, sizeof(*options), done,
					arg);
}

/* For bindings: ibsa_topology_wait() with the size of @options. */
int ibsa_topology_wait_sized(struct ibsa_client *client,
			     const struct ibsa_topology_options *options,
			     size_t size,
			     struct ibsa_topology **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 4);

/**
 * ibsa_topology_wait - read the topology of a client's subnet, and wait
 * @client:  an open client
 * @options: NULL: all defaults
 * @out:     receives the finished topology, which ibsa_topology_free() frees
 *
 * Sends the queries of ibsa_topology_read(). During the wait, the client
 * continues with its other queries. A signal does not end the wait.
 *
 * Return: 0; -EBUSY a callback of this client called ibsa_topology_wait();
 * -EREMOTEIO the SA refused the query for NodeRecords, PortInfoRecords or
 * LinkRecords, or was busy until the deadline of one of these queries; -ENOMEM;
 * or the error of ibsa_query_start() or ibsa_query_wait(). After an error @out
 * is unchanged.
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
 * @path:  output of ibnetdiscover, or another topology file
 * @error: receives, on failure, one sentence for the user; may be NULL
 * @out:   receives the finished topology, which ibsa_topology_free() frees
 *
 * The format of the file is that of ibsa_fabric_load(), but no fabric is
 * simulated. In struct ibsa_topology_port, the states, the MTU and the
 * supported widths and speeds are unknown, and so is the rate if the file gives
 * none.
 *
 * Return: 0; -EINVAL the file is malformed, has no node, or is a socket; -EFBIG
 * the file is 1 GiB or larger; -ENOMEM; or the error of open(2) or read(2).
 * After an error @out is unchanged. Any thread may call ibsa_topology_load().
 */
int ibsa_topology_load(const char *path, struct ibsa_error *error,
		       struct ibsa_topology **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 3);

/**
 * ibsa_topology_parse - read a topology from text in memory
 * @text:  text of a topology file; a line that includes another file is an
 *         error
 * @len:   bytes at @text
 * @name:  name of the text in @error, such as that of a file; may be NULL
 * @error: receives, on failure, one sentence for the user; may be NULL
 * @out:   receives the finished topology, which ibsa_topology_free() frees
 *
 * Return: 0; -EINVAL the text is malformed, or has no node; -ENOMEM. After an
 * error @out is unchanged. Any thread may call ibsa_topology_parse().
 */
int ibsa_topology_parse(const char *text, size_t len, const char *name,
			struct ibsa_error *error,
			struct ibsa_topology **out) IBSA_MUST_USE
	IBSA_NONNULL(5);

/**
 * ibsa_topology_copy - copy the topology of an embedded fabric
 * @fabric: a fabric
 * @out:    receives the finished topology, which ibsa_topology_free() frees
 *
 * The copy has the nodes, ports and links that ibsa_topology_load() would
 * return for the topology file of the fabric without the links that are down
 * during the call. The rates are those of the fabric: 4xSDR for a link without
 * a rate in the file, and the new rate of a link whose rate was changed. The
 * LIDs are those of the file, not those that the SM assigned. Later changes of
 * the fabric do not change the copy. The function is in libibsa-fabric: link
 * with the flags of "pkg-config ibsa-fabric".
 *
 * Return: 0; -ENOMEM, and @out is unchanged. Any thread may call
 * ibsa_topology_copy().
 */
int ibsa_topology_copy(struct ibsa_fabric *fabric,
		       struct ibsa_topology **out) IBSA_MUST_USE;

IBSA_END

#endif
