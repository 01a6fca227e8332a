/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes findings about a topology. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/types.h>
#include <ibsa/text.h>

#include "common/clean.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/sized.h"
#include "topology/check.h"

int ibsa__check_finding_add(struct check *check, enum ibsa_finding_kind kind,
			    uint64_t guid, unsigned int port,
			    const char *format, ...)
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
const char *ibsa__check_node_text(const struct ibsa_topology *topology,
				  const struct graph_node *node,
				  char out[NAME_TEXT])
{
	const char *name = topology->names + node->name;

	if (*name)
		ibsa__text_clean(&name, out, NAME_TEXT);
	else
		snprintf(out, NAME_TEXT, "node 0x%016" PRIx64, node->guid);
	return out;
}

const char *ibsa__check_port_text(const struct ibsa_topology *topology,
				  const struct graph_port *port,
				  char out[PORT_TEXT])
{
	char name[NAME_TEXT];

	snprintf(out, PORT_TEXT, "%s port %u",
		 ibsa__check_node_text(topology, node_of(topology, port), name),
		 port->number);
	return out;
}

/*
 * Add a finding about a link. The text of the finding is "A to B", followed by
 * the rest of the sentence.
 */
int ibsa__check_link_add(struct check *check, enum ibsa_finding_kind kind,
			 const struct ibsa_topology *topology,
			 const struct graph_port *port, const char *rest)
{
	char a[PORT_TEXT];
	char b[PORT_TEXT];

	return ibsa__check_finding_add(
		check, kind, node_of(topology, port)->guid, port->number,
		"%s to %s%s", ibsa__check_port_text(topology, port, a),
		ibsa__check_port_text(topology, &topology->ports[port->far], b),
		rest);
}

static bool is_inactive(const struct graph_port *port)
{
	return port->has_info && port->is.state &&
	       port->is.state != IBSA_PORT_ACTIVE;
}

static const char *state_text(const struct graph_port *port)
{
	const char *text = ibsa_code_name(IBSA_SHOW_port_state, port->is.state);

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
	return ibsa__check_link_add(check, IBSA_FINDING_LINK_DOWN, check->now,
				    port, rest);
}

/* The SA cannot tell FDR10 from QDR. */
static unsigned int speed_rank(unsigned int speed)
{
	return speed == SPEED_FDR10 ? SPEED_QDR : speed;
}

/*
 * Whether @rate is known, and its width or speed is lower than that of @most.
 */
bool ibsa__check_is_slower(struct link_rate rate, struct link_rate most)
{
	return (rate.width && rate.width < most.width) ||
	       (rate.speed && speed_rank(rate.speed) < speed_rank(most.speed));
}

int ibsa__check_rate_add(struct check *check, enum ibsa_finding_kind kind,
			 const struct graph_port *port, struct link_rate most,
			 const char *words)
{
	char rest[96];

	snprintf(rest, sizeof(rest), " runs at %ux%s, %s %ux%s",
		 ibsa__lanes_of_width(port->is.rate.width),
		 ibsa__speed_name(port->is.rate.speed), words,
		 ibsa__lanes_of_width(most.width),
		 ibsa__speed_name(most.speed));
	return ibsa__check_link_add(check, kind, check->now, port, rest);
}

/* Return: the greatest width and speed that both ends of a link support. */
static struct link_rate rate_most(const struct check *check,
				  const struct graph_port *port)
{
	const struct graph_port *far = &check->now->ports[port->far];

	return (struct link_rate){
		.width = (uint8_t)ibsa__width_most(port->is.widths &
						   far->is.widths),
		.speed = (uint8_t)ibsa__speed_most(port->is.speeds &
						   far->is.speeds),
	};
}

bool ibsa__check_is_degraded(const struct check *check,
			     const struct graph_port *port)
{
	return ibsa__check_is_slower(port->is.rate, rate_most(check, port));
}

static int check_link_rate(struct check *check, const struct graph_port *port)
{
	if (!ibsa__check_is_degraded(check, port))
		return 0;
	return ibsa__check_rate_add(check, IBSA_FINDING_LINK_DEGRADED, port,
				    rate_most(check, port),
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
 * Check the state of a link, whether both ends report it, and its rate; called
 * for one of its ends. A link that is slower than in the expected topology is
 * not also reported as degraded (slower than both ports support).
 */
static int check_link(struct check *check, const struct graph_port *port)
{
	bool is_slower = false;
	int err = check_link_state(check, port);

	if (!err && is_one_end(check->now, port))
		err = ibsa__check_link_add(check, IBSA_FINDING_ONE_END,
					   check->now, port,
					   ": only one end reports this link");
	if (!err && check->then)
		err = ibsa__check_slower(check, port, &is_slower);
	if (!err && !is_slower)
		err = check_link_rate(check, port);
	return err;
}

/*
 * Report records with a LID that no node has. The function is called only if no
 * port shows that the SA hides links.
 */
static int check_unmatched(struct check *check)
{
	const size_t count = check->now->info.unmatched;

	if (!count)
		return 0;
	return ibsa__check_finding_add(
		check, IBSA_FINDING_HIDDEN, 0, 0,
		"%zu %s of the SA %s a LID that no node has, and %s left out",
		count, count == 1 ? "record" : "records",
		count == 1 ? "has" : "have", count == 1 ? "is" : "are");
}

/*
 * Report all active ports without a known other end as one finding: there may
 * be such a port for each host.
 */
static int check_hidden(struct check *check)
{
	const struct graph_port *port = check->first_hidden;
	const size_t others = check->now->info.hidden - 1;
	char text[PORT_TEXT];
	char rest[64] = "is";

	if (!port)
		return check_unmatched(check);
	if (others)
		snprintf(rest, sizeof(rest), "and %zu other %s are", others,
			 others == 1 ? "port" : "ports");
	return ibsa__check_finding_add(
		check, IBSA_FINDING_HIDDEN, node_of(check->now, port)->guid,
		port->number, "%s %s active, but the SA does not show %s",
		ibsa__check_port_text(check->now, port, text), rest,
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
	return ibsa__check_finding_add(
		check, IBSA_FINDING_LINK_DOWN, node_of(check->now, port)->guid,
		port->number, "%s is not active: %s",
		ibsa__check_port_text(check->now, port, text),
		state_text(port));
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

		ibsa__check_port_text(now, a, a_text);
		ibsa__check_port_text(now, b, b_text);
		if (twin->kind == IBSA_FINDING_SAME_GUID)
			err = ibsa__check_finding_add(
				check, twin->kind, node_of(now, b)->guid,
				b->number, "%s and %s have the same GUID",
				a_text, b_text);
		else
			err = ibsa__check_finding_add(
				check, twin->kind, node_of(now, b)->guid,
				b->number,
				"%s and %s have overlapping LIDs: LID %" PRIu32
				" with LMC %u, and LID %" PRIu32 " with LMC %u",
				a_text, b_text, a->is.lid, a->is.lmc, b->is.lid,
				b->is.lmc);
	}
	return err;
}

/* Report each node whose description is empty or has only blanks. */
static int check_names(struct check *check)
{
	const struct ibsa_topology *now = check->now;
	int err = 0;

	for (uint32_t i = 0; i < now->node_count && !err; i++) {
		const struct graph_node *node = &now->nodes[i];
		const char *name = now->names + node->name;

		if (!name[strspn(name, " \t")])
			err = ibsa__check_finding_add(
				check, IBSA_FINDING_NO_NAME, node->guid, 0,
				"node 0x%016" PRIx64 " has no description",
				node->guid);
	}
	return err;
}

int ibsa_topology_check(struct ibsa_topology *topology,
			const struct ibsa_topology *expected)
{
	struct check check = { .now = topology, .then = expected };
	int err = expected ? ibsa__check_prepare(&check) : 0;

	topology->finding_count = topology->file_finding_count;
	if (!err)
		err = check_twins(&check);
	if (!err)
		err = check_names(&check);
	if (!err)
		err = check_ports(&check);
	if (!err)
		err = expected ? ibsa__check_expected(&check)
			       : ibsa__check_rails(&check);
	ibsa__free(check.now_of);
	ibsa__free(check.then_of);
	ibsa__free(check.is_explained);
	ibsa__free(check.island_is_shown);
	if (err)
		topology->finding_count = 0;
	return err;
}

int ibsa_topology_finding_at_sized(const struct ibsa_topology *topology,
				   size_t index, struct ibsa_finding *out,
				   size_t size)
{
	if (index >= topology->finding_count)
		return -ENOENT;
	ibsa__sized_write(out, size, &topology->findings[index],
			  sizeof(topology->findings[index]));
	return 0;
}
