/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings about the differences of a topology from an expected one. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "topology/check.h"

/*
 * For each expected node, find the node with the same GUID. Both topologies
 * have their nodes in the order of GUIDs.
 */
static void nodes_match(struct check *check)
{
	const struct ibsa_topology *now = check->now;
	const struct ibsa_topology *then = check->then;
	uint32_t a = 0;
	uint32_t b = 0;

	memset(check->now_of, 0xff, then->node_count * sizeof(uint32_t));
	memset(check->then_of, 0xff, now->node_count * sizeof(uint32_t));
	while (a < now->node_count && b < then->node_count) {
		if (now->nodes[a].guid == then->nodes[b].guid) {
			check->then_of[a] = b;
			check->now_of[b] = a;
			a++;
			b++;
		} else if (now->nodes[a].guid < then->nodes[b].guid) {
			a++;
		} else {
			b++;
		}
	}
}

/*
 * Return: the port with the same node and port number in the other topology,
 * or NULL.
 */
static const struct graph_port *port_match(const struct graph_port *port,
					   const uint32_t *node_match,
					   const struct ibsa_topology *to)
{
	const uint32_t index = node_match[port->node];
	const struct graph_node *node;

	if (index == TOPOLOGY_NONE)
		return NULL;
	node = &to->nodes[index];
	return port_is_known(node, port->number)
		       ? &to->ports[ibsa__topology_port(node, port->number)]
		       : NULL;
}

/*
 * Return: the port at the other end of the link of a port of @now or @then; or
 * NULL.
 */
static const struct graph_port *far_of(const struct ibsa_topology *topology,
				       const struct graph_port *port)
{
	return port && port->far != TOPOLOGY_NONE ? &topology->ports[port->far]
						  : NULL;
}

static const struct graph_port *now_match(const struct check *check,
					  const struct graph_port *port)
{
	return port_match(port, check->now_of, check->now);
}

static const struct graph_port *then_match(const struct check *check,
					   const struct graph_port *port)
{
	return port_match(port, check->then_of, check->then);
}

int ibsa__check_slower(struct check *check, const struct graph_port *port,
		       bool *is_slower)
{
	const struct graph_port *then = then_match(check, port);
	const struct graph_port *far = &check->now->ports[port->far];

	*is_slower = then && far_of(check->then, then) &&
		     far_of(check->then, then) == then_match(check, far) &&
		     ibsa__check_is_slower(port->is.rate, then->is.rate);
	if (!*is_slower)
		return 0;
	return ibsa__check_rate_add(check, IBSA_FINDING_SLOWER, port,
				    then->is.rate, "expected is");
}

/*
 * Whether the cable of port @now leads to a node of the expected topology, but
 * to a port other than @then_far, the expected other end.
 */
static bool is_moved(const struct check *check, const struct graph_port *now,
		     const struct graph_port *then_far)
{
	const struct graph_port *far = far_of(check->now, now);

	return far && check->then_of[far->node] != TOPOLOGY_NONE &&
	       then_match(check, far) != then_far;
}

/*
 * Whether a cable is expected at the port to which the cable of port @now
 * leads.
 */
static bool is_far_expected(const struct check *check,
			    const struct graph_port *now)
{
	const struct graph_port *far = far_of(check->now, now);

	return far_of(check->then, then_match(check, far)) != NULL;
}

static int moved_add(struct check *check, const struct graph_port *now,
		     const struct graph_port *then_far)
{
	const struct graph_port *far = far_of(check->now, now);
	char text[3][PORT_TEXT];

	check->is_explained[now - check->now->ports] = true;
	check->is_explained[far - check->now->ports] = true;
	return ibsa__check_finding_add(
		check, IBSA_FINDING_MOVED, node_of(check->now, now)->guid,
		now->number, "%s is connected to %s, expected is %s",
		ibsa__check_port_text(check->now, now, text[0]),
		ibsa__check_port_text(check->now, far, text[1]),
		ibsa__check_port_text(check->then, then_far, text[2]));
}

/* Whether the topology lacks records that the SA may have. */
static bool has_gaps(const struct check *check)
{
	return check->now->info.hidden || check->now->info.unmatched;
}

/*
 * Return: whether the SA has returned the PortInfo or the link of @port; false
 * if @port is NULL.
 */
static bool is_shown(const struct graph_port *port)
{
	return port && (port->has_info || port->far != TOPOLOGY_NONE);
}

/* Whether the SA may hide the link between two ports, which may be NULL. */
static bool link_is_hidden(const struct check *check,
			   const struct graph_port *a,
			   const struct graph_port *b)
{
	return (a && port_is_hidden(a)) || (b && port_is_hidden(b)) ||
	       (has_gaps(check) && !is_shown(a) && !is_shown(b));
}

/*
 * Check an expected link. Links of a missing node are reported together with
 * the node.
 */
static int check_expected_link(struct check *check, uint32_t index)
{
	const struct graph_port *then = &check->then->ports[index];
	const struct graph_port *then_far = &check->then->ports[then->far];
	const struct graph_port *a = now_match(check, then);
	const struct graph_port *b = now_match(check, then_far);

	if (check->now_of[then->node] == TOPOLOGY_NONE ||
	    check->now_of[then_far->node] == TOPOLOGY_NONE)
		return 0;
	if (a && b && far_of(check->now, a) == b)
		return 0;
	if (link_is_hidden(check, a, b))
		return 0;
	if (is_moved(check, a, then_far))
		return moved_add(check, a, then_far);
	/*
	 * If a cable is expected at the other end of @b's cable, another
	 * finding is about @b's cable, and this link is only missing.
	 */
	if (is_moved(check, b, then) && !is_far_expected(check, b))
		return moved_add(check, b, then);
	return ibsa__check_link_add(check, IBSA_FINDING_MISSING, check->then,
				    then, " is missing");
}

/*
 * Return: the first port of a node that has a link, to tell where the node is
 * or was.
 */
static const struct graph_port *first_link(const struct ibsa_topology *topology,
					   uint32_t node)
{
	const uint32_t end = node_ports_end(topology, node);

	for (uint32_t i = topology->nodes[node].first_port; i < end; i++) {
		if (topology->ports[i].far != TOPOLOGY_NONE)
			return &topology->ports[i];
	}
	return NULL;
}

/*
 * Whether a port to which the node @node is expected to be connected is active
 * without a known other end: the node may then be connected there.
 */
static bool node_is_hidden(const struct check *check, uint32_t node)
{
	const struct ibsa_topology *then = check->then;
	const uint32_t end = node_ports_end(then, node);

	for (uint32_t i = then->nodes[node].first_port; i < end; i++) {
		const struct graph_port *far = far_of(then, &then->ports[i]);
		const struct graph_port *now = far ? now_match(check, far)
						   : NULL;

		if (now && port_is_hidden(now))
			return true;
	}
	return false;
}

/*
 * Whether the SA shows a node and other ports of it, but not the port @then, at
 * which it has a cable: its P_Keys are then those of the node at the other end
 * of the cable. Source: OpenSM 3.3.23, osm_pkey_mgr.c; a port without a cable
 * has no P_Keys, and osm_physp_share_pkey() does not hide it.
 */
static bool port_is_left_out(const struct check *check,
			     const struct graph_port *then)
{
	const uint32_t index = check->now_of[then->node];
	const struct ibsa_topology *now = check->now;

	if (index == TOPOLOGY_NONE || is_shown(now_match(check, then)))
		return false;
	for (uint32_t i = now->nodes[index].first_port;
	     i < node_ports_end(now, index); i++) {
		if (port_is_returned(&now->ports[i]))
			return true;
	}
	return false;
}

/* Return: the end of the sentence about an expected node that is missing. */
static const char *missing_words(const struct check *check, uint32_t node)
{
	const struct ibsa_topology *then = check->then;

	for (uint32_t i = then->nodes[node].first_port;
	     i < node_ports_end(then, node); i++) {
		const struct graph_port *far = far_of(then, &then->ports[i]);

		if (far && port_is_left_out(check, far))
			return " is missing, or in no partition of this port";
	}
	return has_gaps(check) ? " is missing, or the SA does not show it"
			       : " is missing";
}

/* Whether a host is missing, and the switch to which it was connected, too. */
static bool is_cut_off(const struct check *check,
		       const struct ibsa_topology *topology,
		       const struct graph_port *port)
{
	const uint32_t far = topology->ports[port->far].node;

	return topology == check->then && !has_gaps(check) &&
	       node_is_switch(topology, far) &&
	       !node_is_switch(topology, port->node) &&
	       check->now_of[far] == TOPOLOGY_NONE;
}

/* A node that is missing or new. */
static int node_add(struct check *check, enum ibsa_finding_kind kind,
		    const struct ibsa_topology *topology, uint32_t index,
		    const char *words)
{
	const struct graph_port *port = first_link(topology, index);
	const struct graph_node *node = &topology->nodes[index];
	char name[NAME_TEXT];
	char far[PORT_TEXT];

	ibsa__check_node_text(topology, node, name);
	if (!port)
		return ibsa__check_finding_add(check, kind, node->guid, 0,
					       "%s%s (the node has no link)",
					       name, words);
	return ibsa__check_finding_add(
		check, kind, node->guid, 0, "%s%s (port %u to %s%s)", name,
		words, port->number,
		ibsa__check_port_text(topology, &topology->ports[port->far],
				      far),
		is_cut_off(check, topology, port) ? ", which is missing, too"
						  : "");
}

/*
 * Whether an expected node is in another subnet, which this SA cannot show: no
 * cable connects it with a node that is shown. Of a node without a cable, this
 * is not known.
 */
static bool is_elsewhere(const struct check *check, uint32_t node)
{
	const struct ibsa_topology *then = check->then;

	return !check->island_is_shown[then->nodes[node].island] &&
	       first_link(then, node);
}

/*
 * Report the expected nodes that are missing: the switches, or the others. An
 * SA that shows no switch at all hides them.
 */
static int check_missing(struct check *check, bool are_switches)
{
	const struct ibsa_topology *then = check->then;
	int err = 0;

	if (are_switches && has_gaps(check) && !check->now->info.switches)
		return 0;
	for (uint32_t i = 0; i < then->node_count && !err; i++) {
		if (check->now_of[i] == TOPOLOGY_NONE &&
		    node_is_switch(then, i) == are_switches &&
		    !node_is_hidden(check, i) && !is_elsewhere(check, i))
			err = node_add(check, IBSA_FINDING_MISSING, then, i,
				       missing_words(check, i));
	}
	return err;
}

/* A missing switch comes before the nodes that are missing because of it. */
static int check_nodes(struct check *check)
{
	int err = check_missing(check, true);

	if (!err)
		err = check_missing(check, false);
	for (uint32_t i = 0; i < check->now->node_count && !err; i++) {
		if (check->then_of[i] == TOPOLOGY_NONE)
			err = node_add(check, IBSA_FINDING_NEW, check->now, i,
				       " is new");
	}
	return err;
}

/*
 * Check a link between known ports that is not expected and is not an expected
 * link that was moved.
 */
static int check_new_link(struct check *check, uint32_t index)
{
	const struct graph_port *port = &check->now->ports[index];
	const struct graph_port *far = &check->now->ports[port->far];
	const struct graph_port *then = then_match(check, port);

	if (check->is_explained[index] || check->is_explained[port->far] ||
	    check->then_of[port->node] == TOPOLOGY_NONE ||
	    check->then_of[far->node] == TOPOLOGY_NONE ||
	    (far_of(check->then, then) &&
	     far_of(check->then, then) == then_match(check, far)))
		return 0;
	return ibsa__check_link_add(check, IBSA_FINDING_NEW, check->now, port,
				    " is new");
}

int ibsa__check_expected(struct check *check)
{
	int err = check_nodes(check);

	for (uint32_t i = 0; i < check->then->port_count && !err; i++) {
		if (is_first_end(check->then, i))
			err = check_expected_link(check, i);
	}
	for (uint32_t i = 0; i < check->now->port_count && !err; i++) {
		if (is_first_end(check->now, i))
			err = check_new_link(check, i);
	}
	return err;
}

/* Set which islands of the expected topology are shown. */
static void islands_mark(struct check *check)
{
	const struct ibsa_topology *then = check->then;
	bool has_any = false;

	for (uint32_t i = 0; i < then->node_count; i++) {
		const bool is_now = check->now_of[i] != TOPOLOGY_NONE;

		check->island_is_shown[then->nodes[i].island] |= is_now;
		has_any |= is_now;
	}
	if (!has_any)
		memset(check->island_is_shown, true, then->info.islands);
}

int ibsa__check_prepare(struct check *check)
{
	check->now_of = ibsa__calloc(check->then->node_count + 1u,
				     sizeof(*check->now_of));
	check->then_of = ibsa__calloc(check->now->node_count + 1u,
				      sizeof(*check->then_of));
	check->is_explained = ibsa__calloc(check->now->port_count + 1u, 1);
	check->island_is_shown = ibsa__calloc(check->then->info.islands + 1u,
					      1);
	if (!check->now_of || !check->then_of || !check->is_explained ||
	    !check->island_is_shown)
		return -ENOMEM;
	nodes_match(check);
	islands_mark(check);
	return 0;
}
