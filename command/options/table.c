/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of the command's options, and of the commands that accept each
 * option.
 */
#include <stddef.h>
#include <string.h>

#include "options/table.h"
#include "options/values.h"
#include "options/options.h"

/*
 * Table entry for an option whose value is stored in this member of struct
 * cli: its text, or true for an option without a value.
 */
#define AT(member) NULL, offsetof(struct cli, member)

/* The number of a macro as text. */
#define VALUE(macro) TEXT(macro)
#define TEXT(number) #number

/* clang-format off */
static const struct option_row rows[] = {
	{ 'C', "device", "NAME", "send from this device or node of a fabric",
	  AT(open.device), OPTION_COMMON },
	{ 'P', "port", "N", "port of the device", option_port, 0, OPTION_COMMON },
	{ 0, "fabric", "FILE",
	  "an embedded fabric from a topology file, or unix:PATH",
	  AT(open.fabric), OPTION_COMMON },
	{ 't', "timeout", "MS",
	  "deadline of a query in ms (" VALUE(IBSA_DEFAULT_DEADLINE_MS)
	  "; some commands: less)",
	  option_timeout, 0, OPTION_COMMON },
	{ 0, "sa", "ADDR", "address of the SA: LID, GID or lid=..,sl=..",
	  option_sa, 0, OPTION_COMMON },
	{ 0, "sm-key", "KEY", "SM_Key of each request; @FILE reads it",
	  option_sm_key, 0, OPTION_COMMON },
	{ 'a', "all", NULL,
	  "path: all paths; gids --for: all GIDs; reach: all", AT(all) },
	{ 0, "audit-nodes", NULL,
	  "watch: also find changes whose Report was lost", AT(watch.audit_nodes) },
	{ 0, "connections", "N", "fabric: connections that the server accepts",
	  option_connections },
	{ 0, "dot", "FILE",
	  "topology, fabric info: Graphviz input; - is stdout", AT(picture.dot) },
	{ 0, "expect", "FILE",
	  "check, metrics, page: what topology --net or -j wrote", AT(check.expect) },
	{ 0, "fault", "KIND=N",
	  "fabric: fault in N of 100 MADs", option_fault },
	{ 0, "first-lid", "LID",
	  "fabric: first LID to assign", option_first_lid },
	{ 0, "for", "ADDRESS", "gids: select the GID for this address",
	  option_for },
	{ 0, "group", "MGID", "trace: the tree of a multicast group",
	  AT(trace.group) },
	{ 0, "journal", NULL, "watch: write events to the systemd journal",
	  AT(watch.journal) },
	{ 0, "label", "NAME=VALUE", "metrics: a label of all values",
	  AT(metrics.label) },
	{ 0, "lease", "SECONDS",
	  "service register: lease in seconds, or infinite", option_lease },
	{ 0, "listen", "ADDRESS", "metrics: serve over HTTP: PORT or ADDR:PORT",
	  AT(metrics.listen) },
	{ 0, "matrix", NULL, "reach: check every pair of ports", AT(reach.matrix) },
	{ 0, "memory", "MB", "fabric: memory of the server for its clients",
	  option_memory },
	{ 0, "nagios", NULL, "check: one line for a monitoring plugin",
	  AT(check.nagios) },
	{ 0, "net", NULL, "topology: write the format of ibnetdiscover",
	  AT(topology.net) },
	{ 0, "node-name-map", "FILE",
	  "topology, trace, page: names of nodes by GUID", AT(topology.name_map) },
	{ 0, "opa", NULL, "fabric: Omni-Path links", AT(fabric.opa) },
	{ 'o', "output", "FILE", "metrics, page: replace this file",
	  AT(output.file) },
	{ 0, "pairs", "all",
	  "path: all pairs of ports of two hosts", option_pairs },
	{ 0, "partitions", "FILE",
	  "fabric: P_Keys of its ports", AT(fabric.partitions) },
	{ 0, "peers", "FILE", "check node, metrics: ports that must be reachable",
	  AT(check.peers) },
	{ 0, "pkey", "KEY", "check node, env, metrics: P_Key that ports must have",
	  option_pkey },
	{ 0, "rate", "RATE", "check node, metrics: rate in Gb/s, such as '>=400'",
	  option_rate },
	{ 0, "record", "FILE",
	  "write the fabric's packets, for Wireshark", AT(record.path) },
	{ 0, "renew", NULL,
	  "service register: renew it, remove it at the end", AT(service.renew) },
	{ 0, "svg", "FILE",
	  "topology, reach, fabric info: a picture; - is stdout", AT(picture.svg) },
	{ 0, "slurm", NULL, "topology: write topology.conf of Slurm",
	  AT(topology.slurm) },
	{ 0, "slurm-yaml", NULL, "topology: write topology.yaml of Slurm",
	  AT(topology.slurm_yaml) },
	{ 0, "socket", "PATH",
	  "fabric: socket of its server", AT(fabric.socket) },
	{ 0, "sa-at", "NODE", "fabric: node of its SA", AT(fabric.sa_at) },
	{ 0, "seed", "N", "fabric: seed of random numbers",
	  option_seed },
	{ 0, "sm-profile", "SM", "fabric: SM profile of its SA",
	  option_sm_profile },
	{ 0, "umad", "DEVICE",
	  "fabric serve: port of the SA, DEVICE[/PORT]", AT(fabric.umad) },
	{ 0, "why", NULL,
	  "path, reach: tell why there is no path", AT(why) },
	{ 'j', "json", NULL, "write JSON", AT(output.json), OPTION_OUTPUT },
	{ 0, "ndjson", NULL, "write JSON, an object on each line",
	  AT(output.ndjson), OPTION_ROWS },
	{ 0, "csv", NULL, "write CSV with a header", AT(output.csv),
	  OPTION_ROWS },
	{ 0, "fields", "A,B,...", "write only these fields, in this order",
	  AT(output.fields), OPTION_ROWS },
	{ 'v', "verbose", NULL, "show all fields; tries and times on stderr",
	  AT(output.verbose), OPTION_OUTPUT },
	{ 'V', "version", NULL, "show the version", AT(version), OPTION_OUTPUT },
	{ 'h', "help", NULL, "show help; also for a command or a record",
	  AT(help), OPTION_OUTPUT },
};
/* clang-format on */

_Static_assert(sizeof(rows) / sizeof(rows[0]) == OPTION_COUNT, "OPTION_COUNT");

const struct option_row *const option_rows = rows;

bool option_is_taken(const struct option_row *row,
		     const struct command *command)
{
	return row->whose != OPTION_OWN || option_is_own(row->name, command);
}

bool option_is_own(const char *name, const struct command *command)
{
	return option_is_listed(name, command->options) ||
	       (command->part_takes && command->part_takes(name));
}

bool option_is_listed(const char *name, const char *list)
{
	const size_t len = strlen(name);

	while (*list) {
		const size_t word = strcspn(list, " ");

		if (word == len && memcmp(list, name, len) == 0)
			return true;
		list += word + strspn(list + word, " ");
	}
	return false;
}
