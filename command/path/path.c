/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa path: prints the path records between two ports. */
#include <stdlib.h>
#include <string.h>

#include "common/selector.h"
#include "session/query_wait.h"
#include "output/column_table.h"
#include "output/reason.h"
#include "graph/expected.h"
#include "path/path.h"
#include "options/command.h"
#include "options/shared.h"

/**
 * struct path_options - options of ibsa path
 * @all: print all paths, from each port of the first host to each port of the
 *       second
 * @expect: file of --expect, or NULL
 */
struct path_options {
	bool all;
	const char *expect;
};

/* The options of the command that runs. */
static const struct path_options *path_own(const struct cli *cli)
{
	return cli->own;
}

enum {
	MOST_PATHS = 127, /* The largest value of the 7-bit field numb_path. */
};

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
		struct row *row = path_row_add(rows);
		const char *unmet;

		if (!row)
			return no_memory();
		if (ibsa_reply_decode(reply, i, &row->host,
				      sizeof(row->host)) != 0) {
			rows->count--;
			continue;
		}
		unmet = selector_unmet(cli, rows, &row->host);
		if (unmet) {
			rows->unmet = unmet;
			rows->unmet_host = row->host;
			rows->count--;
		}
	}
	return CLI_DONE;
}

static uint64_t pair_mask(const struct form *form, const struct end *src,
			  const struct end *dst)
{
	return form->mask.all | IBSA_PATH_CM(reversible) |
	       IBSA_PATH_CM(numb_path) |
	       (src->lid ? IBSA_PATH_CM(slid) : IBSA_PATH_CM(sgid)) |
	       (dst->lid ? IBSA_PATH_CM(dlid) : IBSA_PATH_CM(dgid));
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
	path_put_ends(&pair, src, dst);
	status = query_wait(cli, &query, rows_add, rows);
	if (status == CLI_DONE && rows->unmet && rows->count == before)
		status = CLI_NO;
	return status == CLI_NO ? path_missing_explain(cli, &query, &pair, rows)
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

/* The ports of both hosts: @ends are shown by the SA, @absent are not. */
struct hosts {
	struct expected expected;
	struct nodes nodes; /* all, if an end is given by name */
	struct ends ends[2];
	struct absent absent[2];
};

static bool has_name(const struct path_query *path_query)
{
	return path_query->ends[0].kind == TARGET_NAME ||
	       path_query->ends[1].kind == TARGET_NAME;
}

/*
 * Whether a name that no node has may be that of a port in the file of
 * --expect; or, as HOST/DEVICE, that of a missing rail.
 */
static bool may_be_absent(const struct expected *expected,
			  const struct target *target)
{
	return expected->topology ||
	       (target->kind == TARGET_NAME && strchr(target->name, '/'));
}

/*
 * Find the ports of both ends. Return: the exit status; CLI_NO after a row was
 * added for a name that no node has.
 */
static int hosts_find(struct cli *cli, const struct path_query *path_query,
		      const struct form *form, struct rows *rows,
		      struct hosts *out)
{
	int found[2] = { CLI_DONE, CLI_DONE };
	const bool has_nodes = has_name(path_query);
	const struct nodes *nodes = has_nodes ? &out->nodes : NULL;
	int status = has_nodes ? nodes_read(cli, &out->nodes) : CLI_DONE;
	int unnamed = 0;

	for (int i = 0; i < 2 && status == CLI_DONE; i++) {
		unnamed = i;
		found[i] = ends_find(cli, nodes, &path_query->ends[i],
				     &out->ends[i]);
		if (found[i] != CLI_NO ||
		    !may_be_absent(&out->expected, &path_query->ends[i]))
			status = found[i];
	}
	if (status == CLI_DONE)
		status = absent_find(cli, &out->expected, nodes,
				     path_query->ends, out->ends, out->absent);
	for (int i = 0; i < 2 && status == CLI_DONE; i++) {
		if (found[i] != CLI_NO || out->absent[i].count)
			continue;
		unnamed = i;
		if (out->expected.topology)
			name_absent_explain(cli, "", path_query->ends[i].name);
		status = CLI_NO;
	}
	if (status == CLI_NO)
		status = path_add_unnamed(cli, rows, form, out->ends,
					  cli->args[1 + unnamed]);
	return status;
}

static void hosts_free(struct hosts *hosts)
{
	expected_free(&hosts->expected);
	nodes_free(&hosts->nodes);
	for (int i = 0; i < 2; i++) {
		ends_free(&hosts->ends[i]);
		absent_free(&hosts->absent[i]);
	}
}

static unsigned int rate_of(const struct rows *rows, const struct row *row)
{
	return row->reason || rows->record != &ibsa_path_record
		       ? 0
		       : ibsa_rate_mbps(row->host.path.rate);
}

/*
 * Whether one of the paths between devices of the same name has a lower rate
 * than another path.
 */
static bool has_slow_rail(const struct rows *rows)
{
	unsigned int most = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rate_of(rows, &rows->all[i]) > most)
			most = rate_of(rows, &rows->all[i]);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->all[i];
		const unsigned int rate = rate_of(rows, row);

		if (rate && rate < most &&
		    strcmp(row->src->device, row->dst->device) == 0)
			return rows->has_devices;
	}
	return false;
}

/*
 * Query all pairs, and add rows for absent ports. Return: the exit status;
 * CLI_NO if there is no path.
 */
static int hosts_query(struct cli *cli, const struct form *form,
		       struct hosts *hosts, struct rows *rows)
{
	const struct ends_pairs pairs =
		ends_pair(&hosts->ends[0], &hosts->ends[1], path_own(cli)->all);
	const size_t ports = hosts->ends[0].count + hosts->ends[1].count +
			     hosts->absent[0].count + hosts->absent[1].count;
	int absent = CLI_DONE;
	int slow;
	int status;

	rows->has_devices = ports > 2;
	status = pairs_query(cli, form, &pairs, rows);
	if (status == CLI_DONE || status == CLI_NO)
		absent = absent_rows_add(rows, form, hosts->ends,
					 hosts->absent);
	if (absent != CLI_DONE)
		status = absent;
	if ((status == CLI_DONE || status == CLI_NO) && has_slow_rail(rows)) {
		slow = slow_rails_find(cli, &hosts->nodes, hosts->ends,
				       hosts->absent);
		status = slow == CLI_DONE ? status : slow;
	}
	absent_rails_note(rows, hosts->absent);
	return status == CLI_NO && rows->count > rows->missing ? CLI_DONE
							       : status;
}

/*
 * Print the rows. A table has none for a single pair without a path: the
 * message has told the reason.
 */
static void rows_print(struct cli *cli, struct rows *rows)
{
	const bool is_told = out_is_brief(&cli->out) && rows->count == 1 &&
			     rows->missing;

	out_rows(&cli->out, is_told ? 0 : rows->count, path_row, rows);
}

static int paths_query(struct cli *cli, const struct path_query *path_query,
		       const struct form *form)
{
	struct rows rows = {
		.record = form->record,
		.is_opa = path_query->is_opa,
	};
	struct hosts hosts = { .ends = { { .count = 0 } } };
	int status = expected_read(cli, path_own(cli)->expect, &hosts.expected);

	if (status == CLI_DONE)
		status = hosts_find(cli, path_query, form, &rows, &hosts);
	if (status == CLI_DONE && path_query->is_opa &&
	    form->record == &ibsa_path_record)
		status = ends_to_gids(cli, hosts.ends, 2);
	if (status == CLI_DONE)
		status = hosts_query(cli, form, &hosts, &rows);
	if (status == CLI_SILENT)
		status = path_add_down(cli, &rows, form);
	if (status == CLI_DONE || status == CLI_NO ||
	    (status == CLI_SILENT && rows.count))
		rows_print(cli, &rows);
	for (size_t i = 0; i < rows.count; i++)
		free(rows.all[i].reason);
	free(rows.all);
	hosts_free(&hosts);
	return status;
}

/* clang-format off */
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

static const struct column path_list[] = {
	{ .kind = COLUMN_RECORD, .record = &ibsa_path_record,
	  .has_long_lids = true, .can_be_none = true },
	PATH_REASON,
};

static const struct column path_opa_list[] = {
	{ .kind = COLUMN_RECORD, .record = &ibsa_opa_path_record,
	  .can_be_none = true },
	PATH_REASON,
};
/* clang-format on */

static const struct columns columns_path = COLUMN_TABLE("path", path_list);
static const struct columns columns_path_opa = COLUMN_TABLE("path-opa",
							    path_opa_list);

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
		status = columns_use(cli, form->record == &ibsa_opa_path_record
						  ? &columns_path_opa
						  : &columns_path);
	if (status == CLI_DONE)
		status = paths_query(cli, &path_query, form);
	return status;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_ALL("all paths, between all ports of two hosts",
		   struct path_options, all),
	OPTION_EXPECTED(struct path_options, expect),
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
		&columns_path, &columns_path_opa, NULL,
	},
	.run = cmd_path,
	.text =
	"SRC and DST are one of\n"
	TARGET_TEXT
	"A host's name stands for all its ports. FIELD=VALUE restricts the\n"
	"path, as pkey=0x8001 or 'rate>=100Gb'; the fields are those of\n"
	"ibsa query get PathRecord --help.\n",
};
/* clang-format on */
