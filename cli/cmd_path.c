/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa path: the path records between two ports. */
#include <ibsa/text.h>

#include "ask.h"
#include "cli.h"
#include "fields.h"
#include "nodes.h"
#include "target.h"

enum { MOST_PATHS = 127 }; /* all that seven bits can ask for */

void cmd_path_details(struct cli *cli)
{
	static const char *const lines[] = {
		"SRC and DST are each one of",
		TARGET_LINES,
		"FIELD=VALUE narrows the path: pkey=0x8001 sl=1; fields are",
		"those of the PathRecord: ibsa query get PathRecord --help.",
		"mtu, rate and packet_life_time count with their selector only:",
		"mtu_selector=2 mtu=4096 (0 more, 1 less, 2 exactly, 3 the most)",
		"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		out_line(&cli->out, "%s", lines[i]);
}

/* Packet life time: 4.096 us times a power of two. IBA vol 1, 15.2.5.16. */
static void life_time(struct out *out, const struct ibsa_path *path)
{
	double us = 4.096 * (double)(UINT64_C(1) << path->packet_life_time);
	char text[32];

	if (us < 1e3)
		snprintf(text, sizeof(text), "%.3gus", us);
	else if (us < 1e6)
		snprintf(text, sizeof(text), "%.3gms", us / 1e3);
	else
		snprintf(text, sizeof(text), "%.3gs", us / 1e6);
	out_number(out, "lifetime", path->packet_life_time, text);
}

static void path_row(struct out *out, size_t index, void *arg)
{
	static const char *const before[] = { "slid", "dlid", "mtu",
					      "rate", "sl",   "pkey" };
	const struct ibsa_record *record = &ibsa_path_record;
	struct ibsa_path path;

	if (out->shape != OUT_TABLE) {
		fields_row(out, index, arg);
		return;
	}
	if (ibsa_reply_decode(arg, index, &path) != 0)
		return;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		fields_named(out, record, before[i], &path);
	life_time(out, &path);
	fields_named(out, record, "sgid", &path);
	fields_named(out, record, "dgid", &path);
}

static int show(struct cli *cli, const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_reply rows = *reply;

	(void)arg;
	out_rows(&cli->out, rows.count, path_row, &rows);
	return CLI_DONE;
}

/* What a target is in a PathRecord: a GID, or else a LID. */
struct end {
	struct ibsa_gid gid;
	uint16_t lid;
};

static int resolve_guid(struct cli *cli, uint64_t guid, struct end *out)
{
	struct ibsa_gid own;
	int status = ask_own_gid(cli, &own);

	if (status == CLI_DONE)
		out->gid = fields_guid_gid(&own, guid);
	return status;
}

static int resolve(struct cli *cli, const struct target *target,
		   struct end *out)
{
	struct ibsa_node node;
	int status;

	switch (target->kind) {
	case TARGET_SELF:
		return ask_own_gid(cli, &out->gid);
	case TARGET_GID:
		out->gid = target->gid;
		return CLI_DONE;
	case TARGET_LID:
		out->lid = target->lid;
		return CLI_DONE;
	case TARGET_NAME:
		status = nodes_find(cli, "", target->name, &node);
		return status ? status : resolve_guid(cli, node.port_guid, out);
	default:
		return resolve_guid(cli, target->guid, out);
	}
}

/* The ends of the path into the question, over what a selector said. */
static int set_ends(struct cli *cli, const struct target ends[2],
		    struct ibsa_path *path, uint64_t *mask)
{
	struct end src = { .lid = 0 };
	struct end dst = { .lid = 0 };
	int status = resolve(cli, &ends[0], &src);

	if (status == CLI_DONE)
		status = resolve(cli, &ends[1], &dst);
	if (status != CLI_DONE)
		return status;
	path->slid = src.lid;
	path->sgid = src.gid;
	path->dlid = dst.lid;
	path->dgid = dst.gid;
	*mask |= src.lid ? IBSA_PATH_CM(slid) : IBSA_PATH_CM(sgid);
	*mask |= dst.lid ? IBSA_PATH_CM(dlid) : IBSA_PATH_CM(dgid);
	return CLI_DONE;
}

static int parse_arguments(struct cli *cli, struct target ends[2],
			   struct ibsa_path *path, uint64_t *mask)
{
	const uint64_t taken = IBSA_PATH_CM(slid) | IBSA_PATH_CM(sgid) |
			       IBSA_PATH_CM(dlid) | IBSA_PATH_CM(dgid);
	struct ibsa_error error;
	int err = 0;

	if (cli->arg_count < 3) {
		complain("path needs SRC and DST; see ibsa path --help");
		return CLI_USAGE;
	}
	for (int i = 1; i < cli->arg_count && !err; i++)
		err = i <= 2 ? target_parse(cli->args[i], &ends[i - 1], &error)
			     : fields_select(&ibsa_path_record, cli->args[i],
					     path, mask, &error);
	if (err) {
		complain("%s", error.text);
		return CLI_USAGE;
	}
	if (*mask & taken) {
		complain("SRC and DST already say where the path goes; leave "
			 "out slid, sgid, dlid and dgid");
		return CLI_USAGE;
	}
	return CLI_DONE;
}

static int ask_path(struct cli *cli, struct ibsa_query *query)
{
	int status;

	query->mask |= IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path);
	status = ask(cli, query, show, NULL);
	if (status == CLI_NO)
		complain("no path from %s to %s", cli->args[1], cli->args[2]);
	return status;
}

int cmd_path(struct cli *cli)
{
	struct target ends[2] = { { .name = NULL } };
	struct ibsa_path path = {
		.reversible = 1,
		.numb_path = cli->all ? MOST_PATHS : 1,
	};
	struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &path,
		.method = cli->all ? IBSA_METHOD_GET_TABLE : IBSA_METHOD_GET,
	};
	int status = parse_arguments(cli, ends, &path, &query.mask);

	if (status == CLI_DONE)
		status = set_ends(cli, ends, &path, &query.mask);
	if (status == CLI_DONE)
		status = ask_path(cli, &query);
	if (status == CLI_NO)
		out_rows(&cli->out, 0, path_row, NULL);
	return status;
}
