/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check: findings about the fabric. */
#include <stdio.h>
#include <unistd.h>

#include "check/check.h"
#include "output/column_table.h"
#include "findings/fabric.h"
#include "findings/finding.h"
#include "output/fields.h"
#include "output/nagios.h"

static void finding_row(struct out *out, size_t index, void *arg)
{
	const struct fabric_check *check = arg;
	struct ibsa_finding finding;

	fabric_check_finding(check, index, &finding);
	out_text(out, "finding", finding.name);
	out_text(out, "severity", check_severity_text(finding.severity));
	fields_guid_or_none(out, "node_guid", finding.guid);
	out_count_or_none(out, "port", finding.port, finding.port);
	out_text(out, "what", finding.what.text);
}

static int nagios_report(struct fabric_check *check)
{
	struct nagios nagios = { .len = 0 };
	struct ibsa_finding worst;
	char text[64];

	nagios_add(&nagios, "findings", "%zu", check->count);
	nagios_add(&nagios, "critical", "%zu", check->critical_count);
	nagios_add(&nagios, "nodes", "%zu", check->info.nodes);
	nagios_add(&nagios, "switches", "%zu", check->info.switches);
	nagios_add(&nagios, "links", "%zu", check->info.links);
	check->cli->plugin.is_reported = true;
	if (!check->count) {
		snprintf(text, sizeof(text), "%zu nodes, %zu links",
			 check->info.nodes, check->info.links);
		return nagios_print(&nagios, &check->cli->out, NAGIOS_OK, text);
	}
	fabric_check_worst(check, &worst);
	return check_nagios_print(check->cli, &nagios, check->count, &worst);
}

static int report(struct fabric_check *check)
{
	struct out *out = &check->cli->out;

	if (check_own(check->cli)->nagios)
		return nagios_report(check);
	if (check->count || out_is_data(out))
		out_rows(out, check->count, finding_row, check);
	else if (isatty(STDERR_FILENO))
		fprintf(stderr,
			"no findings: %zu adapters, %zu switches, %zu links\n",
			check->info.adapters, check->info.switches,
			check->info.links);
	return check->count ? CLI_NO : CLI_DONE;
}

/* clang-format off */
static const struct column check_list[] = {
	WORDS("finding", FINDING_WORDS),
	WORDS("severity", "warning|critical"),
	MAYBE("node_guid", GUID),
	MAYBE("port", NUMBER),
	ALWAYS("what", TEXT),
};
/* clang-format on */

const struct columns columns_check = COLUMN_TABLE("check", check_list);

int check_fabric(struct cli *cli)
{
	struct fabric_check check = {
		.cli = cli,
		.file = cli->arg_count > 1 ? cli->args[1] : NULL,
		.expect = check_own(cli)->expect,
	};
	int status = columns_use(cli, &columns_check);

	if (status == CLI_DONE)
		status = fabric_check_read(&check);
	if (status == CLI_DONE)
		status = report(&check);
	fabric_check_done(&check);
	return status;
}
