/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of columns. */
#include <stdlib.h>
#include <string.h>

#include <ibsa/event.h>

#include "base/list.h"
#include "output/codes.h"
#include "output/column_table.h"
#include "output/env_libraries.h"
#include "output/reason.h"
#include "output/columns.h"

#define COLUMNS(object, name) \
	const struct columns columns_##object = COLUMN_TABLE(name, object)
#define STREAM(object, name) \
	const struct columns columns_##object = COLUMN_STREAM(name, object)

/* clang-format off */

/*
 * Lists of words, each after a '|', from the tables that the values are from.
 */
#define FINDING_WORD(kind, name, severity) "|" name
#define FINDING_WORDS IBSA_FINDINGS(FINDING_WORD)
#define REASON_WORD(name, text) "|" text "|possibly " text
#define REASON_WORDS IBSA_REASONS(REASON_WORD)

#define CODE_WORD(name, text) "|" text
#define CODE_WORDS REASON_CODES(CODE_WORD)

/*
 * Column "reason" of ibsa reach: one of these words if "reach" is "no"; an
 * error text if it is "unknown".
 */
#define NO_REASON                                             \
	{                                                     \
		.name = "reason", .kind = COLUMN_TEXT,        \
		.can_be_none = true,                          \
		.words_of_no = "no path" REASON_WORDS,        \
	}

/* Column "reason_code" of ibsa reach: codes of reasons, and of failures. */
#define REACH_CODE                                                     \
	MAYBE_WORDS("reason_code",                                     \
		    "no-path|no-answer|not-sent|no-sm|malformed|"      \
		    "interrupted|no-gid|busy|refused|error" CODE_WORDS)

#define EVENT_WORD(name, bit, trap, producers, text) "|" text
#define EVENT_WORDS \
	IBSA_EVENT_KINDS(EVENT_WORD) "|subscribed|lost|failed|refused|gap|ended"
#define VARIABLE_WORD(name, devices, prefix, gid_index, pkey, is_index, sl, \
		      traffic_class)                                        \
	"|" devices "|" gid_index "|" pkey "|" sl "|" traffic_class
#define VARIABLE_WORDS ENV_LIBRARIES(VARIABLE_WORD) "|NCCL_CROSS_NIC"
#define WIDTH_WORDS "1x|2x|4x|8x|12x"
#define SPEED_WORDS "SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR"

static const struct column check[] = {
	WORDS("finding", FINDING_WORDS),
	WORDS("severity", "warning|critical"),
	MAYBE("node_guid", GUID),
	MAYBE("port", NUMBER),
	ALWAYS("what", TEXT),
};

static const struct column check_node[] = {
	WORDS("finding", FINDING_WORDS),
	WORDS("severity", "warning|critical"),
	MAYBE("device", TEXT),
	MAYBE("port", NUMBER),
	MAYBE("peer", TEXT),
	ALWAYS("what", TEXT),
};

static const struct column devices[] = {
	ALWAYS("device", TEXT),
	MAYBE("port", NUMBER),
	FIELD("state", port_info, "port_state"),
	MAYBE("lid", NUMBER),
	MAYBE("sm_lid", NUMBER),
	MAYBE("rate", RATE),
	MAYBE("rate_gbps", DECIMAL),
	MAYBE("guid", GUID),
	MAYBE("gid", GID),
	FIELD("phys_state", port_info, "port_physical_state"),
	MAYBE("lmc", NUMBER),
	MAYBE("sm_sl", NUMBER),
	MAYBE("link_layer", TEXT),
	MAYBE("umad", TEXT),
	MAYBE("node_guid", GUID),
	MAYBE("system_image_guid", GUID),
	MAYBE("firmware", TEXT),
	MAYBE("board", TEXT),
	MAYBE_WORDS("role", "compute|storage|management|uncabled"),
	MAYBE("note", TEXT),
};

static const struct column doctor[] = {
	WORDS("name", "modules|umad|device|node|issm|port|sm|sa|sm_key|"
		      "default"),
	MAYBE("device", TEXT),
	MAYBE("port", NUMBER),
	WORDS("verdict", "ok|wrong|warning|not checked"),
	ALWAYS("detail", TEXT),
	MAYBE("advice", TEXT),
};

static const struct column env[] = {
	WORDS("variable", VARIABLE_WORDS),
	MAYBE("value", TEXT),
	ALWAYS("reason", TEXT),
};

static const struct column fabric_run[] = {
	WORDS("event", "ready"),
	ALWAYS("fabric", TEXT),
	ALWAYS("file", TEXT),
	ALWAYS("adapters", NUMBER),
	ALWAYS("switches", NUMBER),
	ALWAYS("links", NUMBER),
};

static const struct column fabric_serve[] = {
	WORDS("event", "ready"),
	ALWAYS("device", TEXT),
	ALWAYS("port", NUMBER),
	ALWAYS("gid", GID),
	ALWAYS("lid", NUMBER),
};

#define GID_COLUMNS			\
	ALWAYS("device", TEXT),		\
	ALWAYS("port", NUMBER),		\
	ALWAYS("index", NUMBER),	\
	MAYBE("gid", GID),		\
	MAYBE("ipv4", IPV4),		\
	MAYBE_WORDS("type", "IB|RoCE v1|RoCE v2|?"), \
	MAYBE("netdev", TEXT)

static const struct column fabric_stats[] = {
	ALWAYS("clients", NUMBER),
	ALWAYS("accepted", NUMBER),
	ALWAYS("disconnected", NUMBER),
	ALWAYS("packets_in", NUMBER),
	ALWAYS("packets_out", NUMBER),
	ALWAYS("packets_refused", NUMBER),
	ALWAYS("requests", NUMBER),
	ALWAYS("answers", NUMBER),
	ALWAYS("unanswered", NUMBER),
	ALWAYS("most_in_flight", NUMBER),
	ALWAYS("reports", NUMBER),
	ALWAYS("reports_unanswered", NUMBER),
	ALWAYS("drops_no_route", NUMBER),
	ALWAYS("drops_port_down", NUMBER),
	ALWAYS("drops_no_lid", NUMBER),
	ALWAYS("drops_hop_limit", NUMBER),
	ALWAYS("drops_no_agent", NUMBER),
	ALWAYS("drops_pkey", NUMBER),
	ALWAYS("drops_queue_full", NUMBER),
	ALWAYS("faults_lose", NUMBER),
	ALWAYS("faults_delay", NUMBER),
	ALWAYS("faults_duplicate", NUMBER),
	ALWAYS("faults_reorder", NUMBER),
	ALWAYS("faults_corrupt", NUMBER),
	ALWAYS("faults_busy", NUMBER),
	ALWAYS("faults_silence", NUMBER),
	ALWAYS("faults_redirect", NUMBER),
};

static const struct column gids[] = {
	GID_COLUMNS,
	MAYBE("note", TEXT),
};

static const struct column gids_for[] = {
	GID_COLUMNS,
	WORDS("fit", "chosen|unreadable|empty|port-down|other-family|"
		     "link-local|roce-v1|farther|later"),
	ALWAYS("why", TEXT),
};

/*
 * Columns of ibsa path: in a row without a path, only the fields of its two
 * ports, the reason and the details have values.
 */
#define PATH_REASON					\
	MAYBE("src_device", TEXT),			\
	MAYBE("dst_device", TEXT),			\
	MAYBE_WORDS("reason", REASON_WORDS),		\
	MAYBE_WORDS("reason_code", CODE_WORDS),		\
	MAYBE("detail", TEXT)

static const struct column path[] = {
	{ .kind = COLUMN_RECORD, .record = &ibsa_path_record,
	  .has_long_lids = true, .can_be_none = true },
	PATH_REASON,
};

static const struct column path_opa[] = {
	{ .kind = COLUMN_RECORD, .record = &ibsa_opa_path_record,
	  .can_be_none = true },
	PATH_REASON,
};

static const struct column reach[] = {
	WORDS("reach", "yes|no|unknown"),
	ALWAYS("target", TEXT),
	MAYBE("gid", GID),
	MAYBE("node", TEXT),
	NO_REASON,
	REACH_CODE,
	MAYBE("detail", TEXT),
	ALWAYS("status", NUMBER),
	ALWAYS("tries", NUMBER),
	ALWAYS("rtt_us", NUMBER),
};

static const struct column reach_matrix[] = {
	WORDS("reach", "yes|no|unknown"),
	ALWAYS("from", GID),
	MAYBE("from_host", TEXT),
	MAYBE("from_node", TEXT),
	ALWAYS("to", GID),
	MAYBE("to_host", TEXT),
	MAYBE("to_node", TEXT),
	NO_REASON,
	REACH_CODE,
	MAYBE("detail", TEXT),
	ALWAYS("status", NUMBER),
};

static const struct column service[] = {
	RECORD(service),
};

static const struct column service_renew[] = {
	ALWAYS("time", TIME),
	WORDS("event", "registered|lost|registered again|replaced|failed|"
		       "refused|removed|not removed"),
	MAYBE("reason", TEXT),
	ALWAYS("status", NUMBER),
	RECORD(service),
};

static const struct column topology[] = {
	ALWAYS("island", NUMBER),
	ALWAYS("level", NUMBER),
	MAYBE("node", TEXT),
	MAYBE("port", NUMBER),
	MAYBE("peer", TEXT),
	MAYBE("peer_port", NUMBER),
	MAYBE_WORDS("width", WIDTH_WORDS),
	MAYBE_WORDS("speed", SPEED_WORDS),
	FIELD("node_type", node, "node_type"),
	ALWAYS("node_guid", GUID),
	ALWAYS("num_ports", NUMBER),
	MAYBE("port_guid", GUID),
	MAYBE("lid", NUMBER),
	MAYBE("lmc", NUMBER),
	FIELD("peer_node_type", node, "node_type"),
	MAYBE("peer_node_guid", GUID),
	MAYBE("peer_num_ports", NUMBER),
	MAYBE("peer_port_guid", GUID),
	MAYBE("peer_lid", NUMBER),
	MAYBE("peer_lmc", NUMBER),
	FIELD("state", port_info, "port_state"),
	FIELD("mtu", port_info, "neighbor_mtu"),
	FIELD("rate", path, "rate"),
	MAYBE("ends", NUMBER),
};

static const struct column trace[] = {
	ALWAYS("hop", NUMBER),
	MAYBE("node", TEXT),
	ALWAYS("port", NUMBER),
	MAYBE("peer", TEXT),
	MAYBE("peer_port", NUMBER),
	MAYBE_WORDS("width", WIDTH_WORDS),
	MAYBE_WORDS("speed", SPEED_WORDS),
	FIELD("mtu", port_info, "neighbor_mtu"),
	MAYBE("note", TEXT),
	MAYBE("slid", NUMBER),
	ALWAYS("dlid", NUMBER),
	FIELD("rate", path, "rate"),
	ALWAYS("narrowest", NUMBER),
	ALWAYS("node_guid", GUID),
	MAYBE("peer_node_guid", GUID),
	MAYBE("peer_port_guid", GUID),
};

static const struct column watch[] = {
	ALWAYS("time", TIME),
	WORDS("event", EVENT_WORDS),
	ALWAYS("sequence", NUMBER),
	MAYBE("trap", NUMBER),
	MAYBE("gid", GID),
	MAYBE("lid", NUMBER),
	MAYBE("name", TEXT),
	MAYBE("port", NUMBER),
	ALWAYS("audited", NUMBER),
	MAYBE("reason", TEXT),
	ALWAYS("status", NUMBER),
};

/* clang-format on */

COLUMNS(check, "check");
COLUMNS(check_node, "check-node");
COLUMNS(devices, "devices");
COLUMNS(doctor, "doctor");
COLUMNS(env, "env");
STREAM(fabric_run, "fabric-run");
STREAM(fabric_serve, "fabric-serve");
COLUMNS(fabric_stats, "fabric-stats");
COLUMNS(gids, "gids");
COLUMNS(gids_for, "gids-for");
COLUMNS(path, "path");
COLUMNS(path_opa, "path-opa");
COLUMNS(reach, "reach");
COLUMNS(reach_matrix, "reach-matrix");
COLUMNS(service, "service");
STREAM(service_renew, "service-renew");
COLUMNS(topology, "topology");
COLUMNS(trace, "trace");
STREAM(watch, "watch");

struct column column_of_record(const struct ibsa_record *record)
{
	return (struct column){ .kind = COLUMN_RECORD, .record = record };
}

/*
 * Call back for the cells of a field: its value, and the meaning if the value
 * is a code.
 */
static void field_cells(const struct column *column, const char *name,
			const struct ibsa_field *field, cell_type_fn done,
			void *arg)
{
	char meaning[COLUMN_NAME_ROOM + sizeof("_bytes")];
	struct cell_type type = { .name = name,
				  .column = column,
				  .field = field };
	const char *suffix;

	done(&type, arg);
	if (!codes_has_text(field))
		return;
	snprintf(meaning, sizeof(meaning), "%s_text", name);
	type.name = meaning;
	type.is_meaning = true;
	done(&type, arg);
	suffix = codes_quantity_suffix(field);
	if (!suffix)
		return;
	snprintf(meaning, sizeof(meaning), "%s%s", name, suffix);
	type.is_meaning = false;
	type.is_quantity = true;
	done(&type, arg);
}

static void record_cells(const struct column *column, cell_type_fn done,
			 void *arg)
{
	const struct ibsa_record *record = column->record;
	char name[COLUMN_NAME_ROOM];

	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		for (unsigned int k = 0; k < ibsa_field_values(field); k++)
			if (ibsa_field_name_format(field, k, name,
						   sizeof(name)) >= 0)
				field_cells(column, name, field, done, arg);
	}
}

void columns_each(const struct columns *columns, cell_type_fn done, void *arg)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct column *column = &columns->all[i];
		const struct cell_type type = { .name = column->name,
						.column = column };
		unsigned int index;

		if (column->kind == COLUMN_RECORD)
			record_cells(column, done, arg);
		else if (column->kind == COLUMN_FIELD)
			field_cells(column, column->name,
				    ibsa_field_find(column->record,
						    column->field, &index),
				    done, arg);
		else
			done(&type, arg);
	}
}

/* Names of cells, each with a NUL. */
struct names {
	char (*all)[COLUMN_NAME_ROOM];
	size_t count;
	bool failed; /* no memory */
};

static bool names_have(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->all[i], name) == 0)
			return true;
	return false;
}

static void name_add(struct names *names, const char *name)
{
	char *added = list_add(&names->all, &names->count, COLUMN_NAME_ROOM);

	names->failed |= !added;
	if (added)
		snprintf(added, COLUMN_NAME_ROOM, "%s", name);
}

static void cell_add(const struct cell_type *type, void *arg)
{
	name_add(arg, type->name);
}

/* Print the message for an unknown column name, with the list of all names. */
static int unknown_name(const struct names *known, const char *name)
{
	char list[OUT_COLUMNS * COLUMN_NAME_ROOM] = "";
	size_t len = 0;

	for (size_t i = 0; i < known->count && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
					i > 0 ? ", " : "", known->all[i]);
	return fail_usage("--fields: there is no field '%s'; the fields are "
			  "%s",
			  name, list);
}

/* Split the value of --fields into column names. Return: the exit status. */
static int names_choose(const char *text, const struct names *known,
			struct names *out)
{
	char name[COLUMN_NAME_ROOM];

	for (;;) {
		const size_t len = strcspn(text, ",");

		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		if (!names_have(known, name))
			return unknown_name(known, name);
		if (names_have(out, name))
			return fail_usage("--fields: '%s' is given twice",
					  name);
		name_add(out, name);
		if (!text[len])
			return CLI_DONE;
		text += len + 1;
	}
}

static void names_select(struct out *out, const struct names *names)
{
	const char *all[OUT_COLUMNS];

	for (size_t i = 0; i < names->count; i++)
		all[i] = names->all[i];
	out_select(out, all, names->count);
}

int columns_use(struct cli *cli, const struct columns *columns)
{
	struct names known = { .count = 0 };
	struct names chosen = { .count = 0 };
	int status = CLI_DONE;

	if (!cli->output.fields && cli->out.shape != OUT_CSV)
		return CLI_DONE;
	columns_each(columns, cell_add, &known);
	if (cli->output.fields)
		status = names_choose(cli->output.fields, &known, &chosen);
	if (known.failed || chosen.failed) {
		status = no_memory();
	}
	if (status == CLI_DONE)
		names_select(&cli->out, cli->output.fields ? &chosen : &known);
	free(known.all);
	free(chosen.all);
	return status;
}
