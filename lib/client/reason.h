/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for the reason why there is no path. The search is a sequence of
 * queries; each query depends on the replies to the earlier ones. The search
 * itself sends nothing, so that both a blocking call and a batch can use it.
 */
#ifndef CLIENT_REASON_H
#define CLIENT_REASON_H

#include <string.h>

#include <ibsa/reach.h>
#include <ibsa/text.h>

#include "wire/gid.h"

struct ibsa__engine;

enum reason_step {
	REASON_END,
	/* Query the path without all constraints. */
	REASON_UNCONSTRAINED,
	REASON_WITHOUT, /* the path without one of them */
	REASON_GROUP,	/* the multicast group */
	/* Query whether the source is a member of the multicast group. */
	REASON_MEMBER,
	/*
	 * The next three steps query the NodeRecord, the PortInfoRecord and the
	 * LinkRecord of @target.
	 */
	REASON_NODE,
	REASON_PORT,
	REASON_LINK,
	/*
	 * Query the node to which @target may belong, if the SA has no
	 * record of the port @target itself.
	 */
	REASON_SIBLING,
	/* Query the paths from this port to both ends, in one query. */
	REASON_BOTH,
	/* Query a path from this port to one of the two ends. */
	REASON_PATH,
	REASON_PKEYS, /* the P_Keys of @target */
	REASON_STEPS
};

/* One end, source or destination, of the path that does not exist. */
struct reason_end {
	/* GID of this end; all zero if the end is given by its LID. */
	struct ibsa_gid gid;
	uint32_t lid; /* 0: not known */
	/* P_Key of a path from this port to this end; 0 if it is not known. */
	uint16_t pkey;
	uint8_t port_num;
	bool is_own; /* this port */
	/*
	 * Words that follow the end's GID or LID in a sentence, such as its
	 * role as destination.
	 */
	const char *role;
};

/* The first P_Keys of a port, up to a limit; further ones are not stored. */
struct reason_pkeys {
	uint16_t all[128];
	uint8_t count;
	bool is_cut;
};

union reason_match {
	struct ibsa_path path;
	struct ibsa_multi_path multi_path;
	struct ibsa_node node;
	struct ibsa_port_info port_info;
	struct ibsa_link link;
	struct ibsa_pkey_table pkey_table;
	struct ibsa_mcmember mcmember;
};

/* *
 * struct ibsa__reason_search - a search, and what it has found so far
 * @reason:      the result of the search, after the search has ended
 * @query:       the program's query, to which the SA returned no path; its
 *               match is @path
 * @port:        state of this port
 * @target:      the end that is examined
 * @node:        description of the target's node, safe to print
 * @is_active:   according to the SA, the target's port is Active
 * @pkeys:       the P_Keys of the destination
 * @candidates:  set of constraints that may exclude every path, a bit for each
 * @possible:    a path that the SA returned for a query without the constraints
 * @sibling_num: the port number that @target may have
 * @checks_both: the SA has a path from this port to neither end: if the SA has
 *               a NodeRecord of the destination, examine the source instead */
struct ibsa__reason_search {
	struct ibsa_reason reason;
	struct ibsa__engine *engine;
	struct ibsa_transport *transport;
	struct ibsa_query query;
	struct ibsa_path path;
	struct ibsa_port_state port;
	struct reason_end from;
	struct reason_end to;
	struct reason_end *target;
	char node[96];
	bool is_active;
	struct reason_pkeys pkeys;
	unsigned int candidates;
	struct ibsa_path possible;
	enum reason_step step;
	uint8_t sibling_num;
	bool checks_both;
	union reason_match match;
};

/*
 * Begin a search for the reason. The search may end at once, without a query;
 * see ibsa__reason_next().
 */
void ibsa__reason_start(struct ibsa__reason_search *search,
			struct ibsa__engine *engine,
			struct ibsa_transport *transport,
			const struct ibsa_query *query);

/*
 * Fill @out with the next query of the search. The match of the query is in
 * @search, which must stay valid while the query is submitted. Return: false:
 * the search has ended.
 */
bool ibsa__reason_next(struct ibsa__reason_search *search,
		       struct ibsa_query *out);

/* Evaluate the reply to the query that ibsa__reason_next() has made. */
void ibsa__reason_take(struct ibsa__reason_search *search,
		       const struct ibsa_reply *reply);

/*
 * Run the whole search and wait for its replies. ibsa_reason_wait() calls this
 * function after it has checked the arguments.
 */
void ibsa__reason_wait(struct ibsa_client *client,
		       const struct ibsa_query *query, struct ibsa_reason *out);

/*
 * If this port is down, write that as the reason into @out. Return: whether
 * the port is down.
 */
bool ibsa__reason_own_port(struct ibsa__engine *engine,
			   struct ibsa_reason *out);

/* What the files of the search share. */

/*
 * Set the result of the search and end it. The detail text begins with the
 * sentence for the reason.
 */
void ibsa__reason_set(struct ibsa__reason_search *search,
		      enum ibsa_reason_code code, bool is_certain,
		      const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Continue the search with @step. If that step needs no query, end the search
 * with the facts known so far.
 */
void ibsa__reason_go(struct ibsa__reason_search *search, enum reason_step step);

/* Fill @out with a query whose deadline is that of the program's query. */
void ibsa__reason_query_make(const struct ibsa__reason_search *search,
			     const struct ibsa_record *record, uint64_t mask,
			     struct ibsa_query *out);

enum { REASON_END_TEXT = IBSA_GID_TEXT + 8 };

/*
 * Write "GID ..." or "LID ..." for an end of the path into @out. Return: @out.
 */
const char *ibsa__reason_end_text(const struct reason_end *end,
				  char out[REASON_END_TEXT]);

/* Whether the client's requests have an SM_Key. */
bool ibsa__reason_has_key(const struct ibsa__reason_search *search);

/* Make the query of a step. */
typedef void reason_query_fn(struct ibsa__reason_search *search,
			     struct ibsa_query *out);

/* Evaluate the reply to the query of a step. @found: the reply has a record. */
typedef void reason_take_fn(struct ibsa__reason_search *search,
			    const struct ibsa_reply *reply, bool found);

/*
 * Find out next why this port has no path to @target. Without a query left, end
 * the search.
 */
void ibsa__reason_examine(struct ibsa__reason_search *search,
			  struct reason_end *target);

/* Steps about the port at one end of the path (reason_target.c). */
reason_query_fn ibsa__reason_query_node, ibsa__reason_query_port,
	ibsa__reason_query_link, ibsa__reason_query_sibling;
reason_take_fn ibsa__reason_take_node, ibsa__reason_take_port,
	ibsa__reason_take_link, ibsa__reason_take_sibling;

/* Steps about the constraints of the query (reason_constraint.c). */
uint64_t ibsa__reason_constraints(uint64_t mask);
reason_query_fn ibsa__reason_query_unconstrained, ibsa__reason_query_without;
reason_take_fn ibsa__reason_take_without;
/* Evaluate the path that the SA returned for the query without constraints. */
void ibsa__reason_take_unconstrained(struct ibsa__reason_search *search,
				     const struct ibsa_path *path);

/* P_Keys (reason_pkey.c). */
reason_query_fn ibsa__reason_query_pkeys;
void ibsa__reason_own_pkeys(struct ibsa__reason_search *search,
			    struct reason_pkeys *out);
void ibsa__reason_read_pkeys(const struct ibsa_reply *reply,
			     struct reason_pkeys *out);
/*
 * End the search for a path from this port to itself, with the reason that
 * follows from this port's P_Key table.
 */
void ibsa__reason_own_path(struct ibsa__reason_search *search);
/*
 * End the search with the reason that follows from the P_Key tables of both
 * ends.
 */
void ibsa__reason_compare_pkeys(struct ibsa__reason_search *search,
				const struct reason_pkeys *from,
				const struct reason_pkeys *to);
/*
 * End the search with the reason that follows from the P_Keys of the paths
 * from this port to both ends.
 */
void ibsa__reason_guess_pkeys(struct ibsa__reason_search *search);

#endif
