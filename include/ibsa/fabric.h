/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The embedded fabric: a simulated subnet with its own SA inside the
 * process, from a topology file. No hardware, no daemon, no root.
 *
 * A fabric has its own lock; the clients on it may run in different threads.
 */
#ifndef IBSA_FABRIC_H
#define IBSA_FABRIC_H

#include <ibsa/fabric_fault.h>
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
 * ibsa_fabric_stats_get - what has been counted
 * @fabric: which
 * @out:    the counters
 */
void ibsa_fabric_stats_get(struct ibsa_fabric *fabric,
			   struct ibsa_fabric_stats *out);

IBSA_END

#endif
