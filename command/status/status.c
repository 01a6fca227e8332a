/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa status: this host's ports, the SM and the fabric, in a few lines. */
#include <string.h>

#include "findings/finding.h"
#include "graph/topology.h"
#include "options/options.h"
#include "options/shared.h"
#include "output/column_table.h"
#include "output/fields.h"
#include "status/status.h"

static void ports_cells(struct out *out, const struct status *status)
{
	const struct status_role *roles = status->roles;
	char inactive[STATUS_TEXT] = "";
	size_t active = 0;

	for (size_t i = 0; i < STATUS_ROLES; i++) {
		active += roles[i].active;
		if (*roles[i].inactive && i != ROLE_UNCABLED)
			status_list_add(inactive, "%s", roles[i].inactive);
	}
	out_text_if_any(out, "host", status->host);
	out_count(out, "ports", status->machine.count);
	out_count(out, "active", active);
	out_count(out, "compute", roles[ROLE_COMPUTE].count);
	out_count(out, "compute_active", roles[ROLE_COMPUTE].active);
	out_count(out, "storage", roles[ROLE_STORAGE].count);
	out_count(out, "storage_active", roles[ROLE_STORAGE].active);
	out_text_if_any(out, "inactive", inactive);
}

static void sm_cells(struct out *out, const struct status *status)
{
	const struct status_sm *sm = &status->sm;

	out_count_or_none(out, "sm_lid", sm->lid, sm->lid);
	fields_guid_or_none(out, "sm_guid", sm->guid);
	out_text_if_any(out, "sm_name", sm->name);
	out_count_or_none(out, "rtt_us", sm->rtt_ns, sm->rtt_ns / 1000);
	out_count_or_none(out, "standby",
			  status->has_fabric && !*status->check.no_sms.text,
			  sm->standby);
}

static void fabric_cells(struct out *out, const struct status *status)
{
	const struct ibsa_topology_info *info = &status->check.info;
	const bool is_known = status->has_fabric;

	out_count_or_none(out, "hosts", is_known, status->hosts);
	out_count_or_none(out, "adapters", is_known, info->adapters);
	out_count_or_none(out, "switches", is_known, info->switches);
	out_count_or_none(out, "links", is_known, info->links);
	out_count_or_none(out, "levels", is_known, info->levels);
	out_text_if_any(out, "rates", status->rates);
}

static void findings_cells(struct out *out, const struct status *status)
{
	const struct fabric_check *check = &status->check;
	const bool is_known = status->has_fabric;
	struct ibsa_finding worst = { .name = NULL };

	if (check->count)
		fabric_check_worst(check, &worst);
	out_count_or_none(out, "critical", is_known, check->critical_count);
	out_count_or_none(out, "warnings", is_known,
			  check->count - check->critical_count);
	out_text_or_none(out, "finding", worst.name);
	out_text_if_any(out, "what", worst.what.text);
}

struct shown {
	const struct cli *cli;
	const struct status *status;
};

static void status_row(struct out *out, size_t index, void *arg)
{
	const struct shown *shown = arg;
	char next[STATUS_NEXT];

	(void)index;
	ports_cells(out, shown->status);
	sm_cells(out, shown->status);
	fabric_cells(out, shown->status);
	findings_cells(out, shown->status);
	out_text(out, "next", status_next(shown->cli, shown->status, next));
}

static const struct column status_list[] = {
	MAYBE("host", TEXT),
	ALWAYS("ports", NUMBER),
	ALWAYS("active", NUMBER),
	ALWAYS("compute", NUMBER),
	ALWAYS("compute_active", NUMBER),
	ALWAYS("storage", NUMBER),
	ALWAYS("storage_active", NUMBER),
	MAYBE("inactive", TEXT),
	MAYBE("sm_lid", NUMBER),
	MAYBE("sm_guid", GUID),
	MAYBE("sm_name", TEXT),
	MAYBE("rtt_us", NUMBER),
	MAYBE("standby", NUMBER),
	MAYBE("hosts", NUMBER),
	MAYBE("adapters", NUMBER),
	MAYBE("switches", NUMBER),
	MAYBE("links", NUMBER),
	MAYBE("levels", NUMBER),
	MAYBE("rates", TEXT),
	MAYBE("critical", NUMBER),
	MAYBE("warnings", NUMBER),
	MAYBE_WORDS("finding", FINDING_WORDS),
	MAYBE("what", TEXT),
	ALWAYS("next", TEXT),
};

static const struct columns columns_status = COLUMN_TABLE("status",
							  status_list);

static int status_once(struct cli *cli, struct ibsa_topology *expected)
{
	struct status status;
	struct shown shown = { .cli = cli, .status = &status };
	const int result = status_read(cli, expected, &status);

	if (!status.machine.count || result == CLI_USAGE)
		out_rows(&cli->out, 0, status_row, &shown);
	else if (out_is_data(&cli->out) || !out_is_brief(&cli->out))
		out_rows(&cli->out, 1, status_row, &shown);
	else
		status_print(cli, &status);
	status_free(&status);
	return result;
}

static int cmd_status(struct cli *cli)
{
	static const struct option_set for_watch = {
		(GROUP_ALL | GROUP_RECORD) &
			~(unsigned int)(GROUP_FORMAT | GROUP_ROWS),
		~0U,
	};
	const struct status_options *own = cli->own;
	struct ibsa_topology *expected = NULL;
	int result;

	if (cli->arg_count > 1)
		return fail_usage("status has no argument; remove '%s'",
				  cli->args[1]);
	if (own->watch)
		result = options_only(cli, "status --watch", &for_watch)
				 ? CLI_DONE
				 : CLI_USAGE;
	else
		result = columns_use(cli, &columns_status);
	if (result == CLI_DONE && own->expect)
		result = topology_expect_load(cli, own->expect, &expected);
	if (result == CLI_DONE)
		result = own->watch ? status_watch(cli, expected)
				    : status_once(cli, expected);
	ibsa_topology_free(expected);
	return result;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_EXPECT(struct status_options, expect, 0),
	{ 0, "watch", NULL, "show the lines again when the fabric changes",
	  OPTION_AT(struct status_options, watch) },
};

static const struct option_table table =
	OPTION_TABLE(rows, struct status_options);

const struct command command_status = {
	.name = "status",
	.arguments = "",
	.help = "show this host's ports, the SM and the fabric in a few lines",
	.options = &table,
	.groups = GROUP_ALL | GROUP_RECORD,
	.columns = (const struct columns *const[]){ &columns_status, NULL },
	.run = cmd_status,
	.is_default = true,
};
/* clang-format on */
