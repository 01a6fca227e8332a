/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The embedded fabric: a simulated subnet with its own SA, inside the process,
 * made from a topology file.
 *
 * ibsa_fabric_load      create a fabric from a topology file
 * ibsa_fabric_parse     create a fabric from text in memory
 * ibsa_fabric_put       release a fabric; freed when nothing uses it
 * ibsa_fabric_attach    create a transport at a port of a fabric
 * ibsa_fabric_advance   advance a virtual clock by nanoseconds
 * ibsa_fabric_info_get  the numbers of nodes, links and LIDs
 * ibsa_fabric_port_at   one end port of the channel adapters
 * ibsa_fabric_stats_get the counters of a fabric since it was loaded
 *
 * A fabric has its own lock: any thread may call these functions. Numbers are
 * in host byte order. They are in libibsa-fabric: link with the flags of
 * "pkg-config ibsa-fabric".
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
 * struct ibsa_fabric_options - how to load a fabric; zero: the default of a
 * member
 * @virtual_clock: starts at 0, and advances only in ibsa_fabric_advance() and
 *                while a client waits
 * @seed:         of all random numbers; 0 is an ordinary seed
 * @sa_node:      name or node id of the SA's node; NULL: the first channel
 *                adapter
 * @latency_us:   from a request to its reply, and of a Report
 * @gid_prefix:   0: 0xfe80000000000000
 * @opa:          all links are Omni-Path, and LIDs have 32 bits
 * @no_opa_paths: the SA refuses PathRecords of class version 0x80
 * @first_lid:    that the SM assigns; 0: 1
 * @check:        find anomalies of the file, for ibsa_fabric_finding_at()
 * @no_sa:        an external SM sets the ports up, through a fabric server
 * @partitions:   file in the format of OpenSM's partitions.conf; NULL: all
 *                ports are full members of the default partition
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
};

/**
 * struct ibsa_fabric_info - how many nodes, links and LIDs a fabric has
 * @links: up or down
 * @lids:  2^LMC of each port
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
 * @node:  description, or else node id
 * @state: as a client on this port reads it
 * @rate:  such as "100 Gb/sec (4X EDR)"; "": no link
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
 * @path:    in the format of ibnetdiscover and ibsim; or a capture
 * @options: NULL: all defaults
 * @error:   after an error, a sentence with file, line and reason; may be NULL
 * @out:     ibsa_fabric_put() releases it
 *
 * Return: 0; -EINVAL an error in the topology, the partitions or the options;
 * -ENOENT no such file; -EFBIG 1 GiB or larger; -ENOMEM; or the error of a file
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
 * @text:    of a topology file without include lines, not of a capture
 * @options: NULL: all defaults
 * @error:   after an error, a sentence with line and reason; may be NULL
 *
 * Return: as ibsa_fabric_load()
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
 * @node: name or node id of a channel adapter, HOST/DEVICE, or a host: its
 *        first adapter with an active port. NULL: the first adapter of the file
 * @port: 0: the first port with a cable
 * @out:  for ibsa_options.transport; holds the fabric until it is closed
 *
 * Acts as a umad file of the kernel at the port.
 *
 * Return: 0; -ENODEV no such adapter; -ENXIO no such port; -ENETDOWN it has no
 * cable; -ENOMEM, -EMFILE; or the error of timerfd_create(2)
 */
int ibsa_fabric_attach(struct ibsa_fabric *fabric, const char *node,
		       unsigned int port,
		       struct ibsa_transport **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 4);

/**
 * ibsa_fabric_advance - advance a virtual clock by nanoseconds
 *
 * Return: 0; -EINVAL the clock is real, or would pass 292 years
 */
int ibsa_fabric_advance(struct ibsa_fabric *fabric, uint64_t ns) IBSA_MUST_USE
	IBSA_NONNULL(1);

/* For bindings: ibsa_fabric_info_get() with the size of @out. */
void ibsa_fabric_info_get_sized(struct ibsa_fabric *fabric,
				struct ibsa_fabric_info *out, size_t size)
	IBSA_NONNULL(1, 2);

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
 * ibsa_fabric_port_at - one end port of the channel adapters
 * @index: from 0, in the order of the file
 * @out:   its strings are valid until ibsa_fabric_put()
 *
 * Return: 0; -ENOENT
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

IBSA_INLINE void ibsa_fabric_stats_get(struct ibsa_fabric *fabric,
				       struct ibsa_fabric_stats *out)
{
	ibsa_fabric_stats_get_sized(fabric, out, sizeof(*out));
}

IBSA_END

#endif
