/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check: findings about the fabric or about this machine. */
#include <string.h>

#include "check/check.h"
#include "options/command.h"
#include "output/columns.h"
#include "options/options.h"
#include "options/shared.h"

/* What is checked; the options differ. */
enum { OF_FABRIC = 1, OF_NODE = 2 };

static const struct option_set for_nagios = {
	(GROUP_ALL | GROUP_RECORD) & ~(unsigned int)(GROUP_FORMAT | GROUP_ROWS),
	OF_FABRIC | OF_NODE,
};
static const struct option_set for_node = { GROUP_ALL, OF_NODE };
static const struct option_set for_fabric = { GROUP_ALL | GROUP_RECORD,
					      OF_FABRIC };

static int cmd_check(struct cli *cli)
{
	const char *what = cli->arg_count > 1 ? cli->args[1] : NULL;

	if (check_own(cli)->nagios &&
	    !options_only(cli, "check --nagios", &for_nagios))
		return CLI_USAGE;
	if (what && strcmp(what, "node") == 0)
		return options_only(cli, "check node", &for_node)
			       ? check_node(cli)
			       : CLI_USAGE;
	if (what)
		return fail_usage(
			"after check, only the word node is accepted, not "
			"'%s'; see ibsa check --help",
			what);
	return options_only(cli, "check of the fabric", &for_fabric)
		       ? check_fabric(cli)
		       : CLI_USAGE;
}

static void cmd_check_details(struct cli *cli)
{
	check_fabric_details(cli);
	check_node_details(cli);
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_EXPECT(struct check_options, expect, OF_FABRIC | OF_NODE),
	{ 0, "nagios", NULL, "one line for a monitoring plugin",
	  OPTION_AT(struct check_options, nagios) },
	OPTION_PEERS(struct check_options, node.peers, OF_NODE),
	OPTION_PKEY(struct check_options, node.pkeys, OF_NODE),
	OPTION_RATE(struct check_options, node.rate, OF_NODE),
};

static const struct option_table table =
	OPTION_TABLE(rows, struct check_options);

const struct command command_check = {
	.name = "check",
	.arguments = "[node [PEER...]]",
	.help = "check the fabric, or this machine's ports, SA and peers",
	.options = &table,
	.groups = GROUP_ALL | GROUP_RECORD,
	.columns = (const struct columns *const[]){ &columns_check, &columns_check_node, NULL },
	.run = cmd_check,
	.details = cmd_check_details,
};
/* clang-format on */
