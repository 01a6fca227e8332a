/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reachability: whether the SA has a path to a GID, for one GID or thousands;
 * why the SA has no path; and the ports of a host.
 *
 * ibsa_reach_wait      check one GID, and wait for the result
 * ibsa_reach_start     check many GIDs
 * ibsa_reach_stop      end a batch early: GIDs without a result get -ECANCELED
 *
 * ibsa_reason_text     a few words, such as "another subnet"; "" for NONE
 * ibsa_reason_wait     find out why a query for a path has no result
 *
 * ibsa_host_select     select the ports of a host from NodeRecords
 * ibsa_host_ports      query the SA for the ports of a host, and wait
 * ibsa_host_ports_free free the records of a host
 *
 * The results are from the SA's database; no packet is sent to the other port.
 * A host that has crashed counts as reachable while its port is active, and a
 * port that went down counts as reachable until the SM detects this.
 */
#ifndef IBSA_REACH_H
#define IBSA_REACH_H

#include <ibsa/ibsa.h>
#include <ibsa/records.h>
#include <ibsa/text.h>

IBSA_BEGIN

/*
 * All reasons: R(name, "text"). The library does not return NO_NAME, which is
 * for programs that convert names to ports.
 */
#define IBSA_REASONS(R)                                             \
	R(NO_NAME, "no such name")                                  \
	R(UNKNOWN_PORT, "unknown, or in no partition of this port") \
	R(FAR_PORT_DOWN, "the far port is down")                    \
	R(THIS_PORT_DOWN, "this port is down")                      \
	R(NO_PKEY, "no P_Key in common")                            \
	R(BOTH_LIMITED, "both are limited members")                 \
	R(OTHER_SUBNET, "another subnet")                           \
	R(CONSTRAINT, "a constraint excludes every path")           \
	R(NOT_MEMBER, "not a member of the group")

/* NONE, which is 0: no reason was searched, or none was found. */
enum ibsa_reason_code {
	IBSA_REASON_NONE,
#define IBSA__REASON_ENUM(name, text) IBSA_REASON_##name,
	IBSA_REASONS(IBSA__REASON_ENUM)
#undef IBSA__REASON_ENUM
};

enum {
	IBSA_REASON_QUERIES = 3, /* most queries of a search for a reason */
	IBSA_REASON_TEXT = 256,	 /* size of @detail of struct ibsa_reason */
	IBSA_REASON_VALUE = 48,	 /* size of @possible of struct ibsa_reason */
};

/**
 * struct ibsa_reason - why there is no path
 * @is_certain: true: the SA's records, or the client's own port, prove @code;
 *              false: @code is only possible, or IBSA_REASON_NONE
 * @queries:    number of queries that the search tried
 * @err:        0; or the error of the query that ended the search: as of
 *              ibsa_query_wait(), but -EBUSY if the SA was busy
 * @constraint: for IBSA_REASON_CONSTRAINT: the field without which the SA has a
 *              path, such as "mtu"; NULL: the search found no such field
 * @possible:   the value of the field @constraint in that path, such as
 *              "100Gb/s"; "": @constraint is NULL, or the value meets the query
 * @detail:     one sentence, safe to print; "": no reason was searched
 */
struct ibsa_reason {
	enum ibsa_reason_code code;
	bool is_certain;
	uint8_t queries;
	int err;
	const char *constraint;
	char possible[IBSA_REASON_VALUE];
	char detail[IBSA_REASON_TEXT];
};

const char *ibsa_reason_text(enum ibsa_reason_code code);

int ibsa_reason_wait_sized(struct ibsa_client *client,
			   const struct ibsa_query *query, size_t query_size,
			   struct ibsa_reason *out,
			   size_t out_size) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/**
 * ibsa_reason_wait - find out why a query for a path has no result
 * @query: a query for a PathRecord that ended without a path; its mask selects
 *         a GID or LID of both ends
 * @out:   receives the reason; code IBSA_REASON_NONE if none was found
 *
 * Does not repeat @query. Sends at most IBSA_REASON_QUERIES queries, each with
 * the deadline of @query, and waits for the replies.
 *
 * Return: 0, also if no reason was found; -EINVAL @query is not such a query;
 * -EBUSY a callback of this client called ibsa_reason_wait()
 *
 * Source: IBA vol 1, 15.2.5.16 (PathRecord), 15.4.1 (what the SA shows), 10.9.3
 * (P_Keys).
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_reason_wait(struct ibsa_client *client,
					       const struct ibsa_query *query,
					       struct ibsa_reason *out)
{
	return ibsa_reason_wait_sized(client, query, sizeof(*query), out,
				      sizeof(*out));
}

/* What a query for the path to a GID showed: see struct ibsa_reach_answer. */
enum ibsa_reach {
	IBSA_REACH_UNKNOWN, /* the query failed; see err and status */
	IBSA_REACH_YES,	    /* the SA has a path */
	IBSA_REACH_NO,	    /* the SA has no path */
};

struct ibsa_reach_batch;

/* When to search for the reason why there is no path. */
enum ibsa_why {
	/* ibsa_reach_wait() searches, ibsa_reach_start() does not. */
	IBSA_WHY_DEFAULT,
	IBSA_WHY_ALWAYS,
	IBSA_WHY_NEVER,
};

/**
 * struct ibsa_reach_options - options; zero: the default of a member
 * @from:       GID of the source port; zero: GID 0 of the client's port
 * @timeout_ms: deadline of each query; default: that of the client
 * @why:        when to search for reasons, each with at most
 *              IBSA_REASON_QUERIES queries
 */
struct ibsa_reach_options {
	struct ibsa_gid from;
	unsigned int timeout_ms;
	enum ibsa_why why;
};

/**
 * struct ibsa_reach_answer - the result of one GID
 * @index:      of the GID in @gids of ibsa_reach_start()
 * @left:       number of GIDs of the batch without a result; 0: the batch ends
 * @err:        0: the SA replied, see @status; else as of ibsa_query_wait(),
 *              without -EREMOTEIO; -EAGAIN: the port has no SM or no GID;
 *              -ENOBUFS: the client's queue was full, in a batch until the
 *              timeout; -ECANCELED: ibsa_reach_stop() or ibsa_close(); or the
 *              error from reading the port
 * @status:     MAD status, all 16 bits; 0 if @err is not 0
 * @redirects, @tries, @rtt_ns: of the query for the path, see struct ibsa_reply
 * @redirect:   as in struct ibsa_reply, valid until the callback returns; NULL
 *              from ibsa_reach_wait(), and after a search for a reason
 * @reason:     why there is no path, if a search found a reason; if @err is
 *              neither 0 nor -ECANCELED and the client's port is down,
 *              IBSA_REASON_THIS_PORT_DOWN; otherwise IBSA_REASON_NONE
 * @is_certain, @detail: as in struct ibsa_reason
 */
struct ibsa_reach_answer {
	struct ibsa_gid gid;
	size_t index;
	size_t left;
	enum ibsa_reach reach;
	int err;
	uint16_t status;
	uint8_t redirects;
	unsigned int tries;
	uint64_t rtt_ns;
	const uint8_t *redirect;
	enum ibsa_reason_code reason;
	bool is_certain;
	char detail[IBSA_REASON_TEXT];
	uint8_t reserved[3];
};

/**
 * typedef ibsa_reach_fn - called once for each GID of a batch
 * @answer: valid until the callback returns
 * @arg:    as given to ibsa_reach_start()
 *
 * May call the same functions as an ibsa_reply_fn.
 */
typedef void (*ibsa_reach_fn)(const struct ibsa_reach_answer *answer,
			      void *arg);

int ibsa_reach_wait_sized(struct ibsa_client *client,
			  const struct ibsa_reach_options *options,
			  size_t options_size, const struct ibsa_gid *gid,
			  struct ibsa_reach_answer *out,
			  size_t out_size) IBSA_MUST_USE IBSA_NONNULL(1, 5);

/**
 * ibsa_reach_wait - check one GID, and wait for the result
 * @options: NULL: all defaults
 * @gid:     unicast or multicast, of any subnet, network byte order
 * @out:     receives the result: IBSA_REACH_UNKNOWN if the query failed
 *
 * Return: 0, also if the query failed; -EINVAL @gid is NULL or all zero; -EBUSY
 * a callback of this client called ibsa_reach_wait()
 *
 * Source: IBA vol 1, 15.2.5.16 (PathRecord).
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_reach_wait(struct ibsa_client *client,
		const struct ibsa_reach_options *options,
		const struct ibsa_gid *gid, struct ibsa_reach_answer *out)
{
	return ibsa_reach_wait_sized(client, options, sizeof(*options), gid,
				     out, sizeof(*out));
}

int ibsa_reach_start_sized(struct ibsa_client *client,
			   const struct ibsa_reach_options *options,
			   size_t size, const struct ibsa_gid *gids,
			   size_t count, ibsa_reach_fn report, void *arg,
			   struct ibsa_reach_batch **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

/**
 * ibsa_reach_start - check many GIDs
 * @options: copied; NULL: all defaults
 * @gids:    copied
 * @count:   at least 1
 * @report:  called once for each GID, later, in the order of the results
 * @out:     receives the batch, valid until @report has returned for the last
 *           GID; may be NULL
 *
 * A batch has at most as many queries in progress as window of struct
 * ibsa_options; the timeout of each GID starts with its query.
 *
 * Return: 0, even if the port has no SM; -EINVAL @report or @gids is NULL,
 * @count is 0, or a GID is zero; -ESHUTDOWN ibsa_close() ends queries; -ENOMEM
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_reach_start(struct ibsa_client *client,
		 const struct ibsa_reach_options *options,
		 const struct ibsa_gid *gids, size_t count,
		 ibsa_reach_fn report, void *arg, struct ibsa_reach_batch **out)
{
	return ibsa_reach_start_sized(client, options, sizeof(*options), gids,
				      count, report, arg, out);
}

/**
 * ibsa_reach_stop - end a batch early: GIDs without a result get -ECANCELED
 * @batch: valid until the callback for its last GID returns; NULL: nothing
 *         happens
 *
 * A GID whose reason is being searched gets IBSA_REACH_NO instead, with err 0.
 *
 * Return: 0; -EALREADY @batch was stopped before, or the callback for its last
 * GID is running
 */
int ibsa_reach_stop(struct ibsa_reach_batch *batch);

int ibsa_host_select_sized(const struct ibsa_node *nodes, size_t size,
			   size_t count, const char *name,
			   struct ibsa_node **out,
			   size_t *out_count) IBSA_MUST_USE;

/**
 * ibsa_host_select - select the ports of a host from NodeRecords
 * @nodes: decoded NodeRecords, one for each port
 * @name:  a whole node description; its first word, which is the host; or
 *         HOST/DEVICE, for the description "HOST DEVICE"
 * @out:   receives copies, which ibsa_host_ports_free() frees; NULL if none
 *         matches
 *
 * Selects the nodes that match best: those with this description or first word
 * rather than those of HOST/DEVICE; then those in the same case rather than in
 * another; then channel adapters rather than other nodes. @out is sorted by
 * description as strverscmp(3) does, such as node2 before node10; then by node
 * GUID and port number. Any thread may call this function.
 *
 * Return: 0, also if no node matches; -EINVAL @name is NULL or empty; -ENOMEM
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_host_select(const struct ibsa_node *nodes,
					       size_t count, const char *name,
					       struct ibsa_node **out,
					       size_t *out_count)
{
	return ibsa_host_select_sized(nodes, sizeof(*nodes), count, name, out,
				      out_count);
}

int ibsa_host_ports_sized(struct ibsa_client *client, const char *name,
			  size_t size, struct ibsa_node **out,
			  size_t *out_count) IBSA_MUST_USE
	IBSA_NONNULL(1, 4, 5);

/**
 * ibsa_host_ports - query the SA for the ports of a host, and wait
 * @name: as for ibsa_host_select()
 * @out:  as for ibsa_host_select()
 *
 * Each call queries all NodeRecords: for several names, query them once and use
 * ibsa_host_select().
 *
 * Return: as ibsa_host_select(), or the error of ibsa_query_wait()
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_host_ports(struct ibsa_client *client,
					      const char *name,
					      struct ibsa_node **out,
					      size_t *out_count)
{
	return ibsa_host_ports_sized(client, name, sizeof(**out), out,
				     out_count);
}

void ibsa_host_ports_free(struct ibsa_node *ports);

IBSA_END

#endif
