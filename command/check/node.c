/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check node: reports whether this machine can use its fabric. */
#include <stdio.h>

#include "check/check.h"
#include "findings/finding.h"
#include "findings/node.h"
#include "output/column_table.h"
#include "output/fields.h"
#include "output/nagios.h"

static void finding_row(struct out *out, size_t index, void *arg)
{
	const struct node_check *check = arg;
	const struct node_finding *row = &check->findings[index];

	out_text(out, "finding", row->finding.name);
	out_text(out, "severity", check_severity_text(row->finding.severity));
	fields_text_or_none(out, "device",
			    row->port ? row->port->device : NULL);
	out_count_or_none(out, "port", row->port, row->finding.port);
	fields_text_or_none(out, "peer", row->peer);
	out_text(out, "what", row->finding.what.text);
}

static void port_data_add(struct nagios *nagios, const struct node_check *check,
			  const struct port_check *at)
{
	const struct rate_limit *limit = &check->options->rate;
	char where[MACHINE_PORT_TEXT];
	char label[MACHINE_PORT_TEXT + 8];
	char has[RATE_LIMIT_TEXT], wanted[RATE_LIMIT_TEXT];
	unsigned int tenths;

	machine_port_text(at->port, where);
	snprintf(label, sizeof(label), "rate %s", where);
	tenths_text(limit->tenths, wanted);
	if (machine_port_is_active(at->port) &&
	    rate_of_port(at->port->rate, &tenths)) {
		tenths_text(tenths, has);
		/*
		 * A threshold "400:" means: warn below 400. There is no
		 * threshold that means "warn at or below", for RATE_ABOVE.
		 */
		if (limit->kind == RATE_AT_LEAST)
			nagios_add(nagios, label, "%s;%s:", has, wanted);
		else if (limit->kind == RATE_EXACTLY)
			nagios_add(nagios, label, "%s;%s:%s", has, wanted,
				   wanted);
		else
			nagios_add(nagios, label, "%s", has);
	}
	snprintf(label, sizeof(label), "sa %s", where);
	if (at->rtt_ns)
		nagios_add(nagios, label, "%.3fms", (double)at->rtt_ns / 1e6);
}

/* Return: the first finding of the highest severity, or NULL. */
static const struct ibsa_finding *worst_finding(const struct node_check *check)
{
	const struct ibsa_finding *worst = NULL;

	for (size_t i = check->count; i-- > 0;) {
		const struct ibsa_finding *finding =
			&check->findings[i].finding;

		if (!worst || finding->severity >= worst->severity)
			worst = finding;
	}
	return worst;
}

static int nagios_report(struct node_check *check)
{
	const struct ibsa_finding *worst = worst_finding(check);
	const size_t ports = check->machine.count;
	struct nagios nagios = { .len = 0 };
	char text[64];

	nagios_add(&nagios, "findings", "%zu", check->count);
	nagios_add(&nagios, "ports", "%zu", ports);
	nagios_add(&nagios, "peers", "%zu", check->peer_count);
	for (size_t i = 0; i < ports && check->ports; i++)
		port_data_add(&nagios, check, &check->ports[i]);
	check->cli->plugin.is_reported = true;
	if (worst)
		return check_nagios_print(check->cli, &nagios, check->count,
					  worst);
	if (check->why.text[0])
		return nagios_print(&nagios, &check->cli->out, NAGIOS_UNKNOWN,
				    check->why.text);
	snprintf(text, sizeof(text), "%zu %s, %zu %s", ports,
		 ports == 1 ? "port" : "ports", check->peer_count,
		 check->peer_count == 1 ? "peer" : "peers");
	return nagios_print(&nagios, &check->cli->out, NAGIOS_OK, text);
}

/*
 * If nothing but its past shows that a port should be up, print how to leave it
 * out.
 */
static void unused_port_explain(const struct node_check *check)
{
	char where[MACHINE_PORT_TEXT];

	for (size_t i = 0; i < check->count; i++) {
		const struct node_finding *row = &check->findings[i];

		if (row->finding.kind != IBSA_FINDING_PORT_DOWN ||
		    row->finding.severity != IBSA_SEVERITY_WARNING)
			continue;
		complain("if port %s is unused, select the ports in use with "
			 "--device, or give it the role uncabled in "
			 "/etc/ibsa/roles.conf",
			 machine_port_text(row->port, where));
		return;
	}
}

/* Print which ports are left out, and why. */
static void left_out_explain(const struct node_check *check)
{
	char where[MACHINE_PORT_TEXT];

	for (size_t i = 0; check->ports && i < check->machine.count; i++)
		if (check->ports[i].left_out)
			complain("%s is left out: %s",
				 machine_port_text(&check->machine.ports[i],
						   where),
				 check->ports[i].left_out);
}

/*
 * If something cannot be checked and nothing was found, there is no output: an
 * empty array or a header alone would mean that there are no findings.
 */
static int report(struct node_check *check)
{
	struct out *out = &check->cli->out;

	if (check_own(check->cli)->nagios)
		return nagios_report(check);
	if (check->count || (out_is_data(out) && !check->why.text[0]))
		out_rows(out, check->count, finding_row, check);
	unused_port_explain(check);
	left_out_explain(check);
	if (check->why.text[0])
		complain("%s", check->why.text);
	return check->why.text[0] ? CLI_DEVICE
	       : check->count	  ? CLI_NO
				  : CLI_DONE;
}

/*
 * Report why the check was not made. A monitoring plugin reports a missing port
 * or device as critical.
 */
static int not_run(struct node_check *check, int status,
		   const struct ibsa_error *error)
{
	struct nagios nagios = { .len = 0 };

	if (!error->text[0])
		return status;
	if (!check_own(check->cli)->nagios || !check->machine.is_missing) {
		complain("%s", error->text);
		return status;
	}
	check->cli->plugin.is_reported = true;
	return nagios_print(&nagios, &check->cli->out, NAGIOS_CRITICAL,
			    error->text);
}

/* clang-format off */
static const struct column check_node_list[] = {
	WORDS("finding", FINDING_WORDS),
	WORDS("severity", "warning|critical"),
	MAYBE("device", TEXT),
	MAYBE("port", NUMBER),
	MAYBE("peer", TEXT),
	ALWAYS("what", TEXT),
};
/* clang-format on */

const struct columns columns_check_node = COLUMN_TABLE("check-node",
						       check_node_list);

/*
 * Parse the peers. A file without a peer would make a check of peers pass that
 * checks none.
 */
static int peers_take(struct node_check *check)
{
	const char *file = check->options->peers;
	const size_t given = (size_t)check->cli->arg_count - 2;
	const int status = peers_parse(check);

	if (status != CLI_DONE || !file || check->peer_count > given)
		return status;
	return fail_usage("--peers: there is no peer in '%s'; write one on "
			  "each line, or remove --peers",
			  file);
}

int check_node(struct cli *cli)
{
	struct node_options options = check_own(cli)->node;
	struct node_check check = {
		.cli = cli,
		.options = &options,
	};
	struct ibsa_error error;
	int status = columns_use(cli, &columns_check_node);

	options.expect = check_own(cli)->expect;

	if (status == CLI_DONE)
		status = peers_take(&check);
	if (status == CLI_DONE)
		status = expected_read(cli, options.expect, &check.expected);
	if (status == CLI_DONE) {
		status = node_check_run(&check, &error);
		status = status == CLI_DONE ? report(&check)
					    : not_run(&check, status, &error);
	}
	node_check_end(&check);
	return status;
}
