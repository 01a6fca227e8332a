/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check: findings about the fabric. */
#include "check/check.h"
#include "output/columns.h"
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
	if (finding.guid)
		fields_guid(out, "node_guid", finding.guid);
	else
		out_none(out, "node_guid");
	if (finding.port)
		out_count(out, "port", finding.port);
	else
		out_none(out, "port");
	out_text(out, "what", finding.what.text);
}

/* Set @out to the first finding of the highest severity. */
static void worst_get(const struct fabric_check *check,
		      struct ibsa_finding *out)
{
	fabric_check_finding(check, 0, out);
	for (size_t i = 1;
	     i < check->count && out->severity != IBSA_SEVERITY_CRITICAL; i++) {
		struct ibsa_finding finding;

		fabric_check_finding(check, i, &finding);
		if (finding.severity == IBSA_SEVERITY_CRITICAL)
			*out = finding;
	}
}

static int nagios_report(struct fabric_check *check)
{
	struct nagios nagios = { .len = 0 };
	struct ibsa_finding worst;
	char text[sizeof(worst.what.text) + 64];

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
	worst_get(check, &worst);
	snprintf(text, sizeof(text), "%zu %s, %s: %s", check->count,
		 check->count == 1 ? "finding" : "findings", worst.name,
		 worst.what.text);
	return nagios_print(&nagios, &check->cli->out,
			    worst.severity == IBSA_SEVERITY_CRITICAL
				    ? NAGIOS_CRITICAL
				    : NAGIOS_WARNING,
			    text);
}

static int report(struct fabric_check *check)
{
	struct out *out = &check->cli->out;

	if (check_own(check->cli)->nagios)
		return nagios_report(check);
	if (check->count || out_is_data(out))
		out_rows(out, check->count, finding_row, check);
	return check->count ? CLI_NO : CLI_DONE;
}

int check_fabric(struct cli *cli)
{
	struct fabric_check check = {
		.cli = cli,
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

void check_fabric_details(struct cli *cli)
{
	out_line(
		&cli->out, "%s",
		"Without node, checks the fabric: links that are down, slower "
		"than both\nends support, or reported by one end only; nodes "
		"without a path from\nhere or without a name; GUIDs and LIDs "
		"that two ports have; a second\nmaster SM. --expect compares "
		"the fabric with a file of ibsa topology\n--format net: what is "
		"missing, new, moved or slower.\n\n"
		"  ibsa topology --format net >fabric.net\n"
		"  ibsa check --expect fabric.net\n");
}
