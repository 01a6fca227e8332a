/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of options, and who takes which. */
#include <stddef.h>
#include <string.h>

#include "option_table.h"
#include "option_values.h"

enum {
	KEY_FABRIC = OPTION_WITHOUT_LETTER,
	KEY_AUDIT_NODES,
	KEY_DOT,
	KEY_FAULT,
	KEY_FIRST_LID,
	KEY_FOR,
	KEY_LEASE,
	KEY_LIKE,
	KEY_MATRIX,
	KEY_OPA,
	KEY_PAIRS,
	KEY_PARTITIONS,
	KEY_RECORD,
	KEY_SA,
	KEY_SA_AT,
	KEY_SEED,
	KEY_SM_KEY,
	KEY_SOCKET,
	KEY_SVG,
	KEY_UMAD,
};

/* It is put there as it stands, or as true if it has no argument. */
#define AT(member) NULL, offsetof(struct cli, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ 'C', "device", "NAME", "the device, or node of a fabric, to ask from",
	  AT(open.device) },
	{ 'P', "port", "N", "its port", option_port },
	{ KEY_FABRIC, "fabric", "FILE",
	  "an embedded fabric from a topology file, or unix:PATH", AT(open.fabric) },
	{ 't', "timeout", "MS", "how long to wait for an answer (10000)",
	  option_timeout },
	{ KEY_SA, "sa", "ADDR", "the SA: a LID, a GID, or lid=..,sl=..,gid=..",
	  option_sa },
	{ KEY_SM_KEY, "sm-key", "KEY", "sent with each request; @FILE reads it",
	  option_sm_key },
	{ 'a', "all", NULL,
	  "path: all paths; gids --for: all GIDs; reach: all", AT(all) },
	{ KEY_AUDIT_NODES, "audit-nodes", NULL,
	  "watch: find changes whose Report was lost", AT(audit_nodes) },
	{ KEY_DOT, "dot", "FILE",
	  "fabric info: a drawing for Graphviz; - is stdout", AT(dot) },
	{ KEY_FAULT, "fault", "KIND=N",
	  "fabric: what goes wrong, in N of 100 MADs", option_fault },
	{ KEY_FIRST_LID, "first-lid", "LID",
	  "fabric: LIDs are given from here on", option_first_lid },
	{ KEY_FOR, "for", "ADDRESS", "gids: which one to use for an address",
	  option_for },
	{ KEY_LEASE, "lease", "SECONDS",
	  "service: how long it stays, or infinite", option_lease },
	{ KEY_LIKE, "like", "SM", "fabric: whose manners its SA has", option_like },
	{ KEY_MATRIX, "matrix", NULL, "reach: who can reach whom", AT(matrix) },
	{ KEY_OPA, "opa", NULL, "fabric: its links are of Omni-Path", AT(opa) },
	{ KEY_PAIRS, "pairs", "all",
	  "path: between all ports of two hosts", option_pairs },
	{ KEY_PARTITIONS, "partitions", "FILE",
	  "fabric: who has which P_Key", AT(partitions) },
	{ KEY_RECORD, "record", "FILE",
	  "write what is on the embedded fabric, for Wireshark", AT(record_path) },
	{ KEY_SVG, "svg", "FILE",
	  "reach, fabric info: a picture; - is stdout", AT(svg) },
	{ KEY_SOCKET, "socket", "PATH",
	  "fabric: the socket of its server", AT(socket) },
	{ KEY_SA_AT, "sa-at", "NODE", "fabric: where its SA is", AT(sa_at) },
	{ KEY_SEED, "seed", "N", "fabric: of what happens at random",
	  option_seed },
	{ KEY_UMAD, "umad", "DEVICE",
	  "fabric serve: where the SA answers, DEVICE[/PORT]", AT(umad) },
	{ 'j', "json", NULL, "write JSON", AT(json) },
	{ 'v', "verbose", NULL, "all fields; tries and times on stderr",
	  AT(verbose) },
	{ 'V', "version", NULL, "show the version", AT(version) },
	{ 'h', "help", NULL, "show help; also for a command or a record",
	  AT(help) },
};
/* clang-format on */

_Static_assert(sizeof(rows) / sizeof(rows[0]) == OPTION_ROWS, "OPTION_ROWS");

const struct option_row *const option_rows = rows;

bool option_is_of_output(const struct option_row *row)
{
	switch (row->key) {
	case 'j':
	case 'v':
	case 'V':
	case 'h':
		return true;
	default:
		return false;
	}
}

bool option_is_common(const struct option_row *row)
{
	switch (row->key) {
	case 'C':
	case 'P':
	case 't':
	case KEY_FABRIC:
	case KEY_SA:
	case KEY_SM_KEY:
		return true;
	default:
		return option_is_of_output(row);
	}
}

bool option_is_taken(const struct option_row *row,
		     const struct command *command)
{
	switch (row->key) {
	case 'a':
		return command->takes_all;
	case KEY_AUDIT_NODES:
		return command->run == cmd_watch;
	case KEY_FOR:
		return command->takes_address;
	case KEY_LEASE:
		return command->takes_lease;
	case KEY_MATRIX:
		return command->run == cmd_reach;
	case KEY_PAIRS:
		return command->run == cmd_path;
	case KEY_RECORD:
		return command->run != cmd_devices && command->run != cmd_gids;
	case KEY_SVG:
		return command->run == cmd_reach || command->run == cmd_fabric;
	default:
		return option_is_common(row) || command->run == cmd_fabric;
	}
}

bool option_is_listed(const struct option_row *row, const char *list)
{
	const size_t len = strlen(row->name);

	while (*list) {
		const size_t word = strcspn(list, " ");

		if (word == len && memcmp(list, row->name, len) == 0)
			return true;
		list += word + strspn(list + word, " ");
	}
	return false;
}
