/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the texts of the findings about a topology file. */
#include <inttypes.h>
#include <stdio.h>

#include <ibsa/topology.h>

#include "topology/net_check.h"

/* Bytes of a rate such as "4xEDR". */
enum { RATE_TEXT = 24 };

/* Write a rate whose width or speed may be unknown. Return: @out. */
static const char *rate_text(unsigned int width, unsigned int speed,
			     char out[RATE_TEXT])
{
	if (!width)
		snprintf(out, RATE_TEXT, "%s", ibsa__speed_name(speed));
	else
		snprintf(out, RATE_TEXT, "%ux%s", ibsa__lanes_of_width(width),
			 ibsa__speed_name(speed));
	return out;
}

static const char *port_rate(const struct net *net, uint32_t port,
			     char out[RATE_TEXT])
{
	const struct link_rate rate = net->ports[port].rate;

	return rate_text(rate.width, rate.speed, out);
}

/*
 * Write the text of a finding about a cable. @a and @b are its ends, or the
 * first ends of two cables.
 */
static void cable_text(const struct net *net, const struct net_finding *finding,
		       const char *a, const char *b, char *out, size_t size)
{
	const uint64_t value = finding->value;
	char rates[2][RATE_TEXT];

	switch (finding->kind) {
	case IBSA_FINDING_ONE_DIRECTION:
		snprintf(out, size,
			 "%s lists a cable to %s, which does not "
			 "list it",
			 a, b);
		break;
	case IBSA_FINDING_RATE_DIFFERS:
		snprintf(out, size,
			 "%s has a rate of %s, but the other end "
			 "%s has %s",
			 a,
			 rate_text(value & 0xff, value >> 8 & 0xff, rates[0]),
			 b,
			 rate_text(value >> 16 & 0xff, value >> 24 & 0xff,
				   rates[1]));
		break;
	case IBSA_FINDING_NO_RATE:
		port_rate(net, finding->a, rates[0]);
		snprintf(out, size, "%s to %s: %s%s%s", a, b,
			 value ? "the rate is unknown" : "no line has a rate",
			 *rates[0] ? "; using " : "", rates[0]);
		break;
	case IBSA_FINDING_NARROW:
		snprintf(
			out, size, "%s to %s is %ux wide, most cables %ux", a,
			b,
			ibsa__lanes_of_width(net->ports[finding->a].rate.width),
			ibsa__lanes_of_width((unsigned int)value));
		break;
	default:
		snprintf(out, size,
			 "%s runs at %s, but %s, which is connected to the "
			 "same node, runs at %s",
			 a, port_rate(net, finding->a, rates[0]), b,
			 port_rate(net, finding->b, rates[1]));
	}
}

/* Write the text of a finding about nodes, whose indexes are in @finding. */
static void node_text(const struct net *net, const struct net_finding *finding,
		      char *out, size_t size)
{
	const struct net_node *a = &net->nodes[finding->a];
	const struct net_node *b = &net->nodes[finding->b];

	if (finding->kind == IBSA_FINDING_NO_CABLE)
		snprintf(out, size, "\"%.48s\" has no cable", a->id);
	else if (finding->kind == IBSA_FINDING_APART)
		snprintf(out, size,
			 "no cables lead from \"%.48s\", one of %" PRIu64
			 " connected nodes, to \"%.48s\"",
			 a->id, finding->value, b->id);
	else
		snprintf(out, size,
			 "\"%.48s\" has the description of \"%.48s\", "
			 "\"%.64s\"",
			 a->id, b->id, a->name);
}

void ibsa__net_finding_text(const struct net *net,
			    const struct net_finding *finding,
			    struct ibsa_error *out)
{
	char a[NET_PORT_TEXT];
	char b[NET_PORT_TEXT];

	switch (finding->kind) {
	case IBSA_FINDING_NO_CABLE:
	case IBSA_FINDING_APART:
	case IBSA_FINDING_SAME_NAME:
		node_text(net, finding, out->text, sizeof(out->text));
		return;
	case IBSA_FINDING_NO_GUID:
		snprintf(out->text, sizeof(out->text),
			 "\"%.48s\" has GUID 0; using 0x%016" PRIx64,
			 net->nodes[finding->a].id,
			 net->nodes[finding->a].guid);
		return;
	case IBSA_FINDING_GUID_DIFFERS:
		snprintf(out->text, sizeof(out->text),
			 "%s has GUID 0x%016" PRIx64 " here, 0x%016" PRIx64
			 " in another line",
			 ibsa__net_port_text(net, finding->a, a),
			 finding->value, net->ports[finding->a].guid);
		return;
	case IBSA_FINDING_SAME_LID:
		snprintf(out->text, sizeof(out->text),
			 "%s has LID %u, which %s has already; using another",
			 ibsa__net_port_text(net, finding->a, a),
			 net->ports[finding->a].lid,
			 ibsa__net_port_text(net, finding->b, b));
		return;
	default:
		cable_text(net, finding,
			   ibsa__net_port_text(net, finding->a, a),
			   ibsa__net_port_text(net, finding->b, b), out->text,
			   sizeof(out->text));
	}
}
