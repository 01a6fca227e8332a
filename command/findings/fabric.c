/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the findings about the fabric: about its topology, paths from this
 * port, and its SMs.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "findings/fabric.h"
#include "findings/finding.h"
#include "output/fields.h"
#include "session/query_wait.h"
#include "graph/topology.h"

enum { SM_DEADLINE_MS = 2000, SM_MASTER = 3 };

static void finding_add(struct fabric_check *check, enum ibsa_finding_kind kind,
			uint64_t guid, unsigned int port, const char *format,
			...) __attribute__((format(printf, 5, 6)));

static void finding_add(struct fabric_check *check, enum ibsa_finding_kind kind,
			uint64_t guid, unsigned int port, const char *format,
			...)
{
	struct ibsa_finding *added = list_add(&check->more, &check->more_count,
					      sizeof(*added));
	va_list args;

	check->out_of_memory |= !added;
	if (!added)
		return;
	va_start(args, format);
	*added = check_finding(kind, guid, port, format, args);
	va_end(args);
}

static int by_guid(const void *a, const void *b)
{
	const struct fabric_path *x = a;
	const struct fabric_path *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

static int paths_note(struct cli *cli, const struct ibsa_reply *reply,
		      void *arg)
{
	struct fabric_check *check = arg;
	struct ibsa_path path;

	(void)cli;
	check->paths = calloc(reply->count, sizeof(*check->paths));
	if (!check->paths)
		return no_memory();
	for (size_t i = 0; i < reply->count; i++)
		if (ibsa_reply_decode(reply, i, &path, sizeof(path)) == 0)
			check->paths[check->path_count++] =
				(struct fabric_path){
					.guid = fields_gid_guid(&path.dgid),
					.mtu = path.mtu,
					.rate = path.rate,
					.sl = path.sl,
				};
	qsort(check->paths, check->path_count, sizeof(*check->paths), by_guid);
	return CLI_DONE;
}

/* Query the paths from this port to all other ports, in one query. */
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

const struct fabric_path *fabric_check_path(const struct fabric_check *check,
					    uint64_t guid)
{
	const struct fabric_path key = { .guid = guid };

	return check->path_count
		       ? bsearch(&key, check->paths, check->path_count,
				 sizeof(key), by_guid)
		       : NULL;
}

static bool is_reached(const struct fabric_check *check, uint64_t guid)
{
	return guid == check->own_guid || fabric_check_path(check, guid);
}

/*
 * Report that the SA has no path from this machine's port to port @number of
 * the node, unless that port has no GUID or no LID. The caller passes port 0
 * of a switch, and every port of another node.
 */
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

static const struct ibsa_query sms_query = {
	.record = &ibsa_sm_info_record,
	.method = IBSA_METHOD_GET_TABLE,
};

static void sms_note(const struct ibsa_reply *reply, void *arg)
{
	struct fabric_check *check = arg;
	const enum ibsa_outcome outcome = ibsa_reply_outcome(reply);

	reply_statistics_print(check->cli, &sms_query, reply);
	if (outcome != IBSA_OUTCOME_OK && outcome != IBSA_OUTCOME_NONE) {
		ibsa_reply_explain(reply, &check->no_sms);
		return;
	}
	check->out_of_memory |= !records_decode(reply, &check->sms,
						&check->sm_count);
}

/*
 * Query the SMInfoRecords. An SA may refuse SMInfoRecords to requests without
 * an SM_Key; a message then says that the number of master SMs cannot be
 * checked.
 */
static void sms_read(struct fabric_check *check)
{
	const unsigned int deadline_ms = check->cli->open.deadline_ms;
	struct ibsa_query query = sms_query;
	int err;

	query.deadline_ms = deadline_ms && deadline_ms < SM_DEADLINE_MS
				    ? deadline_ms
				    : SM_DEADLINE_MS;
	err = ibsa_query_wait(check->cli->client, &query, sms_note, check);

	if (err && !*check->no_sms.text)
		snprintf(check->no_sms.text, sizeof(check->no_sms.text), "%s",
			 strerror(-err));
	if (*check->no_sms.text && !check->shows_sms)
		complain("%s: cannot check whether there is a second master "
			 "SM: %s",
			 check->cli->args[0], check->no_sms.text);
}

static void sms_check(struct fabric_check *check)
{
	const struct ibsa_sm_info *first = NULL;

	for (size_t i = 0; i < check->sm_count; i++) {
		const struct ibsa_sm_info *sm = &check->sms[i];

		if (sm->sm_state != SM_MASTER)
			continue;
		if (first) {
			finding_add(check, IBSA_FINDING_TWO_MASTERS, 0, 0,
				    "the SMs at the ports 0x%016" PRIx64
				    " and 0x%016" PRIx64 " are both master",
				    first->guid, sm->guid);
			return;
		}
		first = sm;
	}
}

void fabric_check_finding(const struct fabric_check *check, size_t index,
			  struct ibsa_finding *out)
{
	const size_t first = check->count - check->more_count;

	if (index >= first)
		*out = check->more[index - first];
	else if (ibsa_topology_finding_at(check->topology, index, out) != 0)
		*out = (struct ibsa_finding){ .name = "" };
}

void fabric_check_worst(const struct fabric_check *check,
			struct ibsa_finding *out)
{
	fabric_check_finding(check, 0, out);
	for (size_t i = 1;
	     i < check->count && out->severity != IBSA_SEVERITY_CRITICAL; i++) {
		struct ibsa_finding finding;

		fabric_check_finding(check, i, &finding);
		if (finding.severity == IBSA_SEVERITY_CRITICAL)
			*out = finding;
	}
}

static void findings_count(struct fabric_check *check)
{
	struct ibsa_finding finding;

	while (ibsa_topology_finding_at(check->topology, check->count,
					&finding) == 0)
		check->count++;
	check->count += check->more_count;
	for (size_t i = 0; i < check->count; i++) {
		fabric_check_finding(check, i, &finding);
		check->critical_count += finding.severity ==
					 IBSA_SEVERITY_CRITICAL;
	}
}

static int expected_load(struct fabric_check *check)
{
	const char *path = check->expect;

	return path ? topology_expect_load(check->cli, path, &check->expected)
		    : CLI_DONE;
}

/* Make all findings; the checks that need queries only without a file. */
static int findings_find(struct fabric_check *check)
{
	ibsa_topology_info_get(check->topology, &check->info);
	check->out_of_memory = ibsa_topology_check(check->topology,
						   check->expected) != 0;
	if (!check->file) {
		paths_check(check);
		sms_read(check);
		sms_check(check);
	}
	if (check->out_of_memory)
		return no_memory();
	findings_count(check);
	return CLI_DONE;
}

int fabric_check_read(struct fabric_check *check)
{
	int status = expected_load(check);

	if (status == CLI_DONE)
		status = check->file
				 ? topology_file_read(check->cli, check->file,
						      &check->topology)
				 : topology_read(check->cli, &check->topology);
	if (status == CLI_DONE && !check->file)
		status = paths_read(check);
	return status == CLI_DONE ? findings_find(check) : status;
}

void fabric_check_done(struct fabric_check *check)
{
	ibsa_topology_free(check->topology);
	ibsa_topology_free(check->expected);
	free(check->paths);
	free(check->more);
	free(check->sms);
}
