/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for the reason why there is no path: the order of its queries,
 * and how each reply is evaluated.
 *
 * OpenSM and other SMs return records only of ports that share a P_Key with
 * the requester, and P_Key tables only to trusted requests. A path between two
 * other ports is therefore examined by paths from this port to both. Source:
 * IBA vol 1, 15.4.1; OpenSM 3.3.23, osm_sa_path_record.c,
 * osm_sa_node_record.c, osm_sa_pkey_record.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/text.h>

#include "client/reason.h"
#include "engine/engine.h"

static uint64_t gid_prefix(const struct ibsa_gid *gid)
{
	return ibsa_be64(gid->raw);
}

void ibsa__reason_set(struct ibsa__reason_search *search,
		      enum ibsa_reason_code code, bool is_certain,
		      const char *format, ...)
{
	struct ibsa_reason *reason = &search->reason;
	int len = 0;
	va_list args;

	search->step = REASON_END;
	reason->code = code;
	reason->is_certain = is_certain;
	if (code)
		len = snprintf(reason->detail, sizeof(reason->detail),
			       "%s%s: ", is_certain ? "" : "possibly ",
			       ibsa_reason_text(code));
	va_start(args, format);
	vsnprintf(reason->detail + len, sizeof(reason->detail) - (size_t)len,
		  format, args);
	va_end(args);
}

/*
 * End the search without a proof, because no further query can give one: with a
 * guess from the P_Keys of the paths to both ends, if these are known.
 */
static void search_give_up(struct ibsa__reason_search *search)
{
	if (search->from.pkey && search->to.pkey)
		ibsa__reason_guess_pkeys(search);
	else
		ibsa__reason_set(search, IBSA_REASON_NONE, false,
				 "the SA's records do not show why there is "
				 "no path");
}

void ibsa__reason_go(struct ibsa__reason_search *search, enum reason_step step)
{
	if (search->reason.queries == IBSA_REASON_QUERIES)
		search_give_up(search);
	else
		search->step = step;
}

void ibsa__reason_query_make(const struct ibsa__reason_search *search,
			     const struct ibsa_record *record, uint64_t mask,
			     struct ibsa_query *out)
{
	*out = search->query;
	out->record = record;
	out->match = &search->match;
	out->match_size = record->host_size;
	out->mask = mask;
	out->method = IBSA_METHOD_GET;
}

const char *ibsa__reason_end_text(const struct reason_end *end,
				  char out[REASON_END_TEXT])
{
	char gid[IBSA_GID_TEXT] = "";

	if (end->lid && gid_is_zero(&end->gid)) {
		snprintf(out, REASON_END_TEXT, "%sLID %u",
			 end->lid > IBSA_LID_UNICAST_MAX ? "multicast " : "",
			 (unsigned int)end->lid);
		return out;
	}
	(void)ibsa_gid_format(&end->gid, gid, sizeof(gid));
	snprintf(out, REASON_END_TEXT, "GID %s", gid);
	return out;
}

bool ibsa__reason_has_key(const struct ibsa__reason_search *search)
{
	return ibsa__engine_options(search->engine)->access.sm_key;
}

/* Query an end of the path next. */
static void end_query(struct ibsa__reason_search *search,
		      struct reason_end *end, enum reason_step step)
{
	search->target = end;
	ibsa__reason_go(search, step);
}

void ibsa__reason_examine(struct ibsa__reason_search *search,
			  struct reason_end *target)
{
	char text[REASON_END_TEXT];

	search->target = target;
	if (search->reason.queries < IBSA_REASON_QUERIES)
		ibsa__reason_go(search, REASON_NODE);
	else
		ibsa__reason_set(search, IBSA_REASON_UNKNOWN_PORT, false,
				 "the SA has no path from this port to %s%s",
				 ibsa__reason_end_text(target, text),
				 target->role);
}

/*
 * Beside the subnet's own prefix, a port has the link-local prefix fe80::/64
 * (IBA vol 1, 4.1.1). Other prefixes in fe80::/10 are those of other subnets,
 * although OpenSM finds a port by them if it has its GUID.
 */
static bool is_of_other_subnet(const struct ibsa__reason_search *search,
			       const struct reason_end *end)
{
	const uint64_t prefix = gid_prefix(&end->gid);

	return !gid_is_zero(&end->gid) && !gid_is_multicast(&end->gid) &&
	       prefix != IBSA_DEFAULT_GID_PREFIX &&
	       prefix != gid_prefix(&search->port.gid);
}

static void other_subnet_set(struct ibsa__reason_search *search,
			     const struct reason_end *end)
{
	char text[REASON_END_TEXT];

	ibsa__reason_set(search, IBSA_REASON_OTHER_SUBNET, true,
			 "%s%s does not have the prefix 0x%016llx of "
			 "this subnet, and the SA has no router to the "
			 "subnet of this GID",
			 ibsa__reason_end_text(end, text), end->role,
			 (unsigned long long)gid_prefix(&search->port.gid));
}

/*
 * Choose the next step, or set the reason, after a query without the
 * constraints has found no path either.
 */
static void ends_examine(struct ibsa__reason_search *search)
{
	struct reason_end *from = &search->from;
	struct reason_end *to = &search->to;

	if (gid_is_multicast(&to->gid))
		ibsa__reason_go(search, REASON_GROUP);
	else if (is_of_other_subnet(search, to))
		other_subnet_set(search, to);
	else if (is_of_other_subnet(search, from))
		other_subnet_set(search, from);
	else if (from->is_own && to->is_own)
		ibsa__reason_own_path(search);
	else if (from->is_own)
		ibsa__reason_examine(search, to);
	else if (to->is_own)
		ibsa__reason_examine(search, from);
	else if (ibsa__reason_has_key(search) && from->lid && to->lid)
		end_query(search, to, REASON_PKEYS);
	else if (ibsa__reason_has_key(search) && !gid_is_zero(&from->gid) &&
		 !gid_is_zero(&to->gid))
		ibsa__reason_go(search, REASON_BOTH);
	else
		end_query(search, to, REASON_PATH);
}

static void take_unconstrained(struct ibsa__reason_search *search,
			       const struct ibsa_reply *reply, bool found)
{
	struct ibsa_path path;

	if (found && ibsa_reply_decode(reply, 0, &path, sizeof(path)) == 0)
		ibsa__reason_take_unconstrained(search, &path);
	else
		ends_examine(search);
}

static void query_group(struct ibsa__reason_search *search,
			struct ibsa_query *out)
{
	search->match.mcmember = (struct ibsa_mcmember){
		.mgid = search->to.gid,
	};
	ibsa__reason_query_make(search, &ibsa_mcmember_record,
				IBSA_MCMEMBER_CM(mgid), out);
	out->method = IBSA_METHOD_GET_TABLE;
}

/*
 * Without the SM_Key, OpenSM returns one record for a multicast group; with the
 * SM_Key, one for each member. With the SM_Key, no record therefore does not
 * prove that the group does not exist.
 */
static void take_group(struct ibsa__reason_search *search,
		       const struct ibsa_reply *reply, bool found)
{
	const bool has_key = ibsa__reason_has_key(search);
	char text[REASON_END_TEXT];

	(void)reply;
	if (found)
		ibsa__reason_go(search, REASON_MEMBER);
	else
		ibsa__reason_set(search, IBSA_REASON_UNKNOWN_PORT, !has_key,
				 has_key ? "the SA shows no member of the "
					   "multicast group with %s: the group "
					   "does not exist or has no members"
					 : "the SA shows no multicast group "
					   "with %s",
				 ibsa__reason_end_text(&search->to, text));
}

/*
 * Query whether the source is a member of the multicast group: an SA has paths
 * to the group from members only.
 */
static void query_member(struct ibsa__reason_search *search,
			 struct ibsa_query *out)
{
	search->match.mcmember = (struct ibsa_mcmember){
		.mgid = search->to.gid,
		.port_gid = search->from.is_own ? search->port.gid
						: search->from.gid,
	};
	ibsa__reason_query_make(
		search, &ibsa_mcmember_record,
		IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(port_gid), out);
	out->method = IBSA_METHOD_GET_TABLE;
}

/*
 * Set the reason from the reply to the query for the source's membership in the
 * multicast group. If the reply has no record, the source may be a member
 * nevertheless: an SA returns memberships of other ports only to trusted
 * requests.
 */
static void take_member(struct ibsa__reason_search *search,
			const struct ibsa_reply *reply, bool found)
{
	char text[REASON_END_TEXT];

	(void)reply;
	if (found)
		ibsa__reason_set(search, IBSA_REASON_NONE, false,
				 "the source is a member of the group; the "
				 "P_Key, MTU or rate of the group possibly "
				 "do not meet the query");
	else
		ibsa__reason_set(search, IBSA_REASON_NOT_MEMBER,
				 search->from.is_own ||
					 ibsa__reason_has_key(search),
				 "the group exists, but %s (the source) has "
				 "not joined it",
				 ibsa__reason_end_text(&search->from, text));
}

static void query_path(struct ibsa__reason_search *search,
		       struct ibsa_query *out)
{
	const struct reason_end *end = search->target;
	const bool has_gid = !gid_is_zero(&end->gid);

	search->match.path = (struct ibsa_path){
		.sgid = search->port.gid,
		.dgid = end->gid,
		.dlid = has_gid ? 0 : (uint16_t)end->lid,
		.reversible = 1,
		.numb_path = 1,
	};
	ibsa__reason_query_make(search, &ibsa_path_record,
				IBSA_PATH_CM(sgid) | IBSA_PATH_CM(reversible) |
					IBSA_PATH_CM(numb_path) |
					(has_gid ? IBSA_PATH_CM(dgid)
						 : IBSA_PATH_CM(dlid)),
				out);
}

/*
 * Store the LID and P_Key of the path from this port to an end. The path to the
 * destination is queried first, the path to the source second.
 */
static void take_path(struct ibsa__reason_search *search,
		      const struct ibsa_reply *reply, bool found)
{
	struct reason_end *end = search->target;
	struct ibsa_path path;

	if (!found || ibsa_reply_decode(reply, 0, &path, sizeof(path)) != 0) {
		ibsa__reason_examine(search, end);
		return;
	}
	end->lid = path.dlid;
	end->pkey = path.pkey;
	if (end == &search->to)
		end_query(search, &search->from, REASON_PATH);
	else
		ibsa__reason_guess_pkeys(search);
}

/* Fill @out with a query for the paths from this port to both ends. */
static void query_both(struct ibsa__reason_search *search,
		       struct ibsa_query *out)
{
	enum { MOST_PATHS = 127 };

	search->match.multi_path = (struct ibsa_multi_path){
		.reversible = 1,
		.numb_path = MOST_PATHS,
		.sgid_count = 1,
		.dgid_count = 2,
		.gid = { search->port.gid, search->to.gid, search->from.gid },
	};
	ibsa__reason_query_make(search, &ibsa_multi_path_record,
				IBSA_MULTI_PATH_CM(reversible) |
					IBSA_MULTI_PATH_CM(numb_path) |
					IBSA_MULTI_PATH_CM(sgid_count) |
					IBSA_MULTI_PATH_CM(dgid_count),
				out);
	out->method = IBSA_METHOD_GET_MULTI;
}

static void take_both(struct ibsa__reason_search *search,
		      const struct ibsa_reply *reply, bool found)
{
	struct reason_end *ends[] = { &search->to, &search->from };
	struct ibsa_path path;

	for (size_t i = 0; found && i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &path, sizeof(path)) != 0)
			continue;
		for (size_t k = 0; k < 2; k++) {
			if (gid_guid(&ends[k]->gid) != gid_guid(&path.dgid))
				continue;
			ends[k]->lid = path.dlid;
			ends[k]->pkey = path.pkey;
		}
	}
	if (search->from.pkey && search->to.pkey) {
		end_query(search, &search->to, REASON_PKEYS);
		return;
	}
	search->checks_both = !search->from.pkey && !search->to.pkey;
	ibsa__reason_examine(search,
			     search->to.pkey ? &search->from : &search->to);
}

/*
 * The P_Keys of the destination are queried first and stored; those of the
 * source are queried second, and compared with them.
 */
static void take_pkeys(struct ibsa__reason_search *search,
		       const struct ibsa_reply *reply, bool found)
{
	struct reason_pkeys pkeys;

	if (!found) {
		if (search->from.pkey && search->to.pkey)
			search_give_up(search);
		else
			ibsa__reason_examine(search, search->target);
		return;
	}
	ibsa__reason_read_pkeys(reply, &pkeys);
	if (search->target == &search->from) {
		ibsa__reason_compare_pkeys(search, &pkeys, &search->pkeys);
		return;
	}
	search->pkeys = pkeys;
	end_query(search, &search->from, REASON_PKEYS);
}

/*
 * For each step of the search: the function that makes its query, and the
 * function that evaluates the reply.
 */
static const struct {
	reason_query_fn *query;
	reason_take_fn *take;
} steps[REASON_STEPS] = {
	[REASON_UNCONSTRAINED] = { ibsa__reason_query_unconstrained,
				   take_unconstrained },
	[REASON_WITHOUT] = { ibsa__reason_query_without,
			     ibsa__reason_take_without },
	[REASON_GROUP] = { query_group, take_group },
	[REASON_MEMBER] = { query_member, take_member },
	[REASON_NODE] = { ibsa__reason_query_node, ibsa__reason_take_node },
	[REASON_PORT] = { ibsa__reason_query_port, ibsa__reason_take_port },
	[REASON_LINK] = { ibsa__reason_query_link, ibsa__reason_take_link },
	[REASON_SIBLING] = { ibsa__reason_query_sibling,
			     ibsa__reason_take_sibling },
	[REASON_BOTH] = { query_both, take_both },
	[REASON_PATH] = { query_path, take_path },
	[REASON_PKEYS] = { ibsa__reason_query_pkeys, take_pkeys },
};

static void end_fill(const struct ibsa__reason_search *search,
		     const struct ibsa_gid *gid, uint16_t lid,
		     struct reason_end *out)
{
	const struct ibsa_port_state *port = &search->port;

	out->gid = *gid;
	out->lid = lid;
	out->is_own = lid ? (uint32_t)lid >> port->lmc == port->lid >> port->lmc
			  : gid_guid(gid) == gid_guid(&port->gid) &&
				      !is_of_other_subnet(search, out);
}

bool ibsa__reason_own_port(struct ibsa__engine *engine, struct ibsa_reason *out)
{
	struct ibsa_port_state port;

	/*
	 * The state of the port that the engine holds may be a second old: if
	 * the state is Down, read the state again.
	 */
	for (int i = 0; i < 2; i++) {
		if (ibsa__engine_port(engine, i == 1, &port) ||
		    port.port_state != IBSA_PORT_DOWN)
			return false;
	}
	*out = (struct ibsa_reason){
		.code = IBSA_REASON_THIS_PORT_DOWN,
		.is_certain = true,
	};
	snprintf(out->detail, sizeof(out->detail), "%s: its state is Down",
		 ibsa_reason_text(out->code));
	return true;
}

void ibsa__reason_start(struct ibsa__reason_search *search,
			struct ibsa__engine *engine,
			struct ibsa_transport *transport,
			const struct ibsa_query *query)
{
	*search = (struct ibsa__reason_search){
		.engine = engine,
		.transport = transport,
		.query = *query,
		.from.role = " (the source)",
		.to.role = "",
	};
	memcpy(&search->path, query->match, sizeof(search->path));
	if (ibsa__engine_port(engine, false, &search->port) ||
	    ibsa__reason_own_port(engine, &search->reason))
		return;
	end_fill(search, &search->path.sgid, search->path.slid, &search->from);
	end_fill(search, &search->path.dgid, search->path.dlid, &search->to);
	if (ibsa__reason_constraints(query->mask))
		ibsa__reason_go(search, REASON_UNCONSTRAINED);
	else
		ends_examine(search);
}

bool ibsa__reason_next(struct ibsa__reason_search *search,
		       struct ibsa_query *out)
{
	if (search->step == REASON_END)
		return false;
	steps[search->step].query(search, out);
	search->reason.queries++;
	return true;
}

static void search_fail(struct ibsa__reason_search *search,
			const struct ibsa_reply *reply)
{
	const uint8_t queries = search->reason.queries;
	struct ibsa_error error;

	ibsa_reply_explain(reply, &error);
	ibsa__reason_set(search, IBSA_REASON_NONE, false,
			 "the reason is not known, because a further query "
			 "failed: %s",
			 error.text);
	(void)ibsa__reason_own_port(search->engine, &search->reason);
	search->reason.queries = queries;
	search->reason.err = reply->err ? reply->err : -EBUSY;
}

void ibsa__reason_take(struct ibsa__reason_search *search,
		       const struct ibsa_reply *reply)
{
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		steps[search->step].take(search, reply, true);
		break;
	case IBSA_OUTCOME_NONE:
		steps[search->step].take(search, reply, false);
		break;
	case IBSA_OUTCOME_REFUSED:
		if (search->step == REASON_BOTH)
			end_query(search, &search->to, REASON_PATH);
		else
			search_give_up(search);
		break;
	default:
		search_fail(search, reply);
	}
}
