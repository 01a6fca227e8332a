/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa path: rows of pairs without a path, and the reasons. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "output/reason.h"
#include "path/path.h"
#include "session/query_wait.h"

struct row *path_row_add(struct rows *rows)
{
	struct row *row = list_add(&rows->all, &rows->count, sizeof(*row));

	if (row)
		*row = (struct row){ .src = rows->src, .dst = rows->dst };
	return row;
}

void path_put_ends(struct form *form, const struct end *src,
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

/*
 * Add a row for a pair without a path, with the fields of the query. Return:
 * the exit status.
 */
int path_add_missing(struct rows *rows, const struct form *pair,
		     const struct ibsa_reason *reason)
{
	struct row *row = path_row_add(rows);

	if (row)
		row->reason = malloc(sizeof(*row->reason));
	if (!row || !row->reason)
		return no_memory();
	row->host = pair->match;
	*row->reason = *reason;
	rows->missing++;
	return CLI_NO;
}

/* Add a row for a name that no node has; the message is already printed. */
int path_add_unnamed(struct cli *cli, struct rows *rows,
		     const struct form *form, const struct ends ends[2],
		     const char *name)
{
	static const struct end unknown;
	struct ibsa_reason reason = {
		.code = IBSA_REASON_NO_NAME,
		.is_certain = nodes_are_shown(cli->client),
	};
	char words[REASON_CELL_TEXT];
	char text[IBSA_VALUE_TEXT];
	struct form pair = *form;

	rows->src = ends[0].count ? &ends[0].all[0] : &unknown;
	rows->dst = &unknown;
	path_put_ends(&pair, rows->src, rows->dst);
	snprintf(reason.detail, sizeof(reason.detail), "%s: %.64s: %s",
		 reason_words(reason.code, reason.is_certain, words),
		 fields_clean(name, text), REASON_NO_NAME_TEXT);
	return path_add_missing(rows, &pair, &reason);
}

/*
 * The SA did not answer: if the reason is that this port is down, add a row
 * with this reason. Return: CLI_SILENT, also without a row; CLI_DEVICE: out of
 * memory.
 */
int path_add_down(struct cli *cli, struct rows *rows, const struct form *form)
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
	return path_add_missing(rows, form, &reason) == CLI_NO ? CLI_SILENT
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
 * does not meet a selector, and print the reason. The library does not have
 * reasons for Omni-Path's PathRecords.
 */
int path_missing_explain(struct cli *cli, const struct ibsa_query *query,
			 const struct form *pair, struct rows *rows)
{
	struct ibsa_reason reason = { .code = IBSA_REASON_NONE };
	char from[END_TEXT], to[END_TEXT];

	if (rows->unmet)
		unmet_explain(rows, &reason);
	else if (rows->failures++ < REASONS_MAX)
		reason_find(cli, query, rows, &reason);
	complain("no path from %s to %s%s%s",
		 end_text(rows->src, cli->args[1], from),
		 end_text(rows->dst, cli->args[2], to),
		 reason.detail[0] ? ": " : "", reason.detail);
	return path_add_missing(rows, pair, &reason);
}
