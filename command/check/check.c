/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check: findings about the fabric or about this machine. */
#include <string.h>
#include <unistd.h>

#include <ibsa/topology.h>

#include "check/check.h"
#include "options/options.h"
#include "options/shared.h"
#include "output/nagios.h"

/* What is checked; the options differ. */
enum { OF_FABRIC = 1, OF_NODE = 2 };

static const struct option_set for_nagios = {
	(GROUP_ALL | GROUP_RECORD) & ~(unsigned int)(GROUP_FORMAT | GROUP_ROWS),
	OF_FABRIC | OF_NODE,
};
static const struct option_set for_node = { GROUP_ALL, OF_NODE };
static const struct option_set for_fabric = { GROUP_ALL | GROUP_RECORD,
					      OF_FABRIC };

int check_nagios_print(struct cli *cli, struct nagios *nagios, size_t count,
		       const struct ibsa_finding *worst)
{
	char text[sizeof(worst->what.text) + 64];

	snprintf(text, sizeof(text), "%zu %s, %s: %s", count,
		 count == 1 ? "finding" : "findings", worst->name,
		 worst->what.text);
	return nagios_print(nagios, &cli->out,
			    worst->severity == IBSA_SEVERITY_CRITICAL
				    ? NAGIOS_CRITICAL
				    : NAGIOS_WARNING,
			    text);
}

/* Check the arguments and options of ibsa check FILE. */
static bool file_fits(const struct cli *cli)
{
	const char *file = cli->args[1];

	if (cli->arg_count > 2)
		complain("check accepts one file; remove '%s'", cli->args[2]);
	else if (!strpbrk(file, "/.") && access(file, F_OK) != 0)
		complain("after check, '%s' is neither the word node nor a "
			 "topology file; see ibsa check --help",
			 file);
	else
		return options_fit_file(cli, false);
	return false;
}

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
	if (!options_only(cli, "check of the fabric", &for_fabric) ||
	    (what && !file_fits(cli)))
		return CLI_USAGE;
	return check_fabric(cli);
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
	.arguments = "[FILE|node [PEER...]]",
	.help = "check the fabric, a topology file, or this machine's ports",
	.options = &table,
	.groups = GROUP_ALL | GROUP_RECORD,
	.columns = (const struct columns *const[]){ &columns_check, &columns_check_node, NULL },
	.run = cmd_check,
	.text =
	"Without node, checks the fabric, and compares it with --expect; with\n"
	"FILE, checks that file, and the fabric it describes, without a query.\n"
	"With node, checks the ports of this machine, and that the SA has a\n"
	"path to each PEER: a node's name, GID, port GUID or LID.\n"
	"\n"
	"  ibsa topology --format net >fabric.net\n"
	"  ibsa check --expect fabric.net\n"
	"  ibsa check node --rate '>=400' --pkey 0x8001 storage1 storage2\n"
	"  ibsa check node -C mlx5_0 --nagios --peers /etc/peers\n",
	.file = 1,
};
/* clang-format on */
