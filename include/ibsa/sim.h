/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The embedded fabric: a simulated subnet with its own SA inside the
 * process, from a topology file. No hardware, no daemon, no root.
 *
 * A fabric has its own lock; the clients on it may run in different threads.
 */
#ifndef IBSA_SIM_H
#define IBSA_SIM_H

#include <ibsa/transport.h>
#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

/* clang-format off */
#define IBSA_FABRIC_LIKES(L)						\
	L(OPENSM, "opensm", "OpenSM's, in all that follows")		\
	L(BUSY,   "busy",						\
	  "answers sixteen requests in a millisecond, and the rest BUSY") \
	L(SILENT, "silent",						\
	  "says nothing where OpenSM refuses who does not know the SM_Key") \
	L(FEW,    "few", "keeps 32 subscriptions")			\
	L(OPA_FM, "opa-fm",						\
	  "answers for PathRecords in InfiniBand's layout alone")
/* clang-format on */

/**
 * enum ibsa_fabric_like - which SM's manners the SA has
 *
 * What OpenSM does is the rule; the others differ from it in one thing each,
 * which a client has to put up with.
 */
#define IBSA__LIKE_ENUM(name, word, text) IBSA_LIKE_##name,
enum ibsa_fabric_like { IBSA_FABRIC_LIKES(IBSA__LIKE_ENUM) IBSA_LIKES };

/**
 * struct ibsa_fabric_options - zero is the default throughout
 * @virtual_clock: time moves only by ibsa_fabric_advance() and by a client's
 *                 wait, from 0; default: the real clock
 * @seed:          of all that is random; same seed, same history
 * @sa_node:       node that the SA runs on, by name or node id; NULL: the
 *                 first channel adapter of the file
 * @latency_us:    from a request to its answer; default 0
 * @gid_prefix:    of the subnet, host order; default 0xfe80000000000000
 * @opa:           the links are of Omni-Path: LIDs have 32 bits
 * @no_opa_paths:  the SA of an Omni-Path fabric answers for no PathRecords of
 *                 class version 0x80, as opa-fm does not: what @like does too
 *                 if it is IBSA_LIKE_OPA_FM
 * @first_lid:     LIDs are given from here to what the file gives none;
 *                 default 1. At most 0xbfff, and 0xbfffffff on Omni-Path
 * @check:         look for what is odd about the file, for
 *                 ibsa_fabric_finding_at(); it takes time and memory
 * @no_sa:         there is no SA, and no port is set up, until a subnet
 *                 manager from outside has done it by SMPs (a umad file)
 * @partitions:    file in the format of OpenSM's partitions.conf: who has
 *                 which P_Key, and which multicast groups are there from the
 *                 start; NULL: all ports are full members of the default
 *                 partition, with the broadcast group of IPoIB. SELF is the
 *                 port that the SA begins on
 * @like:          which SM's manners the SA has; default OpenSM's
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
	enum ibsa_fabric_like like;
};

/**
 * enum ibsa_fault_kind - what can go wrong with a MAD on its way
 *
 * A fault strikes requests, answers and Reports alike, but for BUSY and
 * SILENCE, which are the SA's.
 */
enum ibsa_fault_kind {
	IBSA_FAULT_LOSE,      /* it does not arrive */
	IBSA_FAULT_DELAY,     /* it arrives up to delay_ms later */
	IBSA_FAULT_DUPLICATE, /* it arrives twice */
	IBSA_FAULT_REORDER,   /* it arrives after the one sent next */
	IBSA_FAULT_CORRUPT,   /* some of its bits are flipped */
	IBSA_FAULT_BUSY,      /* the SA answers BUSY */
	IBSA_FAULT_SILENCE,   /* the SA does not answer */
	IBSA_FAULT_KINDS,
};

/**
 * struct ibsa_fault - one kind of fault and how often it strikes
 * @kind:     which
 * @percent:  of the MADs, 0 to 100; 0 ends the fault
 * @count:    strike so many times and then end; 0: no end
 * @delay_ms: for DELAY: at most this long; default 100
 */
struct ibsa_fault {
	enum ibsa_fault_kind kind;
	double percent;
	unsigned int count;
	unsigned int delay_ms;
};

/**
 * struct ibsa_fabric_info - how large a fabric is
 */
struct ibsa_fabric_info {
	size_t nodes;
	size_t adapters;
	size_t switches;
	size_t links;
	size_t lids;
};

/**
 * struct ibsa_fabric_port - one end port of a fabric's channel adapters
 * @node:   the node's name: its description, else its node id
 * @number: of the port
 * @guid:   port GUID, host order
 * @state:  as a client on it would read it
 * @rate:   of its link, as the kernel writes it, "100 Gb/sec (4X EDR)"; ""
 *          without one
 */
struct ibsa_fabric_port {
	const char *node;
	unsigned int number;
	uint64_t guid;
	struct ibsa_port_state state;
	const char *rate;
};

/* Why a MAD between two ports was lost, other than by a fault. */
enum ibsa_drop_reason {
	IBSA_DROP_NO_ROUTE,   /* a switch has no entry, or a path no port */
	IBSA_DROP_PORT_DOWN,  /* or not active yet, for what is no SMP */
	IBSA_DROP_NO_LID,     /* nobody has the LID where it led to */
	IBSA_DROP_HOP_LIMIT,  /* tables that lead round in a circle */
	IBSA_DROP_NO_AGENT,   /* nobody there takes it */
	IBSA_DROP_PKEY,	      /* its P_Key does not pass there */
	IBSA_DROP_QUEUE_FULL, /* nobody reads there */
	IBSA_DROP_REASONS,
};

/* What the embedded SA and the fabric have counted. */
struct ibsa_fabric_stats {
	uint64_t requests;	 /* MADs that clients sent */
	uint64_t answers;	 /* MADs that reached a client */
	uint64_t unanswered;	 /* the SA kept silent, as it does */
	uint64_t lost;		 /* sent to where no SA listens, or by no way */
	uint64_t dropped;	 /* a queue was full: 131072 MADs or 256 MiB */
	uint64_t most_under_way; /* of one client at a time, both ways */
	uint64_t reports;	 /* for subscribers, each once */
	uint64_t reports_unanswered; /* given up after three tries, or with
				      * the SA; or beyond 131072 at a time */
	uint64_t faults[IBSA_FAULT_KINDS];
	uint64_t drops[IBSA_DROP_REASONS]; /* of MADs between umad files */
};

/**
 * ibsa_fabric_load - a fabric from a topology file
 * @path:    file as ibnetdiscover writes and ibsim reads; or a capture, which
 *           ibsa_replay_open() is about
 * @options: NULL for all defaults
 * @error:   filled on failure: file, line, what was wrong; may be NULL
 * @out:     the fabric; ibsa_fabric_put() lets go of it
 *
 * Return: 0; -EINVAL there is no @path, the file does not parse, a node of
 * @options is not in it, or it is a capture and @options say something of its
 * topology or its SA; -ENOENT and the like from opening it; -ENOMEM.
 */
int ibsa_fabric_load(const char *path,
		     const struct ibsa_fabric_options *options,
		     struct ibsa_error *error,
		     struct ibsa_fabric **out) IBSA_MUST_USE;

/**
 * ibsa_fabric_parse - a fabric from text in memory
 * @text:    of a topology file
 * @len:     bytes of it
 * @options: NULL for all defaults
 * @error:   filled on failure; may be NULL
 * @out:     the fabric
 *
 * Return: as ibsa_fabric_load().
 */
int ibsa_fabric_parse(const char *text, size_t len,
		      const struct ibsa_fabric_options *options,
		      struct ibsa_error *error,
		      struct ibsa_fabric **out) IBSA_MUST_USE;

/**
 * ibsa_fabric_put - let go of a fabric
 * @fabric: or NULL; it ends when its last client has closed too
 */
void ibsa_fabric_put(struct ibsa_fabric *fabric);

/**
 * ibsa_fabric_attach - a port of the fabric as a transport
 * @fabric: which
 * @node:   name or node id of a channel adapter, or HOST/DEVICE for the name
 *          "HOST DEVICE"; a host's name: its first adapter with an active
 *          port, else its first; NULL: the first of the file
 * @port:   its port; 0: the first with a cable
 * @out:    the transport, for ibsa_options.transport; holds the fabric
 *
 * Return: 0; -ENODEV no such adapter; -ENXIO it has no such port; -ENETDOWN the
 * port has no cable; -ENOMEM; or the error of making its eventfd.
 */
int ibsa_fabric_attach(struct ibsa_fabric *fabric, const char *node,
		       unsigned int port,
		       struct ibsa_transport **out) IBSA_MUST_USE;

/**
 * ibsa_fabric_fault - start, change or end a kind of fault
 * @fabric: which
 * @fault:  the fault; replaces one of the same kind
 *
 * Return: 0; -EINVAL an unknown kind or a percentage out of range.
 */
int ibsa_fabric_fault(struct ibsa_fabric *fabric,
		      const struct ibsa_fault *fault) IBSA_MUST_USE;

/**
 * ibsa_fault_parse - a fault from text
 * @text:  KIND=PERCENT[,COUNT[,DELAY_MS]], as "lose=1" or "delay=2.5,0,200";
 *         kinds are lose, delay, duplicate, reorder, corrupt, busy and silence
 * @out:   the fault, for ibsa_fabric_fault(); what is not given is 0
 * @error: filled on failure; may be NULL
 *
 * Return: 0; -EINVAL @text is no fault.
 */
int ibsa_fault_parse(const char *text, struct ibsa_fault *out,
		     struct ibsa_error *error) IBSA_MUST_USE;

/**
 * ibsa_fabric_advance - move a virtual clock
 * @fabric: which
 * @ns:     by how much, nanoseconds
 *
 * Messages due by then become receivable; clients dispatch on their own.
 *
 * Return: 0; -EINVAL the fabric has the real clock, or the time is more than
 * the clock can hold, 292 years in all.
 */
int ibsa_fabric_advance(struct ibsa_fabric *fabric, uint64_t ns) IBSA_MUST_USE;

/**
 * ibsa_fabric_sa_set - start or stop the SA
 * @fabric:  which
 * @running: false: its ports know no SM any more; a start forgets services,
 *           subscriptions and memberships, as a restarted SA does, and asks
 *           all ports to register again; who subscribes again is then told
 *           of all ports (trap 64), which are new to it
 *
 * Nothing happens to a fabric that was loaded with no_sa.
 */
void ibsa_fabric_sa_set(struct ibsa_fabric *fabric, bool running);

/**
 * ibsa_fabric_sa_move - let another node's SM become the master
 * @fabric: which
 * @node:   name or node id of where the SA now is; NULL: the first channel
 *          adapter of the file
 *
 * The ports that it reaches get its LID as sm_lid, and are asked to register
 * again: the new SA knows no services, subscriptions or memberships. What is
 * sent to the old LID is lost, and nobody is told; who subscribes again is
 * told of all ports (trap 64). A stopped SA moves too, and stays stopped.
 *
 * Return: 0; -ENODEV no such node; -ENETDOWN no port of it has a link;
 * -EOPNOTSUPP the fabric was loaded with no_sa.
 */
int ibsa_fabric_sa_move(struct ibsa_fabric *fabric,
			const char *node) IBSA_MUST_USE;

/* What of struct ibsa_fabric_port_change is meant. */
enum ibsa_fabric_change_bit {
	IBSA_CHANGE_LINK = 1 << 0,
	IBSA_CHANGE_LID = 1 << 1,
	IBSA_CHANGE_LMC = 1 << 2,
	IBSA_CHANGE_SM_SL = 1 << 3,
	IBSA_CHANGE_PKEYS = 1 << 4,
	IBSA_CHANGE_NEEDS_GRH = 1 << 5,
	IBSA_CHANGE_REREGISTER = 1 << 6, /* the event and nothing else */
	IBSA_CHANGE_CAPABILITIES = 1 << 7,
	IBSA_CHANGE_RATE = 1 << 8,
};

/**
 * struct ibsa_fabric_port_change - what becomes of a port
 * @mask:       of enum ibsa_fabric_change_bit: what is to change
 * @link_up:    whether the cable of the port carries anything
 * @needs_grh:  nothing is sent without a GRH
 * @sm_sl:      service level to reach the SM with; at most 15, and 31 on
 *              Omni-Path
 * @lmc:        how many low bits of the LID are path bits, at most 7
 * @lid:        base LID, host order; a multiple of 2^lmc
 * @pkeys:      P_Key table, host order; copied
 * @pkey_count: of its entries, 1 to 128
 * @capability_mask: of its PortInfo, host order
 * @rate:       of its link, as a topology file has it, "1xSDR"; no wider and no
 *              faster than both ends support
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

/**
 * ibsa_fabric_port_set - change a port while the fabric runs
 * @fabric: which
 * @node:   name or node id; NULL: the first channel adapter
 * @port:   its port; 0: of a switch its own, else the first with a cable
 * @wanted: what is to change; all of it does, or nothing
 *
 * The SM sees it at once, and tells those who have subscribed: of ports that
 * come and go (traps 64 and 65), of groups that this ends (67), of switches
 * whose links change (128) and of other capabilities (144).
 * A link that goes down takes what was on its way with it, and both its
 * ports; whoever it cuts off is in no answer any more, and its memberships
 * are forgotten; subscriptions and LIDs stay. A port whose link comes up is
 * set up anew and asked to register again, if the SM reaches it.
 * A link with another rate trains again: its switches report it (128), the SM
 * sets up its ports, and nothing is cut off.
 * A client is not woken: it sees a change when it next reads the state of
 * its port.
 *
 * Return: 0; -ENODEV no such node; -ENXIO it has no such port; -EINVAL no bit,
 * or one that there is not, in the mask, a value out of its range, something
 * else than the link or the rate of a switch's port with a cable, or the link
 * or the rate of a switch's own port; -ERANGE a rate that one end of the link
 * does not support;
 * -ENETDOWN the link or the rate of a port without a cable, or the LID of one
 * that the SM has never reached; -EADDRINUSE another port has such a LID; -ENOMEM.
 */
int ibsa_fabric_port_set(
	struct ibsa_fabric *fabric, const char *node, unsigned int port,
	const struct ibsa_fabric_port_change *wanted) IBSA_MUST_USE;

/**
 * ibsa_fabric_info_get - how large a fabric is
 * @fabric: which
 * @out:    the numbers
 */
void ibsa_fabric_info_get(struct ibsa_fabric *fabric,
			  struct ibsa_fabric_info *out);

/**
 * ibsa_fabric_port_at - walk over the end ports of the channel adapters
 * @fabric: which
 * @index:  from 0, in the order of the file
 * @out:    the port; its strings live as long as the fabric
 *
 * Return: 0; -ENOENT past the last.
 */
int ibsa_fabric_port_at(struct ibsa_fabric *fabric, size_t index,
			struct ibsa_fabric_port *out) IBSA_MUST_USE;

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

/**
 * struct ibsa_packet - a packet on a link of the fabric
 * @time_ns: of the fabric's clock, nanoseconds
 * @bytes:   from the LRH to the VCRC, as they are on a wire; network order
 * @len:     how many
 */
struct ibsa_packet {
	uint64_t time_ns;
	const uint8_t *bytes;
	size_t len;
};

/*
 * Called with each packet, while the fabric is locked: it must not call any
 * function on this fabric, nor on a client of it.
 */
typedef void (*ibsa_packet_fn)(const struct ibsa_packet *packet, void *arg);

/**
 * ibsa_fabric_tap - see all that is on the links of the clients
 * @fabric: which
 * @seen:   called with each packet from now on; NULL: no more
 * @arg:    handed to @seen as it is
 *
 * A request is seen when a client sends it, whatever becomes of it, and an
 * answer or a Report when it has arrived at a client. What goes between umad
 * files, and between those and the ports, is seen once, when it is sent. A
 * message of more than one MAD is seen as its RMPP segments, all at one time;
 * there are no acknowledgements of them.
 *
 * Return: 0; -EBUSY somebody else sees them already; -EOPNOTSUPP the fabric
 * is of Omni-Path, whose packets have other headers.
 *
 * Source: IBA vol 1, 7.7 (LRH), 8.3 (GRH), 9.2 (BTH), 9.3.3 (DETH), 13.6.2
 * (RMPP).
 */
int ibsa_fabric_tap(struct ibsa_fabric *fabric, ibsa_packet_fn seen,
		    void *arg) IBSA_MUST_USE;

/**
 * ibsa_replay_open - a port whose SA answers what it has once answered
 * @path:  a capture: a pcap file of ERF records of InfiniBand (link type 197),
 *         or of InfiniBand packets (link type 247)
 * @error: filled on failure; may be NULL
 * @out:   the transport, for ibsa_options.transport
 *
 * A request is answered as the same question was in the capture: of the same
 * versions, method, attribute, modifier, SM_Key and component mask, and the
 * same record, which in a Get and a GetTable is only what the mask selects.
 * The answer has the new transaction id, comes at once, and whole if it was
 * in RMPP segments. What was asked more than once gets those answers in
 * their order, and then the last for ever. What was asked in vain gets no
 * answer; what was never asked, status 0x000c, whatever an SA would say.
 * Reports do not come. A packet that is cut at the end of the file, and what
 * is neither a request to an SA nor its answer, do not count.
 *
 * The port has the LID of who has asked first, the SM's LID that it has asked
 * at, the P_Key it has asked with, and the GID that a GRH or a PathRecord
 * gives it, or one that is made up. The transport is at a fabric of its own,
 * which ibsa_fabric_load() makes of such a file to be shared: that port is its
 * only adapter, "recorded", on a switch that the SA is on, unless it has asked
 * at its own LID. Its clock is the real one.
 *
 * Return: 0; -EINVAL no @path, no such capture, or nobody asks an SA in it;
 * -ENOENT and the like from opening it; -EFBIG; -ENOMEM; or the error of
 * making a timerfd.
 */
int ibsa_replay_open(const char *path, struct ibsa_error *error,
		     struct ibsa_transport **out) IBSA_MUST_USE;

/**
 * ibsa_fabric_stats_get - what has been counted
 * @fabric: which
 * @out:    the counters
 */
void ibsa_fabric_stats_get(struct ibsa_fabric *fabric,
			   struct ibsa_fabric_stats *out);

struct ibsa_gate;

/**
 * struct ibsa_gate_options - zero is the default throughout
 * @device: of this machine, as "mlx5_0"; NULL: the first with an active
 *          InfiniBand port
 * @port:   its port; 0: the first active one
 * @node:   name or node id of the channel adapter of the fabric that those who
 *          ask are taken for; NULL: the first of the file
 * @node_port: its port; 0: the first with a cable
 */
struct ibsa_gate_options {
	const char *device;
	unsigned int port;
	const char *node;
	unsigned int node_port;
};

/**
 * struct ibsa_gate_info - where a gate is and what has passed it
 * @device:   of this machine; lives as long as the gate
 * @port:     its port
 * @gid:      its GID 0, under which the SA can be asked
 * @lid:      its LID, host order; 0 on RoCE
 * @requests: MADs that came for the SA
 * @answers:  those that the kernel has taken to send
 * @reports:  Reports that it has taken, each try
 * @refused:  answers and Reports that it has not: most often since an answer
 *            to the same request is still on its way
 * @unheard:  requests that are none for the fabric, as one too large, or came
 *            when there was no memory
 * @requesters: how many have asked so far, told apart by address and QP
 */
struct ibsa_gate_info {
	const char *device;
	unsigned int port;
	struct ibsa_gid gid;
	uint32_t lid;
	uint64_t requests;
	uint64_t answers;
	uint64_t reports;
	uint64_t refused;
	uint64_t unheard;
	uint64_t requesters;
};

/**
 * ibsa_gate_open - let a fabric's SA answer at a port of this machine
 * @fabric:  which; held until the gate is closed; on the real clock
 * @options: NULL for all defaults
 * @error:   filled on failure with what was wrong and what to do; may be NULL
 * @out:     the gate; ibsa_gate_close() ends it
 *
 * From then on requests to the SA that arrive at the port, from anywhere on
 * the network that it is really on, are the fabric's, and its answers go back
 * to whoever has asked. Those who ask need not be in the fabric: all are taken
 * for @options->node, and see of it what that port may see. What befalls MADs
 * in the fabric (ibsa_fabric_fault()) befalls them, once for a whole answer.
 *
 * Who has subscribed gets Reports, and its ReportResp reaches the SA.
 * Requesters are 65536 at most: beyond, the one who came first is forgotten,
 * and its Reports go to the one who has taken its place.
 *
 * The kernel sends answers in segments where they are large, and waits for 2
 * seconds when one is lost. GetMulti comes in as one MAD or is not heard. A GID
 * of IPv4 does not do to be asked under: the requester's kernel takes no answer
 * from there.
 *
 * Return: 0; -EINVAL the fabric has a virtual clock; -ENODEV there is no such
 * device here, or no such node in the fabric; -ENXIO one of the two has no such
 * port; -ENETDOWN one of the two has no link; -EBUSY another program here is
 * the SA at the port, as a subnet manager is, or another client in the fabric
 * listens to Reports at the node's port; -EACCES not permitted; -ENOSYS the
 * RDMA or umad modules are not loaded; -EOPNOTSUPP the kernel is too old, or
 * the device is simulated; -ENOMEM; or the system's error.
 *
 * A gate belongs to one thread at a time, and not to a forked child.
 *
 * Source: IBA vol 1, 13.5.3 (GetMulti, RMPP), 15.2 (SA); Linux
 * Documentation/infiniband/user_mad.rst.
 */
int ibsa_gate_open(struct ibsa_fabric *fabric,
		   const struct ibsa_gate_options *options,
		   struct ibsa_error *error,
		   struct ibsa_gate **out) IBSA_MUST_USE;

/**
 * ibsa_gate_fd - what to wait for
 * @gate: which
 *
 * Return: a file descriptor that is readable when ibsa_gate_dispatch() has
 * something to do. It stays the same and remains the gate's.
 */
int ibsa_gate_fd(const struct ibsa_gate *gate);

/**
 * ibsa_gate_timeout_ms - how long to wait at most
 * @gate: which
 *
 * Return: milliseconds until ibsa_gate_dispatch() is to be called though the
 * fd is not readable; -1: no such need, as is nearly always so.
 */
int ibsa_gate_timeout_ms(const struct ibsa_gate *gate);

/**
 * ibsa_gate_dispatch - let pass what is there, without waiting
 * @gate: which
 *
 * It takes at most 256 requests at a time; the fd is still readable then.
 *
 * Return: 0; -ENODEV the device has gone, -EBUSY another program has become
 * the SA at its port while its file had to be opened anew, or another error
 * of the device: all three for good; nothing passes any more.
 */
int ibsa_gate_dispatch(struct ibsa_gate *gate) IBSA_MUST_USE;

/**
 * ibsa_gate_info_get - where a gate is and what has passed it
 * @gate: which
 * @out:  the answer
 */
void ibsa_gate_info_get(const struct ibsa_gate *gate,
			struct ibsa_gate_info *out);

/**
 * ibsa_gate_close - end it
 * @gate: or NULL
 *
 * Answers that the kernel has not sent completely by then are lost. What was
 * registered with the SA and subscribed to stays in the fabric.
 */
void ibsa_gate_close(struct ibsa_gate *gate);

IBSA_END

#endif
