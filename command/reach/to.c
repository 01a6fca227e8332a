/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa reach --to: checks which ports have a path to a target, with one query
 * for the paths from all ports to a port of the target. On Omni-Path with LIDs
 * of more than 16 bits, the paths from further ports are queried one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/host.h"
#include "graph/expected.h"
#include "names/ends.h"
#include "reach/options.h"
#include "reach/reach.h"
#include "session/opa.h"
#include "session/query_wait.h"

/**
 * struct arrivals - the ports from which a path leads to the target
 * @ends:     the target's ports
 * @sources:  source GIDs of the @count paths to one of these ports, sorted
 * @has_lids: some @sources encode an Omni-Path LID instead of a port GUID, so
 *            that they cannot be compared with GIDs of NodeRecords
 */
struct arrivals {
	struct ends ends;
	struct ibsa_gid *sources;
	size_t count;
	bool has_lids;
};

static int by_gid(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct ibsa_gid));
}

static int arrivals_note(struct cli *cli, const struct ibsa_reply *reply,
			 void *arg)
{
	struct arrivals *arrivals = arg;
	struct ibsa_path path;

	(void)cli;
	arrivals->sources = calloc(reply->count, sizeof(struct ibsa_gid));
	if (!arrivals->sources)
		return no_memory();
	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &path, sizeof(path)) != 0)
			continue;
		arrivals->sources[arrivals->count++] = path.sgid;
		arrivals->has_lids |= opa_lid_of_gid(&path.sgid) != 0;
	}
	qsort(arrivals->sources, arrivals->count, sizeof(struct ibsa_gid),
	      by_gid);
	return CLI_DONE;
}

/*
 * Query the paths to @end from @from; from all ports if @from is NULL. Return:
 * the exit status of query_wait().
 */
static int paths_query(struct cli *cli, const struct ibsa_gid *from,
		       const struct end *end, reply_use_fn use, void *arg)
{
	struct ibsa_path match = {
		.dgid = end->gid,
		.dlid = (uint16_t)end->lid,
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = (end->lid ? IBSA_PATH_CM(dlid) : IBSA_PATH_CM(dgid)) |
			(from ? IBSA_PATH_CM(sgid) : 0) |
			IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path),
		.method = IBSA_METHOD_GET_TABLE,
	};

	if (from)
		match.sgid = *from;
	return query_wait(cli, &query, use, arg);
}

/* Query the paths from all ports to @end. */
static int arrivals_query(struct cli *cli, struct arrivals *arrivals,
			  const struct end *end)
{
	int status;

	free(arrivals->sources);
	arrivals->sources = NULL;
	arrivals->count = 0;
	arrivals->has_lids = false;
	status = paths_query(cli, NULL, end, arrivals_note, arrivals);
	return status == CLI_NO ? CLI_DONE : status;
}

/* Whether a path leads from @source to @end. Return: CLI_DONE; CLI_NO; failure. */
static int arrivals_find(struct cli *cli, const struct arrivals *arrivals,
			 const struct ibsa_gid *source, const struct end *end)
{
	struct ibsa_path path;

	if (arrivals->count &&
	    bsearch(source, arrivals->sources, arrivals->count, sizeof(*source),
		    by_gid))
		return CLI_DONE;
	return arrivals->has_lids
		       ? paths_query(cli, source, end, record_take, &path)
		       : CLI_NO;
}

/*
 * Return: the port of the target to which the path from @source is checked: the
 * port of the device with the same name as that of @source; without such a
 * port, the first one.
 */
static const struct end *end_for(const struct ends *ends,
				 const struct reach_target *source)
{
	const char *device = source->node ? ibsa__host_device(source->node)
					  : "";

	for (size_t i = 0; *device && i < ends->count; i++)
		if (strcmp(ends->all[i].device, device) == 0)
			return &ends->all[i];
	return &ends->all[0];
}

static void reason_find(struct cli *cli, const struct ibsa_gid *from,
			const struct end *to, struct reach_result *result)
{
	const struct ibsa_path match = {
		.sgid = *from,
		.dgid = to->gid,
		.dlid = (uint16_t)to->lid,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) |
			(to->lid ? IBSA_PATH_CM(dlid) : IBSA_PATH_CM(dgid)),
	};
	struct ibsa_reason reason;

	if (ibsa_reason_wait(cli->client, &query, &reason) != 0)
		return;
	result->reason = (uint8_t)reason.code;
	result->is_certain = reason.is_certain;
	result->detail = reason.detail[0] ? strdup(reason.detail) : NULL;
}

/* Set the results of all sources whose path to @end is checked. */
static int results_set(struct cli *cli, const struct reach_targets *targets,
		       const struct arrivals *arrivals, const struct end *end,
		       struct reach_result *results)
{
	size_t missing = 0;

	for (size_t i = 0; i < targets->gid_count; i++) {
		const struct ibsa_gid *gid = &targets->gids[i];
		int status;

		if (end_for(&arrivals->ends, targets->first[i]) != end)
			continue;
		status = arrivals_find(cli, arrivals, gid, end);
		if (status != CLI_DONE && status != CLI_NO)
			return status;
		results[i].is_known = true;
		results[i].reach = status == CLI_DONE ? IBSA_REACH_YES
						      : IBSA_REACH_NO;
		if (status == CLI_NO && missing++ < REASONS_MAX)
			reason_find(cli, gid, end, &results[i]);
	}
	return missing ? CLI_NO : CLI_DONE;
}

static int ends_query(struct cli *cli, const struct reach_targets *targets,
		      struct arrivals *arrivals, struct reach_result *results)
{
	int worst = CLI_DONE;

	for (size_t i = 0; i < arrivals->ends.count; i++) {
		const struct end *end = &arrivals->ends.all[i];
		int status = arrivals_query(cli, arrivals, end);

		if (status == CLI_DONE)
			status = results_set(cli, targets, arrivals, end,
					     results);
		if (status != CLI_DONE && status != CLI_NO)
			return status;
		worst = status == CLI_NO ? CLI_NO : worst;
	}
	return worst;
}

/*
 * Print where the topology of --expect has the target. Return: whether it has a
 * port of the target that the SA does not show.
 */
static bool target_tell(struct cli *cli, const char *name)
{
	struct expected expected;
	size_t count = 0;

	if (expected_read(cli, reach_own(cli)->expect, &expected) == CLI_DONE)
		count = expected_tell(cli, &expected, name, NULL, NULL);
	expected_free(&expected);
	return count;
}

/* Find the ports of --to. Return: the exit status, as that of ends_find(). */
static int ends_of_to(struct cli *cli, struct target *target, struct ends *out)
{
	const char *text = reach_own(cli)->to;
	struct ibsa_port_state port;
	struct ibsa_error error;
	int status = own_port_get(cli, &port);

	if (status != CLI_DONE)
		return status;
	if (port.link == IBSA_LINK_OPA ? target_parse_opa(text, target, &error)
				       : target_parse(text, target, &error))
		return fail_usage("--to: %s", error.text);
	status = ends_find(cli, NULL, target, out);
	return status == CLI_DONE && port.link == IBSA_LINK_OPA
		       ? ends_to_gids(cli, out, 1)
		       : status;
}

int reach_to(struct cli *cli, const struct reach_targets *targets,
	     struct reach_result *results)
{
	struct arrivals arrivals = { .count = 0 };
	struct target target = { .kind = TARGET_SELF };
	int status = ends_of_to(cli, &target, &arrivals.ends);

	if (status == CLI_NO && cli->names.is_absence_told &&
	    !target_tell(cli, target.name))
		name_absent_explain(cli, "--to: ", target.name);
	if (status == CLI_DONE)
		status = ends_query(cli, targets, &arrivals, results);
	reach_signals_stop(cli);
	free(arrivals.sources);
	ends_free(&arrivals.ends);
	return status;
}
