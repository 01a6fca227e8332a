/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The embedded fabric: a simulated subnet with its own SA, inside the process,
 * made from a topology file. An embedded fabric needs no hardware, daemon or
 * privileges.
 *
 * A fabric has its own lock; its clients may run in different threads.
 *
 * The functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
 */
#ifndef IBSA_FABRIC_H
#define IBSA_FABRIC_H

#include <ibsa/fabric_fault.h>
#include <ibsa/transport.h>
#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

/* clang-format off */
#define IBSA_SM_PROFILE_TABLE(L)						\
	L(OPENSM, "opensm", "OpenSM, in all points below")		\
	L(BUSY,   "busy",						\
	  "answers 16 requests per millisecond, and all others with BUSY") \
	L(SILENT, "silent",						\
	  "ignores requests that OpenSM refuses for a missing SM_Key")	\
	L(FEW,    "few", "stores at most 32 subscriptions")		\
	L(OPA_FM, "opa-fm",						\
	  "answers PathRecords of class version 2 only")
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
 * struct ibsa_fabric_options - how to load a fabric; zero is the default of
 * each member
 * @virtual_clock: use a clock that starts at 0 and advances only in
 *                 ibsa_fabric_advance() and while a client waits; default: the
 *                 system's monotonic clock
 * @seed:          seed of all random numbers. The same seed gives the same
 *                 random numbers. 0, the default, is an ordinary seed
 * @sa_node:       name or node id of the node on which the SA runs; NULL: the
 *                 first channel adapter of the file
 * @latency_us:    microseconds from the sending of a request to the arrival of
 *                 its reply, and from the sending of a Report to its arrival;
 *                 default 0
 * @gid_prefix:    subnet prefix, host order; default 0xfe80000000000000
 * @opa:           all links are Omni-Path, and LIDs have 32 bits
 * @no_opa_paths:  the SA of an Omni-Path fabric refuses PathRecord requests of
 *                 class version 0x80 with status 0x0004, as it always does with
 *                 IBSA_SM_PROFILE_OPA_FM
 * @first_lid:     first LID that the SM assigns; default 1. At most 0xbfff, or
 *                 0xbfffffff on Omni-Path
 * @check:         check the topology file for anomalies, which
 *                 ibsa_fabric_finding_at() returns
 * @no_sa:         the fabric has no SA, and no port is set up until an external
 *                 subnet manager, which uses a port of a fabric server, sets
 *                 the ports up with SMPs
 * @partitions:    file in the format of OpenSM's partitions.conf: the P_Keys of
 *                 the ports, and the multicast groups that exist from the
 *                 start; NULL: all ports are full members of the default
 *                 partition, and the IPoIB broadcast group of this partition
 *                 exists. SELF in the file is the port on which the SA starts,
 *                 also after the SA moves
 * @profile:       the SM whose behaviour the SA copies; default: OpenSM
 *
 * The program may free the strings sa_node and partitions after the call.
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
};

/**
 * struct ibsa_fabric_info - how many nodes, links and LIDs a fabric has
 * @nodes:    number of nodes
 * @adapters: number of channel adapters among the nodes
 * @switches: number of switches among the nodes
 * @links:    number of links, up or down
 * @lids:     number of LIDs of all ports; a port has 2^LMC LIDs
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
 * @node:   name of the node: its description or, if the file gives none, its
 *          node id
 * @id:     node id in the topology file
 * @number: port number
 * @guid:   port GUID, host order
 * @rate:   rate of the link as the kernel writes it, such as "100 Gb/sec (4X
 *          EDR)"; "" if the link is down or the port has no cable
 * @state:  state of the port as a client on this port reads it. It stays the
 *          last member: this struct grows with it, and not otherwise
 */
struct ibsa_fabric_port {
	const char *node;
	const char *id;
	unsigned int number;
	uint64_t guid;
	const char *rate;
	struct ibsa_port_state state;
};

/* Why a MAD between two ports was lost, other than by a fault. */
enum ibsa_drop_reason {
	IBSA_DROP_NO_ROUTE,   /* a switch has no table entry for the LID, or an
			       * SMP's path leads to no port */
	IBSA_DROP_PORT_DOWN,  /* a port of the route is down; for other MADs
			       * than SMPs, also not active */
	IBSA_DROP_NO_LID,     /* no port has the LID at the end of the route */
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
	uint64_t answers;	 /* MADs that reached a client */
	uint64_t unanswered;	 /* requests to which the SA did not reply */
	uint64_t most_in_flight; /* maximum of one client: requests without a
				  * reply, and MADs that it has not received */
	uint64_t reports;	 /* Reports; a Report to several subscribers
				  * counts for each, its retries do not */
	uint64_t reports_unanswered; /* Reports that the SA gave up after three
				      * tries or when it stopped, or did not
				      * send because 131072 were waiting */
	uint64_t faults[IBSA_FAULTS_ROOM]; /* how often each fault occurred */
	uint64_t drops[IBSA_DROPS_ROOM];   /* MADs between two ports that were
					    * lost for each reason */
};

/* For bindings: ibsa_fabric_load() with the size of @options. */
int ibsa_fabric_load_sized(const char *path,
			   const struct ibsa_fabric_options *options,
			   size_t size, struct ibsa_error *error,
			   struct ibsa_fabric **out) IBSA_MUST_USE
	IBSA_NONNULL(5);

/**
 * ibsa_fabric_load - create a fabric from a topology file
 * @path:    file in the format of ibnetdiscover and ibsim; or a capture, see
 *           ibsa_replay_open()
 * @options: NULL for all defaults
 * @error:   after an error, a sentence with the reason, and with the file and
 *           the line if a file has an error; may be NULL
 * @out:     receives the fabric, which ibsa_fabric_put() releases
 *
 * Return: 0; -EINVAL @path is NULL; the topology or the file of @partitions has
 * an error; @sa_node is not the name of a node, or names a node without a cable
 * that is not a switch; @sa_node is NULL, and there is no channel adapter; a
 * value of @options is out of range; there are more end ports than LIDs; or
 * @path is a capture, and members of @options other than virtual_clock, seed
 * and latency_us are set, or ibsa_replay_open() returns -EINVAL for the
 * capture; -ENOENT a file does not exist; -EFBIG a file is 1 GiB or larger;
 * -ENOMEM; or the system's error from opening or reading a file. After an error
 * @out is unchanged. Any thread may call ibsa_fabric_load().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_load(const char *path, const struct ibsa_fabric_options *options,
		 struct ibsa_error *error, struct ibsa_fabric **out)
{
	return ibsa_fabric_load_sized(path, options, sizeof(*options), error,
				      out);
}

/* For bindings: ibsa_fabric_parse() with the size of @options. */
int ibsa_fabric_parse_sized(const char *text, size_t len,
			    const struct ibsa_fabric_options *options,
			    size_t size, struct ibsa_error *error,
			    struct ibsa_fabric **out) IBSA_MUST_USE
	IBSA_NONNULL(6);

/**
 * ibsa_fabric_parse - create a fabric from text in memory
 * @text:    text of a topology file, not a capture; not used after the return
 * @len:     bytes at @text
 * @options: NULL for all defaults
 * @error:   after an error, a sentence with line and reason; may be NULL
 * @out:     receives the fabric, which ibsa_fabric_put() releases
 *
 * Return: as ibsa_fabric_load(). The only file is that of @partitions: an
 * include line in @text is an error of the topology. Any thread may call
 * ibsa_fabric_parse().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_parse(const char *text, size_t len,
		  const struct ibsa_fabric_options *options,
		  struct ibsa_error *error, struct ibsa_fabric **out)
{
	return ibsa_fabric_parse_sized(text, len, options, sizeof(*options),
				       error, out);
}

/**
 * ibsa_fabric_put - release a fabric
 * @fabric: a fabric; NULL: nothing happens
 *
 * The library frees the fabric when it has been released and no client,
 * transport or fabric server uses it any more. A forked child must not use its
 * parent's fabrics, which another thread may have locked during the fork, but
 * may call ibsa_fabric_put() for them, which does nothing there. Any thread may
 * call ibsa_fabric_put().
 */
void ibsa_fabric_put(struct ibsa_fabric *fabric);

/**
 * ibsa_fabric_attach - create a transport at a port of a fabric
 * @fabric: a fabric
 * @node:   name or node id of a channel adapter, or HOST/DEVICE for the name
 *          "HOST DEVICE". If no node has this name: the name of a host, the
 *          first word of the names of its adapters. This selects, in the order
 *          of these names ("mlx5_9" before "mlx5_10"), the first adapter with
 *          an active port, or else the first. Names in another case match if
 *          none matches in the same case. NULL: the first adapter of the file
 * @port:   port number; 0: the first port with a cable, active or not
 * @out:    receives the transport, for ibsa_options.transport: ibsa_close()
 *          closes it; if ibsa_open() fails, the program closes it. The
 *          transport holds the fabric until it is closed
 *
 * The transport acts as a umad file of the kernel at the port: it replaces the
 * upper 32 bits of the TransactionID of a request, also in the reply, and
 * receives only replies to requests that were sent with a timeout and, after
 * the operation listen of struct ibsa_transport_ops, Reports.
 *
 * Return: 0; -EINVAL the fabric belongs to the parent process; -ENODEV there is
 * no such channel adapter; -ENXIO the adapter has no such port; -ENETDOWN the
 * port has no cable; -ENOMEM; and on the real clock -EMFILE no file descriptor
 * is free, or another error of timerfd_create(2). After an error @out is
 * unchanged. Any thread may call ibsa_fabric_attach().
 */
int ibsa_fabric_attach(struct ibsa_fabric *fabric, const char *node,
		       unsigned int port,
		       struct ibsa_transport **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 4);

/**
 * ibsa_fabric_advance - advance a virtual clock
 * @fabric: a fabric with a virtual clock
 * @ns:     nanoseconds
 *
 * After ibsa_fabric_advance(), clients can receive the messages that are due by
 * the new time.
 *
 * Return: 0; -EINVAL the fabric has the real clock, or the virtual clock would
 * pass 292 years. Any thread may call ibsa_fabric_advance().
 */
int ibsa_fabric_advance(struct ibsa_fabric *fabric, uint64_t ns) IBSA_MUST_USE
	IBSA_NONNULL(1);

/* For bindings: ibsa_fabric_info_get() with the size of @out. */
void ibsa_fabric_info_get_sized(struct ibsa_fabric *fabric,
				struct ibsa_fabric_info *out, size_t size)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_fabric_info_get - return how many nodes, links and LIDs a fabric has
 * @fabric: a fabric
 * @out:    receives the numbers
 *
 * Any thread may call ibsa_fabric_info_get().
 */
IBSA_INLINE void ibsa_fabric_info_get(struct ibsa_fabric *fabric,
				      struct ibsa_fabric_info *out)
{
	ibsa_fabric_info_get_sized(fabric, out, sizeof(*out));
}

/* For bindings: ibsa_fabric_port_at() with the size of @out. */
int ibsa_fabric_port_at_sized(struct ibsa_fabric *fabric, size_t index,
			      struct ibsa_fabric_port *out,
			      size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_fabric_port_at - return one end port of the channel adapters
 * @fabric: a fabric
 * @index:  from 0, in the order of the file
 * @out:    receives the port; its strings are valid until ibsa_fabric_put()
 *
 * Return: 0; -ENOENT there is no port @index. Any thread may call
 * ibsa_fabric_port_at().
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fabric_port_at(struct ibsa_fabric *fabric,
						  size_t index,
						  struct ibsa_fabric_port *out)
{
	return ibsa_fabric_port_at_sized(fabric, index, out, sizeof(*out));
}

/* For bindings: ibsa_fabric_stats_get() with the size of @out. */
void ibsa_fabric_stats_get_sized(struct ibsa_fabric *fabric,
				 struct ibsa_fabric_stats *out, size_t size)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_fabric_stats_get - read the counters of a fabric
 * @fabric: a fabric
 * @out:    receives the counters since the fabric was loaded
 *
 * Any thread may call ibsa_fabric_stats_get().
 */
IBSA_INLINE void ibsa_fabric_stats_get(struct ibsa_fabric *fabric,
				       struct ibsa_fabric_stats *out)
{
	ibsa_fabric_stats_get_sized(fabric, out, sizeof(*out));
}

IBSA_END

#endif
