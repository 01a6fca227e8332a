/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa query: sends a request for any record, with any of its fields. */
#include <stdio.h>
#include <string.h>

#include "common/selector.h"
#include "session/own_port.h"
#include "session/query_wait.h"
#include "common/nearest.h"
#include "output/fields.h"
#include "session/multi_path.h"
#include "options/command.h"
#include "query/query.h"

static const struct method {
	const char *name;
	uint8_t method;
} methods[] = {
	{ "get", IBSA_METHOD_GET },	    { "table", IBSA_METHOD_GET_TABLE },
	{ "multi", IBSA_METHOD_GET_MULTI }, { "set", IBSA_METHOD_SET },
	{ "delete", IBSA_METHOD_DELETE },
};

static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

static void record_row(struct out *out, size_t index, void *arg)
{
	const struct ibsa_record *record = ibsa_record_at((unsigned int)index);

	(void)arg;
	out_text(out, "record", record->name);
	out_text(out, "short", record->short_name);
	out_hex16(out, "attribute", record->attribute);
}

static const char *show_text(const struct ibsa_field *field)
{
	static const char *const names[] = {
		[IBSA_SHOW_dec] = "number",
		[IBSA_SHOW_hex] = "hex number",
		[IBSA_SHOW_gid] = "GID",
		[IBSA_SHOW_guid] = "GUID",
		[IBSA_SHOW_text] = "text",
		[IBSA_SHOW_blob] = "hex bytes",
		[IBSA_SHOW_mtu] = "MTU in bytes, or its code",
		[IBSA_SHOW_rate] = "rate, as 100Gb/s, or its code",
		[IBSA_SHOW_node_type] = "CA, switch, router, or a number",
		[IBSA_SHOW_port_state] = "state, or a number",
		[IBSA_SHOW_phys_state] = "state, or a number",
		[IBSA_SHOW_lease] = "seconds, or infinite",
		[IBSA_SHOW_sm_state] = "state, or a number",
		[IBSA_SHOW_vl_weight] = "VL and weight, as 3:64",
	};

	if (field->show >= sizeof(names) / sizeof(names[0]))
		return "value";
	return names[field->show];
}

static void field_row(struct out *out, size_t index, void *arg)
{
	const struct ibsa_record *record = arg;
	const struct ibsa_field *field = &record->fields[index];
	unsigned int values = ibsa_field_values(field);
	unsigned int bits = values > 1
				    ? field->nbits
				    : (unsigned int)field->nbits * field->count;
	char text[64];

	snprintf(text, sizeof(text), values > 1 ? "%s_1 to _%u" : "%s",
		 field->name, values);
	out_text(out, "field", text);
	out_count(out, "bits", bits);
	out_text(out, "matches",
		 ibsa_field_cm(field, 0)      ? "yes"
		 : field->cm == IBSA_UNMASKED ? "sent"
					      : "no");
	out_text(out, "value", show_text(field));
}

static int wrong(const char *what, const char *argument)
{
	return fail_usage("unknown %s '%s'; see ibsa query --help", what,
			  argument);
}

static int wrong_record(const char *name)
{
	struct nearest nearest = ibsa__nearest_start(name, strlen(name), false);
	const struct ibsa_record *record;

	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++)
		ibsa__nearest_try(&nearest, record->name);
	return nearest.name ? fail_usage("unknown record type '%s'; did you "
					 "mean '%s'?",
					 name, nearest.name)
			    : wrong("record type", name);
}

static int cmd_query_can_help(struct cli *cli)
{
	if (cli->arg_count > 2 && !ibsa_record_find(cli->args[2]))
		return wrong_record(cli->args[2]);
	return CLI_DONE;
}

static void cmd_query_details(struct cli *cli)
{
	const struct ibsa_record *record = NULL;
	unsigned int count = 0;

	out_line(&cli->out, "METHOD is get, table, multi (for "
			    "MultiPathRecord), set or delete.\n");
	if (cli->arg_count > 2)
		record = ibsa_record_find(cli->args[2]);
	if (record) {
		out_line(&cli->out, "fields of %s:", record->name);
		out_rows(&cli->out, record->field_count, field_row,
			 (void *)(uintptr_t)record);
	} else {
		while (ibsa_record_at(count))
			count++;
		out_line(&cli->out, "records, by name or short name:");
		out_rows(&cli->out, count, record_row, NULL);
		out_line(&cli->out, "\nibsa query get RECORD --help lists its "
				    "fields.");
	}
	out_line(&cli->out, "%s", "");
}

/* Whether an argument is for a field that the SA compares by a selector. */
static bool is_comparison(const struct ibsa_query *query, const char *text)
{
	unsigned int index;
	const struct ibsa_field *field = fields_find(query->record, text,
						     &index);

	return query->record == query->record->reply && field &&
	       (field->show == IBSA_SHOW_mtu || field->show == IBSA_SHOW_rate);
}

/*
 * Warn if records do not meet the selector, because the SA orders rates or MTUs
 * in another way. The records are printed nevertheless.
 */
static void unmet_explain(const struct ibsa_query *query,
			  const struct ibsa_reply *reply, const char *selector)
{
	union fields_host host;
	char text[IBSA_VALUE_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < reply->count; i++)
		count += ibsa_reply_decode(reply, i, &host,
					   reply->record->host_size) == 0 &&
			 !ibsa__selector_is_met(query->record, selector,
						query->match, &host);
	if (count)
		complain("%zu of these records %s not meet '%s': the SA orders "
			 "these values in another way, so that other records "
			 "may be missing",
			 count, count == 1 ? "does" : "do",
			 fields_clean(selector, text));
}

static int reply_print(struct cli *cli, const struct ibsa_reply *reply,
		       void *arg)
{
	const struct ibsa_query *query = arg;
	char hidden[160];

	if (out_is_brief(&cli->out) && query->method != IBSA_METHOD_GET_TABLE &&
	    query->method != IBSA_METHOD_GET_MULTI)
		cli->out.shape = OUT_BLOCKS;
	if (out_is_brief(&cli->out) && is_forwarding(reply->record) &&
	    !cli->output.fields)
		return forwarding_print(&cli->out, reply);
	fields_reply(&cli->out, reply);
	if (out_is_brief(&cli->out))
		out_flush(&cli->out);
	if (out_is_brief(&cli->out) && cli->out.err == 0 &&
	    fields_hidden(reply, hidden, sizeof(hidden)))
		complain("the table leaves out fields that are not zero: %s; "
			 "to show them, use -v",
			 hidden);
	for (int i = 3; i < cli->arg_count; i++)
		if (is_comparison(query, cli->args[i]))
			unmet_explain(query, reply, cli->args[i]);
	return CLI_DONE;
}

static int add_field(struct cli *cli, const struct ibsa_record *record,
		     const char *argument, union fields_host *match,
		     struct fields_mask *mask)
{
	struct ibsa_error error;
	char room[ARGUMENT_ROOM];
	const char *text;
	int status = self_replace(cli, record, argument, room, &text);
	int err;

	if (status != CLI_DONE)
		return status;
	if (record == &ibsa_multi_path_record && multi_path_is_end(text))
		err = multi_path_add_end(text, &match->multi_path, &mask->all,
					 &error);
	else
		err = fields_select(record, text, match, mask, &error);
	if (!err)
		return CLI_DONE;
	return fail_usage("%s", error.text);
}

static int parse_arguments(struct cli *cli, struct ibsa_query *query,
			   union fields_host *match)
{
	const struct method *method;
	struct fields_mask mask = { .all = 0 };
	int status = CLI_DONE;

	if (cli->arg_count < 3)
		return fail_usage("query needs get, table, multi, set or "
				  "delete, and a record; see ibsa query "
				  "--help");
	method = find_method(cli->args[1]);
	if (!method)
		return wrong("method", cli->args[1]);
	query->method = method->method;
	query->record = ibsa_record_find(cli->args[2]);
	if (!query->record)
		return wrong_record(cli->args[2]);
	for (int i = 3; i < cli->arg_count && status == CLI_DONE; i++)
		status = add_field(cli, query->record, cli->args[i], match,
				   &mask);
	query->mask = mask.all;
	return status;
}

static int record_columns_use(struct cli *cli, const struct ibsa_record *record)
{
	const struct column column = column_of_record(record);
	const struct columns columns = { "query", &column, 1 };

	return columns_use(cli, &columns);
}

/* Return: a hint for a request to which the SA returned no record. */
static const char *no_record_hint(const struct ibsa_query *query)
{
	const uint64_t lids = IBSA_PORT_INFO_CM(lid) |
			      IBSA_PORT_INFO_CM(endport_lid);

	if (query->record == &ibsa_port_info_record &&
	    (query->mask & lids) == IBSA_PORT_INFO_CM(lid))
		return "; SAs find ports by endport_lid, not by lid: try "
		       "endport_lid=...";
	return "";
}

/* Whether the SA has refused to let a port join a multicast group. */
static bool is_refused_join(const struct ibsa_query *query, int status,
			    const struct cli *cli)
{
	const uint16_t why = cli->silence.status;

	return status == CLI_REFUSED && query->method == IBSA_METHOD_SET &&
	       query->record == &ibsa_mcmember_record &&
	       (why == IBSA_STATUS_REQ_INVALID ||
		why == IBSA_STATUS_REQ_INVALID_GID ||
		why == IBSA_STATUS_REQ_INSUFFICIENT);
}

static int cmd_query(struct cli *cli)
{
	union fields_host match;
	struct ibsa_query query = { .match = &match };
	int status;

	memset(&match, 0, sizeof(match));
	status = parse_arguments(cli, &query, &match);
	if (status == CLI_DONE)
		status = record_columns_use(cli, query.record->reply);
	if (status != CLI_DONE)
		return status;
	status = query_wait(cli, &query, reply_print, &query);
	if (status == CLI_NO) {
		out_rows(&cli->out, 0, NULL, NULL);
		complain("no record matches%s", no_record_hint(&query));
	}
	if (is_refused_join(&query, status, cli))
		join_refusal_explain(cli, &query);
	return status;
}

/* clang-format off */
const struct command command_query = {
	.name = "query",
	.arguments = "METHOD RECORD [FIELD=VALUE...]",
	.help = "send a request for any record, with any fields",
	.groups = GROUP_ALL | GROUP_RECORD,
	.run = cmd_query,
	.details = cmd_query_details,
	.can_help = cmd_query_can_help,
};
/* clang-format on */
