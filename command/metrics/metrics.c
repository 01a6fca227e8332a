/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa metrics: values for Prometheus. */
#include <stdlib.h>
#include <string.h>

#include "base/file_write.h"
#include "metrics/metrics.h"
#include "metrics/options.h"
#include "options/options.h"
#include "graph/topology.h"
#include "options/shared.h"

static int metrics_print(struct cli *cli, const struct metrics *metrics)
{
	const char *path = cli->output.file;
	struct memory_text memory;
	int status;

	if (!path || strcmp(path, "-") == 0) {
		metrics_write(cli->out.file, metrics, METRICS_OPENMETRICS);
		return CLI_DONE;
	}
	status = memory_text_open(&memory);
	if (status == CLI_DONE) {
		metrics_write(memory.file, metrics, METRICS_OPENMETRICS);
		status = memory_text_close(&memory);
	}
	if (status == CLI_DONE)
		status = file_write(path, memory.text, memory.len);
	free(memory.text);
	return status;
}

static int metrics_once(struct cli *cli, const struct ibsa_topology *expected)
{
	struct metrics metrics;
	int status = metrics_collect(cli, expected, &metrics);

	if (status != CLI_USAGE) {
		const int written = metrics_print(cli, &metrics);

		status = status == CLI_DONE ? written : status;
	}
	metrics_end(&metrics);
	return status;
}

/*
 * Check the command line of ibsa metrics. Return: false: it is wrong, and a
 * message is printed.
 */
static bool arguments_check(const struct cli *cli)
{
	if (cli->arg_count > 1 && strcmp(cli->args[1], "node") != 0)
		complain("after metrics, only the word node is accepted, not "
			 "'%s'; see ibsa metrics --help",
			 cli->args[1]);
	else if (cli->arg_count > 1 && metrics_own(cli)->expect)
		complain("metrics node has no option --expect");
	else if (cli->output.file && metrics_own(cli)->listen)
		complain("only one of --output and --listen can be given");
	else if (metrics_own(cli)->journal && !metrics_own(cli)->listen)
		complain("metrics writes events to the journal only with "
			 "--listen; add --listen, or use ibsa watch --journal");
	else
		return !metrics_own(cli)->label ||
		       metrics_label_check(metrics_own(cli)->label);
	return false;
}

static int cmd_metrics(struct cli *cli)
{
	struct ibsa_topology *expected = NULL;
	int status = arguments_check(cli) ? CLI_DONE : CLI_USAGE;

	if (status == CLI_DONE && metrics_own(cli)->expect)
		status = topology_expect_load(cli, metrics_own(cli)->expect,
					      &expected);
	if (status == CLI_DONE)
		status = metrics_own(cli)->listen
				 ? metrics_listen(cli, expected)
				 : metrics_once(cli, expected);
	ibsa_topology_free(expected);
	return status;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_EXPECT(struct metrics_options, expect, 0),
	{ 0, "journal", NULL, "also write events to the systemd journal",
	  OPTION_AT(struct metrics_options, journal) },
	{ 0, "label", "NAME=VALUE", "a label of all values",
	  OPTION_AT(struct metrics_options, label) },
	{ 0, "listen", "ADDRESS", "serve over HTTP: PORT or ADDR:PORT",
	  OPTION_AT(struct metrics_options, listen) },
	OPTION_PEERS(struct metrics_options, node.peers, 0),
	OPTION_PKEY(struct metrics_options, node.pkeys, 0),
	OPTION_RATE(struct metrics_options, node.rate, 0),
};

static const struct option_table table =
	OPTION_TABLE(rows, struct metrics_options);

const struct command command_metrics = {
	.name = "metrics",
	.arguments = "[node [PEER...]]",
	.help = "write values for Prometheus, about the fabric or this machine",
	.options = &table,
	.groups = GROUP_OPEN | GROUP_FILE | GROUP_VERSION | GROUP_HELP,
	.run = cmd_metrics,
	.text =
	"With node, only about the ports of this machine, its SA and each\n"
	"PEER: a node's name, GID, port GUID or LID. Without, the fabric, too.\n"
	"\n"
	"  ibsa metrics -o /var/lib/prometheus/node-exporter/ibsa.prom\n"
	"  ibsa metrics node --peers /etc/peers\n"
	"  ibsa metrics --listen 9710\n",
	.details = metrics_list,
};
/* clang-format on */
