/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of options, and who takes which. */
#include <stddef.h>
#include <string.h>

#include "option_table.h"
#include "option_values.h"
#include "options.h"

/* It is put there as it stands, or as true if it has no argument. */
#define AT(member) NULL, offsetof(struct cli, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ 'C', "device", "NAME", "the device, or node of a fabric, to ask from",
	  AT(open.device), OPTION_COMMON },
	{ 'P', "port", "N", "its port", option_port, 0, OPTION_COMMON },
	{ 0, "fabric", "FILE",
	  "an embedded fabric from a topology file, or unix:PATH",
	  AT(open.fabric), OPTION_COMMON },
	{ 't', "timeout", "MS", "how long to wait for an answer (10000)",
	  option_timeout, 0, OPTION_COMMON },
	{ 0, "sa", "ADDR", "the SA: a LID, a GID, or lid=..,sl=..,gid=..",
	  option_sa, 0, OPTION_COMMON },
	{ 0, "sm-key", "KEY", "sent with each request; @FILE reads it",
	  option_sm_key, 0, OPTION_COMMON },
	{ 'a', "all", NULL,
	  "path: all paths; gids --for: all GIDs; reach: all", AT(all) },
	{ 0, "audit-nodes", NULL,
	  "watch: find changes whose Report was lost", AT(audit_nodes) },
	{ 0, "dot", "FILE",
	  "fabric info: a drawing for Graphviz; - is stdout", AT(dot) },
	{ 0, "fault", "KIND=N",
	  "fabric: what goes wrong, in N of 100 MADs", option_fault },
	{ 0, "first-lid", "LID",
	  "fabric: LIDs are given from here on", option_first_lid },
	{ 0, "for", "ADDRESS", "gids: which one to use for an address",
	  option_for },
	{ 0, "lease", "SECONDS",
	  "service register: lease in seconds, or infinite", option_lease },
	{ 0, "sm-profile", "SM", "fabric: which SM its SA behaves like", option_sm_profile },
	{ 0, "matrix", NULL, "reach: who can reach whom", AT(matrix) },
	{ 0, "opa", NULL, "fabric: its links are of Omni-Path", AT(opa) },
	{ 0, "pairs", "all",
	  "path: between all ports of two hosts", option_pairs },
	{ 0, "partitions", "FILE",
	  "fabric: who has which P_Key", AT(partitions) },
	{ 0, "record", "FILE",
	  "write what is on the embedded fabric, for Wireshark", AT(record_path) },
	{ 0, "renew", NULL,
	  "service register: renew until interrupted, then remove", AT(renew) },
	{ 0, "svg", "FILE",
	  "reach, fabric info: a picture; - is stdout", AT(svg) },
	{ 0, "socket", "PATH",
	  "fabric: the socket of its server", AT(socket) },
	{ 0, "sa-at", "NODE", "fabric: where its SA is", AT(sa_at) },
	{ 0, "seed", "N", "fabric: of what happens at random",
	  option_seed },
	{ 0, "umad", "DEVICE",
	  "fabric serve: where the SA answers, DEVICE[/PORT]", AT(umad) },
	{ 'j', "json", NULL, "write JSON", AT(json), OPTION_OUTPUT },
	{ 'v', "verbose", NULL, "all fields; tries and times on stderr",
	  AT(verbose), OPTION_OUTPUT },
	{ 'V', "version", NULL, "show the version", AT(version), OPTION_OUTPUT },
	{ 'h', "help", NULL, "show help; also for a command or a record",
	  AT(help), OPTION_OUTPUT },
};
/* clang-format on */

_Static_assert(sizeof(rows) / sizeof(rows[0]) == OPTION_ROWS, "OPTION_ROWS");

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
