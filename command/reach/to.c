/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa reach --to: checks which ports have a path to a target, with one query
 * for all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/host.h"
#include "graph/expected.h"
#include "names/ends.h"
#include "reach/options.h"
#include "reach/reach.h"
#include "session/query_wait.h"

/**
 * struct arrivals - the ports from which a path leads to the target
 * @ends:    the target's ports
 * @sources: GIDs of the @count paths to the port @to of these, sorted
 * @status:  of the reply
 */
struct arrivals {
	struct ends ends;
	struct ibsa_gid *sources;
	size_t count;
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
	for (size_t i = 0; i < reply->count; i++)
		if (ibsa_reply_decode(reply, i, &path, sizeof(path)) == 0)
			arrivals->sources[arrivals->count++] = path.sgid;
	qsort(arrivals->sources, arrivals->count, sizeof(struct ibsa_gid),
	      by_gid);
	return CLI_DONE;
}

/* Query the paths from all ports to @end. */
static int arrivals_query(struct cli *cli, struct arrivals *arrivals,
			  const struct end *end)
{
	const struct ibsa_path match = {
		.dgid = end->gid,
		.dlid = (uint16_t)end->lid,
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = (end->lid ? IBSA_PATH_CM(dlid) : IBSA_PATH_CM(dgid)) |
			IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path),
		.method = IBSA_METHOD_GET_TABLE,
	};
	int status;

	free(arrivals->sources);
	arrivals->sources = NULL;
	arrivals->count = 0;
	status = query_wait(cli, &query, arrivals_note, arrivals);
	return status == CLI_NO ? CLI_DONE : status;
}

/*
 * Return: the port of the target to which a path from @source is checked: that
 * of the device with the same name, otherwise the first one.
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
static bool results_set(struct cli *cli, const struct reach_targets *targets,
			const struct arrivals *arrivals, const struct end *end,
			struct reach_result *results)
{
	size_t missing = 0;

	for (size_t i = 0; i < targets->gid_count; i++) {
		const struct ibsa_gid *gid = &targets->gids[i];

		if (end_for(&arrivals->ends, targets->first[i]) != end)
			continue;
		results[i].is_known = true;
		results[i].reach = IBSA_REACH_YES;
		if (arrivals->count &&
		    bsearch(gid, arrivals->sources, arrivals->count,
			    sizeof(*gid), by_gid))
			continue;
		results[i].reach = IBSA_REACH_NO;
		if (missing++ < REASONS_MAX)
			reason_find(cli, gid, end, &results[i]);
	}
	return !missing;
}

static int ends_query(struct cli *cli, const struct reach_targets *targets,
		      struct arrivals *arrivals, struct reach_result *results)
{
	int worst = CLI_DONE;

	for (size_t i = 0; i < arrivals->ends.count; i++) {
		const struct end *end = &arrivals->ends.all[i];
		const int status = arrivals_query(cli, arrivals, end);

		if (status != CLI_DONE)
			return status;
		if (!results_set(cli, targets, arrivals, end, results))
			worst = CLI_NO;
	}
	return worst;
}

/* Tell where --expect has the target. Return: whether it has it. */
static bool target_tell(struct cli *cli, const char *name)
{
	struct expected expected;
	size_t count = 0;

	if (expected_read(cli, reach_own(cli)->expect, &expected) == CLI_DONE)
		count = expected_tell(cli, &expected, name, NULL, NULL);
	expected_free(&expected);
	return count;
}

int reach_to(struct cli *cli, const struct reach_targets *targets,
	     struct reach_result *results)
{
	struct arrivals arrivals = { .count = 0 };
	struct ibsa_error error;
	struct target target;
	int status = CLI_USAGE;

	if (target_parse_any(reach_own(cli)->to, &target, &error) != 0)
		complain("--to: %s", error.text);
	else
		status = ends_find(cli, NULL, &target, &arrivals.ends);
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
