/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The embedded fabric: a simulated subnet with its own SA, inside the process,
 * made from a topology file.
 *
 * ibsa_fabric_load       create a fabric from a topology file
 * ibsa_fabric_parse      create a fabric from text in memory
 * ibsa_fabric_put        release a fabric, which is freed when nothing uses it
 * ibsa_fabric_attach     create a transport at a port of a fabric
 * ibsa_fabric_advance    advance a virtual clock by nanoseconds
 * ibsa_fabric_info_get   the numbers of nodes, links and LIDs
 * ibsa_fabric_port_at    a port of the channel adapters
 * ibsa_fabric_stats_get  the counters of a fabric since it was loaded
 *
 * ibsa_fabric_fault      start, change or end a kind of fault
 * ibsa_fault_parse       convert text to a fault
 *
 * ibsa_fabric_sa_set     start or stop the SAs of all subnets
 * ibsa_fabric_sa_move    move the SA to another node, or restart it
 * ibsa_fabric_port_set   change a port while the fabric runs
 *
 * ibsa_fabric_node_at    a node, in the order of the file
 * ibsa_fabric_end_at     a port of a node, and the other end of its cable
 * ibsa_fabric_finding_at an anomaly of the file, ordered by file and line
 *
 * ibsa_fabric_tap        call a function with each packet of a fabric
 * ibsa_replay_open       open a capture as a port whose SA replays it
 *
 * A fabric has its own lock: any thread may call these functions. A forked
 * child may only call ibsa_fabric_put() for a fabric of its parent. Numbers are
 * in host byte order. The functions are in libibsa-fabric: link with the flags
 * of "pkg-config ibsa-fabric".
 */
#ifndef IBSA_FABRIC_H
#define IBSA_FABRIC_H

#include <ibsa/topology.h>
#include <ibsa/types.h>
#include <ibsa/transport.h>

IBSA_BEGIN

struct ibsa_fabric;

/**
 * enum ibsa_fault_kind - what a fault does to a MAD
 *
 * BUSY, SILENCE and REDIRECT affect requests to the SA. The other faults affect
 * all MADs: requests, replies, Reports and others. A message of several RMPP
 * segments counts as one MAD. REORDER affects one MAD at a time.
 */
enum ibsa_fault_kind {
	IBSA_FAULT_LOSE,      /* the MAD does not arrive */
	IBSA_FAULT_DELAY,     /* the MAD arrives up to delay_ms later */
	IBSA_FAULT_DUPLICATE, /* the MAD arrives twice */
	IBSA_FAULT_REORDER,   /* the next MAD of the subnet overtakes the MAD */
	IBSA_FAULT_CORRUPT,   /* up to eight bits of the MAD are inverted */
	IBSA_FAULT_BUSY,      /* the SA replies BUSY */
	IBSA_FAULT_SILENCE,   /* the SA does not reply */
	IBSA_FAULT_REDIRECT,  /* the SA redirects the request to another port */
	IBSA_FAULT_KINDS,
};

/**
 * struct ibsa_fault - a kind of fault and how often it occurs
 * @percent:  how many percent of the MADs the fault affects, at random, 0 to
 *            100; 0 ends the fault
 * @count:    number of times that the fault occurs in each subnet before it
 *            ends; 0: no limit
 * @delay_ms: longest delay of a MAD, for DELAY and REORDER; 0:
 *            IBSA_DEFAULT_DELAY_MS
 * @hops:     for REDIRECT: number of ports that redirect a request, each to the
 *            next; 0: one
 * @by_gid:   for REDIRECT: the redirection has a GID, but no LID
 */
struct ibsa_fault {
	enum ibsa_fault_kind kind;
	double percent;
	unsigned int count;
	unsigned int delay_ms;
	unsigned int hops;
	bool by_gid;
	uint8_t reserved[3];
};

int ibsa_fabric_fault_sized(struct ibsa_fabric *fabric,
			    const struct ibsa_fault *fault,
			    size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 2);

/**
 * ibsa_fabric_fault - start, change or end a kind of fault
 * @fault: copied; replaces the fault of the same kind
 *
 * Return: 0; -EINVAL no such kind, or @percent is not within 0 and 100
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fabric_fault(struct ibsa_fabric *fabric,
						const struct ibsa_fault *fault)
{
	return ibsa_fabric_fault_sized(fabric, fault, sizeof(*fault));
}

int ibsa_fault_parse_sized(const char *text, struct ibsa_fault *out,
			   size_t size, struct ibsa_error *error) IBSA_MUST_USE
	IBSA_NONNULL(2);

/**
 * ibsa_fault_parse - convert text to a fault
 * @text:  KIND=PERCENT[,COUNT[,DELAY_MS]], such as "delay=2.5,0,200". The kinds
 *         are lose, delay, duplicate, reorder, corrupt, busy, silence, redirect
 *         and redirect-gid; for the last two, the last number is hops of struct
 *         ibsa_fault instead, and redirect-gid sets by_gid
 * @error: after an error, a sentence that lists the kinds; may be NULL
 *
 * Return: 0; -EINVAL @text is not a fault
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fault_parse(const char *text,
					       struct ibsa_fault *out,
					       struct ibsa_error *error)
{
	return ibsa_fault_parse_sized(text, out, sizeof(*out), error);
}

/* clang-format off */
#define IBSA_SM_PROFILE_TABLE(L)						\
	L(OPENSM, "opensm", "OpenSM, in all points below")		\
	L(BUSY,   "busy",						\
	  "answers 16 requests per millisecond, and all others with BUSY") \
	L(SILENT, "silent",						\
	  "ignores requests that OpenSM refuses for a missing SM_Key")	\
	L(FEW,    "few", "stores at most 32 subscriptions")		\
	L(OPA_FM, "opa-fm",						\
	  "answers PathRecords of class version 2 only")		\
	L(SLOW,   "slow",						\
	  "serves 16 requests per millisecond; drops a request while 64 wait") \
	L(FULL,   "full",						\
	  "serves 16 requests per millisecond; answers BUSY while 64 wait")
/* clang-format on */

/**
 * enum ibsa_sm_profile - which SM's behaviour the embedded SA copies
 *
 * The default is OpenSM. Each other profile is OpenSM's behaviour with the one
 * difference that IBSA_SM_PROFILE_TABLE gives.
 */
#define IBSA__SM_PROFILE_ENUM(name, word, text) IBSA_SM_PROFILE_##name,
enum ibsa_sm_profile {
	IBSA_SM_PROFILE_TABLE(IBSA__SM_PROFILE_ENUM) IBSA_SM_PROFILES
};

/**
 * struct ibsa_fabric_options - how to load a fabric; zero: the default of a
 * member
 * @virtual_clock: the clock starts at 0, and advances only in
 *                 ibsa_fabric_advance() and while a client waits
 * @seed:         determines which MADs faults affect; 0 is a seed, too
 * @sa_node:      name or node id of the node on which the SA of the first
 *                 subnet runs; NULL: the first channel adapter
 * @latency_us:   microseconds from a request to the fabric's reply, and from
 *                 the sending of a Report to its arrival
 * @gid_prefix:   GID prefix of the first subnet; IBSA_DEFAULT_GID_PREFIX
 * @opa:          all links are Omni-Path, and LIDs have 32 bits
 * @no_opa_paths: the SA refuses requests of class version 0x80 for PathRecords
 * @first_lid:    first LID for ports that have no usable LID in the file;
 *                 IBSA_DEFAULT_FIRST_LID
 * @check:        find anomalies of the file, for ibsa_fabric_finding_at()
 * @no_sa:        no SM and no SA: an SM in another process configures the
 *                 ports, through a fabric server
 * @partitions:   file in the format of OpenSM's partitions.conf; NULL: all
 *                 ports are full members of the default partition
 * @profile:      the SM whose behaviour the SA copies
 */
struct ibsa_fabric_options {
	bool virtual_clock;
	uint64_t seed;
	const char *sa_node;
	unsigned int latency_us;
	uint64_t gid_prefix;
	bool opa;
	bool no_opa_paths;
	uint32_t first_lid;
	bool check;
	bool no_sa;
	const char *partitions;
	enum ibsa_sm_profile profile;
	uint8_t reserved[4];
};

/**
 * struct ibsa_fabric_info - how many nodes, links and LIDs a fabric has
 * @links: number of cables, whether the link is up or down
 * @lids:  number of assigned LIDs; a port has 2^LMC
 */
struct ibsa_fabric_info {
	size_t nodes;
	size_t adapters;
	size_t switches;
	size_t links;
	size_t lids;
};

/**
 * struct ibsa_fabric_port - a port of a channel adapter of a fabric
 * @node:  description of the node; without one, its node id
 * @state: what a client on this port reads as the port's state
 * @rate:  such as "100 Gb/sec (4X EDR)"; "": the port has no link
 */
struct ibsa_fabric_port {
	const char *node;
	const char *id;
	unsigned int number;
	uint64_t guid;
	const char *rate;
	struct ibsa_port_state state;
};

/* Why a MAD between two ports was lost, except for faults. */
enum ibsa_drop_reason {
	IBSA_DROP_NO_ROUTE,   /* a switch has no table entry for the LID, or an
			       * SMP's path leads to no port */
	IBSA_DROP_PORT_DOWN,  /* a port of the route is down; MADs other than
			       * SMPs also need active ports, except that they
			       * may arrive at armed ones */
	IBSA_DROP_NO_LID,     /* the route ends at a port without the LID */
	IBSA_DROP_HOP_LIMIT,  /* the routing tables form a loop */
	IBSA_DROP_NO_AGENT,   /* no agent at the port receives the MAD */
	IBSA_DROP_PKEY,	      /* a port does not accept the MAD's P_Key */
	IBSA_DROP_QUEUE_FULL, /* a queue has 131072 MADs or 256 MiB */
	IBSA_DROP_REASONS,
};

/* Lengths of the arrays of struct ibsa_fabric_stats, which never change. */
enum { IBSA_FAULTS_ROOM = 32, IBSA_DROPS_ROOM = 32 };

/* Counters of the embedded SA and the fabric. */
struct ibsa_fabric_stats {
	uint64_t requests;	 /* MADs that clients sent */
	uint64_t answers;	 /* MADs that arrived for a client */
	uint64_t unanswered;	 /* requests to which the SA did not reply */
	uint64_t most_in_flight; /* maximum of one client: requests without a
				  * reply, and MADs that it has not received */
	uint64_t reports;	 /* Reports; a Report to several subscribers
				  * counts for each, its retries do not */
	uint64_t reports_unanswered; /* Reports that the SA gave up after four
				      * tries or when it stopped or moved, or
				      * did not send: 131072 were waiting */
	uint64_t faults[IBSA_FAULTS_ROOM]; /* how often each fault occurred */
	uint64_t drops[IBSA_DROPS_ROOM];   /* MADs between two ports that were
					    * lost for each reason */
};

int ibsa_fabric_load_sized(const char *path,
			   const struct ibsa_fabric_options *options,
			   size_t size, struct ibsa_error *error,
			   struct ibsa_fabric **out) IBSA_MUST_USE
	IBSA_NONNULL(5);

/**
 * ibsa_fabric_load - create a fabric from a topology file
 * @path:    topology file, in the format of ibnetdiscover and ibsim; or a
 *           capture, as for ibsa_replay_open()
 * @options: NULL: all defaults; with a capture, only virtual_clock, seed and
 *           latency_us may be set
 * @error:   after an error, a sentence with the reason, and with file and line
 *           of an error in a file; may be NULL
 * @out:     receives the fabric, which ibsa_fabric_put() releases
 *
 * Return: 0; -EINVAL the topology, the partitions or the options have an error;
 * -ENOENT no such file; -EFBIG a file is 1 GiB or larger; -ENOMEM; or the error
 * from reading a file
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_load(const char *path, const struct ibsa_fabric_options *options,
		 struct ibsa_error *error, struct ibsa_fabric **out)
{
	return ibsa_fabric_load_sized(path, options, sizeof(*options), error,
				      out);
}

int ibsa_fabric_parse_sized(const char *text, size_t len,
			    const struct ibsa_fabric_options *options,
			    size_t size, struct ibsa_error *error,
			    struct ibsa_fabric **out) IBSA_MUST_USE
	IBSA_NONNULL(6);

/**
 * ibsa_fabric_parse - create a fabric from text in memory
 * @text:    contents of a topology file without include lines; a capture is
 *           accepted only by ibsa_fabric_load()
 * @options: NULL: all defaults
 * @error:   as for ibsa_fabric_load()
 *
 * Return: as ibsa_fabric_load(); errors of files are those of the partitions
 * file in @options, the only file that is read
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_parse(const char *text, size_t len,
		  const struct ibsa_fabric_options *options,
		  struct ibsa_error *error, struct ibsa_fabric **out)
{
	return ibsa_fabric_parse_sized(text, len, options, sizeof(*options),
				       error, out);
}

void ibsa_fabric_put(struct ibsa_fabric *fabric);

/**
 * ibsa_fabric_attach - create a transport at a port of a fabric
 * @node: name or node id of a channel adapter; HOST/DEVICE; or a host: of its
 *        adapters, ordered by name, the first with an active port, or else the
 *        first. NULL: the first adapter of the file
 * @port: 0: the first port with a cable
 * @out:  receives the transport, for ibsa_options.transport; it holds a
 *        reference to @fabric until it is closed
 *
 * The transport acts as a umad file of the kernel at the port.
 *
 * Return: 0; -ENODEV no such adapter; -ENXIO no such port; -ENETDOWN the port
 * has no cable; -ENOMEM, -EMFILE; or the error of timerfd_create(2)
 */
int ibsa_fabric_attach(struct ibsa_fabric *fabric, const char *node,
		       unsigned int port,
		       struct ibsa_transport **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 4);

/**
 * ibsa_fabric_advance - advance a virtual clock by nanoseconds
 *
 * Return: 0; -EINVAL the clock is not virtual, or would exceed 292 years
 */
int ibsa_fabric_advance(struct ibsa_fabric *fabric, uint64_t ns) IBSA_MUST_USE
	IBSA_NONNULL(1);

void ibsa_fabric_info_get_sized(struct ibsa_fabric *fabric,
				struct ibsa_fabric_info *out, size_t size)
	IBSA_NONNULL(1, 2);

IBSA_INLINE void ibsa_fabric_info_get(struct ibsa_fabric *fabric,
				      struct ibsa_fabric_info *out)
{
	ibsa_fabric_info_get_sized(fabric, out, sizeof(*out));
}

int ibsa_fabric_port_at_sized(struct ibsa_fabric *fabric, size_t index,
			      struct ibsa_fabric_port *out,
			      size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_fabric_port_at - a port of the channel adapters
 * @index: from 0, of the ports of all channel adapters in the order of the file
 * @out:   its strings are valid as long as the fabric
 *
 * Return: 0; -ENOENT the channel adapters have no more than @index ports
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fabric_port_at(struct ibsa_fabric *fabric,
						  size_t index,
						  struct ibsa_fabric_port *out)
{
	return ibsa_fabric_port_at_sized(fabric, index, out, sizeof(*out));
}

void ibsa_fabric_stats_get_sized(struct ibsa_fabric *fabric,
				 struct ibsa_fabric_stats *out, size_t size)
	IBSA_NONNULL(1, 2);

IBSA_INLINE void ibsa_fabric_stats_get(struct ibsa_fabric *fabric,
				       struct ibsa_fabric_stats *out)
{
	ibsa_fabric_stats_get_sized(fabric, out, sizeof(*out));
}

/**
 * ibsa_fabric_sa_set - start or stop the SAs of all subnets
 *
 * While the SAs are stopped, sm_lid of struct ibsa_port_state is 0 for all
 * ports. When an SA starts again, it has no services, subscriptions,
 * memberships and alias GUIDs, and asks the ports to register again. Nothing
 * happens in a fabric with no_sa of struct ibsa_fabric_options.
 */
void ibsa_fabric_sa_set(struct ibsa_fabric *fabric, bool running)
	IBSA_NONNULL(1);

/**
 * ibsa_fabric_sa_move - move the SA of a subnet to a node, or restart it
 * @node: name or node id; NULL: the first channel adapter of the file. If the
 *        SA is at this node already, it restarts
 *
 * The new SA has no services, subscriptions, memberships and alias GUIDs, and
 * asks the ports to register again. It does not reply to requests to the LID of
 * its former port. A stopped SA moves, too, and stays stopped.
 *
 * Return: 0; -ENODEV no such node; -ENETDOWN no link of the node is up, and it
 * is not a switch; -EOPNOTSUPP the fabric has no SA
 */
int ibsa_fabric_sa_move(struct ibsa_fabric *fabric,
			const char *node) IBSA_MUST_USE IBSA_NONNULL(1);

/* Which members of struct ibsa_fabric_port_change take effect. */
enum ibsa_fabric_change_bit {
	IBSA_CHANGE_LINK = 1 << 0,
	IBSA_CHANGE_LID = 1 << 1,
	IBSA_CHANGE_LMC = 1 << 2,
	IBSA_CHANGE_SM_SL = 1 << 3,
	IBSA_CHANGE_PKEYS = 1 << 4,
	IBSA_CHANGE_NEEDS_GRH = 1 << 5,
	IBSA_CHANGE_REREGISTER = 1 << 6, /* ask clients to register again */
	IBSA_CHANGE_CAPABILITIES = 1 << 7,
	IBSA_CHANGE_RATE = 1 << 8,
};

/**
 * struct ibsa_fabric_port_change - a change of a port
 * @mask: bits of enum ibsa_fabric_change_bit: the members that take effect;
 *        ibsa_fabric_port_set(3) has their values
 */
struct ibsa_fabric_port_change {
	uint32_t mask;
	bool link_up;
	bool needs_grh;
	uint8_t sm_sl;
	uint8_t lmc;
	uint32_t lid;
	const uint16_t *pkeys;
	size_t pkey_count;
	uint32_t capability_mask;
	const char *rate;
};

int ibsa_fabric_port_set_sized(struct ibsa_fabric *fabric, const char *node,
			       unsigned int port,
			       const struct ibsa_fabric_port_change *wanted,
			       size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_fabric_port_set - change a port while the fabric runs
 * @node:   name or node id; NULL: the first channel adapter
 * @port:   0: of a switch, port 0; else the first with a cable, or else port 1
 * @wanted: the changes; either all take effect, or none
 *
 * A running SM detects the change at once, and its SA sends Reports if there is
 * a trap for the change. A client at the port detects the change when it next
 * reads the state of the port. ibsa_fabric_port_set(3) describes what each
 * change does.
 *
 * Return: 0; -ENODEV, -ENXIO no such node or port; -EINVAL a value or the mask
 * is not valid for the port; -ERANGE an end of the link does not support the
 * rate; -ENETDOWN the port has no cable for link or rate, or no LID to change;
 * -EADDRINUSE another port has one of the LIDs; -ENOMEM
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_port_set(struct ibsa_fabric *fabric, const char *node,
		     unsigned int port,
		     const struct ibsa_fabric_port_change *wanted)
{
	return ibsa_fabric_port_set_sized(fabric, node, port, wanted,
					  sizeof(*wanted));
}

/**
 * struct ibsa_fabric_node - a node of a topology
 * @id:         node id, by which other lines of the file refer to the node
 * @name:       description of the node; without one, its node id
 * @guid:       node GUID; assigned by the fabric if the file gives none
 * @vendor, @device: vendor id (24 bits), device id; 0: the file gives none
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
	uint8_t reserved[3];
};

/**
 * struct ibsa_fabric_end - a port of a node, and the other end of its cable
 * @guid:      port GUID; 0 for ports of a switch except port 0
 * @file_lid:  the LID that the file gives the port; 0: none
 * @has_cable: if false, the following members are not valid
 * @far_node:  index of the node at the other end, for ibsa_fabric_node_at()
 * @lanes:     number of lanes of the link when it is up: 1, 2, 4, 8 or 12
 * @speed:     speed of a lane, such as "EDR"
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
 * @name: name of @kind in IBSA_FINDINGS, such as "one-way"
 * @file: path of the file or of an included file; "(text)" for
 *        ibsa_fabric_parse()
 * @what: one sentence
 */
struct ibsa_fabric_finding {
	enum ibsa_finding_kind kind;
	const char *name;
	const char *file;
	unsigned int line;
	struct ibsa_error what;
	uint8_t reserved[4];
};

int ibsa_fabric_node_at_sized(struct ibsa_fabric *fabric, size_t index,
			      struct ibsa_fabric_node *out,
			      size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_fabric_node_at - a node, in the order of the file
 * @out: its strings are valid as long as the fabric
 *
 * Return: 0; -ENOENT @index is not less than the number of nodes
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fabric_node_at(struct ibsa_fabric *fabric,
						  size_t index,
						  struct ibsa_fabric_node *out)
{
	return ibsa_fabric_node_at_sized(fabric, index, out, sizeof(*out));
}

int ibsa_fabric_end_at_sized(struct ibsa_fabric *fabric, size_t node,
			     unsigned int port, struct ibsa_fabric_end *out,
			     size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_fabric_end_at - a port of a node, and the other end of its cable
 * @node: index, as for ibsa_fabric_node_at()
 * @port: from 1; 0: port 0 of a switch
 *
 * Return: 0; -ENOENT no such node or port
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fabric_end_at(struct ibsa_fabric *fabric,
						 size_t node, unsigned int port,
						 struct ibsa_fabric_end *out)
{
	return ibsa_fabric_end_at_sized(fabric, node, port, out, sizeof(*out));
}

int ibsa_fabric_finding_at_sized(struct ibsa_fabric *fabric, size_t index,
				 struct ibsa_fabric_finding *out,
				 size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_fabric_finding_at - an anomaly of the file, ordered by file and line
 * @fabric: loaded with check of struct ibsa_fabric_options
 * @out:    its strings are valid as long as the fabric
 *
 * A fabric stores at most 65536 anomalies.
 *
 * Return: 0; -ENOENT @index is not less than the number of findings
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_finding_at(struct ibsa_fabric *fabric, size_t index,
		       struct ibsa_fabric_finding *out)
{
	return ibsa_fabric_finding_at_sized(fabric, index, out, sizeof(*out));
}

struct ibsa_transport;

/**
 * struct ibsa_packet - a packet that a port of the fabric sends
 * @time_ns: when the packet leaves the port that sends it, on the fabric's
 *           clock
 * @bytes:   from the LRH to the VCRC, as on a wire; valid until the callback
 *           returns
 */
struct ibsa_packet {
	uint64_t time_ns;
	const uint8_t *bytes;
	size_t len;
};

/* Called while the fabric is locked: must not call functions with the fabric or
 * its clients. */
typedef void (*ibsa_packet_fn)(const struct ibsa_packet *packet, void *arg);

/**
 * ibsa_fabric_tap - call a function with each packet of a fabric
 * @report: called when a port sends a packet, even if the packet is lost later;
 *          NULL: no further calls
 *
 * Return: 0; -EBUSY a function is set already; -EOPNOTSUPP the fabric is
 * Omni-Path
 *
 * Source: IBA vol 1, 7.7 (LRH), 7.8 (checksums), 8.3 (GRH), 9.2 (BTH), 9.3.3
 * (DETH), 13.6.2 (RMPP).
 */
int ibsa_fabric_tap(struct ibsa_fabric *fabric, ibsa_packet_fn report,
		    void *arg) IBSA_MUST_USE IBSA_NONNULL(1);

/**
 * ibsa_replay_open - open a capture as a port whose SA replays it
 * @path:  a pcap file of link type 197 (ERF) or 247 (InfiniBand), or a report
 *         of ibsa doctor
 * @error: after an error, a sentence that tells what failed; may be NULL
 * @out:   for ibsa_options.transport
 *
 * A request gets the replies, if any, that the same request has in the capture,
 * in their order; after the last, the last again. A request that is not in the
 * capture gets the records that it selects from a complete table in the
 * capture; without such a table, the status IBSA_STATUS_NOT_RECORDED. LIDs,
 * P_Key and GID of the port are those of the capture.
 *
 * Return: 0; -EINVAL the file has another format, or has no request to an SA;
 * -EFBIG it has 1 GiB or more; -ENOMEM; the error of open(2) or read(2), such
 * as -ENOENT; or the error of timerfd_create(2)
 */
int ibsa_replay_open(const char *path, struct ibsa_error *error,
		     struct ibsa_transport **out) IBSA_MUST_USE IBSA_NONNULL(3);

IBSA_END

#endif
