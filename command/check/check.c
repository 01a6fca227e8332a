/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check: findings about the fabric or about this machine. */
#include <string.h>

#include "check/check.h"
#include "options/options.h"

/* Options that only ibsa check node, or only ibsa check fabric, accepts. */
static const char *const of_node[] = { "rate", "pkey", "peers" };
static const char *const of_fabric[] = { "expect", "record" };

/* Options of data output, which --nagios refuses. */
static const char *const of_data[] = { "csv", "fields", "json", "ndjson" };

static bool none_is_given(const struct cli *cli, const char *whose,
			  const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!options_given(cli, names[i]))
			continue;
		complain("%s has no option --%s", whose, names[i]);
		return false;
	}
	return true;
}

int cmd_check(struct cli *cli)
{
	const char *what = cli->arg_count > 1 ? cli->args[1] : NULL;

	if (cli->check.nagios &&
	    !none_is_given(cli, "check --nagios", of_data,
			   sizeof(of_data) / sizeof(of_data[0])))
		return CLI_USAGE;
	if (what && strcmp(what, "node") == 0)
		return none_is_given(cli, "check node", of_fabric,
				     sizeof(of_fabric) / sizeof(of_fabric[0]))
			       ? check_node(cli)
			       : CLI_USAGE;
	if (what) {
		complain("after check, only the word node is accepted, not "
			 "'%s'; see ibsa check --help",
			 what);
		return CLI_USAGE;
	}
	return none_is_given(cli, "check of the fabric", of_node,
			     sizeof(of_node) / sizeof(of_node[0]))
		       ? check_fabric(cli)
		       : CLI_USAGE;
}

void cmd_check_details(struct cli *cli)
{
	check_fabric_details(cli);
	check_node_details(cli);
}
