/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check: findings about the fabric. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/sa.h>
#include <ibsa/topology.h>

#include "check.h"
#include "columns.h"
#include "fields.h"
#include "nagios.h"
#include "query_wait.h"
#include "topology.h"

enum { SM_DEADLINE_MS = 2000, SM_MASTER = 3 };

/* The findings of the library are followed by those that need queries. */
struct fabric_check {
	struct cli *cli;
	struct ibsa_topology *topology;
	struct ibsa_topology *expected; /* or NULL */
	struct ibsa_topology_info info;
	uint64_t *reached; /* GUIDs of ports with a path from here, sorted */
	size_t reached_count;
	uint64_t own_guid;
	struct ibsa_finding *more;
	size_t more_count;
	size_t more_room;
	size_t count; /* of all findings */
	size_t critical_count;
	bool out_of_memory;
};

static void finding_add(struct fabric_check *check, enum ibsa_finding_kind kind,
			uint64_t guid, unsigned int port, const char *format,
			...) __attribute__((format(printf, 5, 6)));

static void finding_add(struct fabric_check *check, enum ibsa_finding_kind kind,
			uint64_t guid, unsigned int port, const char *format,
			...)
{
	va_list args;

	if (check->more_count == check->more_room) {
		const size_t room = 2 * check->more_room + 16;
		struct ibsa_finding *more = reallocarray(check->more, room,
							 sizeof(*more));

		check->out_of_memory |= !more;
		if (!more)
			return;
		check->more = more;
		check->more_room = room;
	}
	va_start(args, format);
	check->more[check->more_count++] = check_finding(kind, guid, port,
							 format, args);
	va_end(args);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int paths_note(struct cli *cli, const struct ibsa_reply *reply,
		      void *arg)
{
	struct fabric_check *check = arg;
	struct ibsa_path path;

	(void)cli;
	check->reached = calloc(reply->count, sizeof(*check->reached));
	if (!check->reached) {
		complain("out of memory");
		return CLI_DEVICE;
	}
	for (size_t i = 0; i < reply->count; i++)
		if (ibsa_reply_decode(reply, i, &path) == 0)
			check->reached[check->reached_count++] =
				fields_gid_guid(&path.dgid);
	qsort(check->reached, check->reached_count, sizeof(*check->reached),
	      by_value);
	return CLI_DONE;
}

/* One query for the paths from this port to all others. */
static int paths_read(struct fabric_check *check)
{
	struct ibsa_path match = { .reversible = 1, .numb_path = 1 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(reversible) |
			IBSA_PATH_CM(numb_path),
		.method = IBSA_METHOD_GET_TABLE,
	};
	int status = own_gid_get(check->cli, &match.sgid);

	if (status != CLI_DONE)
		return status;
	check->own_guid = fields_gid_guid(&match.sgid);
	status = query_wait(check->cli, &query, paths_note, check);
	return status == CLI_NO ? CLI_DONE : status;
}

static bool is_reached(const struct fabric_check *check, uint64_t guid)
{
	return guid == check->own_guid ||
	       (check->reached_count &&
		bsearch(&guid, check->reached, check->reached_count,
			sizeof(guid), by_value));
}

/* A port with a LID, of which a switch has only port 0. */
static void path_check(struct fabric_check *check, size_t index,
		       const struct ibsa_topology_node *node,
		       unsigned int number)
{
	struct ibsa_topology_port port;
	char text[IBSA_VALUE_TEXT];

	if (ibsa_topology_port_at(check->topology, index, number, &port) != 0 ||
	    !port.guid || !port.lid || is_reached(check, port.guid))
		return;
	finding_add(check, IBSA_FINDING_NO_PATH, node->guid, number,
		    "the SA has no path from here to %.128s port %u, GUID "
		    "0x%016" PRIx64 ", LID %" PRIu32,
		    *node->name ? fields_clean(node->name, text)
				: "a node without a description",
		    number, port.guid, port.lid);
}

static void paths_check(struct fabric_check *check)
{
	struct ibsa_topology_node node;

	for (size_t i = 0;
	     ibsa_topology_node_at(check->topology, i, &node) == 0; i++) {
		const unsigned int last = node.type == IBSA_NODE_SWITCH
						  ? 0
						  : UINT8_MAX;

		for (unsigned int number = 0; number <= last; number++)
			path_check(check, i, &node, number);
	}
}

/* The SMs that the SA has. */
struct masters {
	enum ibsa_outcome outcome;
	struct ibsa_error why;
	uint64_t guids[2];
	size_t count;
};

static void masters_note(const struct ibsa_reply *reply, void *arg)
{
	struct masters *masters = arg;
	struct ibsa_sm_info sm;

	masters->outcome = ibsa_outcome(reply);
	ibsa_reply_explain(reply, &masters->why);
	for (size_t i = 0; i < reply->count && masters->count < 2; i++)
		if (ibsa_reply_decode(reply, i, &sm) == 0 &&
		    sm.sm_state == SM_MASTER)
			masters->guids[masters->count++] = sm.guid;
}

/*
 * An SA may keep SMInfoRecords from requests without an SM_Key: without an answer
 * the other checks still hold.
 */
static void masters_check(struct fabric_check *check)
{
	const unsigned int deadline_ms = check->cli->open.deadline_ms;
	const struct ibsa_query query = {
		.record = &ibsa_sm_info_record,
		.method = IBSA_METHOD_GET_TABLE,
		.deadline_ms = deadline_ms && deadline_ms < SM_DEADLINE_MS
				       ? deadline_ms
				       : SM_DEADLINE_MS,
	};
	struct masters masters = { .outcome = IBSA_OUTCOME_UNREACHABLE };
	int err = ibsa_query_wait(check->cli->client, &query, masters_note,
				  &masters);

	if (masters.outcome != IBSA_OUTCOME_OK &&
	    masters.outcome != IBSA_OUTCOME_NONE)
		complain("check: cannot check whether there is a second master "
			 "SM: %s",
			 *masters.why.text ? masters.why.text : strerror(-err));
	if (masters.count > 1)
		finding_add(check, IBSA_FINDING_TWO_MASTERS, 0, 0,
			    "the SMs at the ports 0x%016" PRIx64
			    " and 0x%016" PRIx64 " are both master",
			    masters.guids[0], masters.guids[1]);
}

static void finding_get(const struct fabric_check *check, size_t index,
			struct ibsa_finding *out)
{
	const size_t first = check->count - check->more_count;

	if (index >= first)
		*out = check->more[index - first];
	else if (ibsa_topology_finding_at(check->topology, index, out) != 0)
		*out = (struct ibsa_finding){ .name = "" };
}

static void findings_count(struct fabric_check *check)
{
	struct ibsa_finding finding;

	while (ibsa_topology_finding_at(check->topology, check->count,
					&finding) == 0)
		check->count++;
	check->count += check->more_count;
	for (size_t i = 0; i < check->count; i++) {
		finding_get(check, i, &finding);
		check->critical_count += finding.severity ==
					 IBSA_SEVERITY_CRITICAL;
	}
}

static int fabric_check(struct fabric_check *check)
{
	struct cli *cli = check->cli;
	int status = CLI_DONE;

	if (cli->check.expect)
		status = topology_expect_load(cli->check.expect,
					      &check->expected);
	if (status == CLI_DONE)
		status = topology_read(cli, &check->topology);
	if (status == CLI_DONE)
		status = paths_read(check);
	if (status != CLI_DONE)
		return status;
	ibsa_topology_info_get(check->topology, &check->info);
	check->out_of_memory = ibsa_topology_check(check->topology,
						   check->expected) != 0;
	paths_check(check);
	masters_check(check);
	if (check->out_of_memory) {
		complain("out of memory");
		return CLI_DEVICE;
	}
	findings_count(check);
	return CLI_DONE;
}

static void finding_row(struct out *out, size_t index, void *arg)
{
	const struct fabric_check *check = arg;
	struct ibsa_finding finding;

	finding_get(check, index, &finding);
	out_text(out, "finding", finding.name);
	out_text(out, "severity", check_severity_text(finding.severity));
	if (finding.guid)
		fields_guid(out, "node_guid", finding.guid);
	else
		out_none(out, "node_guid");
	if (finding.port)
		out_count(out, "port", finding.port);
	else
		out_none(out, "port");
	out_text(out, "what", finding.what.text);
}

/* The first finding of the highest severity. */
static void worst_get(const struct fabric_check *check,
		      struct ibsa_finding *out)
{
	finding_get(check, 0, out);
	for (size_t i = 1;
	     i < check->count && out->severity != IBSA_SEVERITY_CRITICAL; i++) {
		struct ibsa_finding finding;

		finding_get(check, i, &finding);
		if (finding.severity == IBSA_SEVERITY_CRITICAL)
			*out = finding;
	}
}

static int nagios_report(struct fabric_check *check)
{
	struct nagios nagios = { .len = 0 };
	struct ibsa_finding worst;
	char text[sizeof(worst.what.text) + 64];

	nagios_add(&nagios, "findings", "%zu", check->count);
	nagios_add(&nagios, "critical", "%zu", check->critical_count);
	nagios_add(&nagios, "nodes", "%zu", check->info.nodes);
	nagios_add(&nagios, "switches", "%zu", check->info.switches);
	nagios_add(&nagios, "links", "%zu", check->info.links);
	check->cli->check.is_reported = true;
	if (!check->count) {
		snprintf(text, sizeof(text), "%zu nodes, %zu links",
			 check->info.nodes, check->info.links);
		return nagios_print(&nagios, &check->cli->out, NAGIOS_OK, text);
	}
	worst_get(check, &worst);
	snprintf(text, sizeof(text), "%zu %s, %s: %s", check->count,
		 check->count == 1 ? "finding" : "findings", worst.name,
		 worst.what.text);
	return nagios_print(&nagios, &check->cli->out,
			    worst.severity == IBSA_SEVERITY_CRITICAL
				    ? NAGIOS_CRITICAL
				    : NAGIOS_WARNING,
			    text);
}

static int report(struct fabric_check *check)
{
	struct out *out = &check->cli->out;

	if (check->cli->check.nagios)
		return nagios_report(check);
	if (check->count || out_is_data(out))
		out_rows(out, check->count, finding_row, check);
	return check->count ? CLI_NO : CLI_DONE;
}

int check_fabric(struct cli *cli)
{
	struct fabric_check check = { .cli = cli };
	int status = columns_use(cli, &columns_check);

	if (status == CLI_DONE)
		status = fabric_check(&check);
	if (status == CLI_DONE)
		status = report(&check);
	ibsa_topology_free(check.topology);
	ibsa_topology_free(check.expected);
	free(check.reached);
	free(check.more);
	return status;
}

void check_fabric_details(struct cli *cli)
{
	out_line(&cli->out, "%s",
		 "Without node, checks the fabric: links that are down, slower "
		 "than both ends\nsupport, or reported by one end only; nodes "
		 "without a path from here or without\na name; GUIDs and LIDs "
		 "that two ports have; a second master SM. --expect compares\n"
		 "the fabric with a file of ibsa topology -j or --net: what is "
		 "missing, new, moved\nor slower.\n\n"
		 "  ibsa topology --net >fabric.net\n"
		 "  ibsa check --expect fabric.net\n");
}
