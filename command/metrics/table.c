/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of all metrics, and where the value of each comes from. */
#include <inttypes.h>
#include <string.h>

#include "metrics/ibsad.h"
#include "metrics/options.h"
#include "metrics/text.h"

/* The names of the port states from IBSA_PORT_DOWN, which is 1. */
static const char *const port_states[] = { "down", "init", "armed", "active" };

/* Source: IBA vol 1, 14.4.1. */
static const char *const sm_states[METRICS_SM_STATES] = { "not-active",
							  "discovering",
							  "standby", "master" };

static const enum ibsa_finding_kind fabric_kinds[] = {
	IBSA_FINDING_LINK_DOWN,	   IBSA_FINDING_LINK_DEGRADED,
	IBSA_FINDING_ONE_END,	   IBSA_FINDING_SAME_GUID,
	IBSA_FINDING_SAME_LID,	   IBSA_FINDING_NO_NAME,
	IBSA_FINDING_HIDDEN,	   IBSA_FINDING_RAIL_MISSING,
	IBSA_FINDING_RAIL_CROSSED, IBSA_FINDING_RAIL_APART,
	IBSA_FINDING_RAIL_SLOW,
};

/* The kinds of findings that only a check with --expect has. */
static const enum ibsa_finding_kind expected_kinds[] = {
	IBSA_FINDING_MISSING,
	IBSA_FINDING_NEW,
	IBSA_FINDING_MOVED,
	IBSA_FINDING_SLOWER,
};

enum { NUMBER_TEXT = 24 };

static const char *number_text(uint64_t number, char out[NUMBER_TEXT])
{
	snprintf(out, NUMBER_TEXT, "%" PRIu64, number);
	return out;
}

static const char *guid_text(uint64_t guid, char out[NUMBER_TEXT])
{
	snprintf(out, NUMBER_TEXT, "0x%016" PRIx64, guid);
	return out;
}

static const struct machine_port *port_at(const struct metrics_text *text,
					  size_t i)
{
	const struct machine *machine = &text->metrics->check.machine;

	return i < machine->count ? &machine->ports[i] : NULL;
}

static void port_sample(struct metrics_text *text,
			const struct machine_port *port, double value)
{
	char number[NUMBER_TEXT];

	metrics_sample(text, value, "device", port->device, "port",
		       number_text(port->number, number), NULL);
}

static void build_write(struct metrics_text *text)
{
	metrics_sample(text, 1, "version", ibsa_version(), NULL);
}

static void port_info_write(struct metrics_text *text)
{
	static const char *const links[] = { "InfiniBand", "Ethernet",
					     "Omni-Path" };
	char number[NUMBER_TEXT], lid[NUMBER_TEXT], gid[IBSA_GID_TEXT];
	const struct machine_port *port;

	for (size_t i = 0; (port = port_at(text, i)); i++) {
		if (port->err || port->state.link > IBSA_LINK_OPA)
			continue;
		ibsa_gid_format(&port->state.gid, gid, sizeof(gid));
		metrics_sample(text, 1, "device", port->device, "port",
			       number_text(port->number, number), "gid", gid,
			       "lid", number_text(port->state.lid, lid),
			       "link_layer", links[port->state.link],
			       "port_role",
			       role_name(port->role) ? role_name(port->role)
						     : "unknown",
			       NULL);
	}
}

static void port_state_write(struct metrics_text *text)
{
	const struct machine_port *port;
	char number[NUMBER_TEXT];

	for (size_t i = 0; (port = port_at(text, i)); i++)
		for (unsigned int k = 0;
		     k < sizeof(port_states) / sizeof(port_states[0]); k++)
			metrics_sample(text,
				       !port->err &&
					       port->state.port_state == k + 1,
				       "device", port->device, "port",
				       number_text(port->number, number),
				       "state", port_states[k], NULL);
}

static void port_rate_write(struct metrics_text *text)
{
	const double bytes_of_tenth = 1e8 / 8;
	const struct machine_port *port;
	unsigned int tenths;

	for (size_t i = 0; (port = port_at(text, i)); i++)
		if (!port->err && rate_of_port(port->rate, &tenths))
			port_sample(text, port, tenths * bytes_of_tenth);
}

static void node_findings_write(struct metrics_text *text)
{
	const struct node_check *check = &text->metrics->check;
	size_t counts[METRICS_FINDING_KINDS] = { 0 };

	for (size_t i = 0; i < check->count; i++)
		counts[check->findings[i].finding.kind]++;
	for (unsigned int kind = IBSA_FINDING_PORT_DOWN;
	     kind <= IBSA_FINDING_PEER_UNREACHABLE; kind++)
		metrics_sample(text, (double)counts[kind], "kind",
			       ibsa_finding_name((enum ibsa_finding_kind)kind),
			       NULL);
}

static void sa_up_write(struct metrics_text *text)
{
	const struct port_check *ports = text->metrics->check.ports;
	const struct machine_port *port;

	for (size_t i = 0; ports && (port = port_at(text, i)); i++)
		port_sample(text, port, ports[i].client != NULL);
}

static void sa_time_write(struct metrics_text *text)
{
	const struct port_check *ports = text->metrics->check.ports;
	const struct machine_port *port;

	for (size_t i = 0; ports && (port = port_at(text, i)); i++)
		if (ports[i].client)
			port_sample(text, port, (double)ports[i].rtt_ns / 1e9);
}

static void answers_write(struct metrics_text *text,
			  const struct answers *answers)
{
	for (unsigned int i = 0; i < ANSWERS_KINDS; i++)
		metrics_sample(text, (double)answers->counts[i], "status",
			       answers_text(i), NULL);
}

static void answers_now_write(struct metrics_text *text)
{
	answers_write(text, &text->metrics->answers);
}

static void answers_total_write(struct metrics_text *text)
{
	const struct metrics_totals *totals = text->metrics->totals;

	if (totals)
		answers_write(text, &totals->answers);
}

/*
 * A label of OpenMetrics with the value "", such as that of an unknown GUID,
 * means the same as no label.
 */
static void sm_info_write(struct metrics_text *text)
{
	const struct metrics_sm *sm = &text->metrics->sm;
	char lid[NUMBER_TEXT], guid[NUMBER_TEXT], priority[NUMBER_TEXT];

	if (!sm->lid)
		return;
	metrics_sample(text, 1, "guid",
		       sm->guid ? guid_text(sm->guid, guid) : "", "lid",
		       number_text(sm->lid, lid), "node", sm->node, "priority",
		       sm->is_listed ? number_text(sm->priority, priority) : "",
		       "state",
		       sm->is_listed && sm->state < METRICS_SM_STATES
			       ? sm_states[sm->state]
			       : "",
		       NULL);
}

static void sms_write(struct metrics_text *text)
{
	const struct metrics *metrics = text->metrics;

	for (size_t i = 0; metrics->sm.has_list && i < METRICS_SM_STATES; i++)
		metrics_sample(text, (double)metrics->sm.by_state[i], "state",
			       sm_states[i], NULL);
}

static void nodes_write(struct metrics_text *text)
{
	const struct metrics *metrics = text->metrics;
	const struct ibsa_topology_info *info = &metrics->fabric.info;

	if (!metrics->fabric.is_known)
		return;
	metrics_sample(text, (double)info->adapters, "type", "ca", NULL);
	metrics_sample(text, (double)info->switches, "type", "switch", NULL);
	metrics_sample(text,
		       (double)(info->nodes - info->adapters - info->switches),
		       "type", "router", NULL);
}

static void links_write(struct metrics_text *text)
{
	const struct metrics *metrics = text->metrics;

	if (metrics->fabric.is_known)
		metrics_sample(text, (double)metrics->fabric.info.links, NULL);
}

static void kinds_write(struct metrics_text *text,
			const struct metrics *metrics,
			const enum ibsa_finding_kind *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		metrics_sample(text, (double)metrics->fabric.findings[kinds[i]],
			       "kind", ibsa_finding_name(kinds[i]), NULL);
}

static void fabric_findings_write(struct metrics_text *text)
{
	const struct metrics *metrics = text->metrics;

	if (!metrics->fabric.is_known)
		return;
	kinds_write(text, metrics, fabric_kinds,
		    sizeof(fabric_kinds) / sizeof(fabric_kinds[0]));
	if (metrics->expected)
		kinds_write(text, metrics, expected_kinds,
			    sizeof(expected_kinds) / sizeof(expected_kinds[0]));
}

/* Write each finding with the port that it is about, and both ends of its link. */
static void named_findings_write(struct metrics_text *text)
{
	const struct metrics_fabric *fabric = &text->metrics->fabric;

	for (size_t i = 0; i < fabric->named_count; i++) {
		const struct ibsa_finding *finding = &fabric->named[i];
		char guid[NUMBER_TEXT], port[NUMBER_TEXT];

		metrics_sample(text, 1, "kind", finding->name, "severity",
			       finding->severity == IBSA_SEVERITY_CRITICAL
				       ? "critical"
				       : "warning",
			       "guid", guid_text(finding->guid, guid), "port",
			       number_text(finding->port, port), "what",
			       finding->what.text, NULL);
	}
}

enum reached { PEER_REACHED, PEER_UNREACHED, PEER_UNKNOWN };

static enum reached peer_state(const struct metrics *metrics,
			       const struct peer *peer)
{
	if (peer->is_reached)
		return PEER_REACHED;
	return peer->is_unknown || !metrics_port(metrics) ? PEER_UNKNOWN
							  : PEER_UNREACHED;
}

static void peers_write(struct metrics_text *text)
{
	const struct metrics *metrics = text->metrics;
	static const char *const names[] = { "reachable", "unreachable",
					     "unknown" };
	const struct node_check *check = &metrics->check;
	size_t counts[PEER_UNKNOWN + 1] = { 0 };

	for (size_t i = 0; i < check->peer_count; i++)
		counts[peer_state(metrics, &check->peers[i])]++;
	for (size_t i = 0; i <= PEER_UNKNOWN; i++)
		metrics_sample(text, (double)counts[i], "result", names[i],
			       NULL);
}

/*
 * Whether an earlier peer has the same text: programs refuse all metrics if two
 * samples have equal names and labels.
 */
static bool is_repeated(const struct node_check *check, size_t index)
{
	const char *text = check->peers[index].text;

	for (size_t i = 0; i < index; i++)
		if (strcmp(check->peers[i].text, text) == 0)
			return true;
	return false;
}

static void peer_write(struct metrics_text *text)
{
	const struct metrics *metrics = text->metrics;
	const struct node_check *check = &metrics->check;

	for (size_t i = 0; i < check->peer_count; i++) {
		const struct peer *peer = &check->peers[i];
		const enum reached state = peer_state(metrics, peer);

		if (state != PEER_UNKNOWN && !is_repeated(check, i))
			metrics_sample(text, state == PEER_REACHED, "peer",
				       peer->text, NULL);
	}
}

static void events_write(struct metrics_text *text)
{
	const struct metrics_totals *totals = text->metrics->totals;

	for (int i = 0; totals && i < METRICS_EVENT_KINDS; i++)
		metrics_sample(text, (double)totals->events[i], "kind",
			       ibsa_event_name(1 << i), NULL);
}

static void gaps_write(struct metrics_text *text)
{
	const struct metrics_totals *totals = text->metrics->totals;

	if (totals)
		metrics_sample(text, (double)totals->gaps, NULL);
}

static void subscribed_write(struct metrics_text *text)
{
	const struct metrics_totals *totals = text->metrics->totals;

	if (totals)
		metrics_sample(text, totals->is_subscribed, NULL);
}

static void sm_changes_write(struct metrics_text *text)
{
	const struct metrics_totals *totals = text->metrics->totals;

	if (totals)
		metrics_sample(text, (double)totals->sm_changes, NULL);
}

static void complete_write(struct metrics_text *text)
{
	metrics_sample(text, text->metrics->is_complete, NULL);
}

static void seconds_write(struct metrics_text *text)
{
	metrics_sample(text, text->metrics->seconds, NULL);
}

static void ibsad_now_write(struct metrics_text *text)
{
	metrics_ibsad_write(text, true);
}

static void ibsad_counts_write(struct metrics_text *text)
{
	metrics_ibsad_write(text, false);
}

/* clang-format off */
static const struct metric table[] = {
	{ "ibsa_build_info", METRIC_GAUGE, "", "Version of ibsa.", build_write },
	{ "ibsa_collect_answers", METRIC_GAUGE, "",
	  "Answers of the SA to the queries of this collection.", answers_now_write },
	{ "ibsa_collect_complete", METRIC_GAUGE, "",
	  "1 if all ports could be opened and the fabric could be read.",
	  complete_write },
	{ "ibsa_collect_duration_seconds", METRIC_GAUGE, "seconds",
	  "Duration of this collection.", seconds_write },
	{ "ibsa_event_gaps", METRIC_COUNTER, "",
	  "Times at which events may have been missed.", gaps_write },
	{ "ibsa_event_subscribed", METRIC_GAUGE, "",
	  "1 if the SA reports events to this process.", subscribed_write },
	{ "ibsa_events", METRIC_COUNTER, "", "Events that the SA reported.",
	  events_write },
	{ "ibsa_fabric_finding", METRIC_GAUGE, "",
	  "1 for each of the first 32 findings about the fabric.",
	  named_findings_write },
	{ "ibsa_fabric_findings", METRIC_GAUGE, "",
	  "Findings about the fabric, by kind as in ibsa check.",
	  fabric_findings_write },
	{ "ibsa_fabric_links", METRIC_GAUGE, "", "Links of the fabric.",
	  links_write },
	{ "ibsa_fabric_nodes", METRIC_GAUGE, "", "Nodes of the fabric.",
	  nodes_write },
	{ "ibsa_ibsad", METRIC_GAUGE, "",
	  "Clients, registrations and subscriptions of ibsad.", ibsad_now_write },
	{ "ibsa_ibsad_events", METRIC_COUNTER, "",
	  "Counters of ibsad since its start, by kind as in ibsad --status.",
	  ibsad_counts_write },
	{ "ibsa_node_findings", METRIC_GAUGE, "",
	  "Findings about this machine, by kind as in ibsa check node.",
	  node_findings_write },
	{ "ibsa_peer_reachable", METRIC_GAUGE, "",
	  "1 if the SA has a path from a port of this machine to the peer.",
	  peer_write },
	{ "ibsa_peers", METRIC_GAUGE, "", "Peers by result.", peers_write },
	{ "ibsa_port_info", METRIC_GAUGE, "", "Addresses of a port of this machine.",
	  port_info_write },
	{ "ibsa_port_rate_bytes_per_second", METRIC_GAUGE, "bytes_per_second",
	  "Rate of a port of this machine.", port_rate_write },
	{ "ibsa_port_state", METRIC_GAUGE, "",
	  "1 for the state of a port of this machine, 0 for the others.",
	  port_state_write },
	{ "ibsa_sa_answers", METRIC_COUNTER, "",
	  "Answers of the SA to the queries of all collections.",
	  answers_total_write },
	{ "ibsa_sa_round_trip_seconds", METRIC_GAUGE, "seconds",
	  "Time from a query for ClassPortInfo to the answer of the SA.",
	  sa_time_write },
	{ "ibsa_sa_up", METRIC_GAUGE, "",
	  "1 if the SA answers to a port of this machine.", sa_up_write },
	{ "ibsa_sm_changes", METRIC_COUNTER, "",
	  "Changes of the subnet manager's address.", sm_changes_write },
	{ "ibsa_sm_info", METRIC_GAUGE, "", "The subnet manager of this machine.",
	  sm_info_write },
	{ "ibsa_sms", METRIC_GAUGE, "", "Subnet managers by state.", sms_write },
};
/* clang-format on */

enum { METRIC_COUNT = sizeof(table) / sizeof(table[0]) };

void metrics_write(FILE *file, const struct metrics *metrics,
		   enum metrics_format format)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		struct metrics_text text = {
			.file = file,
			.metrics = metrics,
			.format = format,
			.metric = &table[i],
			.label = metrics_own(metrics->cli)->label,
		};

		table[i].write(&text);
	}
	if (format == METRICS_OPENMETRICS)
		fputs("# EOF\n", file);
}

void metrics_list(struct cli *cli)
{
	out_line(&cli->out,
		 "The metrics; some are there only with --listen:\n");
	for (size_t i = 0; i < METRIC_COUNT; i++)
		out_line(&cli->out, "  %s%s", table[i].name,
			 table[i].type == METRIC_COUNTER ? "_total" : "");
	out_line(&cli->out, "%s", "");
}
