/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Evaluates what the SA returns about one end of the path: its node, the state
 * of its port, or another port of its node.
 */
#include <ibsa/text.h>

#include "common/clean.h"
#include "client/reason.h"

/* Set the reason: the SA has no port with the GID or LID of the target. */
static void unknown_set(struct ibsa__reason_search *search)
{
	char text[REASON_END_TEXT];

	ibsa__reason_set(search, IBSA_REASON_UNKNOWN_PORT, true,
			 "the SA shows no port with %s%s; it does not "
			 "show ports that are down",
			 ibsa__reason_end_text(search->target, text),
			 search->target->role);
}

void ibsa__reason_query_node(struct ibsa__reason_search *search,
			     struct ibsa_query *out)
{
	const struct reason_end *target = search->target;
	const bool has_gid = !gid_is_zero(&target->gid);

	search->match.node = (struct ibsa_node){
		.port_guid = has_gid ? gid_guid(&target->gid) : 0,
		.lid = has_gid ? 0 : (uint16_t)target->lid,
	};
	ibsa__reason_query_make(
		search, &ibsa_node_record,
		has_gid ? IBSA_NODE_CM(port_guid) : IBSA_NODE_CM(lid), out);
}

static void name_set(struct ibsa__reason_search *search,
		     const struct ibsa_node *node)
{
	const char *text = node->node_description;

	(void)ibsa__text_clean(&text, search->node, sizeof(search->node));
}

/*
 * Return: which of the port numbers 1 and 2 the target probably has. A port
 * GUID is often the node GUID, which is mostly even, plus the port number. The
 * search may have no query left for the other number.
 */
static uint8_t sibling_first(const struct ibsa__reason_search *search)
{
	return gid_guid(&search->target->gid) & 1 ? 1 : 2;
}

void ibsa__reason_take_node(struct ibsa__reason_search *search,
			    const struct ibsa_reply *reply, bool found)
{
	struct ibsa_node node;

	if (found && search->checks_both && search->target == &search->to) {
		ibsa__reason_examine(search, &search->from);
	} else if (found &&
		   ibsa_reply_decode(reply, 0, &node, sizeof(node)) == 0) {
		name_set(search, &node);
		search->target->lid = node.lid;
		search->target->port_num = node.local_port_num;
		ibsa__reason_go(search, REASON_PORT);
	} else if (!gid_is_zero(&search->target->gid) &&
		   search->reason.queries < IBSA_REASON_QUERIES) {
		search->sibling_num = sibling_first(search);
		ibsa__reason_go(search, REASON_SIBLING);
	} else {
		unknown_set(search);
	}
}

/*
 * Query the PortInfo of the target. A switch has only one LID, which belongs
 * to its port 0.
 */
void ibsa__reason_query_port(struct ibsa__reason_search *search,
			     struct ibsa_query *out)
{
	search->match.port_info = (struct ibsa_port_info){
		.endport_lid = (uint16_t)search->target->lid,
		.port_num = search->target->port_num,
	};
	ibsa__reason_query_make(search, &ibsa_port_info_record,
				IBSA_PORT_INFO_CM(endport_lid) |
					IBSA_PORT_INFO_CM(port_num),
				out);
}

static const char *state_text(const char *name,
			      const struct ibsa_port_info *info,
			      char out[IBSA_VALUE_TEXT])
{
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(&ibsa_port_info_record,
							 name, &index);

	if (ibsa_field_format(field, index, info, out, IBSA_VALUE_TEXT) < 0)
		out[0] = '\0';
	return out;
}

/*
 * The SA returns records of the target, whose port is active, but no path to
 * it. Set a possible reason: between two other ports, that a route is missing;
 * from or to this port, that the P_Keys exclude the path.
 */
static void visible_explain(struct ibsa__reason_search *search)
{
	const char *seen = search->is_active ? "is active"
					     : "is known to the SA";
	struct reason_pkeys own;
	bool is_full = false;

	if (!search->from.is_own && !search->to.is_own) {
		ibsa__reason_set(search, IBSA_REASON_NONE, false,
				 "port %u of %s %s; the switches possibly have "
				 "no route to it",
				 search->target->port_num, search->node, seen);
		return;
	}
	ibsa__reason_own_pkeys(search, &own);
	for (unsigned int i = 0; i < own.count; i++)
		is_full |= own.all[i] & IBSA_PKEY_FULL;
	ibsa__reason_set(
		search,
		is_full ? IBSA_REASON_NO_PKEY : IBSA_REASON_BOTH_LIMITED, false,
		"port %u of %s %s; another possible reason: the switches have "
		"no route to it",
		search->target->port_num, search->node, seen);
}

void ibsa__reason_take_port(struct ibsa__reason_search *search,
			    const struct ibsa_reply *reply, bool found)
{
	char state[IBSA_VALUE_TEXT], physical[IBSA_VALUE_TEXT];
	struct ibsa_port_info info = { .port_state = 0 };

	if (!found || ibsa_reply_decode(reply, 0, &info, sizeof(info)) != 0 ||
	    info.port_state > IBSA_PORT_INIT ||
	    info.port_state < IBSA_PORT_DOWN) {
		search->is_active = info.port_state == IBSA_PORT_ACTIVE;
		if (search->reason.queries < IBSA_REASON_QUERIES)
			ibsa__reason_go(search, REASON_LINK);
		else
			visible_explain(search);
		return;
	}
	ibsa__reason_set(search, IBSA_REASON_FAR_PORT_DOWN, true,
			 "port %u of %s is %.20s (physical state %.20s)",
			 search->target->port_num, search->node,
			 state_text("port_state", &info, state),
			 state_text("port_physical_state", &info, physical));
}

/*
 * Query the link of the target: until the SM has detected that a link is down,
 * its SA still returns the port as active.
 */
void ibsa__reason_query_link(struct ibsa__reason_search *search,
			     struct ibsa_query *out)
{
	search->match.link = (struct ibsa_link){
		.from_lid = (uint16_t)search->target->lid,
	};
	ibsa__reason_query_make(search, &ibsa_link_record,
				IBSA_LINK_CM(from_lid), out);
	out->method = IBSA_METHOD_GET_TABLE;
}

void ibsa__reason_take_link(struct ibsa__reason_search *search,
			    const struct ibsa_reply *reply, bool found)
{
	(void)reply;
	if (found)
		visible_explain(search);
	else
		ibsa__reason_set(search, IBSA_REASON_FAR_PORT_DOWN, false,
				 "the SA shows port %u of %s%s, but no link of "
				 "it",
				 search->target->port_num, search->node,
				 search->is_active ? " as active" : "");
}

/*
 * Query another port of the target's node, because an SA forgets a port that
 * is down. The query guesses the other port's GUID: in many adapters with two
 * ports, the port GUIDs follow the node GUID.
 */
void ibsa__reason_query_sibling(struct ibsa__reason_search *search,
				struct ibsa_query *out)
{
	search->match.node = (struct ibsa_node){
		.node_guid = gid_guid(&search->target->gid) -
			     search->sibling_num,
	};
	ibsa__reason_query_make(search, &ibsa_node_record,
				IBSA_NODE_CM(node_guid), out);
	out->method = IBSA_METHOD_GET_TABLE;
}

void ibsa__reason_take_sibling(struct ibsa__reason_search *search,
			       const struct ibsa_reply *reply, bool found)
{
	const bool is_last = search->sibling_num != sibling_first(search);
	bool is_missing = found;
	struct ibsa_node node;

	for (size_t i = 0; i < reply->count && is_missing; i++) {
		is_missing = ibsa_reply_decode(reply, i, &node, sizeof(node)) ==
				     0 &&
			     node.num_ports >= search->sibling_num &&
			     node.local_port_num != search->sibling_num &&
			     node.node_type == IBSA_NODE_CA;
	}
	if (is_missing) {
		name_set(search, &node);
		ibsa__reason_set(search, IBSA_REASON_FAR_PORT_DOWN, false,
				 "the GUID is probably that of port %u of %s, "
				 "and the SA shows only port %u of this node",
				 search->sibling_num, search->node,
				 node.local_port_num);
	} else if (!is_last && search->reason.queries < IBSA_REASON_QUERIES) {
		search->sibling_num = 3 - search->sibling_num;
		ibsa__reason_go(search, REASON_SIBLING);
	} else {
		unknown_set(search);
	}
}
