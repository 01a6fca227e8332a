/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes findings about a topology, and about its differences from an expected
 * one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/sa.h>
#include <ibsa/text.h>

#include "base/alloc.h"
#include "base/array.h"
#include "topology/state.h"

enum {
	FINDINGS_MAX = 1 << 16,
	NAME_TEXT = 72, /* bytes of a name in a sentence */
	PORT_TEXT = 96,
};

/* A check of the topology @now; @then is the expected topology, or NULL. */
struct check {
	struct ibsa_topology *now;
	const struct ibsa_topology *then;
	/*
	 * For each node of @then: the index of the same node in @now, or NONE.
	 */
	uint32_t *now_of;
	uint32_t *then_of;		       /* the reverse */
	const struct graph_port *first_hidden; /* or NULL */
	/*
	 * For each port of @now: whether a finding about @then already
	 * explains its link.
	 */
	bool *is_explained;
};

static int finding_add(struct check *check, enum ibsa_finding_kind kind,
		       uint64_t guid, unsigned int port, const char *format,
		       ...) __attribute__((format(printf, 5, 6)));

static int finding_add(struct check *check, enum ibsa_finding_kind kind,
		       uint64_t guid, unsigned int port, const char *format,
		       ...)
{
	struct ibsa_topology *now = check->now;
	struct ibsa_finding *finding;
	va_list args;

	if (now->finding_count == FINDINGS_MAX)
		return 0;
	if (ARRAY_GROW(now->findings, now->finding_room,
		       now->finding_count + 1))
		return -ENOMEM;
	finding = &now->findings[now->finding_count++];
	*finding = (struct ibsa_finding){
		.kind = kind,
		.severity = ibsa_finding_severity(kind),
		.name = ibsa_finding_name(kind),
		.guid = guid,
		.port = port,
	};
	va_start(args, format);
	vsnprintf(finding->what.text, sizeof(finding->what.text), format, args);
	va_end(args);
	return 0;
}

/*
 * Return: a node's description, safe to print; or its GUID if it has no
 * description.
 */
static const char *node_text(const struct ibsa_topology *topology,
			     const struct graph_node *node, char out[NAME_TEXT])
{
	const char *name = topology->names + node->name;

	if (*name)
		ibsa_text_clean(&name, out, NAME_TEXT);
	else
		snprintf(out, NAME_TEXT, "node 0x%016" PRIx64, node->guid);
	return out;
}

static const struct graph_node *node_of(const struct ibsa_topology *topology,
					const struct graph_port *port)
{
	return &topology->nodes[port->node];
}

static const char *port_text(const struct ibsa_topology *topology,
			     const struct graph_port *port, char out[PORT_TEXT])
{
	char name[NAME_TEXT];

	snprintf(out, PORT_TEXT, "%s port %u",
		 node_text(topology, node_of(topology, port), name),
		 port->number);
	return out;
}

/*
 * Add a finding about a link. Its text is "A to B", followed by the rest of
 * the sentence.
 */
static int link_add(struct check *check, enum ibsa_finding_kind kind,
		    const struct ibsa_topology *topology,
		    const struct graph_port *port, const char *rest)
{
	char a[PORT_TEXT];
	char b[PORT_TEXT];

	return finding_add(check, kind, node_of(topology, port)->guid,
			   port->number, "%s to %s%s",
			   port_text(topology, port, a),
			   port_text(topology, &topology->ports[port->far], b),
			   rest);
}

/*
 * Whether a link is handled when this port is visited: only at one of its two
 * ends, so that it is counted once.
 */
static bool is_first_end(const struct ibsa_topology *topology, uint32_t index)
{
	const struct graph_port *port = &topology->ports[index];

	return port->far != TOPOLOGY_NONE &&
	       (topology->ports[port->far].far != index || index < port->far);
}

static bool is_inactive(const struct graph_port *port)
{
	return port->has_info && port->is.state &&
	       port->is.state != IBSA_PORT_ACTIVE;
}

static const char *state_text(const struct graph_port *port)
{
	const char *text = ibsa_code_text(IBSA_SHOW_port_state, port->is.state);

	return text ? text : "unknown";
}

static int check_link_state(struct check *check, const struct graph_port *port)
{
	const struct graph_port *far = &check->now->ports[port->far];
	char rest[64];

	if (!is_inactive(port) && !is_inactive(far))
		return 0;
	snprintf(rest, sizeof(rest), " is not active: %s and %s",
		 port->has_info ? state_text(port) : "unknown",
		 far->has_info ? state_text(far) : "unknown");
	return link_add(check, IBSA_FINDING_LINK_DOWN, check->now, port, rest);
}

/* The SA cannot tell FDR10 from QDR. */
static unsigned int speed_rank(unsigned int speed)
{
	return speed == SPEED_FDR10 ? SPEED_QDR : speed;
}

/*
 * Whether @rate is known, and its width or speed is lower than that of @most.
 */
static bool is_lower(struct link_rate rate, struct link_rate most)
{
	return (rate.width && rate.width < most.width) ||
	       (rate.speed && speed_rank(rate.speed) < speed_rank(most.speed));
}

static int rate_add(struct check *check, enum ibsa_finding_kind kind,
		    const struct graph_port *port, struct link_rate most,
		    const char *words)
{
	char rest[96];

	snprintf(rest, sizeof(rest), " runs at %ux%s, %s %ux%s",
		 ibsa__lanes_of_width(port->is.rate.width),
		 ibsa__speed_name(port->is.rate.speed), words,
		 ibsa__lanes_of_width(most.width),
		 ibsa__speed_name(most.speed));
	return link_add(check, kind, check->now, port, rest);
}

static int check_link_rate(struct check *check, const struct graph_port *port)
{
	const struct graph_port *far = &check->now->ports[port->far];
	const struct link_rate most = {
		.width = (uint8_t)ibsa__width_most(port->is.widths &
						   far->is.widths),
		.speed = (uint8_t)ibsa__speed_most(port->is.speeds &
						   far->is.speeds),
	};

	if (!is_lower(port->is.rate, most))
		return 0;
	return rate_add(check, IBSA_FINDING_LINK_DEGRADED, port, most,
			"but both ends support");
}

static bool is_one_end(const struct ibsa_topology *topology,
		       const struct graph_port *port)
{
	const struct graph_port *far = &topology->ports[port->far];

	return !port->is_claimed || !far->is_claimed ||
	       &topology->ports[far->far] != port;
}

/*
 * Check whether a link is slower than both of its ports support; called for
 * the first end of a link. With an expected topology, a link that is slower
 * than expected is not reported as degraded, too.
 */
static int check_slower(struct check *check, const struct graph_port *port,
			bool *is_slower);

static int check_link(struct check *check, const struct graph_port *port)
{
	bool is_slower = false;
	int err = check_link_state(check, port);

	if (!err && is_one_end(check->now, port))
		err = link_add(check, IBSA_FINDING_ONE_END, check->now, port,
			       ": only one end reports this link");
	if (!err && check->then)
		err = check_slower(check, port, &is_slower);
	if (!err && !is_slower)
		err = check_link_rate(check, port);
	return err;
}

/* One finding for all of them: there may be one for each host. */
static int check_hidden(struct check *check)
{
	const struct graph_port *port = check->first_hidden;
	const size_t others = check->now->info.hidden - 1;
	char text[PORT_TEXT];
	char rest[64] = "is";

	if (!port)
		return 0;
	if (others)
		snprintf(rest, sizeof(rest), "and %zu other %s are", others,
			 others == 1 ? "port" : "ports");
	return finding_add(check, IBSA_FINDING_HIDDEN,
			   node_of(check->now, port)->guid, port->number,
			   "%s %s active, but the SA does not show %s",
			   port_text(check->now, port, text), rest,
			   others ? "their other ends" : "its other end");
}

/*
 * Check a port without a link: an end port of an adapter should be up, and the
 * other end of a port that is active should be known.
 */
static int check_lone_port(struct check *check, const struct graph_port *port)
{
	const bool is_switch = node_of(check->now, port)->type ==
			       IBSA_NODE_SWITCH;
	char text[PORT_TEXT];

	if (!port->number || !port->has_info || !port->is.state)
		return 0;
	if (port_is_hidden(port)) {
		check->first_hidden = check->first_hidden ? check->first_hidden
							  : port;
		return 0;
	}
	if (is_switch)
		return 0;
	return finding_add(check, IBSA_FINDING_LINK_DOWN,
			   node_of(check->now, port)->guid, port->number,
			   "%s is not active: %s",
			   port_text(check->now, port, text), state_text(port));
}

static int check_ports(struct check *check)
{
	const struct ibsa_topology *now = check->now;
	int err = 0;

	for (uint32_t i = 0; i < now->port_count && !err; i++) {
		if (now->ports[i].far == TOPOLOGY_NONE)
			err = check_lone_port(check, &now->ports[i]);
		else if (is_first_end(now, i))
			err = check_link(check, &now->ports[i]);
	}
	return err ? err : check_hidden(check);
}

static int check_twins(struct check *check)
{
	const struct ibsa_topology *now = check->now;
	char a_text[PORT_TEXT];
	char b_text[PORT_TEXT];
	int err = 0;

	for (size_t i = 0; i < now->twin_count && !err; i++) {
		const struct twin *twin = &now->twins[i];
		const struct graph_port *a = &now->ports[twin->a];
		const struct graph_port *b = &now->ports[twin->b];

		port_text(now, a, a_text);
		port_text(now, b, b_text);
		if (twin->kind == IBSA_FINDING_SAME_GUID)
			err = finding_add(check, twin->kind,
					  node_of(now, b)->guid, b->number,
					  "%s and %s have the same GUID",
					  a_text, b_text);
		else
			err = finding_add(
				check, twin->kind, node_of(now, b)->guid,
				b->number,
				"%s and %s have the same LID: %" PRIu32
				" and %" PRIu32 " with LMC %u and %u",
				a_text, b_text, a->is.lid, b->is.lid, a->is.lmc,
				b->is.lmc);
	}
	return err;
}

/* Without a name: nothing but blanks. */
static int check_names(struct check *check)
{
	const struct ibsa_topology *now = check->now;
	int err = 0;

	for (uint32_t i = 0; i < now->node_count && !err; i++) {
		const struct graph_node *node = &now->nodes[i];
		const char *name = now->names + node->name;

		if (!name[strspn(name, " \t")])
			err = finding_add(check, IBSA_FINDING_NO_NAME,
					  node->guid, 0,
					  "node 0x%016" PRIx64
					  " has no description",
					  node->guid);
	}
	return err;
}

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

static int check_slower(struct check *check, const struct graph_port *port,
			bool *is_slower)
{
	const struct graph_port *then = then_match(check, port);
	const struct graph_port *far = &check->now->ports[port->far];

	*is_slower = then && far_of(check->then, then) &&
		     far_of(check->then, then) == then_match(check, far) &&
		     is_lower(port->is.rate, then->is.rate);
	if (!*is_slower)
		return 0;
	return rate_add(check, IBSA_FINDING_SLOWER, port, then->is.rate,
			"expected is");
}

/*
 * Whether the port has a cable to another expected node than @then_far, which
 * is the expected other end.
 */
static bool is_moved(const struct check *check, const struct graph_port *now,
		     const struct graph_port *then_far)
{
	const struct graph_port *far = far_of(check->now, now);

	return far && check->then_of[far->node] != TOPOLOGY_NONE &&
	       then_match(check, far) != then_far;
}

/* Whether a cable is expected at the port that the cable of @now leads to. */
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
	return finding_add(check, IBSA_FINDING_MOVED,
			   node_of(check->now, now)->guid, now->number,
			   "%s is connected to %s, expected is %s",
			   port_text(check->now, now, text[0]),
			   port_text(check->now, far, text[1]),
			   port_text(check->then, then_far, text[2]));
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
	if ((a && port_is_hidden(a)) || (b && port_is_hidden(b)))
		return 0;
	if (is_moved(check, a, then_far))
		return moved_add(check, a, then_far);
	/*
	 * If a cable is expected at the other end of @b's cable, that cable is
	 * a different one, for which a separate finding is reported.
	 */
	if (is_moved(check, b, then) && !is_far_expected(check, b))
		return moved_add(check, b, then);
	return link_add(check, IBSA_FINDING_MISSING, check->then, then,
			" is missing");
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

/* Whether what is at a port where the node is expected is not known. */
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

/* A node that is missing or new. */
static int node_add(struct check *check, enum ibsa_finding_kind kind,
		    const struct ibsa_topology *topology, uint32_t index,
		    const char *words)
{
	const struct graph_port *port = first_link(topology, index);
	const struct graph_node *node = &topology->nodes[index];
	char name[NAME_TEXT];
	char far[PORT_TEXT];

	node_text(topology, node, name);
	if (!port)
		return finding_add(check, kind, node->guid, 0,
				   "%s%s (without a link)", name, words);
	return finding_add(check, kind, node->guid, 0, "%s%s (port %u to %s)",
			   name, words, port->number,
			   port_text(topology, &topology->ports[port->far],
				     far));
}

static int check_nodes(struct check *check)
{
	const struct ibsa_topology_info *info = &check->now->info;
	const char *words = info->hidden || info->unmatched
				    ? " is missing, or the SA does not show it"
				    : " is missing";
	int err = 0;

	for (uint32_t i = 0; i < check->then->node_count && !err; i++) {
		if (check->now_of[i] == TOPOLOGY_NONE &&
		    !node_is_hidden(check, i))
			err = node_add(check, IBSA_FINDING_MISSING, check->then,
				       i, words);
	}
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
	return link_add(check, IBSA_FINDING_NEW, check->now, port, " is new");
}

static int check_expected(struct check *check)
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

static int check_prepare(struct check *check)
{
	check->now_of = ibsa__calloc(check->then->node_count + 1u,
				     sizeof(*check->now_of));
	check->then_of = ibsa__calloc(check->now->node_count + 1u,
				      sizeof(*check->then_of));
	check->is_explained = ibsa__calloc(check->now->port_count + 1u, 1);
	if (!check->now_of || !check->then_of || !check->is_explained)
		return -ENOMEM;
	nodes_match(check);
	return 0;
}

int ibsa_topology_check(struct ibsa_topology *topology,
			const struct ibsa_topology *expected)
{
	struct check check = { .now = topology, .then = expected };
	int err = expected ? check_prepare(&check) : 0;

	topology->finding_count = 0;
	if (!err)
		err = check_twins(&check);
	if (!err)
		err = check_names(&check);
	if (!err)
		err = check_ports(&check);
	if (!err && expected)
		err = check_expected(&check);
	ibsa__free(check.now_of);
	ibsa__free(check.then_of);
	ibsa__free(check.is_explained);
	if (err)
		topology->finding_count = 0;
	return err;
}

int ibsa_topology_finding_at(const struct ibsa_topology *topology, size_t index,
			     struct ibsa_finding *out)
{
	if (index >= topology->finding_count)
		return -ENOENT;
	*out = topology->findings[index];
	return 0;
}
