/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa path: prints the path records between two ports. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <ibsa/sa.h>
#include <ibsa/text.h>

#include "query_wait.h"
#include "cli.h"
#include "columns.h"
#include "ends.h"
#include "fields.h"
#include "opa.h"
#include "target.h"

enum {
	MOST_PATHS = 127, /* the largest value of the 7-bit field numb_path */
	WHY_TEXT = IBSA_VALUE_TEXT + 64,
};

void cmd_path_details(struct cli *cli)
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
		"packet_life_time need a selector: mtu_selector=2 mtu=4096",
		"(0 greater than, 1 less than, 2 exactly, 3 the largest)",
		"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		out_line(&cli->out, "%s", lines[i]);
}

/* A query in one of the two PathRecord layouts, InfiniBand or Omni-Path. */
struct form {
	const struct ibsa_record *record;
	union fields_host match;
	uint64_t mask;
	bool is_wrong; /* a field or value is invalid; see @error */
	struct ibsa_error error;
};

/*
 * The command line in both layouts. The port's link layer selects the layout
 * after the port is open.
 */
struct path_query {
	struct target ends[2];
	struct form ib;
	struct form opa;
	bool is_opa; /* the port's link layer is Omni-Path */
};

/* The code uses one component mask for both layouts. */
#define SAME_BIT(field) \
	_Static_assert(IBSA_PATH_CM(field) == IBSA_OPA_PATH_CM(field), #field)
SAME_BIT(sgid);
SAME_BIT(dgid);
SAME_BIT(slid);
SAME_BIT(dlid);
SAME_BIT(reversible);
SAME_BIT(numb_path);

/* A path that the SA returned, and the devices of its two ports. */
struct row {
	const struct end *src;
	const struct end *dst;
	union fields_host host;
};

/* All rows, in the order of the replies. */
struct rows {
	const struct ibsa_record *record;
	bool is_opa;
	bool has_devices; /* the table has columns for devices */
	struct row *all;
	size_t count;
	const struct end *src; /* source of the pair that is being queried */
	const struct end *dst;
};

/*
 * An Omni-Path LID that does not fit the 16 bits of the InfiniBand layout is
 * encoded in the GID. Return: that LID; 0: the LID is in its own field.
 */
static uint32_t lid_in_gid(const struct rows *rows, const char *name,
			   const union fields_host *host)
{
	const struct ibsa_path *path = &host->path;

	if (!rows->is_opa || rows->record != &ibsa_path_record)
		return 0;
	if (strcmp(name, "slid") == 0 && path->slid == 0)
		return opa_lid_of_gid(&path->sgid);
	if (strcmp(name, "dlid") == 0 && path->dlid == 0)
		return opa_lid_of_gid(&path->dgid);
	return 0;
}

static void path_field(struct out *out, const struct rows *rows,
		       const char *name, const union fields_host *host)
{
	const uint32_t lid = lid_in_gid(rows, name, host);

	if (lid)
		out_count(out, name, lid);
	else
		fields_named(out, rows->record, name, host);
}

/*
 * Packet life time is 4.096 us times a power of two. Source: IBA vol 1,
 * 15.2.5.16.
 */
static void life_time_cell(struct out *out, const struct ibsa_record *record,
			   const union fields_host *host)
{
	unsigned int index;
	const struct ibsa_field *field =
		ibsa_field_find(record, "packet_life_time", &index);
	const uint64_t code = ibsa_field_get(field, index, host);
	const double us = 4.096 * (double)(UINT64_C(1) << code);
	char text[32];

	if (us < 1e3)
		snprintf(text, sizeof(text), "%.3gus", us);
	else if (us < 1e6)
		snprintf(text, sizeof(text), "%.3gms", us / 1e3);
	else
		snprintf(text, sizeof(text), "%.3gs", us / 1e6);
	out_number(out, "lifetime", code, text);
}

static void device_cell(struct out *out, const char *name,
			const struct end *end)
{
	fields_text_or_none(out, name, end->device[0] ? end->device : NULL);
}

static void device_cells(struct out *out, const struct row *row)
{
	device_cell(out, "src_device", row->src);
	device_cell(out, "dst_device", row->dst);
}

static void brief_row(struct out *out, const struct rows *rows,
		      const struct row *row)
{
	static const char *const before[] = { "slid", "dlid", "mtu",
					      "rate", "sl",   "pkey" };

	if (rows->has_devices)
		device_cells(out, row);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		path_field(out, rows, before[i], &row->host);
	life_time_cell(out, rows->record, &row->host);
	path_field(out, rows, "sgid", &row->host);
	path_field(out, rows, "dgid", &row->host);
}

static void path_row(struct out *out, size_t index, void *arg)
{
	const struct rows *rows = arg;
	const struct row *row = &rows->all[index];

	if (out_is_brief(out)) {
		brief_row(out, rows, row);
		return;
	}
	for (unsigned int i = 0; i < rows->record->field_count; i++)
		path_field(out, rows, rows->record->fields[i].name, &row->host);
	device_cells(out, row);
}

static int rows_add(struct cli *cli, const struct ibsa_reply *reply, void *arg)
{
	struct rows *rows = arg;
	struct row *all = reallocarray(rows->all, rows->count + reply->count,
				       sizeof(*all));

	(void)cli;
	if (!all) {
		complain("out of memory");
		return CLI_DEVICE;
	}
	rows->all = all;
	for (size_t i = 0; i < reply->count; i++) {
		struct row *row = &all[rows->count];

		*row = (struct row){ .src = rows->src, .dst = rows->dst };
		rows->count += ibsa_reply_decode(reply, i, &row->host) == 0;
	}
	return CLI_DONE;
}

/*
 * If a LID does not fit the InfiniBand layout, both ends become GIDs. Source:
 * Linux, sa_convert_path_opa_to_ib().
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

static int wrong(const struct ibsa_error *error)
{
	complain("%s", error->text);
	return CLI_USAGE;
}

static int parse_ends(const struct cli *cli, struct path_query *path_query)
{
	struct ibsa_error error, wider;

	for (int i = 0; i < 2; i++) {
		const char *text = cli->args[i + 1];
		struct target *end = &path_query->ends[i];

		if (target_parse(text, end, &error) != 0 &&
		    target_parse_opa(text, end, &wider) != 0)
			return wrong(&error);
	}
	return CLI_DONE;
}

static void parse_fields(const struct cli *cli, struct form *form)
{
	for (int i = 3; i < cli->arg_count && !form->is_wrong; i++)
		form->is_wrong = fields_select(form->record, cli->args[i],
					       &form->match, &form->mask,
					       &form->error) != 0;
}

/* An argument that is valid in neither layout is an error on any link layer. */
static int arguments_parse(struct cli *cli, struct path_query *path_query)
{
	const uint64_t taken = IBSA_PATH_CM(slid) | IBSA_PATH_CM(sgid) |
			       IBSA_PATH_CM(dlid) | IBSA_PATH_CM(dgid);
	int status;

	if (cli->arg_count < 3) {
		complain("path needs SRC and DST; see ibsa path --help");
		return CLI_USAGE;
	}
	status = parse_ends(cli, path_query);
	if (status != CLI_DONE)
		return status;
	parse_fields(cli, &path_query->ib);
	parse_fields(cli, &path_query->opa);
	if (path_query->ib.is_wrong && path_query->opa.is_wrong)
		return wrong(&path_query->ib.error);
	if ((path_query->ib.mask | path_query->opa.mask) & taken) {
		complain("SRC and DST already give the ends of the path; "
			 "remove slid, sgid, dlid and dgid");
		return CLI_USAGE;
	}
	return CLI_DONE;
}

/* Check LIDs: their range depends on the link layer. */
static int ends_check(const struct cli *cli, struct path_query *path_query)
{
	struct ibsa_error error;

	for (int i = 0; i < 2; i++) {
		const char *text = cli->args[i + 1];
		struct target *end = &path_query->ends[i];

		if (path_query->is_opa ? target_parse_opa(text, end, &error)
				       : target_parse(text, end, &error))
			return wrong(&error);
	}
	return CLI_DONE;
}

/* Select the layout that this port's SA supports. Return: the exit status. */
static int form_choose(struct cli *cli, struct path_query *path_query,
		       struct form **out)
{
	struct ibsa_port_state port;
	int status = own_port_get(cli, &port);

	if (status != CLI_DONE)
		return status;
	path_query->is_opa = port.link == IBSA_LINK_OPA;
	status = ends_check(cli, path_query);
	if (status != CLI_DONE)
		return status;
	*out = path_query->is_opa && opa_has_paths(cli) ? &path_query->opa
							: &path_query->ib;
	return (*out)->is_wrong ? wrong(&(*out)->error) : CLI_DONE;
}

/* The text of an end of the path, for a message. */
static const char *end_text(const struct end *end, const char *argument,
			    char out[IBSA_VALUE_TEXT])
{
	return fields_clean(end->node[0] ? end->node : argument, out);
}

static uint64_t pair_mask(const struct form *form, const struct end *src,
			  const struct end *dst)
{
	return form->mask | IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path) |
	       (src->lid ? IBSA_PATH_CM(slid) : IBSA_PATH_CM(sgid)) |
	       (dst->lid ? IBSA_PATH_CM(dlid) : IBSA_PATH_CM(dgid));
}

/* Restrict the query to one reversible path. */
static void reversible_set(struct form *form)
{
	if (form->record == &ibsa_opa_path_record) {
		form->match.opa_path.reversible = 1;
		form->match.opa_path.numb_path = 1;
	} else {
		form->match.path.reversible = 1;
		form->match.path.numb_path = 1;
	}
}

static int path_found(struct cli *cli, const struct ibsa_reply *reply,
		      void *arg)
{
	(void)cli;
	(void)reply;
	(void)arg;
	return CLI_DONE;
}

/*
 * Length of a constraint's name. mtu_selector=2 and mtu=4096 are one
 * constraint.
 */
static size_t constraint_len(const char *argument)
{
	static const char selector[] = "_selector";
	const size_t len = strcspn(argument, "=");
	const size_t end = sizeof(selector) - 1;

	if (len > end && memcmp(argument + len - end, selector, end) == 0)
		return len - end;
	return len;
}

static bool is_same_constraint(const char *a, const char *b)
{
	const size_t len = constraint_len(a);

	return len == constraint_len(b) && strncasecmp(a, b, len) == 0;
}

/*
 * Whether a path exists without one constraint, or without all if it is NULL.
 */
static bool has_path_without(struct cli *cli, const struct form *form,
			     const char *constraint, const struct end *src,
			     const struct end *dst)
{
	struct form trial = { .record = form->record };
	struct ibsa_query query = {
		.record = form->record,
		.match = &trial.match,
		.method = IBSA_METHOD_GET,
	};

	for (int i = 3; i < cli->arg_count && constraint; i++)
		if (!is_same_constraint(cli->args[i], constraint))
			(void)!fields_select(form->record, cli->args[i],
					     &trial.match, &trial.mask,
					     &trial.error);
	reversible_set(&trial);
	put_ends(&trial, src, dst);
	query.mask = pair_mask(&trial, src, dst);
	return query_wait(cli, &query, path_found, NULL) == CLI_DONE;
}

/*
 * Message part that names the constraint that excludes all paths; "" if no
 * single constraint does.
 */
static void excluding_constraint(struct cli *cli, const struct form *form,
				 const struct end *src, const struct end *dst,
				 char out[WHY_TEXT])
{
	char text[IBSA_VALUE_TEXT];

	out[0] = '\0';
	if (cli->arg_count == 3 || !has_path_without(cli, form, NULL, src, dst))
		return;
	for (int i = 3; i < cli->arg_count; i++) {
		if (!has_path_without(cli, form, cli->args[i], src, dst))
			continue;
		snprintf(out, WHY_TEXT, " with %s; without it there is a path",
			 fields_clean(cli->args[i], text));
		return;
	}
	snprintf(out, WHY_TEXT,
		 " with these constraints; without them there is a path");
}

/* Query the path of one pair of ports. */
static int pair_query(struct cli *cli, const struct form *form,
		      const struct end *src, const struct end *dst,
		      struct rows *rows)
{
	struct form pair = *form;
	const struct ibsa_query query = {
		.record = form->record,
		.match = &pair.match,
		.mask = pair_mask(form, src, dst),
		.method = cli->all ? IBSA_METHOD_GET_TABLE : IBSA_METHOD_GET,
	};
	char from[IBSA_VALUE_TEXT], to[IBSA_VALUE_TEXT];
	char why[WHY_TEXT];
	int status;

	rows->src = src;
	rows->dst = dst;
	put_ends(&pair, src, dst);
	status = query_wait(cli, &query, rows_add, rows);
	if (status != CLI_NO)
		return status;
	excluding_constraint(cli, form, src, dst, why);
	complain("no path from %s to %s%s", end_text(src, cli->args[1], from),
		 end_text(dst, cli->args[2], to), why);
	return status;
}

/* Query all pairs, also after a pair without a path. */
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
	};
	struct ends ends[2] = { { .count = 0 } };
	struct ends_pairs pairs;
	int status = CLI_DONE;

	for (int i = 0; i < 2 && status == CLI_DONE; i++)
		status = ends_find(cli, &path_query->ends[i], &ends[i]);
	if (status == CLI_DONE && path_query->is_opa &&
	    form->record == &ibsa_path_record)
		status = ends_to_gids(cli, ends);
	if (status == CLI_DONE) {
		pairs = ends_pair(&ends[0], &ends[1], cli->path.all_pairs);
		rows.has_devices = ends[0].count > 1 || ends[1].count > 1;
		status = pairs_query(cli, form, &pairs, &rows);
	}
	if (status == CLI_DONE || status == CLI_NO)
		out_rows(&cli->out, rows.count, path_row, &rows);
	free(rows.all);
	ends_free(&ends[0]);
	ends_free(&ends[1]);
	return status;
}

int cmd_path(struct cli *cli)
{
	const uint8_t paths = cli->all ? MOST_PATHS : 1;
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
	int status = arguments_parse(cli, &path_query);

	if (status == CLI_DONE)
		status = form_choose(cli, &path_query, &form);
	if (status == CLI_DONE)
		status = columns_use(cli, form == &path_query.opa
						  ? &columns_path_opa
						  : &columns_path);
	if (status == CLI_DONE)
		status = paths_query(cli, &path_query, form);
	return status;
}
