/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa path: prints the path records between two ports. */
#include <stdlib.h>
#include <string.h>

#include <ibsa/reach.h>
#include <ibsa/types.h>
#include <ibsa/text.h>

#include "common/selector.h"
#include "session/query_wait.h"
#include "output/cli.h"
#include "output/columns.h"
#include "names/ends.h"
#include "output/fields.h"
#include "session/opa.h"
#include "path/path.h"
#include "output/reason.h"
#include "names/target.h"
#include "options/command.h"
#include "options/shared.h"

enum {
	MOST_PATHS = 127, /* The largest value of the 7-bit field numb_path. */
};

static void cmd_path_details(struct cli *cli)
{
	static const char *const lines[] = {
		"SRC and DST are one of",
		TARGET_LINES,
		"A host's name stands for all its ports. The output has the "
		"paths",
		"between devices with equal names; --pairs all: between all "
		"devices.",
		"FIELD=VALUE restricts the path, as pkey=0x8001 sl=1. The "
		"fields are",
		"those of PathRecord (ibsa query get PathRecord --help), or of",
		"OpaPathRecord if an Omni-Path SA supports it. mtu, rate and",
		"packet_life_time can be compared: 'rate>=100Gb' mtu=4096; or",
		"with a selector: mtu_selector=0 mtu=2048 (0 greater than,",
		"1 less than, 2 exactly, 3 the largest). A rate without a unit "
		"is a code:",
		"rate>=10 is 120 Gb/s or more, rate>=10Gb 10 Gb/s or more",
		"Without a path, a message tells why. --why adds a row for "
		"each such",
		"pair, with the reason.",
		"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		out_line(&cli->out, "%s", lines[i]);
}

/*
 * Assert that a field has one component mask bit in both layouts, because the
 * code uses one mask for both.
 */
#define SAME_BIT(field) \
	_Static_assert(IBSA_PATH_CM(field) == IBSA_OPA_PATH_CM(field), #field)
SAME_BIT(sgid);
SAME_BIT(dgid);
SAME_BIT(slid);
SAME_BIT(dlid);
SAME_BIT(reversible);
SAME_BIT(numb_path);

/*
 * Make room for a row; the caller counts it when it is complete. Return: the
 * row; NULL if memory is short.
 */
static struct row *row_add(struct rows *rows)
{
	struct row *all = reallocarray(rows->all, rows->count + 1,
				       sizeof(*all));

	if (!all)
		return NULL;
	rows->all = all;
	all[rows->count] = (struct row){ .src = rows->src, .dst = rows->dst };
	return &all[rows->count];
}

/*
 * Return: the first selector on the command line that the returned path does
 * not meet, because the SA orders rates in another way; NULL: the path meets
 * all selectors.
 */
static const char *selector_unmet(const struct cli *cli,
				  const struct rows *rows,
				  const union fields_host *host)
{
	for (int i = 3; i < cli->arg_count; i++)
		if (!ibsa__selector_is_met(rows->record, cli->args[i],
					   rows->match, host))
			return cli->args[i];
	return NULL;
}

static int rows_add(struct cli *cli, const struct ibsa_reply *reply, void *arg)
{
	struct rows *rows = arg;

	for (size_t i = 0; i < reply->count; i++) {
		struct row *row = row_add(rows);
		const char *unmet;

		if (!row)
			return no_memory();
		if (ibsa_reply_decode(reply, i, &row->host,
				      sizeof(row->host)) != 0)
			continue;
		unmet = selector_unmet(cli, rows, &row->host);
		if (unmet) {
			rows->unmet = unmet;
			rows->unmet_host = row->host;
		}
		rows->count += !unmet;
	}
	return CLI_DONE;
}

/*
 * Replace the LIDs of both ends by GIDs, if one of them does not fit the
 * InfiniBand layout. Source: Linux, sa_convert_path_opa_to_ib().
 */
static int ends_to_gids(struct cli *cli, struct ends ends[2])
{
	struct ibsa_gid own;
	bool is_long = false;
	int status;

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < ends[i].count; k++)
			is_long |= ends[i].all[k].lid > IBSA_LID_UNICAST_MAX;
	if (!is_long)
		return CLI_DONE;
	status = own_gid_get(cli, &own);
	for (int i = 0; i < 2 && status == CLI_DONE; i++) {
		for (size_t k = 0; k < ends[i].count; k++) {
			struct end *end = &ends[i].all[k];

			if (!end->lid)
				continue;
			end->gid = opa_gid_of_lid(&own, end->lid);
			end->lid = 0;
		}
	}
	return status;
}

static void put_ends(struct form *form, const struct end *src,
		     const struct end *dst)
{
	if (form->record == &ibsa_opa_path_record) {
		form->match.opa_path.slid = src->lid;
		form->match.opa_path.sgid = src->gid;
		form->match.opa_path.dlid = dst->lid;
		form->match.opa_path.dgid = dst->gid;
	} else {
		form->match.path.slid = (uint16_t)src->lid;
		form->match.path.sgid = src->gid;
		form->match.path.dlid = (uint16_t)dst->lid;
		form->match.path.dgid = dst->gid;
	}
}

enum { END_TEXT = IBSA_VALUE_TEXT + sizeof(" port 4294967295") };

/*
 * Return: the text of an end of the path, such as its name or GID, for a
 * message.
 */
static const char *end_text(const struct end *end, const char *argument,
			    char out[END_TEXT])
{
	char text[IBSA_VALUE_TEXT];

	fields_clean(end->node[0] ? end->node : argument, text);
	if (end->port)
		snprintf(out, END_TEXT, "%s port %u", text, end->port);
	else
		snprintf(out, END_TEXT, "%s", text);
	return out;
}

static uint64_t pair_mask(const struct form *form, const struct end *src,
			  const struct end *dst)
{
	return form->mask.all | IBSA_PATH_CM(reversible) |
	       IBSA_PATH_CM(numb_path) |
	       (src->lid ? IBSA_PATH_CM(slid) : IBSA_PATH_CM(sgid)) |
	       (dst->lid ? IBSA_PATH_CM(dlid) : IBSA_PATH_CM(dgid));
}

/*
 * Add a row for a pair without a path, with the fields of the query. Return:
 * the exit status.
 */
static int rows_add_missing(struct rows *rows, const struct form *pair,
			    const struct ibsa_reason *reason)
{
	struct row *row = row_add(rows);

	if (row)
		row->reason = malloc(sizeof(*row->reason));
	if (!row || !row->reason)
		return no_memory();
	row->host = pair->match;
	*row->reason = *reason;
	rows->count++;
	return CLI_NO;
}

/* Add a row for a name that no node has; the message is already printed. */
static int rows_add_unnamed(struct cli *cli, struct rows *rows,
			    const struct form *form, const struct ends ends[2],
			    const char *name)
{
	static const struct end unknown;
	struct ibsa_reason reason = {
		.code = IBSA_REASON_NO_NAME,
		.is_certain = nodes_are_shown(cli),
	};
	char words[REASON_CELL_TEXT];
	char text[IBSA_VALUE_TEXT];
	struct form pair = *form;

	rows->src = ends[0].count ? &ends[0].all[0] : &unknown;
	rows->dst = &unknown;
	put_ends(&pair, rows->src, rows->dst);
	snprintf(reason.detail, sizeof(reason.detail), "%s: %.64s: %s",
		 reason_words(reason.code, reason.is_certain, words),
		 fields_clean(name, text), REASON_NO_NAME_TEXT);
	return rows_add_missing(rows, &pair, &reason);
}

/*
 * If this port is down, add a row with this reason: without an active port, no
 * query is answered. Return: CLI_SILENT, also if the port is not down, because
 * the SA did not answer; CLI_DEVICE: memory is short.
 */
static int rows_add_down(struct cli *cli, struct rows *rows,
			 const struct form *form)
{
	static const struct end unknown;
	struct ibsa_path own = { .reversible = 1 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &own,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid),
	};
	struct ibsa_port_state port;
	struct ibsa_reason reason;

	if (!cli->client || ibsa_port_get(cli->client, true, &port) != 0)
		return CLI_SILENT;
	own.sgid = own.dgid = port.gid;
	/* For a path to this port itself, no query is sent. */
	if (ibsa_reason_wait(cli->client, &query, &reason) != 0 ||
	    reason.code != IBSA_REASON_THIS_PORT_DOWN)
		return CLI_SILENT;
	if (!rows->src)
		rows->src = rows->dst = &unknown;
	return rows_add_missing(rows, form, &reason) == CLI_NO ? CLI_SILENT
							       : CLI_DEVICE;
}

/*
 * Return: the first comparison on the command line for the field @name, or
 * NULL.
 */
static const char *comparison_find(const struct cli *cli,
				   const struct rows *rows, const char *name)
{
	for (int i = 3; name && i < cli->arg_count; i++) {
		const char *text = cli->args[i];
		unsigned int index;
		const struct ibsa_field *field = fields_find(rows->record, text,
							     &index);

		if (field && text[fields_name_len(text)] != '=' &&
		    strcmp(field->name, name) == 0)
			return text;
	}
	return NULL;
}

/*
 * Write the rate of a comparison with a bare number, which is a code, such as
 * " (120Gb/s)" for rate>=10; "" for all others.
 */
static void rate_code_text(const char *selector, char out[IBSA_VALUE_TEXT])
{
	unsigned int index;
	const struct ibsa_field *field = fields_find(&ibsa_path_record,
						     selector, &index);
	const char *value = selector + fields_name_len(selector);
	char rate[IBSA_VALUE_TEXT - sizeof(" ()")];
	struct ibsa_path path = { .rate = 0 };
	uint64_t code;

	out[0] = '\0';
	value += strspn(value, "<>=");
	if (!field || strcmp(field->name, "rate") != 0 ||
	    ibsa_number_parse(value, 6, &code) != 0)
		return;
	path.rate = (uint8_t)code;
	if (ibsa_field_format(field, index, &path, rate, sizeof(rate)) > 0)
		snprintf(out, IBSA_VALUE_TEXT, " (%s)", rate);
}

/*
 * Set the reason: no path meets a selector. @end: the last part of the reason's
 * sentence, which begins with "; " and may be in the memory of @reason->detail.
 */
static void constraint_set(struct ibsa_reason *reason, bool is_certain,
			   const char *selector, const char *end)
{
	char rest[IBSA_REASON_TEXT];
	char text[IBSA_VALUE_TEXT];
	char words[REASON_CELL_TEXT];
	char rate[IBSA_VALUE_TEXT];

	rate_code_text(selector, rate);
	reason->code = IBSA_REASON_CONSTRAINT;
	reason->is_certain = is_certain;
	snprintf(rest, sizeof(rest), "%s", end);
	snprintf(reason->detail, sizeof(reason->detail), "%s: %.64s%.24s%.120s",
		 reason_words(IBSA_REASON_CONSTRAINT, is_certain, words),
		 fields_clean(selector, text), rate, rest);
}

/*
 * The SA returned a path that does not meet a selector: state this selector as
 * the reason. For a selector with '<' or '<=', the reason is not certain: the
 * SA can lower the value of a path, so that the SA may have a path with another
 * value.
 */
static void unmet_explain(const struct rows *rows, struct ibsa_reason *reason)
{
	char value[IBSA_VALUE_TEXT] = "";
	char end[128];
	unsigned int index;
	const struct ibsa_field *field = fields_find(rows->record, rows->unmet,
						     &index);

	(void)!ibsa_field_format(field, index, &rows->unmet_host, value,
				 sizeof(value));
	snprintf(end, sizeof(end), "; the SA returned a path with %s %.40s",
		 field->name, value);
	constraint_set(reason, rows->unmet[fields_name_len(rows->unmet)] != '<',
		       rows->unmet, end);
}

static void reason_find(struct cli *cli, const struct ibsa_query *query,
			const struct rows *rows, struct ibsa_reason *reason)
{
	struct ibsa_stats before;
	const char *comparison;
	const char *end;

	if (query->record != &ibsa_path_record) {
		snprintf(reason->detail, sizeof(reason->detail),
			 "the reason is not searched for an OpaPathRecord");
		return;
	}
	ibsa_stats_get(cli->client, &before);
	(void)!ibsa_reason_wait(cli->client, query, reason);
	queries_print(cli, "reason", &before);
	comparison = comparison_find(cli, rows, reason->constraint);
	end = strchr(reason->detail, ';');
	if (comparison && end)
		constraint_set(reason, true, comparison, end);
}

/*
 * Find out why the SA returned no path between two ports, or only a path that
 * does not meet a selector, and print the reason. The library does not have reasons
 * for Omni-Path's PathRecords.
 */
static int missing_explain(struct cli *cli, const struct ibsa_query *query,
			   const struct form *pair, struct rows *rows)
{
	struct ibsa_reason reason = { .code = IBSA_REASON_NONE };
	char from[END_TEXT], to[END_TEXT];

	if (rows->unmet)
		unmet_explain(rows, &reason);
	else
		reason_find(cli, query, rows, &reason);
	complain("no path from %s to %s%s%s",
		 end_text(rows->src, cli->args[1], from),
		 end_text(rows->dst, cli->args[2], to),
		 reason.detail[0] ? ": " : "", reason.detail);
	return path_own(cli)->why ? rows_add_missing(rows, pair, &reason)
				  : CLI_NO;
}

/* Query the path between one pair of ports. */
static int pair_query(struct cli *cli, const struct form *form,
		      const struct end *src, const struct end *dst,
		      struct rows *rows)
{
	struct form pair = *form;
	const struct ibsa_query query = {
		.record = form->record,
		.match = &pair.match,
		.mask = pair_mask(form, src, dst),
		.method = path_own(cli)->all ? IBSA_METHOD_GET_TABLE
					     : IBSA_METHOD_GET,
	};
	const size_t before = rows->count;
	int status;

	rows->src = src;
	rows->dst = dst;
	rows->match = &form->match;
	rows->unmet = NULL;
	put_ends(&pair, src, dst);
	status = query_wait(cli, &query, rows_add, rows);
	if (status == CLI_DONE && rows->unmet && rows->count == before)
		status = CLI_NO;
	return status == CLI_NO ? missing_explain(cli, &query, &pair, rows)
				: status;
}

/*
 * Query the paths between all pairs of ports; continue after a pair without a
 * path.
 */
static int pairs_query(struct cli *cli, const struct form *form,
		       const struct ends_pairs *pairs, struct rows *rows)
{
	int worst = CLI_DONE;

	for (size_t i = 0; i < pairs->src->count; i++) {
		for (size_t k = 0; k < pairs->dst->count; k++) {
			const struct end *src = &pairs->src->all[i];
			const struct end *dst = &pairs->dst->all[k];
			int status;

			if (!ends_has_pair(pairs, src, dst))
				continue;
			status = pair_query(cli, form, src, dst, rows);
			if (status == CLI_NO)
				worst = CLI_NO;
			else if (status != CLI_DONE)
				return status;
		}
	}
	return worst;
}

static int paths_query(struct cli *cli, const struct path_query *path_query,
		       const struct form *form)
{
	struct rows rows = {
		.record = form->record,
		.is_opa = path_query->is_opa,
		.has_reasons = path_own(cli)->why,
	};
	struct ends ends[2] = { { .count = 0 } };
	struct ends_pairs pairs;
	int status = CLI_DONE;

	for (int i = 0; i < 2 && status == CLI_DONE; i++)
		status = ends_find(cli, &path_query->ends[i], &ends[i]);
	if (status == CLI_NO && path_own(cli)->why)
		status = rows_add_unnamed(cli, &rows, form, ends,
					  cli->args[1 + (ends[0].count > 0)]);
	if (status == CLI_DONE && path_query->is_opa &&
	    form->record == &ibsa_path_record)
		status = ends_to_gids(cli, ends);
	if (status == CLI_DONE) {
		pairs = ends_pair(&ends[0], &ends[1], path_own(cli)->all_pairs);
		rows.has_devices = ends[0].count > 1 || ends[1].count > 1;
		status = pairs_query(cli, form, &pairs, &rows);
	}
	if (status == CLI_SILENT && path_own(cli)->why)
		status = rows_add_down(cli, &rows, form);
	if (status == CLI_DONE || status == CLI_NO ||
	    (status == CLI_SILENT && rows.count))
		out_rows(&cli->out, rows.count, path_row, &rows);
	for (size_t i = 0; i < rows.count; i++)
		free(rows.all[i].reason);
	free(rows.all);
	ends_free(&ends[0]);
	ends_free(&ends[1]);
	return status;
}

static const struct columns *path_columns(const struct cli *cli,
					  const struct form *form)
{
	if (form->record == &ibsa_opa_path_record)
		return path_own(cli)->why ? &columns_path_opa_why
					  : &columns_path_opa;
	return path_own(cli)->why ? &columns_path_why : &columns_path;
}

static int cmd_path(struct cli *cli)
{
	const uint8_t paths = path_own(cli)->all ? MOST_PATHS : 1;
	struct path_query path_query = {
		.ib = {
			.record = &ibsa_path_record,
			.match.path = { .reversible = 1, .numb_path = paths },
		},
		.opa = {
			.record = &ibsa_opa_path_record,
			.match.opa_path = { .reversible = 1,
					    .numb_path = paths },
		},
	};
	struct form *form = NULL;
	int status = path_arguments_parse(cli, &path_query);

	if (status == CLI_DONE)
		status = path_form_choose(cli, &path_query, &form);
	if (status == CLI_DONE)
		status = columns_use(cli, path_columns(cli, form));
	if (status == CLI_DONE)
		status = paths_query(cli, &path_query, form);
	return status;
}

static int pairs_option(void *to, const char *value)
{
	struct path_options *options = to;

	if (strcmp(value, "all") != 0)
		return fail_usage(
			"--pairs: unknown value '%s'; the only value is all",
			value);
	options->all_pairs = true;
	return CLI_DONE;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_ALL("all paths, between all ports of two hosts",
		   struct path_options, all),
	{ 0, "pairs", "all", "path: all pairs of ports of two hosts",
	  pairs_option },
	OPTION_WHY(struct path_options, why),
};

static const struct option_table table =
	OPTION_TABLE(rows, struct path_options);

const struct command command_path = {
	.name = "path",
	.arguments = "SRC DST [FIELD=VALUE...]",
	.help = "show the path from one port to another",
	.options = &table,
	.groups = GROUP_ALL | GROUP_RECORD,
	.columns = (const struct columns *const[]){
		&columns_path, &columns_path_opa,
		&columns_path_opa_why, &columns_path_why, NULL,
	},
	.run = cmd_path,
	.details = cmd_path_details,
};
/* clang-format on */
